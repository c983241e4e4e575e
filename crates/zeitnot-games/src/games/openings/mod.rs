//! Reads start positions of games from files of EPD, FEN and PGN and from the output of `genfens`, or takes those
//! inside the program.
//!
//! All positions and moves are checked when a file is read: a bad opening would otherwise end a match after hours.
//! Openings are kept as text, because a book has hundreds of thousands.

mod built_in;
mod epd_lines;
mod pgn_games;
mod random_openings;
mod starts;
#[cfg(test)]
mod tests;

pub use starts::{StartError, Starts};

use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_base::files::{MARK, open};
use zeitnot_base::printable::beginning;
use zeitnot_engine::chess::Game;
use zeitnot_engine::splitmix::SplitMix64;

/// Text between the FEN and the moves of an opening.
const MOVES: &str = " moves ";
/// Characters of a bad line or token that an error quotes.
const QUOTED: usize = 80;

/// Why a file of start positions cannot be used. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum OpeningsError {
    /// There is no such file.
    #[error("there is no file {}, and \"{}\" is the only book inside the program", path.display(), built_in::NAME)]
    Missing { path: PathBuf },
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// The file has no line and no game.
    #[error("{} holds no positions", path.display())]
    Empty { path: PathBuf },
    /// A line is not a position to play from.
    #[error("{} line {line}: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    /// A game of a PGN file has no position to go on from.
    #[error("{} game {game}: {reason}", path.display())]
    Game { path: PathBuf, game: usize, reason: String },
}

/// The order in which [`Openings::get`] gives the openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningOrder {
    /// The order in the files.
    Sequential,
    /// Shuffled; the same seed gives the same order on every machine.
    Shuffled {
        /// The seed.
        seed: u64,
    },
}

/// The start positions of one file: each a FEN, and the moves from it in UCI notation if there are any.
type Book = Vec<Box<str>>;

/// Start positions of games, with the moves that led to them where a PGN has them.
#[derive(Debug)]
pub struct Openings {
    /// One book for each file; at least one, and none is empty.
    books: Vec<Book>,
    /// Index of the opening at each place of the order, counted through all books; `None` keeps the order of the files.
    shuffled: Option<Vec<u32>>,
}

impl Openings {
    /// Reads the files; the name `builtin`, in any case, stands for the openings inside the program. A file is PGN
    /// where the name ends in `.pgn` or the text begins with a tag, otherwise EPD or FEN, one a line, or the output of
    /// an engine's `genfens`. At most `plies` plies are taken from a game of a PGN or an opening of the program; `None`
    /// takes the whole main line. Without files there is one opening, the standard start position.
    ///
    /// Positions with castling rights of Chess960 begin games of Chess960.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, has no positions, or has an entry that no game can begin with: not a position, a
    /// game that is over, or a position whose side to move could take the king.
    pub fn read(paths: &[PathBuf], plies: Option<usize>) -> Result<Openings, OpeningsError> {
        let mut books: Vec<Book> = paths.iter().map(|path| read_book(path, plies)).collect::<Result<_, _>>()?;
        if books.is_empty() {
            books.push(vec![Game::new().fen().into()]);
        }
        Ok(Openings { books, shuffled: None })
    }

    /// Whether the name is not that of a file, but stands for the openings inside the program.
    pub fn is_built_in(path: &Path) -> bool {
        path.as_os_str().eq_ignore_ascii_case(built_in::NAME)
    }

    /// The openings inside the program, with at most `plies` plies each; `None` takes all of them.
    pub fn built_in(plies: Option<usize>) -> Openings {
        Openings { books: vec![built_in::book(plies)], shuffled: None }
    }

    /// Puts the openings in another order.
    pub fn in_order(self, order: OpeningOrder) -> Openings {
        let shuffled = match order {
            OpeningOrder::Sequential => None,
            OpeningOrder::Shuffled { seed } => Some(permutation(self.len(), seed)),
        };
        Openings { shuffled, ..self }
    }

