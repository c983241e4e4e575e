//! Reads opening books in Polyglot's format: entries of 16 bytes (key, move, weight and a field for learning,
//! big-endian), sorted by the position's key. The file is searched where it lies, so that a book of any size costs a
//! few reads a move.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Position as _};
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_base::files::open_regular;
use zeitnot_chess::{Game, Move, Position, parse_uci};

/// Bytes of an entry.
const ENTRY: usize = 16;

/// Most entries of one position that are read; no position has more than 218 legal moves. Further entries, as a damaged
/// or hostile file may hold, are ignored.
const MOST_ENTRIES: usize = 256;

/// The sum of the weights of a position fits its type.
const _: () = assert!(MOST_ENTRIES as u64 * u16::MAX as u64 <= u32::MAX as u64);

/// Why a book cannot be used; displays as one line.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("cannot read the book \"{}\": {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        error: std::io::Error,
    },
    /// The length is not that of a whole number of entries, or is 0.
    #[error("\"{}\" is no Polyglot book: {length} bytes are not a number of entries of {ENTRY}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Length in bytes.
        length: u64,
    },
}

/// An open book.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    file: File,
    entries: u64,
}

/// A move that a book knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookMove {
    /// The move, legal in the position that was looked up.
    pub mv: Move,
    /// Weight of the move among the others; never 0.
    pub weight: u32,
}

/// A move chosen from a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// The book's best reply, if it knows one.
    pub reply: Option<Move>,
    /// Weight of the move.
    pub weight: u32,
    /// Sum of the weights of all moves that could be chosen.
    pub total: u32,
}

impl Book {
    /// Opens a book.
    ///
    /// # Errors
    /// [`BookError`], when the file cannot be read or cannot be a book.
    pub fn open(path: &Path) -> Result<Book, BookError> {
        let failed = |error| BookError::Read { path: path.to_owned(), error };
        let (file, metadata) = open_regular(path).map_err(failed)?;
        let length = metadata.len();
        if length == 0 || !length.is_multiple_of(ENTRY as u64) {
            return Err(BookError::Length { path: path.to_owned(), length });
        }
        Ok(Book { path: path.to_owned(), file, entries: length / ENTRY as u64 })
    }

    /// Number of entries in the file.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The moves to play in a position, the largest weight first. Left out are entries of weight 0, which say that a
    /// move is not to be played, and illegal ones, of another position with the same key or of a damaged file. Only the
    /// first 256 entries of a key count.
    ///
    /// # Errors
    /// [`BookError::Read`].
    pub(crate) fn moves(&self, position: &Position) -> Result<Vec<BookMove>, BookError> {
        let failed = |error| BookError::Read { path: self.path.clone(), error };
        let key = polyglot_key(position);
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle).map_err(failed)?.key < key { low = middle + 1 } else { high = middle }
        }
        let mut moves: Vec<BookMove> = Vec::new();
        for entry in self.entries_from(low).map_err(failed)?.iter().take_while(|entry| entry.key == key) {
            let Some(mv) = entry.legal_move(position).filter(|_| entry.weight > 0) else { continue };
            match moves.iter_mut().find(|known| known.mv == mv) {
                Some(known) => known.weight += u32::from(entry.weight),
                None => moves.push(BookMove { mv, weight: u32::from(entry.weight) }),
            }
        }
        moves.sort_by_key(|mv| std::cmp::Reverse(mv.weight));
        Ok(moves)
    }

    /// A move for the end of `game`: with `best` the one of largest weight, else one drawn by the weights, from `seed`
    /// if there is one. `among`: the moves allowed; empty: all. `None` where the book has no such move.
    ///
    /// # Errors
    /// [`BookError::Read`].
    pub fn choose(
        &self,
        game: &Game,
        best: bool,
        among: &[Move],
        seed: Option<u64>,
    ) -> Result<Option<Choice>, BookError> {
        // The operating system seeds it once a process, and it counts up: random enough for openings.
        let random = || seed.unwrap_or_else(|| RandomState::new().hash_one(0));
        self.choose_by(game, among, if best { None } else { Some(random()) })
    }

    fn choose_by(&self, game: &Game, among: &[Move], random: Option<u64>) -> Result<Option<Choice>, BookError> {
        let mut moves = self.moves(game.current())?;
        moves.retain(|known| among.is_empty() || among.contains(&known.mv));
        let total: u32 = moves.iter().map(|mv| mv.weight).sum();
        let mut left = random.map_or(0, |random| random % u64::from(total.max(1)));
        let chosen = moves.iter().find(|mv| match left.checked_sub(u64::from(mv.weight)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        let Some(BookMove { mv, weight }) = chosen.copied() else { return Ok(None) };
        let mut after = game.clone();
        after.push(mv);
        let reply = self.moves(after.current())?.first().map(|reply| reply.mv);
        Ok(Some(Choice { mv, reply, weight, total }))
    }

    fn entry(&self, index: u64) -> std::io::Result<BookEntry> {
        let mut bytes = [0; ENTRY];
        self.read(index, &mut bytes)?;
        Ok(BookEntry::new(&bytes))
    }

    /// The entries at `index` and after it, [`MOST_ENTRIES`] at the most, in one read.
    fn entries_from(&self, index: u64) -> std::io::Result<Vec<BookEntry>> {
        let entries = (self.entries - index).min(MOST_ENTRIES as u64) as usize;
        let mut bytes = vec![0; entries * ENTRY];
        self.read(index, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(BookEntry::new).collect())
    }

    fn read(&self, index: u64, bytes: &mut [u8]) -> std::io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(index * ENTRY as u64))?;
        file.read_exact(bytes)
    }
}

/// The key of a position in a book. It can differ from [`Position::key`]: castling rights are by side, and an en
/// passant capture counts wherever a pawn stands ready, pinned or not.
pub(super) fn polyglot_key(position: &Position) -> u64 {
    position.chess().zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
}

/// One entry of the file, without its field for learning, which no program fills.
struct BookEntry {
    key: u64,
    mv: u16,
    weight: u16,
}

impl BookEntry {
    fn new(bytes: &[u8; ENTRY]) -> BookEntry {
        let field =
            |from: usize, to: usize| bytes[from..to].iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        BookEntry { key: field(0, 8), mv: field(8, 10) as u16, weight: field(10, 12) as u16 }
    }

    /// The entry's move, if it is legal. Three bits each, from the lowest: file and rank of the target, file and rank
    /// of the origin, promotion. Castling is king takes rook, also in standard chess.
    fn legal_move(&self, position: &Position) -> Option<Move> {
        let digit = |at: u32| usize::from(self.mv >> at & 7);
        let square = |file: u32, rank: u32| [b"abcdefgh"[digit(file)], b"12345678"[digit(rank)]];
        let mut text = [square(6, 9), square(0, 3)].concat();
        text.extend([None, Some(b'n'), Some(b'b'), Some(b'r'), Some(b'q')].get(digit(12))?);
        parse_uci(position.chess(), std::str::from_utf8(&text).ok()?).ok()
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
