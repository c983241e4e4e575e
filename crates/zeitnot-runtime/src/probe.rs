//! Asks a library file for its version and its execution providers before `ort` commits the process to it.

use std::error::Error as _;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::library;

/// A file that is no usable ONNX Runtime, and the reason.
#[derive(Debug)]
pub(super) enum Unfit {
    /// A file that the system's loader refuses, with the loader's words.
    NotLoadable(String),
    /// Library that is not ONNX Runtime.
    NotOnnxRuntime,
}

/// The version and the providers of a library.
#[derive(Debug)]
pub(super) struct Found {
    /// Version, such as `1.31.1`.
    pub(super) version: String,
    /// The execution providers that the library was built with, such as `CPU`; empty when the library is too old for
    /// this build to ask it, or does not say.
    pub(super) providers: Vec<String>,
}

/// Asks the ONNX Runtime at `path`. A bare file name is left to the system's loader, see [`library::load`].
pub(super) fn ask(path: &Path) -> Result<Found, Unfit> {
    if is_cut_short(path) {
        return Err(Unfit::NotLoadable("the file is incomplete".to_owned()));
    }
    // SAFETY: loading a library runs its initialisers. The file was named by the user or lies where libraries are
    // installed, and `ort` is about to load the same one.
    let library = unsafe { library::load(path) }.map_err(|error| Unfit::NotLoadable(reason(&error, path)))?;
    // SAFETY: a library that exports this name is ONNX Runtime, whose C API fixes the signature.
    let base = unsafe { library.get::<unsafe extern "C" fn() -> *const ort::sys::OrtApiBase>(b"OrtGetApiBase\0") };
    let base = base.map_err(|_| Unfit::NotOnnxRuntime)?;
    // SAFETY: the function takes no arguments and returns a pointer to a static table, checked for null.
    let table = unsafe { base().as_ref() }.ok_or(Unfit::NotOnnxRuntime)?;
    // SAFETY: the table's functions are valid while the library is loaded; the result is a static C string, copied
    // before `library` is dropped.
    let text = unsafe { CStr::from_ptr((table.GetVersionString)()) };
    let version = text.to_string_lossy().into_owned();
    // SAFETY: as above; an older library has no table of this version and returns null.
    let api = unsafe { (table.GetApi)(ort::sys::ORT_API_VERSION).as_ref() };
    Ok(Found { version, providers: api.map(providers).unwrap_or_default() })
}

/// The loader's own words, which `libloading` keeps as the source of its error.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let line = text.lines().next().unwrap_or_default().trim();
    // Our own line names the file already.
    line.strip_prefix(&format!("{}: ", path.display())).unwrap_or(line).to_owned()
}

/// Whether the file is a 64-bit ELF library whose end is missing: the loader of Linux maps such a file without a word,
/// and the process dies of a bus error. The section table, which linkers put last, says how long the file should be.
fn is_cut_short(path: &Path) -> bool {
    const MAGIC_64_BIT_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
    let Ok(mut file) = File::open(path) else { return false };
    let length = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
    // The header of the ELF-64 object file format, version 1.5, figure 2.
    let mut header = [0; 64];
    if file.read_exact(&mut header).is_err() || !header.starts_with(MAGIC_64_BIT_LITTLE_ENDIAN) {
        return false;
    }
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rfold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let (table, entry_size, entries) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    table.saturating_add(entry_size * entries) > length
}

/// The minor number of a version `1.minor.patch`, which is what the C API's compatibility goes by.
pub(super) fn minor(version: &str) -> Option<u32> {
    version.split('.').nth(1)?.parse().ok()
}

/// The execution providers of the library with the function table `api`, such as `CPU`; empty if the call fails.
fn providers(api: &ort::sys::OrtApi) -> Vec<String> {
    // A failure's status is given up through the same table: `ort` itself has no library yet.
    let succeeded = |status: ort::sys::OrtStatusPtr| {
        let failed = !status.0.is_null();
        if failed {
            // SAFETY: the status is one that a function of this table has returned, and is not used again.
            unsafe { (api.ReleaseStatus)(status.0) };
        }
        !failed
    };
    let (mut names, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: both pointers are valid for the call, which fills them on success.
    if !succeeded(unsafe { (api.GetAvailableProviders)(&mut names, &mut count) }) {
        return Vec::new();
    }
    let name = |index: usize| {
        // SAFETY: on success `names` holds `count` C strings, valid until they are released below.
        let text = unsafe { CStr::from_ptr(*names.add(index)) }.to_string_lossy();
        text.trim_end_matches("ExecutionProvider").to_owned()
    };
    let list = (0..usize::try_from(count).unwrap_or(0)).map(name).collect();
    // SAFETY: the list and its length are those that the library made; nothing refers to them any more. A failure to
    // release would leak a few strings, once.
    succeeded(unsafe { (api.ReleaseAvailableProviders)(names, count) });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_file_is_not_loadable() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not a library").unwrap();
        assert!(matches!(ask(file.path()), Err(Unfit::NotLoadable(_))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_library_is_not_onnx_runtime() {
        assert!(matches!(ask(Path::new("libc.so.6")), Err(Unfit::NotOnnxRuntime)));
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    #[test]
    fn half_a_library_is_refused_before_the_loader_dies_of_it() {
        let whole = std::env::current_exe().unwrap();
        assert!(!is_cut_short(&whole));
        let half = tempfile::NamedTempFile::new().unwrap();
        let mut content = File::open(&whole).unwrap().take(whole.metadata().unwrap().len() / 2);
        std::io::copy(&mut content, &mut half.as_file()).unwrap();
        let Err(Unfit::NotLoadable(reason)) = ask(half.path()) else { panic!("it is not loadable") };
        assert_eq!(reason, "the file is incomplete");
    }

    #[test]
    fn minor_number_of_a_version() {
        assert_eq!(minor("1.31.1"), Some(31));
        assert_eq!(minor("1.22.0-dev"), Some(22));
        assert_eq!(minor("unknown"), None);
    }
}
