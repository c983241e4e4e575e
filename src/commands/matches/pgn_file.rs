//! Writes the games of a match to the end of a PGN file.

use anyhow::Context as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use zeitnot::lab::{self, GameRecord};

/// The event of the games.
const EVENT: &str = "zeitnot match";

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

    /// Takes up the games of an interrupted match, which begin at `start` and are `games` so far. What the file has of them
    /// stays; the rest of a game that was being written, or broken off, goes.
    ///
    /// # Errors
    /// When something else has been written behind them: nothing of it is touched.
    pub fn take_up<'a>(
        &mut self,
        start: u64,
        date: &str,
        games: impl Iterator<Item = &'a GameRecord>,
    ) -> anyhow::Result<()> {
        date.clone_into(&mut self.date);
        if !self.file.metadata()?.is_file() {
            return Ok(());
        }
        let there = std::fs::read(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?;
        let there = there.get(start as usize..).unwrap_or_default();
        let mut expected = Vec::new();
        let mut kept = 0;
        for game in games {
            lab::write_pgn(&mut expected, game, EVENT, &self.date)?;
            if there.starts_with(&expected) {
                kept = expected.len();
            }
        }
        // `open` ends a torn line.
        let rest = there[kept..].trim_ascii();
        let is_ours = expected[kept..].starts_with(rest) || are_broken_off(&String::from_utf8_lossy(rest));
        anyhow::ensure!(
            is_ours,
            "{} has other games behind those of this match: move them to another file",
            self.path.display()
        );
        let end = start + kept as u64;
        if end < start + there.len() as u64 {
            self.file.set_len(end).with_context(|| format!("cannot shorten {}", self.path.display()))?;
        }
        self.file.write_all(&expected[kept..]).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes a game.
    pub fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let mut text = Vec::new();
        lab::write_pgn(&mut text, record, EVENT, &self.date)?;
        self.file.write_all(&text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Whether these are games of a match without a result: broken off, or torn while the last of them was being written.
fn are_broken_off(text: &str) -> bool {
    let event = format!("[Event \"{EVENT}\"]");
    let games: Vec<&str> = text.split_inclusive(" *\n\n").collect();
    let has_result = |game: &str| [" 1-0", " 0-1", " 1/2-1/2"].iter().any(|result| game.ends_with(result));
    games.iter().all(|game| {
        let is_one = game.starts_with(&event) && game.matches("[Event ").count() == 1;
        (is_one && !has_result(game)) || event.starts_with(game)
    })
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

#[cfg(test)]
mod tests {
    use super::are_broken_off;

    #[test]
    fn only_games_without_a_result_are_broken_off() {
        let game = |result: &str| format!("[Event \"zeitnot match\"]\n[Round \"7\"]\n\n1. e4 {{a}} {result}\n\n");
        let (unfinished, won) = (game("*"), game("1-0"));
        for ours in [String::new(), unfinished.repeat(3), format!("{unfinished}[Event"), won[..won.len() - 5].into()] {
            assert!(are_broken_off(ours.trim_end()), "{ours}");
        }
        let of_others = unfinished.replace("zeitnot match", "my own");
        for other in
            [won.clone(), format!("{unfinished}{won}"), format!("{won}{unfinished}"), of_others, "1. e4 *".into()]
        {
            assert!(!are_broken_off(other.trim_end()), "{other}");
        }
    }
}
