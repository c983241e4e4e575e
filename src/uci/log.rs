//! Writes `LogFile`: every line read and written over UCI, with the time, to a file or to standard error.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The name that stands for standard error (Lc0's).
const STDERR: &str = "<stderr>";

/// A log that cannot be written. Its text is one line.
#[derive(Debug, Error)]
#[error("option LogFile: {path}: {error}")]
pub(super) struct LogError {
    path: String,
    error: std::io::Error,
}

/// An open log.
pub(super) struct Log {
    path: String,
    sink: Box<dyn Write + Send>,
}

impl Log {
    /// Opens the log of that name to append to; the empty name stands for none.
    ///
    /// # Errors
    /// [`LogError`], when the file cannot be opened for writing.
    pub fn open(path: &str) -> Result<Option<Log>, LogError> {
        let sink: Box<dyn Write + Send> = match path {
            "" => return Ok(None),
            STDERR => Box::new(std::io::stderr()),
            _ => match OpenOptions::new().append(true).create(true).open(path) {
                Ok(file) => Box::new(file),
                Err(error) => return Err(LogError { path: path.to_owned(), error }),
            },
        };
        Ok(Some(Log { path: path.to_owned(), sink }))
    }

    /// The folder that it lies in; none of standard error.
    pub fn folder(&self) -> Option<PathBuf> {
        let path = std::path::absolute(&self.path).ok().filter(|_| self.path != STDERR)?;
        path.parent().map(Path::to_path_buf)
    }

    /// Its name.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Writes a line: the time in UTC, `mark` (`>>` read, `<<` written, as Lc0 has them), the text.
    pub fn line(&mut self, mark: &str, text: &str) {
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        // A full disk must not end the game.
        let _ = writeln!(self.sink, "{now} {mark} {text}").and_then(|()| self.sink.flush());
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
            Log::open(&path).unwrap().unwrap().line(">>", text);
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
        assert!(error.starts_with(&format!("option LogFile: {path}: ")), "{error}");
        assert_eq!(Log::open("<stderr>").unwrap().unwrap().path(), "<stderr>");
    }
}
