//! Computes the SHA-256 that identifies a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// The SHA-256 of all that is read, in lower-case hexadecimal.
///
/// # Errors
/// The reader's.
pub fn sha256(mut from: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match from.read(&mut chunk)? {
            0 => break,
            count => hasher.update(&chunk[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The SHA-256 of a file.
///
/// # Errors
/// The operating system's, with the file's name.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let digest = File::open(path).and_then(sha256);
    digest.map_err(|error| io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display())))
}
