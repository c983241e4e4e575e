//! Downloads network files.
//!
//! A file is downloaded under its final name into a folder of unfinished files, where no engine looks. It is moved into
//! place once it has the length that the server gave and the checksum, if one is known, and loads as a network. A
//! download that was cut goes on where it ended, if the server still has the same file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Network, NetworkError};
use error::io_error;
use part::{Part, digest, record, record_path, recorded};

mod agent;
mod error;
mod http;
mod part;
mod source;

pub use agent::{http_reason, service_agent};
pub use error::FetchError;
pub use source::Source;

/// The folder of unfinished downloads within the folder of networks.
const UNFINISHED: &str = ".unfinished";

/// The progress of a download, for a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchProgress {
    /// The file is coming in.
    Downloading {
        /// Bytes downloaded so far, including earlier attempts.
        bytes: u64,
        /// Bytes of the whole file, if the server states them.
        total: Option<u64>,
    },
    /// Check of a whole file's content.
    Checking,
}

/// A network file that is in the folder now.
#[derive(Debug)]
pub struct Fetched {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Whether the checksum was known beforehand: from the catalogue, or recorded when the file was first fetched.
    pub verified: bool,
    /// Whether the file was there already, so that nothing was downloaded.
    pub was_there: bool,
    /// The network in the file.
    pub network: Network,
}

/// Downloads networks into one folder.
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// The folder of networks; it is made if it does not exist.
    pub folder: PathBuf,
    /// Longest silence of the server: while connecting, before its answer, and between two pieces of the file.
    pub patience: Duration,
    /// Whether a file of the same name is replaced.
    pub force: bool,
}

impl Fetcher {
    /// Downloads the network unless its file is there. Where no checksum is known, the file's is recorded beside it, so
    /// that the next call can check that neither this file nor the server's has changed.
    ///
    /// # Errors
    /// [`FetchError`]; the networks in the folder stay as they were.
    pub fn fetch(&self, source: &Source, report: &mut dyn FnMut(FetchProgress)) -> Result<Fetched, FetchError> {
        let path = self.folder.join(&source.file_name);
        if path.exists() && !self.force {
            report(FetchProgress::Checking);
            return self.inspect(source, path);
        }
        let unfinished = self.folder.join(UNFINISHED);
        let made: Vec<PathBuf> =
            unfinished.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        let fetched = self.fetch_by_way_of(&unfinished, source, path, report);
        if fetched.is_err() {
            // Folders that are not empty stay: a download that was cut leaves its part there.
            made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        fetched
    }

    /// Downloads the network into the folder `unfinished`, and moves it to `path`.
    fn fetch_by_way_of(
        &self,
        unfinished: &Path,
        source: &Source,
        path: PathBuf,
        report: &mut dyn FnMut(FetchProgress),
    ) -> Result<Fetched, FetchError> {
        fs::create_dir_all(unfinished).map_err(io_error("create", unfinished))?;
        let mut part = Part::open(unfinished.join(&source.file_name))?;
        if let Err(error) = self.download(source, &mut part, report) {
            if part.length()? == 0 || matches!(error, FetchError::TooLarge { .. }) {
                part.discard()?;
                fs::remove_dir(unfinished).ok();
            }
            return Err(error);
        }
        report(FetchProgress::Checking);
        let sha256 = digest(&part.path)?;
        if let Some(expected) = source.sha256.as_ref().filter(|expected| **expected != sha256) {
            part.discard()?;
            let (url, expected) = (source.shown(), expected.clone());
            return Err(FetchError::Checksum { url, expected, actual: sha256 });
        }
        let recorded = recorded(&path).filter(|_| source.sha256.is_none() && !self.force);
        if let Some(expected) = recorded.as_ref().filter(|expected| **expected != sha256) {
            part.discard()?;
            let (url, record, expected) = (source.shown(), record_path(&path), expected.clone());
            return Err(FetchError::Changed { url, record, expected, actual: sha256 });
        }
        let network = match Network::load(&part.path) {
            Ok(network) => network,
            Err(reason) => {
                // A network of a kind for a later version is kept; anything else is of no use.
                if !matches!(reason, NetworkError::Unsupported { .. }) {
                    part.discard()?;
                }
                return Err(FetchError::Network { url: source.shown(), reason });
            }
        };
        part.finish(&path)?;
        // Fails while other unfinished downloads are there.
        fs::remove_dir(unfinished).ok();
        if source.sha256.is_none() {
            record(&path, &sha256)?;
        }
        let verified = source.sha256.is_some() || recorded.is_some();
        Ok(Fetched { path, sha256, verified, was_there: false, network })
    }

    /// Checks and reads a file that is there already.
    fn inspect(&self, source: &Source, path: PathBuf) -> Result<Fetched, FetchError> {
        let actual = digest(&path)?;
        let expected = source.sha256.clone().or_else(|| recorded(&path));
        if let Some(expected) = expected.as_ref().filter(|expected| **expected != actual) {
            return Err(FetchError::Differs { path, expected: expected.clone(), actual });
        }
        let network =
            Network::load(&path).map_err(|reason| FetchError::Network { url: path.display().to_string(), reason })?;
        if expected.is_none() {
            record(&path, &actual)?;
        }
        Ok(Fetched { path, sha256: actual, verified: expected.is_some(), was_there: true, network })
    }
}

#[cfg(test)]
mod tests;
