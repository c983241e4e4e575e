//! Prepares styles, scripts and data that stand inside a page, and the hashes by which its Content-Security-Policy
//! knows them.

use sha2::{Digest as _, Sha256};
use zeitnot_base::printable;

/// A text with a line feed for each line break, as a browser makes it before it hashes an element: a checkout of the
/// sources may have other line breaks.
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

/// JSON of the same meaning that cannot leave an element `script`: characters of markup, which occur in strings only,
/// are written as `\uXXXX`, and so are those that are not safe to print.
pub(crate) fn json_in_script(json: &str) -> String {
    printable::lines(json).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
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

    #[test]
    fn json_keeps_its_meaning_and_cannot_leave_its_element() {
        let name = "</script><!--<script>&amp;\"'\\\u{2028}\u{202e}\u{7f}é{{style}}";
        let json = serde_json::to_string(&[name]).unwrap();
        let escaped = json_in_script(&json);
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [name]);
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{202e}', '\u{7f}']), "{escaped}");
    }
}
