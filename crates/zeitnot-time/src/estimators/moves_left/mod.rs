//! Estimates how many moves of ours the game still has.
//!
//! | estimator | from |
//! |---|---|
//! | [`MleLegacy`] | the number of moves played |
//! | [`MlePieces`] | the pieces on the board |
//! | [`MleMlh`] | the network's moves-left head |
//!
//! All are fitted to 209 TCEC games (seasons 21 and 22). Their error there, in moves of one side: median and mean of
//! |estimate − moves really left| on all 31,875 positions, by game ply and by the phases of the statistics. The head is
//! t1-256x10's, in float32 on ONNX Runtime. TCEC adjudicates, so that its games end a little early.
//! `tests/reference/moves_left.py` computes these tables, and every other figure about TCEC in this folder.
//!
//! | estimator | 0 to 20 | 20 to 40 | 40 to 60 | 60 to 80 | 80 to 100 | 100 to 140 | 140 to 200 | 200 to 1000 | all |
//! |---|---|---|---|---|---|---|---|---|---|
//! | `mle-legacy` | 16 / 22 | 16 / 22 | 16 / 22 | 16 / 21 | 15 / 21 | 13 / 20 | 13 / 22 | 17 / 22 | 15 / 21 |
//! | Lc0's `legacy` | 19 / 28 | 19 / 28 | 19 / 28 | 18 / 27 | 17 / 26 | 13 / 24 | 9 / 23 | 15 / 24 | 16 / 26 |
//! | Lc0's `smooth` | 25 / 32 | 25 / 32 | 24 / 32 | 22 / 30 | 19 / 27 | 13 / 24 | 9 / 23 | 15 / 23 | 19 / 28 |
//! | `mle-pieces` | 15 / 22 | 15 / 21 | 14 / 20 | 12 / 19 | 10 / 17 | 8 / 17 | 11 / 20 | 14 / 19 | 12 / 19 |
//! | `mle-mlh` | 15 / 23 | 15 / 23 | 15 / 22 | 16 / 21 | 15 / 21 | 12 / 19 | 12 / 19 | 17 / 19 | 15 / 21 |
//! | the head as it is | 22 / 25 | 20 / 24 | 21 / 25 | 23 / 27 | 23 / 28 | 18 / 25 | 18 / 25 | 26 / 28 | 21 / 26 |
//! | `mle-mlh,mle-pieces` | 15 / 22 | 15 / 21 | 14 / 20 | 14 / 19 | 13 / 18 | 9 / 17 | 11 / 18 | 14 / 17 | 13 / 19 |
//! | `mle-mlh,mle-legacy` | 15 / 22 | 15 / 22 | 15 / 21 | 15 / 21 | 15 / 20 | 11 / 18 | 12 / 19 | 16 / 19 | 14 / 20 |
//! | all three | 15 / 22 | 14 / 21 | 14 / 21 | 14 / 20 | 13 / 18 | 10 / 17 | 11 / 19 | 15 / 18 | 13 / 19 |
//!
//! | estimator | Opening | EarlyMiddlegame | LateMiddlegame | Endgame |
//! |---|---|---|---|---|
//! | `mle-legacy` | 16 / 22 | 16 / 22 | 16 / 22 | 14 / 21 |
//! | Lc0's `legacy` | 19 / 28 | 19 / 28 | 19 / 28 | 15 / 25 |
//! | Lc0's `smooth` | 25 / 32 | 25 / 32 | 25 / 32 | 17 / 27 |
//! | `mle-pieces` | 15 / 22 | 15 / 21 | 15 / 21 | 11 / 19 |
//! | `mle-mlh` | 15 / 23 | 15 / 23 | 15 / 22 | 15 / 20 |
//! | the head as it is | 22 / 25 | 21 / 24 | 20 / 24 | 21 / 26 |
//! | `mle-mlh,mle-pieces` | 15 / 22 | 14 / 21 | 15 / 21 | 12 / 18 |
//! | `mle-mlh,mle-legacy` | 15 / 22 | 15 / 22 | 15 / 22 | 14 / 20 |
//! | all three | 15 / 22 | 14 / 21 | 15 / 21 | 12 / 19 |
//!
//! The pieces alone are as good as any blend, and the weights of a blend hardly matter: head and pieces are off by 19.1
//! moves in halves and by 18.9 with a quarter for the head, which is as good as all three at their best weights. The
//! head is the default all the same where there is one: the table has it before any search and from one position, and a
//! manager reads it averaged over the search and over the moves (the latter alone takes off 0.1 of its 20.9 moves).

mod choice;
mod mle_legacy;
mod mle_mlh;
mod mle_pieces;

pub(crate) use choice::{GROUPS, MovesLeft};
pub(crate) use mle_legacy::MLE_LEGACY_ALONE;
pub use mle_legacy::{MLE_LEGACY, MleLegacy};
pub use mle_mlh::{MLE_MLH, MleMlh};
pub use mle_pieces::{MLE_PIECES, MlePieces};

/// No estimate is below this, in moves: a game that should be over may go on for a while.
pub const LEAST_MOVES: f64 = 2.0;
