//! Keeps the finished games of a match, or the iterations of a tuning, in a file, a line of JSON each, so that interrupted work
//! goes on where it stopped.

use super::journal_error::JournalError;
use super::record::GameRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a journal keeps a line of: a game of a match, an iteration of a tuning.
pub trait Entry: Serialize + DeserializeOwned {
    /// The whole that its entries belong to, in a word.
    const WHOLE: &'static str;
    /// An entry, in a word.
    const ENTRY: &'static str;

    /// Its number, which no other entry of the journal has.
    fn number(&self) -> u64;
}

impl Entry for GameRecord {
    const WHOLE: &'static str = "match";
    const ENTRY: &'static str = "game";

    fn number(&self) -> u64 {
        self.game
    }
}

/// The journal of a match, or of other work in numbered parts. Its first line is the settings, an object; each further line a
/// finished game or part, in the order in which they ended.
pub struct Journal<E = GameRecord> {
    path: PathBuf,
    file: File,
    settings: Value,
    entries: BTreeMap<u64, E>,
    is_begun: bool,
    is_ended: bool,
    /// Bytes of the whole lines that were there.
    whole: u64,
    /// Whether the settings are not written yet: the file is as it was.
    is_pending: bool,
    /// Whether the file has the whole of another match.
    has_other: bool,
}

/// How often a journal that another process has is tried to be locked, and the pause between.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// The line that says that a match came to its end.
const END: &str = "{\"end\":true}";

impl<E: Entry> Journal<E> {
    /// Prepares a new journal, which replaces one that has the whole of a match, or no game. The file stays as it is until
    /// [`Journal::begin`], or the first entry: a match that never starts costs no other one's games.
    ///
    /// # Errors
    /// [`JournalError`], also where the file is no journal, or has games of a match that was interrupted.
    pub fn create(path: &Path, settings: Value) -> Result<Self, JournalError> {
        let mut journal = Journal::open(path)?;
        if journal.is_begun && !journal.is_ended && !journal.entries.is_empty() {
            return Err(JournalError::Unfinished { path: path.to_owned() });
        }
        journal.prepare(settings);
        Ok(journal)
    }

    /// Goes on with the journal of an interrupted match, or prepares one where there is none. `settings` must be those of its
    /// games, but for `may_differ`, which keep the values of the file. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// [`JournalError`]; the file is as it was.
    pub fn resume(path: &Path, settings: Value, may_differ: &[&str]) -> Result<Self, JournalError> {
        let mut journal = Journal::open(path)?;
        let differs = difference(&journal.settings, &settings, may_differ);
        if !journal.is_begun || (journal.entries.is_empty() && differs.is_some()) {
            journal.prepare(settings);
            return Ok(journal);
        }
        if let Some((setting, there, here)) = differs {
            return Err(JournalError::OtherSettings { path: path.to_owned(), whole: E::WHOLE, setting, there, here });
        }
        journal.file.set_len(journal.whole).map_err(|reason| journal.io(reason))?;
        Ok(journal)
    }

    /// Opens a file for nobody else and reads what it has.
    fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |reason| JournalError::Io { path: path.to_owned(), reason };
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(io)?;
        // A process that is being started holds the files of its parent for a moment. Some file systems have no locks.
        let is_locked = |_| {
            let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if is_taken {
                std::thread::sleep(LOCK_PAUSE);
            }
            !is_taken
        };
        if !(0..LOCK_ATTEMPTS).any(is_locked) {
            return Err(JournalError::InUse { path: path.to_owned(), whole: E::WHOLE });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let Content { settings, entries, is_ended, whole } = parse(path, &bytes)?;
        let (path, whole) = (path.to_owned(), whole as u64);
        let is_begun = whole > 0;
        Ok(Journal { path, file, settings, entries, is_begun, is_ended, whole, is_pending: false, has_other: false })
    }

    /// Takes the settings of a new match; the file stays as it is.
    fn prepare(&mut self, settings: Value) {
        self.has_other = !self.entries.is_empty();
        self.entries.clear();
        (self.is_ended, self.is_pending, self.settings) = (false, true, settings);
    }

