//! Identifies the program and the files that decide a match, so that a match that goes on is known to be the same.

use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::Path;
use zeitnot_engine::digest::{sha256, sha256_of_file};

/// The SHA-256 of this program, so that games of two builds are kept apart; `None` where it cannot be read.
pub fn program_sha256() -> Option<String> {
    std::env::current_exe().and_then(File::open).and_then(sha256).ok()
}

/// Adds the SHA-256 of each file to the settings of a match, which are an object.
///
/// # Errors
/// When a file cannot be read.
pub fn add_digests(settings: &mut Value, files: impl IntoIterator<Item = impl AsRef<Path>>) -> io::Result<()> {
    for path in files {
        let path = path.as_ref();
        settings[format!("sha256 of {}", path.display())] = sha256_of_file(path)?.into();
    }
    Ok(())
}