    /// The number of openings in all files; at least 1.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.books.iter().map(Vec::len).sum()
    }

    /// The game at place `index` of the order, with the moves of its opening. After the last opening the order begins
    /// again.
    pub fn get(&self, index: usize) -> Game {
        let place = index % self.len();
        let mut rest = self.shuffled.as_ref().map_or(place, |order| order[place] as usize);
        for book in &self.books {
            match book.get(rest) {
                Some(opening) => return game(opening),
                None => rest -= book.len(),
            }
        }
        unreachable!("the places of an order are below the number of openings")
    }

    /// The game of an opening chosen by two numbers from 0 to below 1: `file` chooses among the files, which all count
    /// the same, and `opening` within the file.
    pub fn at(&self, file: f32, opening: f32) -> Game {
        let place = |share: f32, count: usize| ((share * count as f32) as usize).min(count - 1);
        let book = &self.books[place(file, self.books.len())];
        game(&book[place(opening, book.len())])
    }
}

/// The numbers below `count`, shuffled by the seed (Fisher and Yates).
fn permutation(count: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix64(seed);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// Why a file is not a book of openings.
#[derive(Debug, Error)]
enum BookError {
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The number of the line or game, from 1, and its problem.
    #[error("{0}: {1}")]
    Entry(usize, String),
}

fn read_book(path: &Path, plies: Option<usize>) -> Result<Book, OpeningsError> {
    if Openings::is_built_in(path) {
        return Ok(built_in::book(plies));
    }
    let is_named_pgn = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn"));
    let path = || path.to_owned();
    let cannot_read = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => OpeningsError::Missing { path: path() },
        _ => OpeningsError::Read { path: path(), error },
    };
    let mut source = BufReader::new(open(&path()).map_err(cannot_read)?);
    let beginning = source.fill_buf().map_err(cannot_read)?;
    let beginning = beginning.strip_prefix(MARK).unwrap_or(beginning);
    let is_pgn = is_named_pgn || beginning.trim_ascii_start().starts_with(b"[");
    let book = if is_pgn { pgn_games::read(source, plies) } else { epd_lines::read(source) };
    match book {
        Ok(book) if book.is_empty() => Err(OpeningsError::Empty { path: path() }),
        Ok(book) => Ok(book),
        Err(BookError::Read(error)) => Err(cannot_read(error)),
        Err(BookError::Entry(game, reason)) if is_pgn => Err(OpeningsError::Game { path: path(), game, reason }),
        Err(BookError::Entry(line, reason)) => Err(OpeningsError::Line { path: path(), line, reason }),
    }
}

/// The game of an opening.
fn game(opening: &str) -> Game {
    let (fen, moves) = opening.split_once(MOVES).unwrap_or((opening, ""));
    let mut game = Game::from_fen(fen, false).expect("it was a position when it was read");
    for mv in moves.split_ascii_whitespace() {
        game.push_uci(mv).expect("the move was legal when it was read");
    }
    game
}

/// The start position of a FEN, if a game can begin with it.
fn start(fen: &str) -> Result<Game, String> {
    // Castling rights that standard chess does not have are read as those of Chess960.
    let game = Game::from_fen(fen, false).map_err(|error| format!("{}: {}", quoted(fen), error.reason))?;
    check_begins(&game)?;
    Ok(game)
}

/// Refuses a game whose start position is illegal.
fn check_begins(game: &Game) -> Result<(), String> {
    match game.positions()[0].is_illegal() {
        true => Err(format!("the side to move could take the king in {}", game.start_fen())),
        false => Ok(()),
    }
}

/// Refuses a game that is over.
fn check_goes_on(game: &Game) -> Result<(), String> {
    let Some(outcome) = game.outcome() else { return Ok(()) };
    let end = outcome.reason();
    let after = match game.moves().len() {
        0 => String::new(),
        plies => format!(" after {plies} plies"),
    };
    Err(format!("the game is over{after}: {end} in {}", game.fen()))
}

/// Quotes a text from a file for an error, on one line and cut off where it is long.
fn quoted(text: &str) -> String {
    format!("\"{}\"", beginning(text, QUOTED))
}
