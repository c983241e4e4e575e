//! Writes the games of a match to the end of a PGN file.

use anyhow::Context as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use zeitnot::lab::{self, GameRecord};

/// A PGN file that is added to.
pub struct PgnFile {
    path: PathBuf,
    file: File,
    date: String,
}

impl PgnFile {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> anyhow::Result<PgnFile> {
        let cannot = || format!("cannot write {} (--pgn=FILE names another file)", path.display());
        let mut file = OpenOptions::new().create(true).append(true).open(path).with_context(cannot)?;
        // A pipe has neither a length nor a line to end.
        if is_torn(path).unwrap_or(false) {
            file.write_all(b"\n\n").with_context(cannot)?;
        }
        Ok(PgnFile { path: path.to_owned(), file, date: today() })
    }

    /// Where the games of this match begin, and the date that they have.
    pub fn start(&self) -> (u64, String) {
        (self.file.metadata().map_or(0, |metadata| metadata.len()), self.date.clone())
    }

    /// Goes back to where the games of an interrupted match begin; they are written again.
    pub fn go_back_to(&mut self, offset: u64, date: &str) -> anyhow::Result<()> {
        date.clone_into(&mut self.date);
        let metadata = self.file.metadata()?;
        // What is shorter now is not the file of then.
        if metadata.is_file() && metadata.len() > offset {
            self.file.set_len(offset).with_context(|| format!("cannot shorten {}", self.path.display()))?;
        }
        Ok(())
    }

    /// Writes a game.
    pub fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let mut text = Vec::new();
        lab::write_pgn(&mut text, record, "zeitnot match", &self.date)?;
        self.file.write_all(&text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Whether a file ends in the middle of a line.
fn is_torn(path: &Path) -> std::io::Result<bool> {
    let mut last = [0];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The date that the PGN is told.
fn today() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}
