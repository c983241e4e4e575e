//! Remembers proofs in the user's cache, so that a network that is loaded again costs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use zeitnot_base::files::write_whole;

use super::positions::POSITIONS;
use zeitnot_base::digest::sha256;

/// The place of one proof: a file whose content lists all that the proof depends on, and whose name is the digest of
/// that.
pub(crate) struct Record {
    path: PathBuf,
    text: String,
}

impl Record {
    /// The record in this folder of a proof that depends on these things: what each is, and its text.
    pub(crate) fn new(folder: &Path, things: &[(&str, String)]) -> Record {
        let positions = format!("{POSITIONS:?}");
        let positions = sha256(positions.as_bytes()).expect("memory can be read");
        let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
        let things = [version, ("positions", positions)].into_iter().chain(things.iter().cloned());
        let text: String = things.map(|(what, text)| format!("{what}: {text}\n")).collect();
        let name = sha256(text.as_bytes()).expect("memory can be read");
        Record { path: folder.join(name), text }
    }

    /// Whether the proof was made.
    pub(crate) fn is_there(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|text| text == self.text)
    }

    /// Keeps the proof. Where it cannot be written, the next load proves the device again.
    pub(crate) fn keep(&self) {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let kept = fs::create_dir_all(folder).and_then(|()| write_whole(&self.path, self.text.as_bytes()));
        if let Err(error) = kept {
            tracing::debug!(%error, path = %self.path.display(), "a proof is not remembered");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_remembered_for_what_it_depends_on_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("proofs");
        let record = |driver: &str| Record::new(&folder, &[("model", "abc".to_owned()), ("driver", driver.to_owned())]);
        assert!(!record("1").is_there());
        record("1").keep();
        assert!(record("1").is_there() && !record("2").is_there());
        let path = record("1").path;
        assert!(fs::read_to_string(&path).unwrap().ends_with("\nmodel: abc\ndriver: 1\n"));
        fs::write(&path, "half of").unwrap();
        assert!(!record("1").is_there());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_failure() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let record = Record::new(&file.path().join("proofs"), &[]);
        record.keep();
        assert!(!record.is_there());
    }
}
