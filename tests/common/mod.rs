//! What the integration tests share.

use std::path::PathBuf;

/// The folder `shared` beside the checkout (or where `ZEITNOT_SHARED` says), whose data some extra tests read.
/// Without it those tests say in one line that they are skipped.
pub fn shared(what: &str) -> Option<PathBuf> {
    let path = std::env::var_os("ZEITNOT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if path.join("golden").is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {what} (no folder shared/ beside the checkout)");
    None
}
