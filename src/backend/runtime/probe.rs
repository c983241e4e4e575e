//! Asks a library file for its version before `ort` commits the process to it.

use std::ffi::CStr;
use std::path::Path;

use libloading::Library;

/// Why a file is not a usable ONNX Runtime.
#[derive(Debug)]
pub(super) enum Unfit {
    /// The system's loader refused it; its words.
    NotLoadable(String),
    /// It is a library, but not ONNX Runtime.
    NotOnnxRuntime,
}

/// The version of the ONNX Runtime at `path` (such as `1.31.1`). A bare file name is left to the system's loader.
pub(super) fn version(path: &Path) -> Result<String, Unfit> {
    // SAFETY: loading a library runs its initialisers. The file was named by the user or lies where libraries are
    // installed, and `ort` is about to load the same one.
    let library = unsafe { Library::new(path) }.map_err(|error| Unfit::NotLoadable(first_line(&error.to_string())))?;
    // SAFETY: a library that exports this name is ONNX Runtime, whose C API fixes the signature.
    let base = unsafe { library.get::<unsafe extern "C" fn() -> *const ort::sys::OrtApiBase>(b"OrtGetApiBase\0") };
    let base = base.map_err(|_| Unfit::NotOnnxRuntime)?;
    // SAFETY: the function takes no arguments and returns a pointer to a static table, checked for null.
    let table = unsafe { base().as_ref() }.ok_or(Unfit::NotOnnxRuntime)?;
    // SAFETY: the table's functions are valid while the library is loaded; the result is a static C string, copied
    // before `library` is dropped.
    let text = unsafe { CStr::from_ptr((table.GetVersionString)()) };
    Ok(text.to_string_lossy().into_owned())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The minor number of a version `1.minor.patch`, which is what the C API's compatibility goes by.
pub(super) fn minor(version: &str) -> Option<u32> {
    version.split('.').nth(1)?.parse().ok()
}

/// The execution providers in the loaded library, such as `CPU`; empty should the library not say.
pub(super) fn providers() -> Vec<String> {
    let api = ort::api();
    let (mut names, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: both pointers are valid for the call, which fills them on success.
    let status = unsafe { (api.GetAvailableProviders)(&mut names, &mut count) };
    // SAFETY: the status comes from the call above and is given up here.
    if unsafe { ort::Error::result_from_status(status) }.is_err() {
        return Vec::new();
    }
    let name = |index: usize| {
        // SAFETY: on success `names` holds `count` C strings, valid until they are released below.
        let text = unsafe { CStr::from_ptr(*names.add(index)) }.to_string_lossy();
        text.trim_end_matches("ExecutionProvider").to_owned()
    };
    let list = (0..usize::try_from(count).unwrap_or(0)).map(name).collect();
    // SAFETY: the list and its length are those that the library made; nothing refers to them any more.
    let status = unsafe { (api.ReleaseAvailableProviders)(names, count) };
    // SAFETY: as above. A failure to release would leak a few strings, once.
    let _ = unsafe { ort::Error::result_from_status(status) };
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_file_is_not_loadable() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not a library").unwrap();
        assert!(matches!(version(file.path()), Err(Unfit::NotLoadable(_))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_library_is_not_onnx_runtime() {
        assert!(matches!(version(Path::new("libc.so.6")), Err(Unfit::NotOnnxRuntime)));
    }

    #[test]
    fn minor_number_of_a_version() {
        assert_eq!(minor("1.31.1"), Some(31));
        assert_eq!(minor("1.22.0-dev"), Some(22));
        assert_eq!(minor("unknown"), None);
    }
}
