//! Reads start positions of games from files with one EPD or FEN a line.

use crate::chess::Game;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file of start positions that cannot be used. Its text is one line.
#[derive(Debug, Error)]
pub enum OpeningsError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
    /// It has no line.
    #[error("{} holds no positions", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line is no position.
    #[error("{} line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// The problem.
        reason: String,
    },
}

/// Fields of a FEN that an EPD has, too; its operations follow.
const EPD_FIELDS: usize = 4;

/// Lines of several files, kept as text: a book has hundreds of thousands.
#[derive(Debug)]
pub struct Openings {
    books: Vec<Book>,
}

/// Lines that are positions.
type Book = Vec<Box<str>>;

impl Openings {
    /// Reads the files. Without any, every game begins at the start position. All lines are looked at now: one that is no
    /// position would otherwise end a run of hours when it is drawn.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, has no lines, or a line is no position.
    pub fn read(paths: &[PathBuf]) -> Result<Openings, OpeningsError> {
        let books = paths.iter().map(|path| read_book(path)).collect::<Result<_, _>>()?;
        Ok(Openings { books })
    }

    /// The position at two places from 0 to below 1: of the file among the files, which all count the same, and of the
    /// line in it.
    pub fn at(&self, file: f32, line: f32) -> Game {
        let place = |share: f32, count: usize| ((share * count as f32) as usize).min(count.saturating_sub(1));
        let Some(book) = self.books.get(place(file, self.books.len())) else { return Game::new() };
        game(&book[place(line, book.len())]).expect("every line was a position when it was read")
    }
}

fn read_book(path: &Path) -> Result<Book, OpeningsError> {
    let text = fs::read_to_string(path).map_err(|error| OpeningsError::Read { path: path.to_owned(), error })?;
    let mut book = Book::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        game(line).map_err(|reason| OpeningsError::Line { path: path.to_owned(), line: number + 1, reason })?;
        book.push(line.into());
    }
    match book.is_empty() {
        true => Err(OpeningsError::Empty { path: path.to_owned() }),
        false => Ok(book),
    }
}

/// The game of a line. The counters of a FEN are numbers; the operations after the four fields of an EPD are not.
fn game(line: &str) -> Result<Game, String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let counters = fields.iter().skip(EPD_FIELDS).take(2).take_while(|field| field.parse::<u32>().is_ok()).count();
    let fen = fields[..fields.len().min(EPD_FIELDS + counters)].join(" ");
    // Chess960 castling is read in all positions: those of standard chess are among them.
    let game = Game::from_fen(&fen, true).map_err(|error| error.to_string())?;
    match game.current().legal_moves().is_empty() {
        true => Err("the game is over there".to_owned()),
        false => Ok(game),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(text: &str) -> Result<Openings, OpeningsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.epd");
        fs::write(&path, text).unwrap();
        Openings::read(&[path])
    }

    #[test]
    fn without_files_there_is_the_start_position() {
        let game = Openings::read(&[]).unwrap().at(0.5, 0.5);
        assert!(game.starts_from_standard());
    }

    #[test]
    fn openings_read_epd_and_fen_lines() {
        let text = "8/8/4k3/8/8/4K3/4P3/8 w - - bm e4; id \"1 2\";\n\n8/8/4k3/8/8/4K3/4P3/8 b - - 7 40\n";
        let openings = openings(text).unwrap();
        assert_eq!(openings.at(0.0, 0.0).current().rule50(), 0);
        let second = openings.at(0.99, 0.99);
        assert_eq!(second.current().rule50(), 7);
    }

    #[test]
    fn opening_errors_name_the_line() {
        let error = openings("8/8/4k3/8/8/4K3/4P3/8 w - -\n\nnonsense\n").unwrap_err();
        assert!(error.to_string().contains("line 3"), "{error}");
        let error = openings("R6k/5Q2/8/8/8/8/8/K7 b - - 0 1\n").unwrap_err();
        assert!(error.to_string().contains("over"), "{error}");
        assert!(openings("\n").unwrap_err().to_string().contains("no positions"));
    }
}
