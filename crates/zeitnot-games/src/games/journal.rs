//! Keeps the finished parts of work, such as the games of a match, in a file, a line of JSON each, so that interrupted
//! work goes on where it stopped.

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
use zeitnot_base::files::without_marks;

/// An entry of a journal, one line each, such as a game of a match.
pub trait Entry: Serialize + DeserializeOwned {
    /// The word for the whole that the entries make up, such as `match`.
    const WHOLE: &'static str;
    /// A word for an entry, such as `game`.
    const ENTRY: &'static str;

    /// The number of the entry, which no other entry of the journal has.
    fn number(&self) -> u64;
}

impl Entry for GameRecord {
    const WHOLE: &'static str = "match";
    const ENTRY: &'static str = "game";

    fn number(&self) -> u64 {
        self.game
    }
}

/// The journal of a match, or of other work in numbered parts. Its first line is the settings, an object; each further
/// line a finished game or part, in the order in which they ended.
pub struct Journal<E = GameRecord> {
    path: PathBuf,
    file: File,
    settings: Value,
    entries: BTreeMap<u64, E>,
    is_begun: bool,
    is_ended: bool,
    /// Length in bytes of the complete lines that the file had when it was opened.
    whole: u64,
    /// Whether the settings are not written yet, and the file is unchanged.
    is_pending: bool,
    /// Whether the file has games of another match, which are to be replaced.
    has_other: bool,
}

/// Attempts to lock a journal that another process holds, and the pause between two attempts.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// The line that says that a match came to its end.
const END: &str = "{\"end\":true}";

impl<E: Entry> Journal<E> {
    /// Prepares a new journal in place of one with a whole match or without games. The file stays as it is until
    /// [`Journal::begin`] or the first entry, so that a match that never starts destroys no games.
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

    /// Goes on with the journal of an interrupted match, or prepares one where there is no journal yet. `settings` must
    /// equal the file's, except for the names in `may_differ`, which keep the file's values. A last line that was cut
    /// off is dropped.
    ///
    /// # Errors
    /// [`JournalError`]; the file is then unchanged.
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

    /// Prepares a journal in a temporary file without a name, which is gone when the process ends.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn private(settings: Value) -> Result<Self, JournalError> {
        let path = std::env::temp_dir();
        let file = tempfile::tempfile().map_err(|reason| JournalError::Io { path: path.clone(), reason })?;
        let mut journal = Journal::of(&path, file)?;
        journal.prepare(settings);
        Ok(journal)
    }

    /// Opens and locks a file and reads its lines.
    fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |reason| JournalError::Io { path: path.to_owned(), reason };
        let file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(io)?;
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
        Journal::of(path, file)
    }

    /// A journal with the settings and entries that are read from an open file.
    fn of(path: &Path, mut file: File) -> Result<Self, JournalError> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|reason| JournalError::Io { path: path.to_owned(), reason })?;
        let Content { settings, entries, is_ended, whole } = parse(path, &bytes)?;
        let (path, whole) = (path.to_owned(), whole as u64);
        let is_begun = whole > 0;
        Ok(Journal { path, file, settings, entries, is_begun, is_ended, whole, is_pending: false, has_other: false })
    }

    /// Keeps the settings of a new match in memory until they are written; the file stays as it is.
    fn prepare(&mut self, settings: Value) {
        self.has_other = !self.entries.is_empty();
        self.entries.clear();
        (self.is_ended, self.is_pending, self.settings) = (false, true, settings);
    }

    /// Adds a setting if the settings are not written yet; a journal that goes on keeps its settings.
    pub fn note(&mut self, setting: &str, value: impl Into<Value>) {
        if let (true, Some(settings)) = (self.is_pending, self.settings.as_object_mut()) {
            settings.insert(setting.to_owned(), value.into());
        }
    }

    /// Writes the settings of a new match in place of the file's content; does nothing where they are written already.
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

    /// Whether the file still has games of another match, which this match will replace.
    pub fn has_other(&self) -> bool {
        self.has_other
    }

    fn io(&self, reason: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), reason }
    }

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

    /// Adds a finished entry. The line is written in one piece, so that a match that is killed has the whole entry or
    /// nothing of it.
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

/// The settings and the finished entries of a journal, by their numbers; the file is left as it is, and a match may be
/// writing it.
///
/// # Errors
/// [`JournalError`], where the file cannot be read or is no journal.
pub fn read_journal<E: Entry>(path: &Path) -> Result<(Value, BTreeMap<u64, E>), JournalError> {
    let bytes = std::fs::read(path).map_err(|reason| JournalError::Io { path: path.to_owned(), reason })?;
    let Content { settings, entries, .. } = parse(path, &bytes)?;
    Ok((settings, entries))
}

/// Whether an object of JSON is the first line of a match's journal, the settings, which name both players.
pub fn is_match_journal(first: &Value) -> bool {
    ["first", "second", "match"].iter().all(|setting| first.get(setting).is_some_and(Value::is_object))
}

/// The content of a journal's complete lines.
struct Content<E> {
    settings: Value,
    entries: BTreeMap<u64, E>,
    is_ended: bool,
    /// Length of these lines in bytes.
    whole: usize,
}

fn parse<E: Entry>(path: &Path, bytes: &[u8]) -> Result<Content<E>, JournalError> {
    // What follows the last line's end was being written when the match was interrupted.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line_error = |line: usize, problem: String| JournalError::Line { path: path.to_owned(), line, problem };
    let (mut settings, mut entries, mut is_ended) = (Value::Null, BTreeMap::new(), false);
    let text = without_marks(&bytes[..whole]).map_err(|reason| JournalError::Io { path: path.to_owned(), reason })?;
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
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

/// The name of the first setting outside `may_differ` that differs, and its value there and here; `None` where all
/// agree.
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
#[path = "journal_tests.rs"]
mod tests;
