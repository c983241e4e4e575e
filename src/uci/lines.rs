//! Reads the input line by line.

use std::io::{self, BufRead, Read as _};
use thiserror::Error;
use zeitnot_base::files::{from_bytes, mark_length};

/// Longest line that is read, in bytes: the moves of the longest games are a hundredth of it. Without a bound, input
/// without line breaks would take all the memory.
const LONGEST_LINE: u64 = 16 << 20;

/// The reason why an input line is skipped; its text is one line.
#[derive(Debug, Error)]
pub enum PassedOver {
    /// The line is too long.
    #[error("a line of more than {LONGEST_LINE} bytes is passed over")]
    TooLong,
    /// The first line has an encoding in which commands cannot be read.
    #[error("the input is no text that can be read: {0}")]
    Encoding(io::Error),
}

/// A reader of the lines of an input, without their line breaks.
pub struct Lines<R> {
    input: R,
    /// Whether the input goes on with the rest of a line that was too long.
    is_passing_over: bool,
    is_begun: bool,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`.
    pub fn of(input: R) -> Lines<R> {
        Lines { input, is_passing_over: false, is_begun: false }
    }

    /// Reads the next line; `None` after the last one. Bytes that are not UTF-8 are kept for paths ([`from_bytes`]).
    ///
    /// # Errors
    /// The errors of reading.
    pub fn read(&mut self) -> io::Result<Option<Result<String, PassedOver>>> {
        if self.is_passing_over {
            self.input.skip_until(b'\n')?;
            self.is_passing_over = false;
        }
        let mut line = Vec::new();
        if self.input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 > LONGEST_LINE {
            self.is_passing_over = true;
            return Ok(Some(Err(PassedOver::TooLong)));
        }
        if !std::mem::replace(&mut self.is_begun, true)
            && let Err(error) = mark_length(&line)
        {
            return Ok(Some(Err(PassedOver::Encoding(error))));
        }
        Ok(Some(Ok(from_bytes(&line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str) -> Vec<Option<usize>> {
        let mut lines = Lines::of(text.as_bytes());
        std::iter::from_fn(|| lines.read().unwrap()).map(|line| line.ok().map(|line| line.len())).collect()
    }

    #[test]
    fn a_line_ends_with_a_newline_or_the_input() {
        assert_eq!(lengths("uci\n\nisready"), [Some(3), Some(0), Some(7)]);
        assert_eq!(lengths(""), []);
    }

    #[test]
    fn another_encoding_is_called_what_it_is() {
        let bytes: Vec<u8> = "\u{feff}uci\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut lines = Lines::of(&*bytes);
        let error = lines.read().unwrap().unwrap().unwrap_err().to_string();
        assert_eq!(error, "the input is no text that can be read: it is UTF-16; save it as UTF-8");
        assert!(lines.read().unwrap().unwrap().is_ok(), "it is said once");
    }

    #[test]
    fn lines_without_end_are_passed_over() {
        let longest = usize::try_from(LONGEST_LINE).unwrap();
        let [fits, too_long] = [longest, longest + 1].map(|length| "x".repeat(length));
        assert_eq!(
            lengths(&format!("{fits}\nuci\n{too_long}{too_long}\nisready\n")),
            [Some(longest), Some(3), None, Some(7)]
        );
        assert_eq!(lengths(&fits), [Some(longest)]);
        assert_eq!(lengths(&too_long), [None]);
    }
}
