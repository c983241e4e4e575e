//! Reads start positions from lines of EPD or FEN, and from what an engine answers to `genfens`.

use super::{Book, BookError, check_goes_on, quoted, start};
use crate::games::lines::Lines;
use std::io::Read;

/// Fields that an EPD shares with a FEN; operations follow in an EPD.
const EPD_FIELDS: usize = 4;
/// Counters that follow in a FEN: plies since the last capture or pawn move, and the number of the full move. Each has
/// the name of its operation in EPD, and its usual value.
const COUNTERS: [(&str, &str); 2] = [("hmvc", "0"), ("fmvn", "1")];

/// Beginning of a line with a position that an engine drew, as OpenBench reads them.
const DRAWN: &str = "info string genfens ";

/// Reads a file. Where an engine drew positions (`genfens`), the other lines of its output are none. An error has the
/// number of the line, from 1.
pub(super) fn read(source: impl Read) -> Result<Book, BookError> {
    let mut lines = Lines::new(source);
    let (mut book, mut number, mut is_drawn) = (Ok(Book::new()), 0, false);
    while lines.next()? {
        number += 1;
        // Operations may have names in any encoding.
        let line = String::from_utf8_lossy(lines.rest().trim_ascii()).into_owned();
        lines.skip()?;
        let drawn = line.strip_prefix(DRAWN);
        if drawn.is_some() && !is_drawn {
            (book, is_drawn) = (Ok(Book::new()), true);
        }
        let position = if is_drawn { drawn } else { Some(line.as_str()).filter(|line| !line.is_empty()) };
        let (Some(position), Ok(positions)) = (position, &mut book) else { continue };
        match opening(position.trim_ascii()) {
            Ok(opening) => positions.push(opening),
            Err(reason) => book = Err(BookError::Entry(number, reason)),
        }
    }
    book
}

/// The FEN of a line: four fields, and counters that stand as in a FEN or as EPD operations.
fn opening(line: &str) -> Result<Box<str>, String> {
    let mut rest = line;
    let mut field = || {
        let (field, behind) = rest.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((rest, ""));
        rest = behind.trim_ascii_start();
        field
    };
    let mut fen = (0..EPD_FIELDS).map(|_| field()).collect::<Vec<_>>().join(" ").trim_end().to_owned();
    let mut counters = COUNTERS.map(|(_, usual)| usual);
    for counter in &mut counters {
        let (next, behind) = rest.split_once(|c: char| c.is_ascii_whitespace() || c == ';').unwrap_or((rest, ""));
        if next.parse::<u32>().is_err() {
            break;
        }
        (*counter, rest) = (next, behind.trim_ascii_start());
    }
    for (name, operand) in operations(rest) {
        if let Some(at) = COUNTERS.iter().position(|(known, _)| *known == name) {
            operand.parse::<u32>().map_err(|_| format!("{name} {} is no number", quoted(operand)))?;
            counters[at] = operand;
        }
    }
    if counters != COUNTERS.map(|(_, usual)| usual) {
        fen += &format!(" {}", counters.join(" "));
    }
    check_goes_on(&start(&fen)?)?;
    Ok(fen.into())
}

/// The operations of an EPD, each with its operands; a semicolon within quotation marks does not end one.
fn operations(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut is_quoted = false;
    let mut parts = text.split(move |c| {
        is_quoted ^= c == '"';
        c == ';' && !is_quoted
    });
    std::iter::from_fn(move || parts.next()).map(|operation| {
        let operation = operation.trim_ascii();
        let (name, operands) = operation.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((operation, ""));
        (name, operands.trim_ascii())
    })
}