    /// Adds a setting to those that are not written yet; a journal that goes on keeps its own.
    pub fn note(&mut self, setting: &str, value: impl Into<Value>) {
        if let (true, Some(settings)) = (self.is_pending, self.settings.as_object_mut()) {
            settings.insert(setting.to_owned(), value.into());
        }
    }

    /// Writes the settings of a new match in place of all that the file has; nothing where they are written.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn begin(&mut self) -> Result<(), JournalError> {
        if !self.is_pending {
            return Ok(());
        }
        self.file.set_len(0).map_err(|reason| self.io(reason))?;
        let settings = self.settings.to_string();
        (self.is_pending, self.has_other) = (false, false);
        self.write(&settings)
    }

    /// Whether the file still has the whole of another match, which this one will replace.
    pub fn has_other(&self) -> bool {
        self.has_other
    }

    fn io(&self, reason: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), reason }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings, as the file has them or will have them.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// The finished entries, by their numbers.
    pub fn entries(&self) -> &BTreeMap<u64, E> {
        &self.entries
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

    /// Adds a finished entry. The line goes to the system in one piece: a match that is killed then has the game or has it not.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn add(&mut self, entry: E) -> Result<(), JournalError> {
        self.write(&serde_json::to_string(&entry).expect("a record has no map with other keys than texts"))?;
        self.is_ended = false;
        self.entries.insert(entry.number(), entry);
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), JournalError> {
        self.begin()?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|reason| self.io(reason))
    }
}

impl Journal {
    /// The finished games, by their numbers.
    pub fn games(&self) -> &BTreeMap<u64, GameRecord> {
        self.entries()
    }
}

/// The finished games of a journal, by their numbers; the file is left as it is, and a match may be writing it.
///
/// # Errors
/// [`JournalError`], where the file cannot be read or is no journal.
pub fn read_journal(path: &Path) -> Result<Vec<GameRecord>, JournalError> {
    let bytes = std::fs::read(path).map_err(|reason| JournalError::Io { path: path.to_owned(), reason })?;
    Ok(parse(path, &bytes)?.entries.into_values().collect())
}

/// The whole lines of a journal.
struct Content<E> {
    settings: Value,
    entries: BTreeMap<u64, E>,
    is_ended: bool,
    /// Their bytes.
    whole: usize,
}

fn parse<E: Entry>(path: &Path, bytes: &[u8]) -> Result<Content<E>, JournalError> {
    // What follows the last line's end was being written when the match was interrupted.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line_error = |line: usize, problem: String| JournalError::Line { path: path.to_owned(), line, problem };
    let (mut settings, mut entries, mut is_ended) = (Value::Null, BTreeMap::new(), false);
    for (index, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        if index == 0 {
            settings = serde_json::from_slice(line).map_err(|error| line_error(1, error.to_string()))?;
            if !settings.is_object() {
                return Err(line_error(1, format!("it is no journal of a {}", E::WHOLE)));
            }
            continue;
        }
        is_ended = line.trim_ascii() == END.as_bytes();
        if is_ended {
            continue;
        }
        let entry: E = serde_json::from_slice(line).map_err(|error| line_error(index + 1, error.to_string()))?;
        let number = entry.number();
        if entries.insert(number, entry).is_some() {
            return Err(line_error(index + 1, format!("{} {number} for the second time", E::ENTRY)));
        }
    }
    // A first line that was cut off is one of ours if it begins as ours do.
    let is_foreign = whole == 0 && !bytes.is_empty() && bytes[0] != b'{';
    if is_foreign {
        return Err(line_error(1, format!("it is no journal of a {}", E::WHOLE)));
    }
    Ok(Content { settings, entries, is_ended, whole })
}

