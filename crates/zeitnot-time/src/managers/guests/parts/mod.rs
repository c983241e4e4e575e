//! The parts of the guest managers (docs/documents.md), each a factor on the time of a move.
//!
//! | part | factor by |
//! |---|---|
//! | [`phase`] | the phase of the game |
//! | [`control`] | the class of the time control |
//! | [`position_complexity`] | moves, pieces, captures and check in the position |
//! | [`quality`] | how clear the choice of a move is |
//! | [`best_move`] | changes of the best move, or its stability |
//! | [`score_drop`] | drops of the score |
//! | [`easy_move`] | the lead of the best move over the second |
//!
//! The documents describe engines that search depth by depth. [`history`] defines the *iterations* of a search that
//! grows a tree, which stand in for depths.

pub mod best_move;
pub mod control;
pub mod easy_move;
pub mod history;
pub mod phase;
pub mod position_complexity;
pub mod quality;
pub mod score_drop;

use crate::SearchSnapshot;
use crate::params::{ParamSpec, ParamValues};
use crate::unit::Unit;
use history::Iteration;

/// A factor that the running search suggests for the soft limit of a move.
pub trait Part: Send + std::fmt::Debug {
    /// Begins another search.
    fn begin(&mut self);

    /// The factor at this look; `iteration` is the one that has just ended, if any.
    fn observe(&mut self, iteration: Option<&Iteration>, snapshot: &SearchSnapshot) -> f64;
}

/// Declares a factor on the time of a move.
const fn factor(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    ParamSpec { name, default, min: 0.01, max: 100.0, unit: Unit::Ratio, help, words: &[] }
}

/// The values of a group's parameters, in the order of their declaration.
fn read<const N: usize>(values: &ParamValues, group: &'static str, params: &[ParamSpec; N]) -> [f64; N] {
    std::array::from_fn(|index| values.get_in(group, &params[index]))
}
