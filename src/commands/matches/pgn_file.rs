//! Writes the games of a match to the end of a PGN file.

use crate::commands::today;
use anyhow::Context as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use zeitnot_games::GameRecord;

/// The event of the games.
const EVENT: &str = "zeitnot match";

/// A PGN file that is added to.
pub struct PgnFile {
    path: PathBuf,
    file: File,
    date: String,
}

impl PgnFile {
    /// Opens the file, or makes it; nothing in it is changed yet.
    pub fn open(path: &Path) -> anyhow::Result<PgnFile> {
        let cannot = || format!("cannot write {} (--pgn=FILE names another file)", path.display());
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(cannot)?;
        Ok(PgnFile { path: path.to_owned(), file, date: today() })
    }

    /// The byte at which the games of a match that begins now start, and their date.
    pub fn start(&self) -> (u64, String) {
        (self.length() + self.missing_end().len() as u64, self.date.clone())
    }

    /// Length of the file in bytes; 0 for a pipe.
    fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// The line breaks that the file lacks if it ends in the middle of a line; else nothing.
    fn missing_end(&self) -> &'static [u8] {
        if is_torn(&self.path).unwrap_or(false) { b"\n\n" } else { b"" }
    }

    /// Takes up a match that begins at byte `start` and has `games` so far, none if it is new. Games in the file stay,
    /// missing ones are added; a game written in part and games that were broken off are removed.
    pub fn take_up(&mut self, start: u64, date: &str, games: &[&GameRecord]) -> anyhow::Result<()> {
        date.clone_into(&mut self.date);
        let cannot_write = || format!("cannot write {}", self.path.display());
        if self.length() + self.missing_end().len() as u64 == start {
            self.file.write_all(self.missing_end()).with_context(cannot_write)?;
        }
        let there = match self.file.metadata()?.is_file() {
            true => std::fs::read(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?,
            false => Vec::new(),
        };
        let is_whole = there.len() as u64 >= start || !self.file.metadata()?.is_file();
        anyhow::ensure!(is_whole, "{} is shorter than when the match began: bring it back", self.path.display());
        let there = there.get(start as usize..).unwrap_or_default();
        let (mut kept, mut missing) = (0, Vec::new());
        for game in games {
            let mut text = Vec::new();
            zeitnot_games::write_pgn(&mut text, game, EVENT, &self.date)?;
            match missing.is_empty() && there[kept..].starts_with(&text) {
                true => kept += text.len(),
                false => missing.extend(text),
            }
        }
        let rest = there[kept..].trim_ascii();
        anyhow::ensure!(
            missing.starts_with(rest) || are_broken_off(&String::from_utf8_lossy(rest)),
            "{} has other games behind those of this match: move them to another file",
            self.path.display()
        );
        if kept < there.len() {
            let end = start + kept as u64;
            self.file.set_len(end).with_context(|| format!("cannot shorten {}", self.path.display()))?;
        }
        self.file.write_all(&missing).with_context(cannot_write)
    }

    /// Writes a game.
    pub fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let mut text = Vec::new();
        zeitnot_games::write_pgn(&mut text, record, EVENT, &self.date)?;
        self.file.write_all(&text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Whether the text has only games of a match that were broken off, without a result; the last may end in mid-text.
fn are_broken_off(text: &str) -> bool {
    let event = format!("[Event \"{EVENT}\"]");
    let games: Vec<&str> = text.split("\n[Event ").collect();
    games.iter().enumerate().all(|(index, game)| {
        let game = if index == 0 { (*game).to_owned() } else { format!("[Event {game}") };
        let is_torn = index + 1 == games.len() && !game.contains("[Result ");
        game.starts_with(&event) && (is_torn || game.contains("[Result \"*\"]")) || is_torn && event.starts_with(&game)
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

#[cfg(test)]
mod tests {
    use super::are_broken_off;

    #[test]
    fn only_games_without_a_result_are_broken_off() {
        // The result may stand in a line of its own.
        let game = |result: &str| {
            format!("[Event \"zeitnot match\"]\n[Round \"7\"]\n[Result \"{result}\"]\n\n1. e4 {{a}}\n{result}\n\n")
        };
        let (unfinished, won) = (game("*"), game("1-0"));
        let torn = |end: &str| format!("{unfinished}{end}");
        for ours in [String::new(), unfinished.repeat(3), torn("[Ev"), torn("[Event \"zeitnot match\"]\n[Rou")] {
            assert!(are_broken_off(ours.trim_end()), "{ours}");
        }
        let of_others = unfinished.replace("zeitnot match", "my own");
        for other in [won.clone(), torn(&won), format!("{won}{unfinished}"), of_others, "1. e4 *".into()] {
            assert!(!are_broken_off(other.trim_end()), "{other}");
        }
    }
}
