//! Helps the targets: counts what they read, and gives it to those readers that take a file.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use tempfile::{Builder, NamedTempFile};

static BYTES: AtomicU64 = AtomicU64::new(0);
static INPUTS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn tell() {
    eprintln!("read {} bytes in {} inputs", BYTES.load(Ordering::Relaxed), INPUTS.load(Ordering::Relaxed));
}

/// Counts an input. The sum is told when the process ends, which libFuzzer does not do.
pub fn count(data: &[u8]) {
    static AT_EXIT: Once = Once::new();
    // SAFETY: `tell` is a function without state of its own, and statics outlive it.
    AT_EXIT.call_once(|| _ = unsafe { atexit(tell) });
    BYTES.fetch_add(data.len() as u64, Ordering::Relaxed);
    INPUTS.fetch_add(1, Ordering::Relaxed);
}

/// Calls `read` with a file that has this content. It is the same file every time, whose name ends in `suffix`.
pub fn with_file<T>(suffix: &str, content: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    static FILE: Mutex<Option<NamedTempFile>> = Mutex::new(None);
    let mut slot = FILE.lock().unwrap();
    let file = match &mut *slot {
        Some(file) if file.path().to_string_lossy().ends_with(suffix) => file,
        slot => slot.insert(Builder::new().suffix(suffix).tempfile().unwrap()),
    };
    file.as_file().set_len(0).unwrap();
    file.rewind().unwrap();
    file.write_all(content).unwrap();
    read(file.path())
}

/// The clocks of a line: its numbers, as many as are asked for, 0 where there are fewer.
pub fn numbers<const N: usize>(line: &str) -> [f64; N] {
    let mut words = line.split_whitespace();
    std::array::from_fn(|_| words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0))
}
