//! The errors of downloads of networks.

use std::io;
use std::path::{Path, PathBuf};

use ureq::http::StatusCode;

use crate::NetworkError;

/// An error in fetching a network. The text is one line for the user.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum FetchError {
    /// The catalogue has no network of that name.
    #[error("there is no network {name} in the catalogue (a URL will do as well); there are: {names}")]
    NotInCatalogue {
        name: String,
        /// Similar names of the catalogue, or all its names.
        names: String,
    },
    /// The address does not lead to a file.
    #[error("{0} is not the address of a file: it has to begin with https:// or http:// and end in a file's name")]
    BadUrl(String),
    /// The server cannot be reached.
    #[error("cannot reach {host}: {reason} (is this machine offline?)")]
    Offline { host: String, reason: String },
    /// The server answered, but not with the file.
    #[error("{url}: the server answers {status}")]
    Status { url: String, status: StatusCode },
    /// The exchange with the server failed otherwise.
    #[error("{url}: {reason}")]
    Protocol { url: String, reason: String },
    /// The server was silent for too long.
    #[error("{url}: nothing came for {seconds} s after {bytes} bytes; what is here is kept: run it again to go on")]
    Stalled { url: String, seconds: u64, bytes: u64 },
    /// The connection ended before the file did.
    #[error("{url}: the connection ended after {bytes} of {total} bytes; what is here is kept: run it again to go on")]
    Cut { url: String, bytes: u64, total: String },
    /// The file does not have the known checksum.
    #[error("{url}: the file's sha256 is {actual}, not {expected}; it was removed")]
    Checksum { url: String, expected: String, actual: String },
    /// The file on the server is not the one that was fetched first.
    #[error(
        "{url}: the file's sha256 is {actual}, and {} has {expected}, of when it was fetched first; it was removed: \
         --force takes it",
        record.display()
    )]
    Changed { url: String, record: PathBuf, expected: String, actual: String },
    /// The file is larger than it may be.
    #[error("{url}: the file has more than {limit} bytes, the most that are taken for it; it was removed")]
    TooLarge { url: String, limit: u64 },
    /// A file of that name is there already, and has another checksum.
    #[error(
        "{} is there and differs from what it should be (its sha256 is {actual}, not {expected}): --force replaces it",
        path.display()
    )]
    Differs { path: PathBuf, expected: String, actual: String },
    /// The downloaded file is no network, or a network that cannot be used.
    #[error("{url} was downloaded, but: {reason}")]
    Network {
        url: String,
        /// The error in reading the file, whose text is part of this error's text.
        reason: NetworkError,
    },
    /// Another process downloads the same file.
    #[error("another process is downloading {}", path.display())]
    Busy { path: PathBuf },
    /// A file operation failed.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io { action: &'static str, path: PathBuf, reason: io::Error },
}

/// I/O error that names the operation and the file, for `map_err`.
pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let path = path.to_path_buf();
    move |reason| FetchError::Io { action, path, reason }
}
