//! Checks a wheel against its pinned hash and unpacks the libraries in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::InstallError;
use zeitnot_base::digest;

/// The sha256 of a file as lower-case hex.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    digest::sha256(File::open(path)?)
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

/// Whether a member of a wheel is a library to unpack. The package's extension module for Python is not.
fn is_library(member: &str) -> bool {
    let name = member.rsplit('/').next().unwrap_or(member);
    let ending = [".so", ".dll", ".dylib"].iter().any(|ending| name.ends_with(ending)) || name.contains(".so.");
    ending && !name.contains("pybind11")
}

/// Unpacks the libraries of a wheel, from all of its folders, into one folder, where they find each other; returns
/// their names and sizes in bytes. The wheel's hash is checked already.
///
/// A file appears under its name only when it is whole: it is written under a temporary name in the same folder,
/// flushed to disk and renamed. (Loading half a library does not fail, it crashes.)
pub(super) fn unpack(wheel: &Path, folder: &Path) -> Result<Vec<(String, u64)>, InstallError> {
    let broken = |error: &dyn std::fmt::Display| InstallError::BrokenWheel {
        wheel: wheel.to_path_buf(),
        reason: error.to_string(),
    };
    let file = File::open(wheel).map_err(InstallError::io("open", wheel))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| broken(&error))?;
    let members = archive.file_names().map(|name| name.map(std::borrow::Cow::into_owned));
    let members: Vec<String> = members.collect::<Result<_, _>>().map_err(|error| broken(&error))?;
    let mut files = Vec::new();
    for member in members.into_iter().filter(|member| is_library(member)) {
        let mut content = archive.by_name(&member).map_err(|error| broken(&error))?;
        let name = member.rsplit('/').next().unwrap_or(&member).to_owned();
        let mut partial = Partial { path: folder.join(format!("{name}.part")), finished: false };
        let mut out = File::create(&partial.path).map_err(InstallError::io("create", &partial.path))?;
        let bytes = io::copy(&mut content, &mut out).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => InstallError::io("write", &partial.path)(error),
            _ => broken(&error),
        })?;
        out.sync_all().map_err(InstallError::io("write", &partial.path))?;
        drop(out);
        let path = folder.join(&name);
        fs::rename(&partial.path, &path).map_err(InstallError::io("write", &path))?;
        partial.finished = true;
        files.push((name, bytes));
    }
    Ok(files)
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use super::*;

    /// Writes a wheel whose members have the same content.
    pub(crate) fn write_wheel(path: &Path, members: &[&str], content: &[u8]) {
        let mut writer = zip::ZipWriter::new(File::create(path).unwrap());
        for member in members {
            writer.start_file(*member, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap();
    }

    pub(crate) fn hash(content: &[u8]) -> String {
        digest::sha256(content).unwrap()
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
    fn takes_the_libraries_out_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(100_000));
        let members = [
            "onnxruntime/capi/libonnxruntime.so.1.2",
            "nvidia/cudnn/lib/libcudnn.so.9",
            "onnxruntime/capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so",
            "onnxruntime/capi/DirectML.dll",
            "onnxruntime/LICENSE",
            "nvidia/cudnn/include/cudnn.so.h.txt",
        ];
        write_wheel(&wheel, &members, &content);
        let out = tempfile::tempdir().unwrap();
        let mut files = unpack(&wheel, out.path()).unwrap();
        files.sort();
        let mut found = names(out.path());
        found.sort();
        // What only looks like a library does no harm.
        assert_eq!(found, ["DirectML.dll", "cudnn.so.h.txt", "libcudnn.so.9", "libonnxruntime.so.1.2"]);
        assert!(files.iter().map(|(name, _)| name).eq(&found) && files.iter().all(|(_, bytes)| *bytes == 100_000));
        assert_eq!(fs::read(out.path().join("libcudnn.so.9")).unwrap(), content);
    }

    #[test]
    fn damage_inside_the_member_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(4 << 20));
        write_wheel(&wheel, &["lib.so"], &content);
        let mut bytes = fs::read(&wheel).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0xff);
        fs::write(&wheel, bytes).unwrap();
        unpack(&wheel, folder.path()).unwrap_err();
        assert_eq!(names(folder.path()), ["a.whl"]);
    }

    #[test]
    fn a_cut_wheel_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, content) = (folder.path().join("a.whl"), noise(100_000));
        write_wheel(&wheel, &["lib.so"], &content);
        let bytes = fs::read(&wheel).unwrap();
        fs::write(&wheel, &bytes[..bytes.len() / 2]).unwrap();
        let error = unpack(&wheel, folder.path()).unwrap_err();
        assert!(matches!(error, InstallError::BrokenWheel { .. }), "{error}");
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
