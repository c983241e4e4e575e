//! Claims a file for one program: a lock beside it, which ends with the program however that ends.

use super::whole::target;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file that no other program claims as long as this one does.
#[derive(Debug)]
pub struct Claim {
    lock: PathBuf,
    _locked: File,
}

impl Claim {
    /// Claims a file, which need not exist; `None` where another program has claimed it. Removes unfinished files that
    /// a program killed while writing has left beside it.
    ///
    /// # Errors
    /// The operating system's, as where there is no such folder.
    pub fn of(path: &Path) -> io::Result<Option<Claim>> {
        let path = target(path)?;
        let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy().into_owned();
        let lock = path.with_file_name(format!(".{name}.lock"));
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(&lock)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Where there are no locks, nothing can be said of other programs.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // A program that has just given up its claim may have deleted the file meanwhile.
            if is_still(&file, &lock) {
                remove_unfinished(&path, &name);
                return Ok(Some(Claim { lock, _locked: file }));
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Elsewhere another program may have opened it, and would claim a file that is no longer there.
        if cfg!(unix) {
            fs::remove_file(&self.lock).ok();
        }
    }
}

/// Whether an open file is the one that the path names.
fn is_still(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let number = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|found| (found.dev(), found.ino()));
        number(file.metadata()) == number(fs::metadata(path))
    }
    // It is never deleted.
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Removes what [`write_whole`](super::write_whole) could not finish.
fn remove_unfinished(path: &Path, name: &str) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let number = found.strip_prefix(&format!(".{name}.")).unwrap_or_default();
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_claimed_once_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a tree");
        for litter in [".a tree.4711", ".a tree.12x", ".other.12"] {
            fs::write(folder.path().join(litter), "").unwrap();
        }
        let claim = Claim::of(&path).unwrap().unwrap();
        assert!(Claim::of(&path).unwrap().is_none(), "it is in use");
        drop(claim);
        let again = Claim::of(&path).unwrap();
        assert!(again.is_some());
        drop(again);
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".a tree.12x", ".other.12"]);
        assert!(Claim::of(&folder.path().join("no folder/x")).is_err());
    }
}
