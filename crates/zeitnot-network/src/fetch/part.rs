//! Keeps an unfinished download between attempts, with the version of the file that the server stated.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use ureq::http::Response;
use ureq::http::header::{CONTENT_RANGE, ETAG, HeaderName, LAST_MODIFIED};

use super::FetchError;
use super::error::io_error;
use zeitnot_base::digest::sha256;

pub(super) fn header<B>(response: &Response<B>, name: HeaderName) -> Option<&str> {
    response.headers().get(name)?.to_str().ok()
}

/// The header `Content-Range: bytes START-END/TOTAL`, where `START-END` or `TOTAL` may be unknown (RFC 9110, 14.4).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    pub start: Option<u64>,
    pub total: Option<u64>,
}

impl ContentRange {
    /// Whether the part sent continues a download of which `have` bytes are there: it begins right after them, in a
    /// file of at least so many bytes.
    pub(crate) fn goes_on_at(&self, have: u64) -> bool {
        self.start == Some(have) && self.total.is_none_or(|total| total >= have)
    }
}

pub(super) fn content_range<B>(response: &Response<B>) -> Option<ContentRange> {
    let (range, total) = header(response, CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    Some(ContentRange { start, total: total.trim().parse().ok() })
}

/// An unfinished file. A second file beside it holds the server's name for this version, so that a later version is not
/// appended to it; the second file is also the lock that keeps other processes away.
pub(super) struct Part {
    pub path: PathBuf,
    file: File,
    version_path: PathBuf,
    version_file: File,
    /// The server's name for the version that is being downloaded; empty without one.
    pub version: String,
}

impl Part {
    pub fn open(path: PathBuf) -> Result<Part, FetchError> {
        let mut version_path = path.clone().into_os_string();
        version_path.push(".version");
        let version_path = PathBuf::from(version_path);
        let mut version_file = open(&version_path)?;
        match version_file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FetchError::Busy { path }),
            Err(TryLockError::Error(reason)) => return Err(io_error("lock", &version_path)(reason)),
        }
        let mut version = String::new();
        version_file.read_to_string(&mut version).map_err(io_error("read", &version_path))?;
        let file = open(&path)?;
        Ok(Part { path, file, version_path, version_file, version })
    }

    /// Bytes downloaded so far.
    pub(crate) fn length(&self) -> Result<u64, FetchError> {
        Ok(self.file.metadata().map_err(io_error("read", &self.path))?.len())
    }

    /// Prepares for appending after `length` bytes, and notes the version that the server answers with: a strong entity
    /// tag or a date (RFC 9110, 13.1.5).
    pub(crate) fn start_at<B>(&mut self, length: u64, response: &Response<B>) -> Result<(), FetchError> {
        let tag = header(response, ETAG).filter(|tag| !tag.starts_with("W/"));
        self.version = tag.or_else(|| header(response, LAST_MODIFIED)).unwrap_or_default().to_owned();
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(self.version.as_bytes())
        };
        write(&mut self.version_file).map_err(io_error("write", &self.version_path))?;
        let seek = |file: &mut File| {
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length))
        };
        seek(&mut self.file).map(|_| ()).map_err(io_error("write", &self.path))
    }

    /// Appends bytes to the file.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).map_err(io_error("write", &self.path))
    }

    /// Writes the bytes through to the disk.
    pub fn sync(&self) -> Result<(), FetchError> {
        self.file.sync_all().map_err(io_error("write", &self.path))
    }

    /// Moves the finished file to `path`, and removes the record of its version.
    pub fn finish(self, path: &Path) -> Result<(), FetchError> {
        fs::rename(&self.path, path).map_err(io_error("write", path))?;
        fs::remove_file(&self.version_path).map_err(io_error("remove", &self.version_path))
    }

    /// Removes the file, which is of no use.
    pub(crate) fn discard(self) -> Result<(), FetchError> {
        fs::remove_file(&self.path).map_err(io_error("remove", &self.path))?;
        fs::remove_file(&self.version_path).map_err(io_error("remove", &self.version_path))
    }
}

fn open(path: &Path) -> Result<File, FetchError> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).open(path).map_err(io_error("write", path))
}

/// The SHA-256 of a file in lower-case hexadecimal.
pub(super) fn digest(path: &Path) -> Result<String, FetchError> {
    File::open(path).and_then(sha256).map_err(io_error("read", path))
}

/// Path of the file that records the checksum of the file at `path`, in the format of `sha256sum`.
pub(super) fn record_path(path: &Path) -> PathBuf {
    let mut record = path.as_os_str().to_owned();
    record.push(".sha256");
    record.into()
}

/// Records the checksum of a file.
pub(super) fn record(path: &Path, sha256: &str) -> Result<(), FetchError> {
    let record = record_path(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    fs::write(&record, format!("{sha256}  {name}\n")).map_err(io_error("write", &record))
}

/// The checksum that was recorded for a file, if there is one.
pub(super) fn recorded(path: &Path) -> Option<String> {
    /// Hexadecimal digits of a SHA-256.
    const DIGITS: usize = 64;
    let mut digits = [0; DIGITS];
    File::open(record_path(path)).ok()?.read_exact(&mut digits).ok()?;
    let sha256 = std::str::from_utf8(&digits).ok()?.to_ascii_lowercase();
    sha256.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(sha256)
}
