//! Gives the games of a match their start positions.

use super::Openings;
use crate::games::record::Termination;
use thiserror::Error;
use zeitnot_engine::chess::Game;

/// Why no game can begin with a position. Displays as one line.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum StartError {
    /// The side that is not to move stands in check.
    #[error("the side to move could take the king")]
    KingInReach,
    /// The game is over in the position.
    #[error("the game is over ({0})")]
    GameOver(Termination),
}

/// The start positions of a match.
pub enum Starts {
    /// One position for all games.
    One(Box<Game>),
    /// One position for each pair of games.
    Many(Openings),
}

impl Starts {
    /// One position for all games.
    ///
    /// # Errors
    /// When the game is over, or the side to move could take the king: an engine would search such a position, but PGN
    /// has no word for that move.
    pub fn one(start: Game) -> Result<Starts, StartError> {
        if start.current().is_illegal() {
            return Err(StartError::KingInReach);
        }
        match start.outcome() {
            Some(outcome) => Err(StartError::GameOver(outcome.into())),
            None => Ok(Starts::One(Box::new(start))),
        }
    }

    /// The number of positions; at least 1.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        match self {
            Starts::One(_) => 1,
            Starts::Many(openings) => openings.len(),
        }
    }

    /// The start of a pair of games, numbered from 0.
    pub fn get(&self, pair: u64) -> Game {
        match self {
            Starts::One(game) => (**game).clone(),
            Starts::Many(openings) => openings.get(pair as usize),
        }
    }
}
