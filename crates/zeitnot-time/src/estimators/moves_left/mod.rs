#![doc = include_str!("../../../docs/moves-left.md")]

mod choice;
mod mle_legacy;
mod mle_mlh;

pub(crate) use choice::{GROUPS, MovesLeft};
pub(crate) use mle_legacy::MLE_LEGACY_ALONE;
pub(crate) use mle_legacy::{MLE_LEGACY, MleLegacy};
use mle_mlh::{MLE_MLH, MleMlh};

/// Least estimate, in moves: a game that should be over may go on for a while.
const LEAST_MOVES: f64 = 2.0;