/// The first setting that differs, and its two values.
fn difference(there: &Value, here: &Value, may_differ: &[&str]) -> Option<(String, String, String)> {
    let empty = serde_json::Map::new();
    let (there, here) = (there.as_object().unwrap_or(&empty), here.as_object().unwrap_or(&empty));
    let keys = there.keys().chain(here.keys()).filter(|key| !may_differ.contains(&key.as_str()));
    let value = |object: &serde_json::Map<String, Value>, key: &str| {
        object.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string)
    };
    let other =
        keys.map(|key| (key.clone(), value(there, key), value(here, key))).find(|(_, there, here)| there != here)?;
    // The innermost setting says more than all of them.
    let nested = there.get(&other.0).zip(here.get(&other.0)).and_then(|(there, here)| difference(there, here, &[]));
    Some(nested.unwrap_or(other))
}

#[cfg(test)]
mod tests {
    use super::super::record::drawn_game;
    use super::*;
    use serde_json::json;

    fn game(number: u64) -> GameRecord {
        GameRecord { opening: vec!["e4".into()], clocks_ms: [0.1, 12.345], ..drawn_game(number) }
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
        drop(journal);
        let error = Journal::<GameRecord>::create(&path, settings.clone()).err().unwrap().to_string();
        assert!(error.contains("--resume goes on with it"), "{error}");
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
            if cut == 0 {
                let in_use = Journal::<GameRecord>::resume(&path, settings.clone(), &[]).err().unwrap().to_string();
                assert!(in_use.starts_with("another match is writing"), "{in_use}");
            }
            drop(journal);
            let again = Journal::<GameRecord>::resume(&path, settings.clone(), &[]).unwrap();
            assert_eq!(again.games().len(), whole + 1, "cut at {cut}");
            assert_eq!(again.games()[&9], game(9));
        }
    }

    #[test]
    fn a_finished_match_is_replaced_by_the_first_game_of_another_and_not_before() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("match.jsonl");
        let create = |tc: &str| Journal::<GameRecord>::create(&path, json!({ "tc": tc })).unwrap();
        let mut journal = create("1");
        assert!(!journal.has_other());
        journal.add(game(1)).unwrap();
        journal.end().unwrap();
        drop(journal);
        let finished = std::fs::read(&path).unwrap();
        let mut journal = create("2");
        journal.note("pgn_start", 7);
        assert!(journal.has_other() && journal.games().is_empty());
        drop(journal);
        assert_eq!(std::fs::read(&path).unwrap(), finished);
        let mut journal = create("3");
        journal.note("pgn_start", 8);
        journal.add(game(5)).unwrap();
        assert!(!journal.has_other());
        drop(journal);
        let journal = Journal::<GameRecord>::resume(&path, json!({ "tc": "3", "pgn_start": 8 }), &[]).unwrap();
        assert_eq!(journal.games().keys().collect::<Vec<_>>(), [&5]);
    }

    #[test]
    fn another_match_and_other_files_are_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("match.jsonl");
        drop(Journal::<GameRecord>::create(&path, json!({ "tc": "3" })).unwrap());
        // Without a game there is nothing that other settings could spoil.
        let mut begun = Journal::<GameRecord>::resume(&path, json!({ "tc": "1", "games": 4 }), &[]).unwrap();
        begun.add(game(1)).unwrap();
        drop(begun);
        let error =
            Journal::<GameRecord>::resume(&path, json!({ "tc": "2", "games": 4 }), &[]).err().unwrap().to_string();
        assert!(error.ends_with("holds a match with another tc: \"1\" there, \"2\" here"), "{error}");
        let error = Journal::<GameRecord>::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
        assert!(error.ends_with("another games: 4 there, nothing here"), "{error}");
        let kept = Journal::<GameRecord>::resume(&path, json!({ "tc": "1", "games": 8 }), &["games"]).unwrap();
        assert_eq!(kept.settings()["games"], 4);
        drop(kept);
        std::fs::write(&path, "{\"tc\":\"1\"}\nx\n").unwrap();
        let error = Journal::<GameRecord>::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
        assert!(error.contains("match.jsonl line 2: expected value"), "{error}");
        // Somebody's own file is neither replaced nor added to.
        for text in ["my notes\n", "my notes", "[1,2]\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(
                Journal::<GameRecord>::create(&path, json!({})).is_err()
                    && Journal::<GameRecord>::resume(&path, json!({}), &[]).is_err()
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
