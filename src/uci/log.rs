//! Writes `LogFile`: every line read and written over UCI, with the time, to a file or to standard error.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use zeitnot_base::files::{OtherKind, to_path};

/// The value of `LogFile` that means standard error, as in Lc0.
const STDERR: &str = "<stderr>";

/// A log that cannot be opened or written. Its text is one line.
#[derive(Debug, Error)]
#[error("option LogFile: {path}: {error}")]
pub(super) struct LogError {
    path: String,
    error: io::Error,
}

/// An open log.
pub(super) struct Log {
    path: String,
    sink: Box<dyn Write + Send>,
    /// Whether a line could not be written, so that later errors are not reported.
    has_failed: bool,
}

impl Log {
    /// Opens a log that lines are appended to, in the file `path` or on standard error; `None` for an empty path.
    ///
    /// # Errors
    /// [`LogError`], when the file cannot be opened for writing.
    pub fn open(path: &str) -> Result<Option<Log>, LogError> {
        let sink: Box<dyn Write + Send> = match path {
            "" => return Ok(None),
            STDERR => Box::new(std::io::stderr()),
            _ => Box::new(open(&to_path(path)).map_err(|error| LogError { path: path.to_owned(), error })?),
        };
        Ok(Some(Log { path: path.to_owned(), sink, has_failed: false }))
    }

    /// The folder of the log; `None` for standard error.
    pub fn folder(&self) -> Option<PathBuf> {
        let path = std::path::absolute(to_path(&self.path)).ok().filter(|_| self.path != STDERR)?;
        path.parent().map(Path::to_path_buf)
    }

    /// The path that the log was opened with.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Writes a line: the time in UTC, `mark` (`>>` read, `<<` written, as Lc0 has them), the text.
    ///
    /// # Errors
    /// [`LogError`] for the first line that cannot be written: a full disk must not end the game. Later lines are tried
    /// all the same, and their errors are ignored.
    pub fn line(&mut self, mark: &str, text: &str) -> Result<(), LogError> {
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        // In one piece, so that a full disk leaves whole lines where it can.
        let line = format!("{now} {mark} {text}\n");
        let written = self.sink.write_all(line.as_bytes()).and_then(|()| self.sink.flush());
        match written {
            Err(error) if !std::mem::replace(&mut self.has_failed, true) => {
                Err(LogError { path: self.path.clone(), error })
            }
            _ => Ok(()),
        }
    }
}

/// Opens a file to append to. A device such as `/dev/stderr` is allowed, but no pipe, which would wait for its reader.
fn open(path: &Path) -> io::Result<File> {
    let kind = path.metadata().ok().and_then(|found| OtherKind::of(found.file_type()));
    match kind.filter(|kind| *kind != OtherKind::Device) {
        Some(kind) => Err(kind.not_a_file()),
        None => OpenOptions::new().append(true).create(true).open(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_with_the_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log").to_str().unwrap().to_owned();
        for text in ["uci", "isready"] {
            Log::open(&path).unwrap().unwrap().line(">>", text).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.splitn(3, ' ').collect()).collect();
        assert_eq!(lines.iter().map(|line| (line[1], line[2])).collect::<Vec<_>>(), [(">>", "uci"), (">>", "isready")]);
        assert!(OffsetDateTime::parse(lines[0][0], &Rfc3339).is_ok());
    }

    #[test]
    fn no_name_is_no_log_and_a_folder_is_none_either() {
        assert!(Log::open("").unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let error = Log::open(path).err().unwrap().to_string();
        assert_eq!(error, format!("option LogFile: {path}: it is a folder, not a file"));
        assert_eq!(Log::open("<stderr>").unwrap().unwrap().path(), "<stderr>");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once() {
        let mut log = Log::open("/dev/full").unwrap().unwrap();
        let error = log.line(">>", "uci").unwrap_err().to_string();
        assert!(error.starts_with("option LogFile: /dev/full: No space left"), "{error}");
        assert!(log.line(">>", "isready").is_ok());
        assert!(Log::open("/dev/null").unwrap().unwrap().line(">>", "uci").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = Log::open(pipe.to_str().unwrap()).err().unwrap().to_string();
        assert!(error.ends_with("it is a pipe, not a file"), "{error}");
    }
}
