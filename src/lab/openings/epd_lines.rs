//! Reads start positions from lines of EPD or FEN.

use super::{Book, check_goes_on, start};

/// Fields of a FEN that an EPD has, too; its operations follow.
const EPD_FIELDS: usize = 4;

/// Reads a file. An error has the number of the line, from 1.
pub(super) fn read(bytes: &[u8]) -> Result<Book, (usize, String)> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    lines
        .filter(|(_, line)| !line.is_empty())
        // Operations may have names in any encoding.
        .map(|(index, line)| opening(&String::from_utf8_lossy(line)).map_err(|reason| (index + 1, reason)))
        .collect()
}

/// The position of a line. The counters of a FEN are numbers; the operations after the four fields of an EPD are not.
fn opening(line: &str) -> Result<Box<str>, String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let counters = fields.iter().skip(EPD_FIELDS).take(2).take_while(|field| field.parse::<u32>().is_ok()).count();
    let fen = fields[..fields.len().min(EPD_FIELDS + counters)].join(" ");
    check_goes_on(&start(&fen)?)?;
    Ok(fen.into())
}
