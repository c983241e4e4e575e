//! Reads opening books in Polyglot's format: entries of 16 bytes (key, move, weight and a field for learning,
//! big-endian), sorted by the position's key. The file is searched where it lies, so that a book of any size costs a
//! few reads a move.

use crate::chess::{Game, Move, Position, parse_uci};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Position as _};
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_text::files::open_regular;

/// Bytes of an entry.
const ENTRY: usize = 16;

/// Entries of one position that are read; no position has more than 218 legal moves. What a damaged or hostile file
/// holds beyond them is left alone.
const MOST_ENTRIES: usize = 256;

/// A sum of weights fits its type.
const _: () = assert!(MOST_ENTRIES as u64 * u16::MAX as u64 <= u32::MAX as u64);

/// A book that cannot be used. Its text is one line.
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
    /// Length that no book has.
    #[error("\"{}\" is no Polyglot book: {length} bytes are not a number of entries of {ENTRY}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Length in bytes.
        length: u64,
    },
}

/// A book, open.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    file: File,
    entries: u64,
}

/// A move that a book knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookMove {
    /// The move, legal where it was asked for.
    pub mv: Move,
    /// Weight of the move among the others; never 0.
    pub weight: u32,
}

/// A move chosen from a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The move.
    pub mv: Move,
    /// The book's best reply to it, if it knows one.
    pub reply: Option<Move>,
    /// Weight of the move.
    pub weight: u32,
    /// The weights of all moves of the position.
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

    /// Entries in the file.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The moves to play in a position, the largest weight first. Entries of weight 0 say that a move is not to be
    /// played; illegal ones belong to another position with the same key, or to a damaged file. Of entries of the same
    /// key the first 256 count.
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

    /// A move for the end of `game`: the best one, or one drawn by the weights, with `seed` where there is one.
    /// `among`: the moves allowed; empty: all.
    ///
    /// # Errors
    /// [`BookError::Read`].
    pub(crate) fn choose(
        &self,
        game: &Game,
        best: bool,
        among: &[Move],
        seed: Option<u64>,
    ) -> Result<Option<Choice>, BookError> {
        // What is drawn from an operating system once a process, and counted up, is random enough for openings.
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

/// The key of a position in a book. It has castling rights by side, and an en passant capture wherever a pawn stands
/// ready, pinned or not, so that it is not always [`Position::key`].
fn polyglot_key(position: &Position) -> u64 {
    position.chess().zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
}

/// An entry without its field for learning, which nobody fills.
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

    /// Three bits each, from the lowest: file and rank of the target, file and rank of the origin, promotion. Castling
    /// is king takes rook, also in standard chess.
    fn legal_move(&self, position: &Position) -> Option<Move> {
        let digit = |at: u32| usize::from(self.mv >> at & 7);
        let square = |file: u32, rank: u32| [b"abcdefgh"[digit(file)], b"12345678"[digit(rank)]];
        let mut text = [square(6, 9), square(0, 3)].concat();
        text.extend([None, Some(b'n'), Some(b'b'), Some(b'r'), Some(b'q')].get(digit(12))?);
        parse_uci(position.chess(), std::str::from_utf8(&text).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::to_uci;
    use std::io::Write as _;

    fn game(fen: Option<&str>, moves: &str) -> Game {
        let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
        for mv in moves.split_whitespace() {
            game.push_uci(mv).unwrap();
        }
        game
    }

    /// The test positions of the format's description.
    #[test]
    fn keys_are_polyglots() {
        for (moves, key) in [
            ("", 0x463b_9618_1691_fc9c),
            ("e2e4", 0x823c_9b50_fd11_4196),
            ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
            ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
        ] {
            assert_eq!(polyglot_key(game(None, moves).current()), key, "{moves}");
        }
    }

    /// Target, origin and promotion as the format packs them.
    fn packed(uci: &str) -> u16 {
        let bytes = uci.as_bytes();
        let digit = |at: usize, first: u8| u16::from(bytes[at] - first);
        let promotion = bytes.get(4).map_or(0, |role| b" nbrq".iter().position(|known| known == role).unwrap() as u16);
        digit(2, b'a') | digit(3, b'1') << 3 | digit(0, b'a') << 6 | digit(1, b'1') << 9 | promotion << 12
    }

    fn book(entries: &[(&Game, &str, u16)]) -> (tempfile::NamedTempFile, Book) {
        let mut rows: Vec<(u64, u16, u16)> =
            entries.iter().map(|(game, mv, weight)| (polyglot_key(game.current()), packed(mv), *weight)).collect();
        rows.sort_by_key(|row| row.0);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (key, mv, weight) in rows {
            let learn = [0xff; 4];
            file.write_all(&[&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &learn].concat())
                .unwrap();
        }
        let book = Book::open(file.path()).unwrap();
        (file, book)
    }

    fn moves(book: &Book, game: &Game) -> Vec<(String, u32)> {
        book.moves(game.current()).unwrap().iter().map(|known| (to_uci(known.mv, false), known.weight)).collect()
    }

    #[test]
    fn legal_moves_with_a_weight_are_known_the_best_first() {
        let (start, king_pawn) = (game(None, ""), game(None, "e2e4"));
        let entries = [
            (&start, "e2e4", 3),
            (&start, "d2d4", 5),
            (&start, "e2e5", 9),
            (&start, "c2c4", 0),
            (&king_pawn, "c7c5", 1),
        ];
        let (_file, book) = book(&entries);
        assert_eq!(book.entries(), 5);
        assert_eq!(moves(&book, &start), [("d2d4".to_owned(), 5), ("e2e4".to_owned(), 3)]);
        assert_eq!(moves(&book, &king_pawn), [("c7c5".to_owned(), 1)]);
        assert_eq!(moves(&book, &game(None, "a2a3")), []);
    }

    /// More entries of one position than any has moves, whose weights together pass a `u32`.
    #[test]
    fn a_flood_of_entries_of_one_position_is_cut_off() {
        let start = game(None, "");
        let (_file, book) = book(&vec![(&start, "e2e4", u16::MAX); 70_000]);
        assert_eq!(moves(&book, &start), [("e2e4".to_owned(), MOST_ENTRIES as u32 * u32::from(u16::MAX))]);
        assert_eq!(
            book.choose(&start, false, &[], Some(7)).unwrap().map(|choice| to_uci(choice.mv, false)).unwrap(),
            "e2e4"
        );
    }

    #[test]
    fn castling_promotion_and_en_passant() {
        let castling = game(Some("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), "");
        let promotion = game(Some("8/P6k/8/8/8/8/8/K7 w - - 0 1"), "");
        let en_passant = game(None, "e2e4 a7a6 e4e5 d7d5");
        let entries = [
            (&castling, "e1h1", 2),
            (&castling, "e1a1", 1),
            (&promotion, "a7a8q", 3),
            (&promotion, "a7a8n", 1),
            (&en_passant, "e5d6", 1),
        ];
        let (_file, book) = book(&entries);
        assert_eq!(moves(&book, &castling), [("e1g1".to_owned(), 2), ("e1c1".to_owned(), 1)]);
        assert_eq!(moves(&book, &promotion), [("a7a8q".to_owned(), 3), ("a7a8n".to_owned(), 1)]);
        assert_eq!(moves(&book, &en_passant), [("e5d6".to_owned(), 1)]);
    }

    #[test]
    fn a_move_is_drawn_by_its_weight_or_the_best_is_played() {
        let (start, queen_pawn) = (game(None, ""), game(None, "d2d4"));
        let entries = [(&start, "e2e4", 1), (&start, "d2d4", 3), (&queen_pawn, "d7d5", 1), (&queen_pawn, "g8f6", 2)];
        let (_file, book) = book(&entries);
        let chosen = |random, among: &[Move]| {
            let choice = book.choose_by(&start, among, random).unwrap();
            choice.map(|choice| {
                (to_uci(choice.mv, false), choice.reply.map(|mv| to_uci(mv, false)), choice.weight, choice.total)
            })
        };
        let king_pawn = Some(("e2e4".to_owned(), None, 1, 4));
        let with_reply = Some(("d2d4".to_owned(), Some("g8f6".to_owned()), 3, 4));
        assert_eq!(chosen(None, &[]), with_reply);
        for random in 0..8 {
            assert_eq!(chosen(Some(random), &[]), if random % 4 < 3 { with_reply.clone() } else { king_pawn.clone() });
        }
        let e4 = parse_uci(start.current().chess(), "e2e4").unwrap();
        assert_eq!(chosen(None, &[e4]), Some(("e2e4".to_owned(), None, 1, 1)));
        assert_eq!(book.choose(&game(None, "a2a3"), false, &[], None).unwrap(), None);
    }

    #[test]
    fn what_is_no_book_is_named() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(Book::open(file.path()), Err(BookError::Length { length: 0, .. })));
        file.write_all(&[0; 17]).unwrap();
        let error = Book::open(file.path()).unwrap_err().to_string();
        assert!(error.contains("no Polyglot book") && error.contains("17 bytes") && !error.contains('\n'), "{error}");
        let error = Book::open(Path::new("/no/such/book.bin")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the book \"/no/such/book.bin\": "), "{error}");
        assert!(Book::open(file.path().parent().unwrap()).is_err(), "a folder");
    }
}
