//! Defines the interface of a player: this engine, or another one as a process.

use super::record::Evaluation;
use thiserror::Error;
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::{EngineError, GoParams};

/// A move that a player is asked for.
pub struct Turn<'a> {
    /// The position, with its history.
    pub game: &'a Game,
    /// Clocks and limits.
    pub go: GoParams,
    /// Milliseconds since this player's last answer, or since the game began.
    pub since_answer_ms: f64,
}

/// The answer of a player.
#[derive(Clone, Debug)]
pub struct Thought {
    pub mv: Move,
    pub used_ms: f64,
    /// The budget of the time manager and its hard limit, in milliseconds.
    pub budget_ms: Option<(f64, f64)>,
    /// Nodes of the tree.
    pub nodes: u64,
    /// Visits made by this search.
    pub playouts: u64,
    /// Depth in plies.
    pub depth: u32,
    pub evaluation: Option<Evaluation>,
}

impl Thought {
    /// A move of a player who says nothing about it, such as a person.
    pub fn of_move(mv: Move, used_ms: f64) -> Thought {
        Thought { mv, used_ms, budget_ms: None, nodes: 0, playouts: 0, depth: 0, evaluation: None }
    }
}

/// Why a player gives no move. Displays as one line.
#[derive(Debug, Error)]
pub enum PlayerError {
    /// This engine cannot search, which ends the match.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The player cannot play such games at all, or cannot be started.
    #[error("{0}")]
    Unfit(String),
    /// The player's process ended.
    #[error("{0}")]
    Crashed(String),
    /// The player gave no move while its clock ran.
    #[error("{0}")]
    Stalled(String),
    /// The player did not get ready for a game or a move, before its clock ran.
    #[error("{0}")]
    NotReady(String),
    /// The match was interrupted while the player was waited for.
    #[error("{0}")]
    Interrupted(String),
    /// The player's answer is not a legal move.
    #[error("{0}")]
    IllegalMove(String),
}

/// One side of a match.
pub trait Player: Send {
    /// The player's name in results.
    fn name(&self) -> &str;

    /// The name of the player's network, where it is known.
    fn network(&self) -> Option<&str> {
        None
    }

    /// Forgets the game before; `seed` decides everything random in the next one.
    ///
    /// # Errors
    /// When the player cannot play.
    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError>;

    /// Answers with a move.
    ///
    /// # Errors
    /// [`PlayerError::Engine`] and [`PlayerError::Unfit`] end the match, [`PlayerError::Interrupted`] breaks the game
    /// off; by the other errors the player loses.
    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError>;

    /// Takes out the errors since the last call after which the player could go on, such as those of a time manager in
    /// another program: the record of the game keeps them.
    fn take_errors(&mut self) -> Vec<String> {
        Vec::new()
    }
}
