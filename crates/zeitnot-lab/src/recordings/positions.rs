//! Chooses the positions whose searches are recorded: those of one side in each game of a PGN, or the lines of an EPD.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_base::files::open;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_games::openings::{Openings, OpeningsError};
use zeitnot_games::pgn_reader::{PgnGame, PgnGames};

/// One side of a game, and which of its positions are searched.
#[derive(Clone, Debug)]
pub struct SideOfGame {
    /// The game's index in its file, from 0; games without a position count, too. Games 0 and 1, 2 and 3 and so on are
    /// pairs.
    pub number: u32,
    /// The whole game.
    pub game: Game,
    /// The plies at which this side is to move, from the game's start; at least one.
    pub plies: Vec<usize>,
}

/// Why a file has no positions that can be searched. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum PositionsError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// The EPD cannot be read as positions that games can begin with.
    #[error(transparent)]
    Epd(#[from] OpeningsError),
}

/// The sides of a file whose positions are searched, read one after another.
pub type Sides<'a> = Box<dyn Iterator<Item = Result<SideOfGame, PositionsError>> + Send + 'a>;

/// Reads an EPD or a file of FENs, each line as a game of one position.
///
/// # Errors
/// [`PositionsError::Epd`].
pub fn read_positions(path: &Path) -> Result<Sides<'static>, PositionsError> {
    let openings = Openings::read(&[path.to_owned()], None)?;
    let count = openings.len();
    let side = move |index: usize| {
        let game = openings.get(index);
        Ok(SideOfGame { number: index as u32, plies: vec![game.moves().len()], game })
    };
    Ok(Box::new((0..count).map(side)))
}

/// Reads the positions of one side of each game of a PGN: White's in the first two games, Black's in the next two, and
/// so on. In a match of pairs, whose two games have one opening and swapped colours, that is each player once in a
/// pair. Games in which the side has no move are left out. `tell` hears of damaged games, which are cut short.
///
/// # Errors
/// [`PositionsError::Read`], here or as the last item of the sides.
pub fn read_sides<'a>(path: &'a Path, tell: &'a mut (dyn FnMut(String) + Send)) -> Result<Sides<'a>, PositionsError> {
    let read = |error| PositionsError::Read { path: path.to_owned(), error };
    let games = PgnGames::new(open(path).map_err(read)?);
    let side = move |game: io::Result<PgnGame>| {
        let game = match game {
            Ok(game) => game,
            Err(error) => return Some(Err(read(error))),
        };
        if let Some(problem) = &game.problem {
            tell(format!("{} game {}: {problem}", path.display(), game.number));
        }
        let number = game.number - 1;
        let side = if (number / 2).is_multiple_of(2) { Color::White } else { Color::Black };
        let moves = game.game.moves().len();
        let plies: Vec<usize> = (0..moves).filter(|ply| game.game.positions()[*ply].turn() == side).collect();
        (!plies.is_empty()).then_some(Ok(SideOfGame { number: number as u32, game: game.game, plies }))
    };
    Ok(Box::new(games.filter_map(side)))
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
        let mut tell = |line: String| panic!("{line}");
        let sides: Vec<_> = read_sides(file.path(), &mut tell).unwrap().map(Result::unwrap).collect();
        let told: Vec<(u32, &[usize])> = sides.iter().map(|side| (side.number, &side.plies[..])).collect();
        // White's positions of the first pair, Black's of the second.
        assert_eq!(told, [(0, &[0, 2][..]), (2, &[1][..]), (3, &[1][..])]);
    }
}
