//! Reads files of text: UTF-8, with the byte order marks that editors put before it. For a text in another encoding the
//! error names the encoding.

use super::regular::OtherKind;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read as _};
use std::path::Path;

/// The byte order mark of UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";
/// The first bytes of compressed files, and the names of their formats.
const COMPRESSED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"PK\x03\x04", "zip"),
];
/// The longest line that is read, in bytes: lines of our own outputs have some thousands.
const LONGEST_LINE: u64 = 1 << 26;

/// The length of the byte order mark at the beginning of a text, 0 without a mark; `head` has at least the first four
/// bytes of the text, if there are so many.
///
/// # Errors
/// [`ErrorKind::InvalidData`] for UTF-16, UTF-32 and compressed files; its text says what to do about them.
pub fn mark_length(head: &[u8]) -> io::Result<usize> {
    if let Some((_, name)) = COMPRESSED.iter().find(|(signature, _)| head.starts_with(signature)) {
        return Err(Error::new(ErrorKind::InvalidData, format!("it is compressed ({name}); unpack it first")));
    }
    let other = match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => "UTF-32",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        // UTF-16 may lack its mark.
        [0, first, 0, second, ..] | [first, 0, second, 0, ..] if is_text(*first) && is_text(*second) => "UTF-16",
        _ => return Ok(if head.starts_with(MARK) { MARK.len() } else { 0 }),
    };
    Err(Error::new(ErrorKind::InvalidData, format!("it is {other}; save it as UTF-8")))
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// The text without byte order marks, which stand at its beginning, and at the beginning of lines where files were
/// joined.
///
/// # Errors
/// As for [`mark_length`].
pub fn without_marks(bytes: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    let text = &bytes[mark_length(bytes)?..];
    let is_clean = |line: &[u8]| !line.starts_with(MARK);
    let lines = || text.split_inclusive(|byte| *byte == b'\n');
    if lines().all(is_clean) {
        Ok(Cow::Borrowed(text))
    } else {
        Ok(Cow::Owned(lines().flat_map(|line| line.strip_prefix(MARK).unwrap_or(line)).copied().collect()))
    }
}

/// The content of a file without byte order marks.
///
/// # Errors
/// The system's, those of [`mark_length`], and [`ErrorKind::InvalidData`] for a line that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    let text = without_marks(&bytes)?;
    match std::str::from_utf8(&text) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(not_utf8(1 + text[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count())),
    }
}

/// Opens a file, a pipe (`<(command)`) or a device.
///
/// # Errors
/// The system's, and [`ErrorKind::InvalidInput`] for a folder.
pub fn open(path: &Path) -> io::Result<File> {
    if path.is_dir() { Err(OtherKind::Folder.not_a_file()) } else { File::open(path) }
}

fn not_utf8(line: usize) -> Error {
    Error::new(ErrorKind::InvalidData, format!("line {line} is no UTF-8; save it as UTF-8"))
}

/// The lines of a text, without their ends and without byte order marks.
///
/// A line is an error if it cannot be read, is not UTF-8, or has more than 64 MiB; the lines end with an error.
pub struct TextLines<R> {
    reader: R,
    /// Number of lines read.
    count: usize,
    has_failed: bool,
}

impl TextLines<BufReader<File>> {
    /// The lines of a file.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(TextLines::of(BufReader::new(open(path)?)))
    }
}

impl<R: BufRead> TextLines<R> {
    /// The lines of a reader's text.
    pub fn of(reader: R) -> TextLines<R> {
        TextLines { reader, count: 0, has_failed: false }
    }

    fn read(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.count += 1;
        if line.len() as u64 > LONGEST_LINE {
            let problem = format!("line {} has more than {} MiB", self.count, LONGEST_LINE >> 20);
            return Err(Error::new(ErrorKind::InvalidData, problem));
        }
        let mark = match self.count {
            1 => mark_length(&line)?,
            _ if line.starts_with(MARK) => MARK.len(),
            _ => 0,
        };
        line.drain(..mark);
        for end in [b'\n', b'\r'] {
            line.pop_if(|last| *last == end);
        }
        String::from_utf8(line).map(Some).map_err(|_| not_utf8(self.count))
    }
}

