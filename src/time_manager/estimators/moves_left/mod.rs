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
//! | estimator | 0 to 20 | 20 to 40 | 40 to 60 | 60 to 80 | 80 to 100 | 100 to 140 | 140 to 200 | 200 to 1000 | all |
//! |---|---|---|---|---|---|---|---|---|---|
//! | `mle-legacy` | 23 / 31 | 23 / 31 | 22 / 30 | 22 / 30 | 20 / 29 | 15 / 26 | 12 / 24 | 13 / 22 | 19 / 28 |
//! | `mle-pieces` | 15 / 23 | 16 / 23 | 16 / 22 | 13 / 20 | 10 / 18 | 8 / 17 | 12 / 20 | 13 / 18 | 13 / 20 |
//! | `mle-mlh` | 16 / 24 | 15 / 23 | 15 / 22 | 17 / 22 | 17 / 21 | 13 / 19 | 17 / 21 | 17 / 19 | 16 / 21 |
//! | the head as it is | 22 / 25 | 19 / 24 | 19 / 24 | 22 / 25 | 20 / 25 | 17 / 24 | 22 / 26 | 24 / 26 | 21 / 25 |
//! | `mle-mlh,mle-pieces` | 15 / 23 | 16 / 23 | 15 / 21 | 15 / 20 | 13 / 18 | 9 / 17 | 13 / 19 | 15 / 17 | 14 / 20 |
//! | `mle-mlh,mle-legacy` | 19 / 26 | 18 / 26 | 17 / 25 | 14 / 23 | 14 / 22 | 11 / 19 | 11 / 19 | 14 / 17 | 14 / 22 |
//!
//! The head is t1-256x10's, on 2,202 positions of 145 of the games; the other rows are on the same positions. On all 31,875
//! positions `mle-legacy` is off by 16 / 26, `mle-pieces` by 12 / 19.

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
