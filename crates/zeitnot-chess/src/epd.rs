//! Reads an EPD: the fields that it shares with a FEN, and operations such as `bm Kg2; id "a";`.

use super::fen::QUOTED;
use zeitnot_base::printable::beginning;

/// Fields that an EPD shares with a FEN; operations follow in an EPD.
const EPD_FIELDS: usize = 4;
/// Counters that follow these fields in a FEN: plies since the last capture or pawn move, and the number of the full
/// move; each as the name of its operation in EPD, and its default.
const COUNTERS: [(&str, &str); 2] = [("hmvc", "0"), ("fmvn", "1")];
/// Names of operations by which a text without a semicolon is recognised as an EPD.
const NAMES: [&str; 9] = ["acd", "am", "bm", "ce", "dm", "fmvn", "hmvc", "id", "pv"];

/// Splits an EPD into its FEN and the text that follows. The FEN's two counters may stand as in a FEN or as operations.
///
/// # Errors
/// The counter that is no number, in one line.
pub fn read_epd(line: &str) -> Result<(String, &str), String> {
    let mut rest = line.trim_ascii();
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
            operand.parse::<u32>().map_err(|_| format!("{name} \"{}\" is no number", beginning(operand, QUOTED)))?;
            counters[at] = operand;
        }
    }
    if counters != COUNTERS.map(|(_, usual)| usual) {
        fen += &format!(" {}", counters.join(" "));
    }
    Ok((fen, rest))
}

/// The FEN of a text that can only be an EPD with operations; `None` for any other.
///
/// # Errors
/// As for [`read_epd`].
pub(super) fn with_operations(text: &str) -> Result<Option<String>, String> {
    let (fen, rest) = read_epd(text)?;
    let is_named = |(name, _): (&str, &str)| name.is_empty() || name.starts_with(|c: char| c.is_ascii_alphabetic());
    // Moves without the word `moves`, say, are none.
    let is_told = text.contains(';') || operations(rest).next().is_some_and(|(name, _)| NAMES.contains(&name));
    let is_whole = rest.matches('"').count().is_multiple_of(2);
    Ok((is_told && is_whole && operations(rest).all(is_named)).then_some(fen))
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
