//! Says why a journal cannot be used.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A journal that cannot be used. Its text is one line.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// The file is something else.
    #[error("{} line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// Another match, or other work of its kind, writes it.
    #[error("another {whole} is writing {}", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// The kind of work, in a word.
        whole: &'static str,
    },
    /// It has games of a match that was interrupted.
    #[error(
        "{} has the games of a match that was interrupted: --resume goes on with it; delete the file, or name another --pgn, to \
         begin anew",
        path.display()
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// The match in the file, or other work of its kind, has other settings.
    #[error("{} holds a {whole} with another {setting}: {there} there, {here} here", path.display())]
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// The kind of work, in a word.
        whole: &'static str,
        /// The first setting that differs.
        setting: String,
        /// Its value in the file.
        there: String,
        /// Its value now.
        here: String,
    },
}
