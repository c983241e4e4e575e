//! Downloads network files.
//!
//! A file is downloaded under its final name into a folder of unfinished ones, where no engine looks, and moved into
//! place when it is whole: of the length that the server gave, of the right checksum where one is known, and a network
//! that loads. A download that was cut goes on where it ended, if the server still has the same file.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;
use ureq::http::header::{CONTENT_LENGTH, IF_RANGE, RANGE};
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};

use super::{Network, NetworkError};
use error::io_error;
use part::{Part, content_range, digest, header, record, record_path, recorded};
use zeitnot_text::printable::without_password;

mod error;
mod part;
mod source;

pub use error::FetchError;
pub use source::Source;

/// The folder of unfinished downloads within the folder of networks.
const UNFINISHED: &str = ".unfinished";
/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// The progress of a download, for a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchProgress {
    /// The file is coming in.
    Downloading {
        /// Bytes that are here, those of an earlier attempt included.
        bytes: u64,
        /// Bytes of the whole file, where the server gives them.
        total: Option<u64>,
    },
    /// Check of a whole file's content.
    Checking,
}

/// A network that is in place.
#[derive(Debug)]
pub struct Fetched {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Whether the checksum was known beforehand: from the catalogue, or recorded when the file was first fetched.
    pub verified: bool,
    /// Whether it had been there already, so that nothing was downloaded.
    pub was_there: bool,
    /// The network in it.
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
    /// Downloads the network unless it is there. The checksum of a file that had none known is recorded beside it, so
    /// that the next call can check whether it is still the same: the file that lies there, and the one that the server has.
    ///
    /// # Errors
    ///
    /// [`FetchError`]; the folder of networks is as it was.
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
            // Fails for those with something in them, such as the part that came of a download that was cut.
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
        // Fails while there are others.
        fs::remove_dir(unfinished).ok();
        if source.sha256.is_none() {
            record(&path, &sha256)?;
        }
        let verified = source.sha256.is_some() || recorded.is_some();
        Ok(Fetched { path, sha256, verified, was_there: false, network })
    }

    /// A file that is there already.
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

    /// Downloads the rest of the unfinished file.
    fn download(
        &self,
        source: &Source,
        part: &mut Part,
        report: &mut dyn FnMut(FetchProgress),
    ) -> Result<(), FetchError> {
        let agent = self.agent(source);
        // Without a version it is unknown whether the server still has the same file: it is fetched from the start.
        let have = if part.version.is_empty() { 0 } else { part.length()? };
        let mut have = if have > source.limit { 0 } else { have };
        let mut response = self.ask(&agent, source, part, have)?;
        let range = content_range(&response);
        let goes_on = match response.status() {
            StatusCode::RANGE_NOT_SATISFIABLE if range.as_ref().is_some_and(|range| range.total == Some(have)) => {
                // It was complete.
                return Ok(());
            }
            // These bytes are not of this file.
            StatusCode::RANGE_NOT_SATISFIABLE => false,
            // Some servers answer with another part than was asked for.
            StatusCode::PARTIAL_CONTENT => range.is_some_and(|range| range.goes_on_at(have)),
            _ => true,
        };
        if have > 0 && !goes_on {
            have = 0;
            response = self.ask(&agent, source, part, 0)?;
        }
        let total = match response.status() {
            StatusCode::OK => {
                have = 0;
                header(&response, CONTENT_LENGTH).and_then(|text| text.parse().ok())
            }
            StatusCode::PARTIAL_CONTENT => match content_range(&response) {
                Some(range) if range.goes_on_at(have) => range.total,
                _ => return Err(self.protocol(source, "the server sent another part of the file than asked for")),
            },
            status => return Err(FetchError::Status { url: source.shown(), status }),
        };
        if total.is_some_and(|total| total > source.limit) {
            return Err(too_large(source));
        }
        part.start_at(have, &response)?;
        self.receive(source, part, response, have, total, report)
    }

    /// The HTTP agent for this file.
    fn agent(&self, source: &Source) -> Agent {
        Agent::config_builder()
            .http_status_as_error(false)
            .https_only(source.is_https())
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .user_agent(concat!("zeitnot/", env!("CARGO_PKG_VERSION")))
            // The file as it lies there: some servers would compress the compressed file once more.
            .accept_encoding("identity")
            .timeout_resolve(Some(self.patience))
            .timeout_connect(Some(self.patience))
            .timeout_recv_response(Some(self.patience))
            .timeout_per_read(Some(self.patience))
            .build()
            .into()
    }

    /// Asks for the file from byte `from` on.
    fn ask(&self, agent: &Agent, source: &Source, part: &Part, from: u64) -> Result<Response<ureq::Body>, FetchError> {
        let mut request = agent.get(&source.url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-")).header(IF_RANGE, &part.version);
        }
        request.call().map_err(|error| match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::BadUrl(source.shown()),
            ureq::Error::HostNotFound => self.offline(source, "no such server is known".to_owned()),
            ureq::Error::ConnectionFailed => self.offline(source, "no connection".to_owned()),
            ureq::Error::Timeout(_) => self.offline(source, format!("no answer for {} s", self.patience.as_secs())),
            ureq::Error::RequireHttpsOnly(url) => {
                self.protocol(source, &format!("it leads to {url}, which is not https"))
            }
            // A certificate that is not trusted, say: there is a server.
            ureq::Error::Io(reason) if reason.kind() == io::ErrorKind::InvalidData => {
                self.protocol(source, &reason.to_string())
            }
            ureq::Error::Io(reason) => self.offline(source, reason.to_string()),
            other => self.protocol(source, &other.to_string()),
        })
    }

    /// Appends the body of the answer to the unfinished file.
    fn receive(
        &self,
        source: &Source,
        part: &mut Part,
        response: Response<ureq::Body>,
        mut bytes: u64,
        total: Option<u64>,
        report: &mut dyn FnMut(FetchProgress),
    ) -> Result<(), FetchError> {
        let mut body = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        let cut = |bytes| {
            let total = total.map_or("?".to_owned(), |total| total.to_string());
            FetchError::Cut { url: source.shown(), bytes, total }
        };
        loop {
            report(FetchProgress::Downloading { bytes, total });
            let count = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_timeout(&error) => {
                    let seconds = self.patience.as_secs();
                    return Err(FetchError::Stalled { url: source.shown(), seconds, bytes });
                }
                Err(_) => return Err(cut(bytes)),
            };
            bytes += count as u64;
            if bytes > source.limit {
                return Err(too_large(source));
            }
            part.append(&chunk[..count])?;
        }
        if total.is_some_and(|total| total != bytes) {
            return Err(cut(bytes));
        }
        part.sync()
    }

    fn offline(&self, source: &Source, reason: String) -> FetchError {
        FetchError::Offline { host: source.host(), reason }
    }

    fn protocol(&self, source: &Source, reason: &str) -> FetchError {
        let reason = reason.lines().next().unwrap_or_default();
        FetchError::Protocol { url: source.shown(), reason: without_password(reason).into_owned() }
    }
}

fn too_large(source: &Source) -> FetchError {
    FetchError::TooLarge { url: source.shown(), limit: source.limit }
}

/// Whether the error is our own timeout.
fn is_timeout(error: &io::Error) -> bool {
    let ureq = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
        || matches!(ureq, Some(ureq::Error::Timeout(_)))
}

#[cfg(test)]
mod tests;
