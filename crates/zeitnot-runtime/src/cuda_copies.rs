//! Copies between the memory of the host and of NVIDIA's cards, by the calls of CUDA's runtime that they take.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use libloading::{Library, Symbol};

type Stream = *mut c_void;

/// CUDA's runtime, by the names under which it may be loaded: by ONNX Runtime's provider or, on Windows, where the
/// provider has one inside it, from beside ONNX Runtime (`nvidia_libraries`).
const LIBRARIES: [&str; 2] =
    if cfg!(windows) { ["cudart64_13.dll", "cudart64_12.dll"] } else { ["libcudart.so.13", "libcudart.so.12"] };
/// `cudaStreamNonBlocking`: the stream does not wait for the default stream, nor that one for it.
const NON_BLOCKING: c_uint = 1;
/// `cudaMemcpyDefault`: CUDA finds out by the addresses which of the two ends is on a card.
const BY_ADDRESS: c_int = 4;

/// A stream of copies to and from one card.
pub struct CudaCopies {
    library: Library,
    device: c_int,
    stream: Stream,
}

// SAFETY: CUDA's runtime may be called from any thread, and a stream belongs to none.
unsafe impl Send for CudaCopies {}

impl CudaCopies {
    /// A stream on the card of this index, in the CUDA runtime that the process has loaded.
    ///
    /// # Errors
    /// When none is loaded, it lacks a function, or the card does not answer; in CUDA's words.
    pub fn new(device: u32) -> Result<CudaCopies, String> {
        let library = LIBRARIES.into_iter().find_map(loaded).ok_or("no CUDA runtime is loaded")?;
        let mut copies = CudaCopies { library, device: device.cast_signed(), stream: ptr::null_mut() };
        let mut stream = ptr::null_mut();
        copies.choose_device()?;
        // SAFETY: the type is that of `cuda_runtime_api.h`, and the call writes the stream.
        unsafe {
            let create: Symbol<'_, unsafe extern "C" fn(*mut Stream, c_uint) -> c_int> =
                copies.function(c"cudaStreamCreateWithFlags")?;
            copies.check(create(&raw mut stream, NON_BLOCKING))?;
        }
        copies.stream = stream;
        Ok(copies)
    }

    /// Begins to copy so many bytes, after the copies that were begun before.
    ///
    /// # Safety
    /// Both ends are that long, one lies on the host and one on the card, and nobody touches them before
    /// [`CudaCopies::wait`] has returned.
    ///
    /// # Errors
    /// CUDA's words, where it refuses or has lost the card.
    pub unsafe fn begin(&self, from: *const c_void, to: *mut c_void, bytes: usize) -> Result<(), String> {
        // The card is chosen for each thread, and this may be another one than before.
        self.choose_device()?;
        // SAFETY: the type is that of `cuda_runtime_api.h`; the caller answers for both ends.
        unsafe {
            let copy: Symbol<'_, unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int, Stream) -> c_int> =
                self.function(c"cudaMemcpyAsync")?;
            self.check(copy(to, from, bytes, BY_ADDRESS, self.stream))
        }
    }

    /// Waits until all copies have ended.
    ///
    /// # Errors
    /// CUDA's words, where a copy failed or the card is lost.
    pub fn wait(&self) -> Result<(), String> {
        // SAFETY: the type is that of `cuda_runtime_api.h`, and the stream is this one's own.
        unsafe {
            let wait: Symbol<'_, unsafe extern "C" fn(Stream) -> c_int> = self.function(c"cudaStreamSynchronize")?;
            self.check(wait(self.stream))
        }
    }

    fn choose_device(&self) -> Result<(), String> {
        // SAFETY: the type is that of `cuda_runtime_api.h`.
        unsafe {
            let choose: Symbol<'_, unsafe extern "C" fn(c_int) -> c_int> = self.function(c"cudaSetDevice")?;
            self.check(choose(self.device))
        }
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `F` is its type.
    unsafe fn function<F>(&self, name: &CStr) -> Result<Symbol<'_, F>, String> {
        // SAFETY: the caller answers for the type.
        unsafe { self.library.get(name) }.map_err(|error| error.to_string())
    }

    /// `Err` with CUDA's words for a code that is not 0.
    fn check(&self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the types are those of `cuda_runtime_api.h`; the text is a constant of the library, or null.
        let words = unsafe {
            // CUDA keeps an error for the thread's next question, which would be ONNX Runtime's.
            let forget: Symbol<'_, unsafe extern "C" fn() -> c_int> = self.function(c"cudaGetLastError")?;
            forget();
            let describe: Symbol<'_, unsafe extern "C" fn(c_int) -> *const c_char> =
                self.function(c"cudaGetErrorString")?;
            let text = describe(code);
            if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy().into_owned()) }
        };
        Err(format!("CUDA's error {code}, {}", words.as_deref().unwrap_or("unknown")))
    }
}

impl Drop for CudaCopies {
    fn drop(&mut self) {
        if self.stream.is_null() {
            return;
        }
        // SAFETY: the type is that of `cuda_runtime_api.h`, and nobody uses the stream after this.
        unsafe {
            let destroy: Result<Symbol<'_, unsafe extern "C" fn(Stream) -> c_int>, String> =
                self.function(c"cudaStreamDestroy");
            if let Ok(destroy) = destroy {
                destroy(self.stream);
            }
        }
    }
}

/// The library of this name if the process has loaded it already. All copies of CUDA's runtime in a process have one
/// context for a card, and so the provider's memory, but none is loaded from anywhere for some copies.
#[cfg(unix)]
fn loaded(name: &str) -> Option<Library> {
    use libloading::os::unix;
    let flags = unix::RTLD_NOW | libc::RTLD_NOLOAD;
    // SAFETY: nothing is loaded, so no code of a library runs.
    unsafe { unix::Library::open(Some(name), flags) }.ok().map(Library::from)
}

#[cfg(windows)]
fn loaded(name: &str) -> Option<Library> {
    libloading::os::windows::Library::open_already_loaded(name).ok().map(Library::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_provider_there_is_no_runtime() {
        assert_eq!(CudaCopies::new(0).err().as_deref(), Some("no CUDA runtime is loaded"));
    }
}
