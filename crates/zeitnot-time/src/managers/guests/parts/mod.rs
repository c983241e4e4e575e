//! The parts of the guest managers (docs/documents.md), each a factor on the time of a move.
//!
//! | part | factor by |
//! |---|---|
//! | [`phase`] | the phase of the game |
//! | [`control`] | the class of the time control |
//! | [`position_complexity`] | moves, pieces, captures and check in the position |
//! | [`quality`] | how clear the choice of a move is |
//! | [`rules`] | drops of the score, changes and stability of the best move, its lead over the second |
//!
//! The documents describe engines that search depth by depth. [`history`] defines the *iterations* of a search that
//! grows a tree, which stand in for depths.

pub(super) mod control;
pub(super) mod history;
pub(super) mod phase;
pub(super) mod position_complexity;
pub(super) mod quality;
pub(super) mod rules;

use crate::params::{ParamSpec, ParamValues};
use crate::unit::Unit;

/// Declares a parameter from 0 to `max`.
pub(super) const fn param(name: &'static str, default: f64, max: f64, unit: Unit, help: &'static str) -> ParamSpec {
    ParamSpec { name, default, min: 0.0, max, unit, help, words: &[] }
}

/// Declares a factor on the time of a move.
const fn factor(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    ParamSpec { min: 0.01, ..param(name, default, 100.0, Unit::Ratio, help) }
}

/// The values of a group's parameters, in the order of their declaration.
fn read<const N: usize>(values: &ParamValues, group: &'static str, params: &[ParamSpec; N]) -> [f64; N] {
    std::array::from_fn(|index| values.get_in(group, &params[index]))
}
