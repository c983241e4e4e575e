//! Reads start positions from lines of EPD or FEN, and from what an engine answers to `genfens`.

use super::{Book, BookError, check_goes_on, start};
use crate::games::lines::Lines;
use std::io::Read;
use zeitnot_engine::chess::read_epd;

/// Beginning of a line in which an engine answers `genfens` with a position, as OpenBench reads it.
const DRAWN: &str = "info string genfens ";

/// Reads a file. Where it has an engine's answers to `genfens`, all other lines are skipped. An error has the number of
/// the line, from 1.
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

/// The FEN of a line.
fn opening(line: &str) -> Result<Box<str>, String> {
    let fen = read_epd(line)?.0;
    check_goes_on(&start(&fen)?)?;
    Ok(fen.into())
}
