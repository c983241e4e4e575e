//! Names what can go wrong with another engine, in one line each.

use std::io;
use thiserror::Error;
use zeitnot_base::printable::is_safe;

/// The name of the answer to `go`.
pub(super) const BEST_MOVE: &str = "bestmove";
/// Characters of an engine's own text that an error quotes.
const QUOTED: usize = 200;

/// An engine that cannot be started or does not do what it must. Displays as one line that names the engine.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum ExternalError {
    /// The command line names no program.
    #[error("\"{command}\" is no command line: {reason}")]
    Command { command: String, reason: &'static str },
    /// The program cannot be run.
    #[error("cannot start {program}: {error}")]
    Start { program: String, error: io::Error },
    /// The engine lacks the option, or does not take the value.
    #[error("{engine}: option {option}: {reason}")]
    Option { engine: String, option: String, reason: String },
    /// The game has castling rights of Chess960, and the engine has no option `UCI_Chess960`.
    #[error("{engine} does not play Chess960")]
    Chess960 { engine: String },
    /// The process ended, or closed its output.
    #[error("{engine} ended before {awaited} ({status}){said}")]
    Ended { engine: String, awaited: &'static str, status: String, said: String },
    /// The engine writes `id` and `option` lines without an end.
    #[error("{engine} writes more than {limit_kib} KiB of id and option lines before uciok")]
    Flood { engine: String, limit_kib: usize },
    /// No answer came in time, or the engine does not read its input.
    #[error("{engine} gave no {awaited} within {waited_ms:.0} ms")]
    Stalled { engine: String, awaited: &'static str, waited_ms: f64 },
    /// The wait for an answer was called off.
    #[error("the wait for {awaited} of {engine} was called off")]
    CalledOff { engine: String, awaited: &'static str },
    /// The answer to `go` is no legal move.
    #[error("{engine} answered \"{answer}\": {reason}")]
    BadMove { engine: String, answer: String, reason: String },
    /// The engine goes on past the nodes that it was to search.
    #[error("{engine} does not end at go nodes {nodes}, so its nodes are no clock; --clock real does without")]
    Endless { engine: String, nodes: u64 },
    /// An error came before, and the engine has not been started again since.
    #[error("{engine} does not run")]
    NotRunning { engine: String },
}

impl ExternalError {
    /// Whether the error came while the engine's clock ran: from `go` to `bestmove`, not while it got ready.
    pub fn is_in_search(&self) -> bool {
        let (ExternalError::Stalled { awaited, .. }
        | ExternalError::Ended { awaited, .. }
        | ExternalError::CalledOff { awaited, .. }) = self
        else {
            return matches!(self, ExternalError::BadMove { .. });
        };
        *awaited == BEST_MOVE
    }
}

/// An engine's text in one short line, for an error or a name: characters that are not safe to print become blanks.
pub(super) fn one_line(text: &str) -> String {
    let clean = text.trim().chars().map(|c| if is_safe(c) { c } else { ' ' });
    let mut line: String = clean.clone().take(QUOTED).collect();
    if clean.count() > QUOTED {
        line.push_str("...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_short_and_safe_to_print() {
        assert_eq!(one_line(" a\tb\u{1b}[31m\u{7}c\r\n"), "a b [31m c");
        assert_eq!(one_line("a\u{202e}b\u{9b}c\u{2028}d"), "a b c d");
        assert_eq!(one_line(&"é".repeat(1000)), "é".repeat(QUOTED) + "...");
    }
}
