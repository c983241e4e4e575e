//! Lets Ctrl-C end long work in order: the first one asks for it, the second ends the program.

use crate::commands::exit::INTERRUPTED;
use crate::commands::output::note;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag that Ctrl-C sets, or a signal that asks the program to end.
pub fn on_request() -> anyhow::Result<Arc<AtomicBool>> {
    on_request_do(|| ())
}

/// As [`on_request`], and the first request does something, too.
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

/// Ends the program as interrupted, after a line that says how to go on.
pub fn exit(line: &str) -> ! {
    note!("{line}");
    std::process::exit(INTERRUPTED);
}
