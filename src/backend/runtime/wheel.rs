//! The pinned wheel as a file: checked against its hash, and the one library taken out of it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::install::InstallError;

/// Bytes read at a time while hashing and unpacking.
const CHUNK: usize = 1 << 20;

/// The sha256 of a file as lower-case hex.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    copy_hashed(&mut File::open(path)?, &mut io::sink())
}

/// Copies `from` to `to` and returns the sha256 of what passed, as lower-case hex.
fn copy_hashed(from: &mut impl Read, to: &mut impl Write) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            length => {
                hasher.update(&buffer[..length]);
                to.write_all(&buffer[..length])?;
            }
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An error unless the file at `path` has the sha256 `expected`.
pub(super) fn verify(path: &Path, expected: &str) -> Result<(), InstallError> {
    let actual = sha256(path).map_err(InstallError::io("read", path))?;
    if actual == expected {
        return Ok(());
    }
    Err(InstallError::HashMismatch { path: path.to_path_buf(), expected: expected.to_owned(), actual })
}

/// A file under a temporary name; removed when dropped, unless it was given its final name.
struct Partial {
    path: PathBuf,
    finished: bool,
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing to be done about a failure here: the next installation overwrites the leftover.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Unpacks the member `library` of the wheel to the file `destination`, whose sha256 must come out as `sha256`.
///
/// The file appears under its name only when it is whole and right: it is written beside it under a temporary name,
/// flushed to disk and renamed. (Loading half a library does not fail, it crashes.)
pub(super) fn extract(wheel: &Path, library: &str, sha256: &str, destination: &Path) -> Result<(), InstallError> {
    let broken = |error: &dyn std::fmt::Display| InstallError::BrokenWheel {
        wheel: wheel.to_path_buf(),
        reason: error.to_string(),
    };
    let file = File::open(wheel).map_err(InstallError::io("open", wheel))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| broken(&error))?;
    let mut member = archive.by_name(library).map_err(|error| match error {
        zip::result::ZipError::FileNotFound => {
            InstallError::NoLibrary { wheel: wheel.to_path_buf(), library: library.to_owned() }
        }
        other => broken(&other),
    })?;

    let mut name = destination.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let mut partial = Partial { path: destination.with_file_name(name), finished: false };
    let mut out = File::create(&partial.path).map_err(InstallError::io("create", &partial.path))?;
    let actual = copy_hashed(&mut member, &mut out).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull => InstallError::io("write", &partial.path)(error),
        _ => broken(&error),
    })?;
    if actual != sha256 {
        let path = partial.path.clone();
        return Err(InstallError::HashMismatch { path, expected: sha256.to_owned(), actual });
    }
    out.sync_all().map_err(InstallError::io("write", &partial.path))?;
    drop(out);
    fs::rename(&partial.path, destination).map_err(InstallError::io("write", destination))?;
    partial.finished = true;
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes a wheel with one member.
    pub(crate) fn write_wheel(path: &Path, member: &str, content: &[u8]) {
        let mut writer = zip::ZipWriter::new(File::create(path).unwrap());
        writer.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap();
    }

    pub(crate) fn hash(content: &[u8]) -> String {
        copy_hashed(&mut &content[..], &mut io::sink()).unwrap()
    }

    /// Incompressible content, so that a cut lies inside the member's data.
    pub(crate) fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(length)
        .collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn sha256_of_a_known_text() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn takes_only_the_library_out() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(100_000));
        write_wheel(&wheel, "onnxruntime/capi/lib", &content);
        let out = tempfile::tempdir().unwrap();
        extract(&wheel, "onnxruntime/capi/lib", &hash(&content), &out.path().join("lib")).unwrap();
        assert_eq!(names(out.path()), ["lib"]);
        assert_eq!(fs::read(out.path().join("lib")).unwrap(), content);
    }

    #[test]
    fn a_wheel_without_the_library_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("a.whl");
        write_wheel(&wheel, "other", b"content");
        let error = extract(&wheel, "capi/lib", &hash(b"content"), &folder.path().join("lib")).unwrap_err();
        assert!(matches!(error, InstallError::NoLibrary { .. }), "{error}");
        assert!(error.to_string().contains("capi/lib"));
        assert_eq!(names(folder.path()), ["a.whl"]);
    }

    #[test]
    fn damage_inside_the_member_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(4 * CHUNK));
        write_wheel(&wheel, "lib", &content);
        let mut bytes = fs::read(&wheel).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0xff);
        fs::write(&wheel, bytes).unwrap();
        extract(&wheel, "lib", &hash(&content), &folder.path().join("lib")).unwrap_err();
        assert_eq!(names(folder.path()), ["a.whl"]);
    }

    #[test]
    fn a_cut_wheel_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(100_000));
        write_wheel(&wheel, "lib", &content);
        let bytes = fs::read(&wheel).unwrap();
        fs::write(&wheel, &bytes[..bytes.len() / 2]).unwrap();
        let error = extract(&wheel, "lib", &hash(&content), &folder.path().join("lib")).unwrap_err();
        assert!(matches!(error, InstallError::BrokenWheel { .. }), "{error}");
    }

    #[test]
    fn another_library_under_the_same_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("a.whl");
        write_wheel(&wheel, "lib", b"something else");
        let error = extract(&wheel, "lib", &hash(b"expected"), &folder.path().join("lib")).unwrap_err();
        assert!(matches!(error, InstallError::HashMismatch { .. }), "{error}");
        assert_eq!(names(folder.path()), ["a.whl"]);
    }

    #[test]
    fn verify_names_both_hashes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "abc").unwrap();
        verify(&file, &hash(b"abc")).unwrap();
        let line = verify(&file, &hash(b"abd")).unwrap_err().to_string();
        assert!(line.contains(&hash(b"abc")) && line.contains(&hash(b"abd")), "{line}");
    }
}
