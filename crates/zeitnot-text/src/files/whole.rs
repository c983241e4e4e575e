//! Writes files so that they exist as a whole or not at all.

use super::OtherKind;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// Writes a file as a whole or not at all, even where two processes write it at once. Where a link stands, the file that
/// it leads to is written.
///
/// # Errors
/// The operating system's, and [`ErrorKind::InvalidInput`] where something else than a file stands there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = if path.is_symlink() { path.canonicalize()? } else { path.to_owned() };
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
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        assert_eq!(write_whole(&link, b"new").unwrap_err().to_string(), "it is a device, not a file");
        assert!(link.is_symlink());
    }
}
