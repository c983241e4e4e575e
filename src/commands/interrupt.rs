//! Lets Ctrl-C end long work in order: the first one asks for it, the second ends the program.

use crate::commands::exit::INTERRUPTED;
use crate::commands::output::note;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that becomes true at Ctrl-C, or at a signal that asks the program to end.
pub fn on_request() -> anyhow::Result<Arc<AtomicBool>> {
    on_request_do(|| ())
}

/// Returns a flag as [`on_request`] does, and calls `first` at the first request to end.
pub fn on_request_do(first: impl Fn() + Send + 'static) -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        // A second Ctrl-C means it.
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        first();
    })?;
    Ok(asked)
}

/// Prints `line`, which says how to go on, and ends the program with the exit code of an interruption.
pub fn exit(line: &str) -> ! {
    note!("{line}");
    std::process::exit(INTERRUPTED);
}
