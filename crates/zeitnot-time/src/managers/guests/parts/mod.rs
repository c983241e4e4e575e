//! The parts of the guest managers (docs/documents.md), each a factor on the time of a move. Any manager takes them in
//! `adjust(...)`.
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

pub(crate) mod adjusted;
pub mod best_move;
pub mod control;
pub mod easy_move;
pub mod history;
pub mod phase;
pub mod position_complexity;
pub mod quality;
pub mod score_drop;

use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;
use crate::{MoveRequest, SearchSnapshot};
use history::Iteration;

/// A factor on the time of a move.
pub trait Part: Send + std::fmt::Debug {
    /// Name and formula of its term of a plan, `adjust_` before the name: the manager may have a part of the same kind.
    /// 1 where only the search tells.
    fn term(&self) -> &'static str;

    /// The factor that is known before the search; 1 where there is none.
    fn begin(&mut self, _request: &MoveRequest) -> f64 {
        1.0
    }

    /// Name of the class of the time control by which it decided, if it knows classes.
    fn time_class(&self) -> Option<&'static str> {
        None
    }

    /// The factor that the search suggests at this look, on top of the one before; `iteration` has just ended, if any.
    fn observe(&mut self, _iteration: Option<&Iteration>, _snapshot: &SearchSnapshot) -> f64 {
        1.0
    }
}

/// Declares a factor on the time of a move.
pub(super) const fn factor(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    ParamSpec { name, default, min: 0.01, max: 100.0, unit: Unit::Ratio, help }
}

/// The values of a group's parameters, in the order of their declaration.
pub(super) fn read<const N: usize>(values: &ParamValues, path: &[&'static str], params: &[ParamSpec; N]) -> [f64; N] {
    std::array::from_fn(|index| values.get_at(path, &params[index]))
}

/// The groups of `adjust(...)`.
pub(super) const GROUPS: &[GroupSpec] = &[
    phase::GROUP,
    control::GROUP,
    position_complexity::GROUP,
    quality::GROUP,
    best_move::STABILITY,
    best_move::CHANGES,
    score_drop::GROUP,
    easy_move::GROUP,
];

/// The parts that are named inside the group `around`.
pub(super) fn named(values: &ParamValues, around: &'static str) -> Vec<Box<dyn Part>> {
    type Build = fn(&ParamValues, &[&'static str]) -> Box<dyn Part>;
    let builders: [(&GroupSpec, Build); 8] = [
        (&phase::GROUP, |values, path| Box::new(phase::PhaseFactor::new(values, path))),
        (&control::GROUP, |values, path| Box::new(control::ControlFactor::new(values, path, &control::MERGEN))),
        (&position_complexity::GROUP, |values, path| Box::new(position_complexity::Complexity::new(values, path))),
        (&quality::GROUP, |values, path| Box::new(quality::Quality::new(values, path))),
        (&best_move::STABILITY, |values, path| Box::new(best_move::Stability::new(values, path))),
        (&best_move::CHANGES, |values, path| {
            Box::new(best_move::Changes::new(values, path, &best_move::CHANGES_BASIC))
        }),
        (&score_drop::GROUP, |values, path| Box::new(score_drop::ScoreDrop::new(values, path, &score_drop::BASIC))),
        (&easy_move::GROUP, |values, path| Box::new(easy_move::EasyMove::new(values, path))),
    ];
    let is_named = |group: &GroupSpec| values.has(&[around, group.name]);
    builders
        .iter()
        .filter(|(group, _)| is_named(group))
        .map(|(group, build)| build(values, &[around, group.name]))
        .collect()
}
