//! Keeps the game in a PGN file from move to move, and takes up a game that was interrupted.

use crate::commands::output::note;
use crate::commands::today;
use anyhow::Context as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use zeitnot_games::{GameRecord, PgnGame, read_games, write_pgn};

/// The event of the games.
const EVENT: &str = "zeitnot play";

/// The tag that holds the engine's manner of playing ([`manner`](super::manner)).
const MANNER: &str = "EngineOptions";

/// A PGN file whose last game is under way.
pub struct GameFile {
    path: PathBuf,
    file: File,
    /// The byte at which the game begins.
    start: u64,
    date: String,
    /// The engine's manner of playing ([`manner`](super::manner)), as the text of its tag.
    pub manner: String,
}

impl GameFile {
    /// Opens the file, or makes it; the game goes behind what is there.
    pub fn open(path: &Path) -> anyhow::Result<GameFile> {
        let (mut file, there) = opened(path, true)?;
        if there.last().is_some_and(|last| *last != b'\n') {
            file.seek(SeekFrom::End(0))?;
            file.write_all(b"\n\n").with_context(|| cannot_write(path))?;
        }
        let start = file.metadata()?.len();
        Ok(GameFile { path: path.to_owned(), file, start, date: today(), manner: String::new() })
    }

    /// Opens the file and reads its last game, which goes on in its place.
    pub fn resume(path: &Path) -> anyhow::Result<(GameFile, PgnGame)> {
        let (file, there) = opened(path, false)?;
        let name = path.display();
        let begin = b"[Event \"";
        let is_begin = |at: &usize| there[*at..].starts_with(begin) && (*at == 0 || there[at - 1] == b'\n');
        let start = (0..there.len()).rev().find(is_begin).with_context(|| format!("{name} has no game"))?;
        let game = read_games(&there[start..])?.into_iter().next().with_context(|| format!("{name} has no game"))?;
        anyhow::ensure!(game.tag("Event") == EVENT, "the last game of {name} is not of zeitnot play");
        if let Some(result) = game.result.filter(|result| *result != "*") {
            anyhow::bail!("the last game of {name} is over ({result})");
        }
        if let Some(problem) = &game.problem {
            note!("{name}: {problem}: the game goes on from there");
        }
        let (date, manner) = (game.tag("Date").to_owned(), game.tag(MANNER).to_owned());
        Ok((GameFile { path: path.to_owned(), file, start: start as u64, date, manner }, game))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The game as PGN.
    pub fn text(&self, record: &GameRecord) -> Vec<u8> {
        let mut text = Vec::new();
        write_pgn(&mut text, record, EVENT, &self.date).expect("memory takes what is written");
        if let Some(end) = text.windows(2).position(|two| two == b"\n\n").filter(|_| !self.manner.is_empty()) {
            let value = self.manner.replace('\\', "\\\\").replace('"', "\\\"");
            text.splice(end + 1..end + 1, format!("[{MANNER} \"{value}\"]\n").into_bytes());
        }
        text
    }

    /// Writes the game to the file, over its earlier state.
    pub fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let mut text = self.text(record);
        let end = self.start + text.len() as u64;
        let metadata = self.file.metadata()?;
        let was = metadata.len().saturating_sub(self.start) as usize;
        // One write has all of it, blank lines in place of a longer game: the program may be killed at any moment.
        text.resize(text.len().max(was), b'\n');
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.start))?;
            self.file.write_all(&text)?;
            if metadata.is_file() { self.file.set_len(end) } else { Ok(()) }
        };
        write().with_context(|| cannot_write(&self.path))
    }

    /// Writes the game to another file, which must be new.
    pub fn save_as(&self, path: &Path, record: &GameRecord) -> std::io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(&self.text(record))
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {} (--pgn=FILE names another file)", path.display())
}

/// Opens and locks a file, and reads its content; creates it if `is_new`.
fn opened(path: &Path, is_new: bool) -> anyhow::Result<(File, Vec<u8>)> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(is_new).truncate(false).open(path).with_context(|| {
            if is_new { cannot_write(path) } else { format!("cannot go on with {}", path.display()) }
        })?;
    // Some file systems have no locks.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    anyhow::ensure!(!is_taken, "{} has a game that is being played (--pgn=FILE names another file)", path.display());
    let mut there = Vec::new();
    if file.metadata()?.is_file() {
        file.read_to_end(&mut there).with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok((file, there))
}
