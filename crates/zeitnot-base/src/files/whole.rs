//! Writes files so that they exist as a whole or not at all.

use super::OtherKind;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Most links that lead from one to the next, as in Linux.
const LONGEST_CHAIN: usize = 40;

/// Writes a file as a whole or not at all, even where two processes write it at once. Where a link stands, the file that
/// it leads to is written.
///
/// # Errors
/// The operating system's, and [`ErrorKind::InvalidInput`] where something else than a file stands there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = target(path)?;
    let path = target.as_path();
    if let Some(kind) = path.metadata().ok().and_then(|metadata| OtherKind::of(metadata.file_type())) {
        return Err(kind.not_a_file());
    }
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        // So a full disk has room again.
        fs::remove_file(&unfinished).ok();
    }
    written
}

/// The file that a path names by way of links, which need not exist yet.
pub(super) fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    Err(ErrorKind::InvalidFilename.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shard.bin.gz");
        fs::create_dir_all(path.join("in the way")).unwrap();
        write_whole(&path, b"games").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink() && fs::read(&file).unwrap() == b"new");
        fs::remove_file(&file).unwrap();
        write_whole(&link, b"newer").unwrap();
        assert!(link.is_symlink() && fs::read(&file).unwrap() == b"newer", "where the link leads to nothing yet");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("link", &link).unwrap();
        assert!(write_whole(&link, b"new").is_err(), "a link to itself");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        assert_eq!(write_whole(&link, b"new").unwrap_err().to_string(), "it is a device, not a file");
        assert!(link.is_symlink());
    }
}
