//! Chooses the positions whose searches are recorded: those of one side of each game of a PGN, or the lines of an EPD.

use crate::chess::{Color, Game};
use crate::lab::openings::{Openings, OpeningsError};
use crate::lab::pgn_reader::read_games;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// One side of a game, and which of its positions are searched.
#[derive(Clone, Debug)]
pub struct SideOfGame {
    /// The game's place in its file, counted from 0, those without a position among them: two that follow each other are a pair.
    pub number: u32,
    /// The whole game.
    pub game: Game,
    /// The plies at which this side is to move, from the game's start; there is one at least.
    pub plies: Vec<usize>,
}

/// A file without positions that can be searched. Its text is one line.
#[derive(Debug, Error)]
pub enum PositionsError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
    /// No game has a position to move in.
    #[error("{} has no game with moves", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// An EPD with something else in it.
    #[error(transparent)]
    Epd(#[from] OpeningsError),
}

/// Reads an EPD or a file of FENs, each line as a game of one position.
///
/// # Errors
/// [`PositionsError::Epd`].
pub fn read_positions(path: &Path) -> Result<Vec<SideOfGame>, PositionsError> {
    let openings = Openings::read(&[path.to_owned()], None)?;
    let side = |index: usize| {
        let game = openings.get(index);
        SideOfGame { number: index as u32, plies: vec![game.moves().len()], game }
    };
    Ok((0..openings.len()).map(side).collect())
}

/// Reads of each game of a PGN the positions of one side: White's in the first two games, Black's in the next two, and so on. In a
/// match of pairs, whose two games have one opening and swapped colours, that is each player once in a pair. `tell` hears of games
/// that are cut short because they are damaged.
///
/// # Errors
/// [`PositionsError`].
pub fn read_sides(path: &Path, tell: &mut dyn FnMut(String)) -> Result<Vec<SideOfGame>, PositionsError> {
    let read = |error| PositionsError::Read { path: path.to_owned(), error };
    let mut sides = Vec::new();
    for read in read_games(File::open(path).map_err(read)?).map_err(read)? {
        if let Some(problem) = &read.problem {
            tell(format!("{} game {}: {problem}", path.display(), read.number));
        }
        let game = read.number - 1;
        let side = if (game / 2).is_multiple_of(2) { Color::White } else { Color::Black };
        let moves = read.game.moves().len();
        let plies: Vec<usize> = (0..moves).filter(|ply| read.game.positions()[*ply].turn() == side).collect();
        if !plies.is_empty() {
            sides.push(SideOfGame { number: game as u32, game: read.game, plies });
        }
    }
    match sides.is_empty() {
        true => Err(PositionsError::Empty { path: path.to_owned() }),
        false => Ok(sides),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_without_moves_keeps_the_pairs_of_those_behind_it() {
        let game = "[White \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n";
        let text = format!("{game}[White \"b\"]\n\n*\n\n{game}{game}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let sides = read_sides(file.path(), &mut |_| {}).unwrap();
        let told: Vec<(u32, &[usize])> = sides.iter().map(|side| (side.number, &side.plies[..])).collect();
        // White's positions of the first pair, Black's of the second.
        assert_eq!(told, [(0, &[0, 2][..]), (2, &[1][..]), (3, &[1][..])]);
    }
}
