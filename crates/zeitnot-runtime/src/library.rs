//! Loads shared libraries, and never one of the working folder.
//!
//! The working folder may be one of downloads. Windows' loader searches it for every library named without a folder,
//! also for those that another library needs. macOS' loader does so only for the library that a program asks for, and
//! Linux' loader only where `LD_LIBRARY_PATH` says so, which then holds for the C library too.

use std::ffi::OsStr;

use libloading::{Error, Library};

/// Loads a library by its path. A name without a folder is left to the system's loader, which on Linux alone does not
/// search the working folder.
///
/// # Safety
/// The conditions of [`Library::new`]: loading a library runs its initialisers.
pub(super) unsafe fn load(path: impl AsRef<OsStr>) -> Result<Library, Error> {
    leave_out_the_working_folder();
    // SAFETY: the caller answers for the library.
    unsafe { Library::new(path.as_ref()) }
}

/// Loads a library of the system, such as a driver's, by its name.
///
/// # Safety
/// The conditions of [`load`].
#[cfg(not(windows))]
pub(super) unsafe fn load_of_system(name: &str) -> Result<Library, Error> {
    // SAFETY: the caller answers for the library.
    unsafe { load(name) }
}

/// Loads a library from the system's own folder, where drivers lie.
#[cfg(windows)]
pub(super) unsafe fn load_of_system(name: &str) -> Result<Library, Error> {
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_SYSTEM32, Library as WindowsLibrary};
    // SAFETY: the caller answers for the library.
    unsafe { WindowsLibrary::load_with_flags(name, LOAD_LIBRARY_SEARCH_SYSTEM32) }.map(Library::from)
}

#[cfg(not(windows))]
fn leave_out_the_working_folder() {}

/// Takes the working folder out of the search for libraries, for the rest of the process: ONNX Runtime's providers name
/// the libraries that they need without a folder.
#[cfg(windows)]
fn leave_out_the_working_folder() {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        /// Sets a folder to search for libraries; an empty string only takes the working folder out of the search
        /// (Microsoft's documentation of `libloaderapi.h`).
        fn SetDllDirectoryW(folder: *const u16) -> i32;
    }
    const EMPTY: [u16; 1] = [0];
    // SAFETY: the string is valid for the call and ends with a zero.
    unsafe { SetDllDirectoryW(EMPTY.as_ptr()) };
}
