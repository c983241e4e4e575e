//! Keeps the finished games of a match in a file, a line of JSON each, so that an interrupted match goes on where it stopped.

use super::record::GameRecord;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A journal that cannot be used. Its text is one line.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// The file is something else.
    #[error("{} line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The match in the file has other settings.
    #[error("{} holds a match with another {setting}: {there} there, {here} here", path.display())]
    OtherMatch {
        /// The file.
        path: PathBuf,
        /// The first setting that differs.
        setting: String,
        /// Its value in the file.
        there: String,
        /// Its value now.
        here: String,
    },
}

/// The journal of a match. Its first line is the settings, an object; each further line a finished game, in the order in which
/// they ended.
pub struct Journal {
    path: PathBuf,
    file: File,
    settings: Value,
    games: BTreeMap<u64, GameRecord>,
    is_ended: bool,
}

/// The line that says that a match came to its end.
const END: &str = "{\"end\":true}";

impl Journal {
    /// Begins a journal; a file that is there is replaced.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn create(path: &Path, settings: Value) -> Result<Journal, JournalError> {
        let io = |reason| JournalError::Io { path: path.to_owned(), reason };
        let mut file = File::create(path).map_err(io)?;
        file.write_all(format!("{settings}\n").as_bytes()).map_err(io)?;
        Ok(Journal { path: path.to_owned(), file, settings, games: BTreeMap::new(), is_ended: false })
    }

    /// Goes on with the journal of an interrupted match, or begins one where there is none. `settings` must be the same, but
    /// for `may_differ`, which keep the values of the file. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// [`JournalError`]; the file is as it was.
    pub fn resume(path: &Path, settings: Value, may_differ: &[&str]) -> Result<Journal, JournalError> {
        let io = |reason| JournalError::Io { path: path.to_owned(), reason };
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Journal::create(path, settings),
            Err(error) => return Err(io(error)),
        };
        // What follows the last line's end was being written when the match was interrupted.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let line_error = |line: usize, problem: String| JournalError::Line { path: path.to_owned(), line, problem };
        let Some(first) = lines.next() else { return Journal::create(path, settings) };
        let there: Value = serde_json::from_str(first).map_err(|error| line_error(1, error.to_string()))?;
        if let Some((setting, there, here)) = difference(&there, &settings, may_differ) {
            return Err(JournalError::OtherMatch { path: path.to_owned(), setting, there, here });
        }
        let (mut games, mut is_ended) = (BTreeMap::new(), false);
        for (index, line) in lines.enumerate() {
            is_ended = line == END;
            if is_ended {
                continue;
            }
            let game: GameRecord =
                serde_json::from_str(line).map_err(|error| line_error(index + 2, error.to_string()))?;
            let number = game.game;
            if games.insert(number, game).is_some() {
                return Err(line_error(index + 2, format!("game {number} for the second time")));
            }
        }
        let file = OpenOptions::new().append(true).open(path).map_err(io)?;
        file.set_len(whole as u64).map_err(io)?;
        Ok(Journal { path: path.to_owned(), file, settings: there, games, is_ended })
    }

    /// The settings, as the file has them.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// The finished games, by their numbers.
    pub fn games(&self) -> &BTreeMap<u64, GameRecord> {
        &self.games
    }

    /// Whether nothing is lost with the file: it has the whole of a match, or no game of it.
    pub fn is_replaceable(path: &Path) -> bool {
        let Ok(bytes) = std::fs::read(path) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().count() <= 1 || whole.lines().next_back() == Some(END)
    }

    /// Whether the match came to its end.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Notes that the match came to its end.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn end(&mut self) -> Result<(), JournalError> {
        match std::mem::replace(&mut self.is_ended, true) {
            true => Ok(()),
            false => self.write(END),
        }
    }

    /// Adds a finished game. The line goes to the system in one piece: a match that is killed then has the game or has it not.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn add(&mut self, game: GameRecord) -> Result<(), JournalError> {
        self.write(&serde_json::to_string(&game).expect("a record has no map with other keys than texts"))?;
        self.is_ended = false;
        self.games.insert(game.game, game);
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), JournalError> {
        let io = |reason| JournalError::Io { path: self.path.clone(), reason };
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(io)
    }
}

/// The first setting that differs, and its two values.
fn difference(there: &Value, here: &Value, may_differ: &[&str]) -> Option<(String, String, String)> {
    let empty = serde_json::Map::new();
    let (there, here) = (there.as_object().unwrap_or(&empty), here.as_object().unwrap_or(&empty));
    let keys = there.keys().chain(here.keys()).filter(|key| !may_differ.contains(&key.as_str()));
    let value = |object: &serde_json::Map<String, Value>, key: &str| {
        object.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string)
    };
    keys.map(|key| (key.clone(), value(there, key), value(here, key))).find(|(_, there, here)| there != here)
}

#[cfg(test)]
mod tests {
    use super::super::record::Termination;
    use super::*;
    use serde_json::json;

    fn game(number: u64) -> GameRecord {
        GameRecord {
            game: number,
            players: ["A".into(), "B".into()],
            first_is_white: number % 2 == 1,
            controls: ["1".into(), "1".into()],
            start_fen: None,
            chess960: false,
            opening: vec!["e4".into()],
            moves: Vec::new(),
            white_won: None,
            termination: Termination::Stalemate,
            error: None,
            clocks_ms: [0.1, 12.345],
        }
    }

    #[test]
    fn a_journal_cut_at_any_byte_goes_on_with_the_games_that_are_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("match.jsonl");
        let settings = json!({ "tc": "1", "games": 4 });
        let mut journal = Journal::create(&path, settings.clone()).unwrap();
        for number in [2, 1, 3] {
            journal.add(game(number)).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut journal = Journal::resume(&path, settings.clone(), &[]).unwrap();
            let whole = ends.iter().filter(|end| **end < cut).count().saturating_sub(1);
            let numbers: Vec<u64> = journal.games().keys().copied().collect();
            let mut expected = [2, 1, 3][..whole].to_vec();
            expected.sort_unstable();
            assert_eq!(numbers, expected, "cut at {cut}");
            journal.add(game(9)).unwrap();
            let again = Journal::resume(&path, settings.clone(), &[]).unwrap();
            assert_eq!(again.games().len(), whole + 1, "cut at {cut}");
            assert_eq!(again.games()[&9], game(9));
        }
    }

    #[test]
    fn another_match_and_other_files_are_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("match.jsonl");
        drop(Journal::create(&path, json!({ "tc": "1", "games": 4 })).unwrap());
        let error = Journal::resume(&path, json!({ "tc": "2", "games": 4 }), &[]).err().unwrap().to_string();
        assert!(error.ends_with("holds a match with another tc: \"1\" there, \"2\" here"), "{error}");
        let error = Journal::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
        assert!(error.ends_with("another games: 4 there, nothing here"), "{error}");
        let kept = Journal::resume(&path, json!({ "tc": "1", "games": 8 }), &["games"]).unwrap();
        assert_eq!(kept.settings()["games"], 4);
        std::fs::write(&path, "{\"tc\":\"1\"}\nx\n").unwrap();
        let error = Journal::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
        assert!(error.contains("match.jsonl line 2: expected value"), "{error}");
    }
}
