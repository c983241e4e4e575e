//! Prepares styles and scripts that stand inside a page, and the hashes by which its Content-Security-Policy
//! knows them.

use sha2::{Digest as _, Sha256};

/// A text with a line feed for each line break, which a checkout may have otherwise: a browser makes them so before it
/// hashes an element.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The SHA-256 of a text in Base64, by which a Content-Security-Policy allows a style or a script.
pub fn content_hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut base64 = String::new();
    for chunk in Sha256::digest(text.as_bytes()).chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize % 64;
            base64.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    base64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_content_security_policies() {
        // The examples of the specification, and the hash of nothing.
        assert_eq!(content_hash("alert('Hello, world.');"), "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
        assert_eq!(content_hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(lines("a\r\nb\n"), "a\nb\n");
    }
}
