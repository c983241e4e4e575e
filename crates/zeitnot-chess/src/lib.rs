//! The game of chess over [`shakmaty`]: positions, history, repetitions, and how a game ends.
//!
//! A [`Game`] is a start position and the moves from it. Every [`Position`] of it is kept, because a network sees eight
//! of them and a repetition is a fact about all of them.
//!
//! ```
//! use zeitnot_chess::Game;
//!
//! let mut game = Game::new();
//! for text in ["g1f3", "g8f6", "f3g1", "f6g8"] {
//!     game.push_uci(text)?;
//! }
//! assert_eq!(game.current().repetitions(), 1);
//! assert_eq!(game.current().ply(), 4);
//! # Ok::<(), zeitnot_chess::MoveError>(())
//! ```

mod epd;
mod fen;
mod game;
mod material;
mod moves;
mod outcome;
mod perft;
mod position;
mod reachable;
mod san;
mod tactics;

pub use epd::read_epd;
pub use fen::FenError;
pub use game::Game;
pub use material::{balance, best_by_material};
pub use moves::{MoveError, parse_uci, to_uci};
pub use outcome::FIFTY_MOVES_PLIES;
pub use outcome::Outcome;
pub use perft::{divide, perft};
pub use position::Position;
pub use san::{SanError, is_san, parse_san};
pub use shakmaty::{Color, Move, MoveList, Role, Square};
pub use tactics::{mate_by_checks, winning_material};
