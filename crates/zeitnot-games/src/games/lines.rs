//! Reads lines through a buffer of one size, however long the lines of a file are.

use std::io::{self, ErrorKind, Read};
use zeitnot_base::files::{MARK, mark_length};

/// The longest line that is read whole, in bytes. A longer line comes in parts, each of which ends between two words
/// where it can.
const LONGEST: usize = 1 << 16;
/// The size of the buffer, in bytes.
const BUFFER: usize = 4 * LONGEST;

/// The lines of a source, one after another: the caller takes bytes of the current line, and goes on with
/// [`Lines::next`]. Lines end as on Unix, Windows or the old Macintosh.
pub struct Lines<R> {
    source: R,
    buffer: Box<[u8]>,
    /// Begin of the bytes in the buffer that the caller has not taken yet.
    begin: usize,
    /// End of the bytes that the buffer holds.
    end: usize,
    /// End of the current line in the buffer.
    line_end: usize,
    /// Bytes that were read from the source so far.
    read: u64,
    /// Whether nothing of the current line was taken.
    is_begin: bool,
    /// Whether the end of the source was read.
    is_over: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Lines { source, buffer, begin: 0, end: 0, line_end: 0, read: 0, is_begin: true, is_over: false }
    }

    /// The rest of the current line, with its line break; empty where all of the line was taken.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.begin..self.line_end]
    }

    /// Offset in the source up to which bytes were taken.
    pub fn offset(&self) -> u64 {
        self.read - (self.end - self.begin) as u64
    }

    /// Whether nothing of the current line was taken yet, nor of its earlier parts.
    pub fn is_begin(&self) -> bool {
        self.is_begin
    }

    /// Whether the current line is there up to its line break: false for a part of a long line except the last one, and
    /// for a last line without a line break.
    pub(crate) fn has_end(&self) -> bool {
        self.line_end > 0 && matches!(self.buffer[self.line_end - 1], b'\n' | b'\r')
    }

    /// Takes up to `count` bytes of the current line.
    pub fn take(&mut self, count: usize) {
        self.begin = self.begin.saturating_add(count).min(self.line_end);
        self.is_begin &= count == 0;
    }

    /// Takes the rest of the line, also the parts of a long line that are not in the buffer yet.
    pub fn skip(&mut self) -> io::Result<()> {
        while !self.has_end() && self.next()? {}
        self.take(usize::MAX);
        Ok(())
    }

    /// Goes on to the next line, or the next part of a long one; `false` at the end of the source.
    pub fn next(&mut self) -> io::Result<bool> {
        let is_first = self.end == 0;
        self.is_begin = is_first || self.has_end();
        self.begin = self.line_end;
        // A byte more shows whether a line feed follows a carriage return.
        if !self.is_over && self.end - self.begin <= LONGEST {
            self.fill()?;
        }
        if is_first {
            mark_length(&self.buffer[..self.end])?;
        }
        let unread = &self.buffer[self.begin..self.end];
        let window = &unread[..unread.len().min(LONGEST)];
        let length = match window.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) => at + 1 + usize::from(unread[at..].starts_with(b"\r\n")),
            None if window.len() < LONGEST => window.len(),
            None => window.iter().rposition(u8::is_ascii_whitespace).map_or(window.len(), |at| at + 1),
        };
        self.line_end = self.begin + length;
        if self.is_begin && self.rest().starts_with(MARK) {
            self.begin += MARK.len();
        }
        Ok(length > 0)
    }

    /// Reads until the buffer is full or the source has no more.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.begin..self.end, 0);
        (self.end, self.begin) = (self.end - self.begin, 0);
        while !self.is_over && self.end < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(count) => {
                    self.end += count;
                    self.read += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
