//! Defines the errors of preparing a match.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a match cannot be played as asked. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum SetupError {
    /// The file of a pool cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// A file has no list of engines.
    #[error("{} is no pool: {error}", path.display())]
    NoPool { path: PathBuf, error: serde_json::Error },
    /// A pool is an empty list.
    #[error("{} has no engine", .0.display())]
    EmptyPool(PathBuf),
    /// A text names no engine.
    #[error("\"{text}\" is no engine: {reason}")]
    EngineLine { text: String, reason: String },
    /// A name is empty, or has control characters.
    #[error("{0:?} is no name of a player")]
    Name(String),
    /// Results could not distinguish two players.
    #[error("two players are called {0}")]
    SameName(String),
    /// A rating is no finite number.
    #[error("{name}: {rating} is no rating")]
    Rating { name: String, rating: f64 },
    /// Games on a virtual clock would be copies of each other.
    #[error("{0} on a virtual clock: --openings names files with more, --lag 2,50 varies the times")]
    Repetition(String),
}
