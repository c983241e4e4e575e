//! How many moves of ours the game still has.
//!
//! | estimator | from |
//! |---|---|
//! | [`MleLegacy`] | the number of moves played |
//! | [`MlePieces`] | the pieces on the board |
//! | [`MleMlh`] | the network's moves-left head |
//!
//! Error on 209 TCEC games (seasons 21 and 22, `tests/reference/moves_left.py`), in moves of one side: median and mean of
//! |estimate − moves really left|, by game ply. TCEC adjudicates, so that its games end a little early.
//!
//! @@TABLE@@

mod choice;
mod legacy;
mod mlh;
mod pieces;

pub(in crate::time_manager) use choice::{GROUPS, MovesLeft};
pub(in crate::time_manager) use legacy::MLE_LEGACY_ALONE;
pub use legacy::{MLE_LEGACY, MleLegacy};
pub use mlh::{MLE_MLH, MleMlh};
pub use pieces::{MLE_PIECES, MlePieces};

/// No estimate is below this, in moves: a game that should be over may go on for a while.
pub const LEAST_MOVES: f64 = 2.0;
