//! Downloads a file over HTTP: asks for the part that is missing, and appends what comes.

use std::io::{self, Read as _};

use ureq::Agent;
use ureq::http::header::{CONTENT_LENGTH, IF_RANGE, RANGE};
use ureq::http::{Response, StatusCode};

use super::agent::{http_agent, http_reason};
use super::part::{Part, content_range, header};
use super::{FetchError, FetchProgress, Fetcher, Source};
use zeitnot_base::printable::without_password;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

impl Fetcher {
    /// Downloads the rest of the unfinished file.
    pub(super) fn download(
        &self,
        source: &Source,
        part: &mut Part,
        report: &mut dyn FnMut(FetchProgress),
    ) -> Result<(), FetchError> {
        let agent = http_agent(source.is_https(), self.patience);
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

    /// Asks for the file from byte `from` on.
    pub(super) fn ask(
        &self,
        agent: &Agent,
        source: &Source,
        part: &Part,
        from: u64,
    ) -> Result<Response<ureq::Body>, FetchError> {
        let mut request = agent.get(&source.url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-")).header(IF_RANGE, &part.version);
        }
        request.call().map_err(|error| {
            let reason = http_reason(&error, self.patience);
            match error {
                ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::BadUrl(source.shown()),
                ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::Timeout(_) => {
                    self.offline(source, reason)
                }
                // With a certificate that is not trusted, say, there is a server.
                ureq::Error::Io(error) if error.kind() != io::ErrorKind::InvalidData => self.offline(source, reason),
                _ => self.protocol(source, &reason),
            }
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