impl<R: BufRead> Iterator for TextLines<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        if self.has_failed {
            return None;
        }
        let line = self.read().transpose()?;
        self.has_failed = line.is_err();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn lines(text: &[u8]) -> Vec<Result<String, String>> {
        TextLines::of(text).map(|line| line.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn marks_are_left_out_wherever_a_line_begins() {
        for text in
            ["{\"a\":1}\n{\"a\":2}\n", "\u{feff}{\"a\":1}\n{\"a\":2}\n", "\u{feff}{\"a\":1}\n\u{feff}{\"a\":2}\n"]
        {
            assert_eq!(without_marks(text.as_bytes()).unwrap(), &b"{\"a\":1}\n{\"a\":2}\n"[..]);
            assert_eq!(lines(text.as_bytes()), [Ok("{\"a\":1}".into()), Ok("{\"a\":2}".into())]);
        }
        // Within a line it is a character.
        assert_eq!(without_marks("a\u{feff}b".as_bytes()).unwrap(), "a\u{feff}b".as_bytes());
        assert_eq!(lines("\u{feff}".as_bytes()), [Ok(String::new())]);
        assert_eq!(lines(b"a\r\n\nb"), [Ok("a".into()), Ok(String::new()), Ok("b".into())]);
    }

    #[test]
    fn other_encodings_are_called_what_they_are() {
        let utf32: Vec<u8> = "\u{feff}{}".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        for (bytes, name) in [
            (utf16("\u{feff}{}\n", u16::to_le_bytes), "UTF-16"),
            (utf16("\u{feff}{}\n", u16::to_be_bytes), "UTF-16"),
            (utf16("{}\n", u16::to_le_bytes), "UTF-16"),
            (utf16("{}\n", u16::to_be_bytes), "UTF-16"),
            (utf32, "UTF-32"),
            (b"\x1f\x8b\x08\0".to_vec(), "gzip"),
            (b"\x28\xb5\x2f\xfd\x04".to_vec(), "Zstandard"),
            (b"BZh91AY".to_vec(), "bzip2"),
            (b"\xfd7zXZ\0\0".to_vec(), "xz"),
            (b"PK\x03\x04\x14".to_vec(), "zip"),
        ] {
            let expected = if name.starts_with("UTF") {
                format!("it is {name}; save it as UTF-8")
            } else {
                format!("it is compressed ({name}); unpack it first")
            };
            assert_eq!(without_marks(&bytes).unwrap_err().to_string(), expected);
            assert_eq!(lines(&bytes), [Err(expected.clone())]);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            assert_eq!(read_text(file.path()).unwrap_err().to_string(), expected);
        }
        for text in [&b""[..], b"x", b"\n", b"\0\x01", b"\0\0\0\0", "é".as_bytes(), b"[Event \"x\"]"] {
            assert_eq!(mark_length(text).unwrap(), 0);
        }
    }

    #[test]
    fn a_folder_is_called_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let expected = "it is a folder, not a file";
        assert_eq!(read_text(folder.path()).unwrap_err().to_string(), expected);
        assert_eq!(TextLines::open(folder.path()).err().unwrap().to_string(), expected);
    }

    #[test]
    fn a_line_that_is_no_utf_8_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"a\nb\xe9\n").unwrap();
        let expected = "line 2 is no UTF-8; save it as UTF-8";
        assert_eq!(read_text(file.path()).unwrap_err().to_string(), expected);
        assert_eq!(lines(b"a\nb\xe9\nc\n"), [Ok("a".into()), Err(expected.into())]);
    }

    #[test]
    fn lines_without_end_are_refused() {
        let mut lines = TextLines::of(BufReader::new(io::repeat(b'x')));
        assert_eq!(lines.next().unwrap().unwrap_err().to_string(), "line 1 has more than 64 MiB");
        assert!(lines.next().is_none());
    }
}
