//! Says why a journal cannot be used.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a journal cannot be used. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io { path: PathBuf, reason: io::Error },
    #[error("{} line {line}: {problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    /// Another process writes the file: a match, or other work of its kind.
    #[error("another {whole} is writing {}", path.display())]
    InUse { path: PathBuf, whole: &'static str },
    /// The file has games of a match that was interrupted.
    #[error(
        "{} has the games of a match that was interrupted: --resume goes on with it; delete the file, or name another --pgn, to \
         begin anew",
        path.display()
    )]
    Unfinished { path: PathBuf },
    /// The match in the file, or other work of its kind, has other settings.
    #[error("{} holds a {whole} with another {setting}: {there} there, {here} here", path.display())]
    OtherSettings { path: PathBuf, whole: &'static str, setting: String, there: String, here: String },
}
