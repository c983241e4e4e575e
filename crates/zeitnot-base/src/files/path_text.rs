//! Converts paths to text and back. On Unix a path is bytes of any kind, while options, settings and commands are text:
//! each byte that is not UTF-8 becomes a character of a private range, which [`to_path`] turns into the byte again.
//!
//! The range is U+EF80 to U+EFFF, as in MirBSD. Python uses surrogates (PEP 383), which a string of Rust cannot have.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The code point for the byte 0; only bytes from 128 on are replaced.
const FIRST: u32 = 0xef00;

/// The text of bytes that need not be UTF-8, for [`to_path`]. Except on Unix, bytes that are not UTF-8 are lost.
pub fn from_bytes(bytes: &[u8]) -> String {
    if !cfg!(unix) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    with_bytes_as(bytes, |byte| char::from_u32(FIRST + u32::from(byte)).expect("it is no surrogate"))
}

/// The text of bytes in UTF-8 or an older encoding: each byte that is not UTF-8 is read as Latin-1.
pub fn from_any_encoding(bytes: &[u8]) -> String {
    with_bytes_as(bytes, char::from)
}

/// The text of bytes, with each byte that is not UTF-8 replaced by what `character` makes of it.
fn with_bytes_as(bytes: &[u8], character: impl Fn(u8) -> char) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| character(*byte)));
    }
    text
}

/// The text of a path or name of the operating system; bytes that are not UTF-8 become characters of [`from_bytes`].
pub fn from_os(text: &OsStr) -> String {
    match text.to_str() {
        Some(text) => text.to_owned(),
        None => from_bytes(text.as_encoded_bytes()),
    }
}

/// The operating system's string for a text of [`from_bytes`].
pub fn to_os(text: &str) -> Cow<'_, OsStr> {
    #[cfg(unix)]
    if text.contains(|c| byte(c).is_some()) {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt as _;
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            match byte(c) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        return Cow::Owned(OsString::from_vec(bytes));
    }
    Cow::Borrowed(OsStr::new(text))
}

/// The path for a text of [`from_bytes`].
pub fn to_path(text: &str) -> PathBuf {
    to_os(text).into_owned().into()
}

/// The path that a setting names; `None` for an empty text. `~/` becomes the user's folder: no shell has read it.
pub fn named_path(text: &str) -> Option<PathBuf> {
    let home = || std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    match text.strip_prefix("~/").and_then(|rest| Some(home()?.join(to_path(rest)))) {
        Some(path) => Some(path),
        None => (!text.is_empty()).then(|| to_path(text)),
    }
}

/// The byte that a character stands for; `None` for a character of text.
#[cfg(unix)]
fn byte(c: char) -> Option<u8> {
    u32::from(c).checked_sub(FIRST).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| !byte.is_ascii())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn all_bytes_come_back() {
        let all: Vec<u8> = (1..=255).chain((1..=255).rev()).collect();
        for bytes in [&all[..], b"n\xe9t.pb.gz", "n\u{e9}t".as_bytes(), b"\xc3", b"\xf0\x9f\x98", b"a", b""] {
            let text = from_bytes(bytes);
            assert_eq!(to_path(&text).as_os_str().as_bytes(), bytes);
            assert_eq!(from_os(OsStr::from_bytes(bytes)), text);
            // A GUI that gets the text sends it back.
            assert_eq!(from_bytes(text.as_bytes()), text);
        }
    }

    #[test]
    fn a_tilde_is_the_users_folder() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        assert_eq!(named_path("~/a tree"), Some(home.join("a tree")));
        for text in ["~", "~user/x", "x/~/y", "/~/z"] {
            assert_eq!(named_path(text), Some(PathBuf::from(text)));
        }
        assert_eq!(named_path(""), None);
    }

    #[test]
    fn utf_8_stays_as_it_is() {
        for text in ["n\u{e9}t ж 象.pb.gz", "\u{ef00}\u{ef7f}\u{f000}"] {
            assert_eq!(from_bytes(text.as_bytes()), text);
            assert!(matches!(to_os(text), Cow::Borrowed(same) if same == text));
        }
    }
}
