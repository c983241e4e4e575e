//! What makes a move worth more or less time than its share: parts that the managers of docs/documents.md are made of,
//! and that any manager takes in `adjust(...)`.
//!
//! | part | says |
//! |---|---|
//! | [`phase`] | how far the game is |
//! | [`control`] | how fast the game is |
//! | [`complexity`] | how much there is to see in the position |
//! | [`quality`] | how clear the choice is |
//! | [`best_move`] | whether the best move keeps changing, or stays |
//! | [`score_drop`] | whether the position turns out worse than it looked |
//! | [`easy_move`] | whether one move is far better than the rest |
//!
//! The documents they come from describe engines that search depth by depth. [`history`] tells what an *iteration* is
//! in a search that grows a tree.

pub(super) mod adjusted;
pub mod best_move;
pub mod complexity;
pub mod control;
pub mod easy_move;
pub mod history;
pub mod phase;
pub mod quality;
pub mod score_drop;

use super::params::{GroupSpec, ParamSpec, ParamValues};
use super::unit::Unit;
use super::{MoveRequest, SearchSnapshot};
use control::TimeClass;
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

    /// The class of the time control by which it decided, if it knows classes.
    fn time_class(&self) -> Option<TimeClass> {
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
    complexity::GROUP,
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
        (&complexity::GROUP, |values, path| Box::new(complexity::Complexity::new(values, path))),
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
