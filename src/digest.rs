//! Computes the SHA-256 that tells a file from others.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// The SHA-256 of all that is read, in lower-case hexadecimal.
///
/// # Errors
///
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
