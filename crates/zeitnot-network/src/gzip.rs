//! Inflates gzip files, which may have several members one after another (RFC 1952, 2.2): their contents are joined, as
//! gzip, zlib and Lc0 do.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of a gzip member.
const START: [u8; 2] = [0x1f, 0x8b];
/// Number of gzip members that any file may have.
const FEW: usize = 1 << 12;
/// Bytes of a file for each gzip member beyond [`FEW`]: members cost time, and those of networks are not smaller.
const SMALLEST: usize = 1 << 12;

/// Whether these are the first bytes of a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&START)
}

/// A reader of the content of all members of a gzip file. Bytes after the last member are ignored, as in gzip.
pub(super) struct Members<'a> {
    member: GzDecoder<&'a [u8]>,
    /// Members that may still follow.
    left: usize,
}

impl<'a> Members<'a> {
    pub fn new(bytes: &'a [u8]) -> Members<'a> {
        Members { member: GzDecoder::new(bytes), left: FEW + bytes.len() / SMALLEST }
    }

    /// The bytes of the file that have not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.member.get_ref()
    }
}

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            // Zeros between members fill up blocks, of a tape say.
            let rest = self.rest();
            let next = rest.iter().position(|byte| *byte != 0).map_or(&[][..], |at| &rest[at..]);
            if !is_gzip(next) {
                return Ok(0);
            }
            let too_many = || io::Error::new(io::ErrorKind::InvalidData, "more gzip members than its size allows");
            self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
            self.member = GzDecoder::new(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn content(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Members::new(bytes).read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn all_members_are_read() {
        let (one, two) = (member(b"one"), member(b"two"));
        assert_eq!(content(&one).unwrap(), b"one");
        assert_eq!(content(&[&one[..], &two].concat()).unwrap(), b"onetwo");
        assert_eq!(content(&[&member(b"")[..], &one, &member(b""), &two].concat()).unwrap(), b"onetwo");
        assert_eq!(content(&one.repeat(1000)).unwrap(), b"one".repeat(1000));
    }

    #[test]
    fn fill_and_rubbish_behind_members_are_left_alone() {
        let (one, two) = (member(b"one"), member(b"two"));
        for end in [&[0; 512][..], b"x", b"\x1f", b"\x00\x00rubbish"] {
            assert_eq!(content(&[&one[..], end].concat()).unwrap(), b"one", "{end:?}");
        }
        assert_eq!(content(&[&one[..], &[0; 7], &two].concat()).unwrap(), b"onetwo");
    }

    #[test]
    fn members_cannot_be_without_number() {
        assert!(content(&member(b"").repeat(FEW)).is_ok());
        assert_eq!(
            content(&member(b"").repeat(2 * FEW)).unwrap_err().to_string(),
            "more gzip members than its size allows"
        );
    }

    #[test]
    fn a_later_member_that_is_damaged_is_an_error() {
        let (one, two) = (member(b"one"), member(b"two"));
        for cut in 2..two.len() {
            let error = content(&[&one[..], &two[..cut]].concat()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut at {cut}");
        }
        let mut wrong = two.clone();
        *wrong.iter_mut().nth_back(7).unwrap() ^= 1;
        assert!(content(&[&one[..], &wrong].concat()).is_err(), "its checksum");
    }
}
