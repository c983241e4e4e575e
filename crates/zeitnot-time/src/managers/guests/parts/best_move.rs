//! Computes the factors `stability` and `changes` on the time of a move: by how often the best move changes
//! (docs/documents.md, 4.4).

use super::history::Iteration;
use super::{Part, factor, read};
use crate::SearchSnapshot;
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;

const fn count(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    ParamSpec { name, default, min: 0.0, max: 1000.0, unit: Unit::Iterations, help, words: &[] }
}

/// The textbook's rule: "if (stable_count >= 5 && depth >= 10) soft_limit = soft_limit * 70 / 100".
const STABILITY_PARAMS: [ParamSpec; 3] = [
    factor("stable", 0.7, "Factor while the best move stays the same."),
    count("stable-iterations", 5.0, "Iterations in a row with the same best move from which it counts as stable."),
    count("stable-depth", 10.0, "Iteration before which no best move counts as stable."),
];

/// The part `stability`.
pub const STABILITY: GroupSpec =
    GroupSpec { name: "stability", help: "Less time while the best move stays the same.", params: &STABILITY_PARAMS };

/// A factor for less time while the best move stays the same. It applies once; the textbook's loop multiplies by it at
/// every iteration, until no time is left.
#[derive(Clone, Debug)]
pub struct Stability {
    values: [f64; 3],
    holds: bool,
}

impl Stability {
    pub fn new(values: &ParamValues) -> Self {
        Self { values: read(values, STABILITY.name, &STABILITY_PARAMS), holds: false }
    }
}

impl Part for Stability {
    fn begin(&mut self) {
        self.holds = false;
    }

    fn observe(&mut self, iteration: Option<&Iteration>, _snapshot: &SearchSnapshot) -> f64 {
        let [factor, iterations, depth] = self.values;
        if let Some(iteration) = iteration {
            self.holds = f64::from(iteration.stable) >= iterations && f64::from(iteration.depth) >= depth;
        }
        if self.holds { factor } else { 1.0 }
    }
}

const fn changes(after: f64, default: f64) -> [ParamSpec; 2] {
    [
        factor("changed", default, "Factor of every change of the best move; they multiply."),
        count("changes-before", after, "Changes that are normal and have no factor."),
    ]
}

/// The basic version's rule: "if (best_move != prev_best_move) { move_changes++; if (move_changes > 2) soft_limit =
/// soft_limit * 130 / 100 }".
pub(crate) const CHANGES_BASIC: [ParamSpec; 2] = changes(2.0, 1.3);
/// The complete version's rule: "Move changed: soft_limit * 120 / 100".
pub(crate) const CHANGES_COMPLETE: [ParamSpec; 2] = changes(0.0, 1.2);

/// The part `changes`.
pub const CHANGES: GroupSpec =
    GroupSpec { name: "changes", help: "More time while the best move keeps changing.", params: &CHANGES_BASIC };

/// A factor for more time with every change of the best move.
#[derive(Clone, Debug)]
pub struct Changes {
    values: [f64; 2],
    factor: f64,
}

impl Changes {
    pub fn new(values: &ParamValues, params: &[ParamSpec; 2]) -> Self {
        Self { values: read(values, CHANGES.name, params), factor: 1.0 }
    }
}

impl Part for Changes {
    fn begin(&mut self) {
        self.factor = 1.0;
    }

    fn observe(&mut self, iteration: Option<&Iteration>, _snapshot: &SearchSnapshot) -> f64 {
        let [factor, before] = self.values;
        if iteration.is_some_and(|iteration| iteration.changed && f64::from(iteration.changes) > before) {
            self.factor = (self.factor * factor).clamp(f64::MIN_POSITIVE, super::score_drop::LARGEST_PRODUCT);
        }
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(depth: u32, changed: bool, changes: u32, stable: u32) -> Iteration {
        Iteration { depth, changed, changes, stable, drop_cp: None }
    }

    fn look(part: &mut dyn Part, iteration: Iteration) -> f64 {
        part.observe(Some(&iteration), &SearchSnapshot::default())
    }

    // docs/documents.md, 4.4: the same best move.
    #[test]
    fn textbook_best_move_stable() {
        let mut part = Stability::new(&ParamValues::default());
        assert_eq!(look(&mut part, ended(9, false, 0, 9)), 1.0); // depth >= 10
        assert_eq!(look(&mut part, ended(10, false, 0, 4)), 1.0); // stable_count >= 5
        assert_eq!(look(&mut part, ended(10, false, 0, 5)), 0.7);
        assert_eq!(part.observe(None, &SearchSnapshot::default()), 0.7);
        assert_eq!(look(&mut part, ended(11, false, 0, 6)), 0.7, "once, not again and again");
        assert_eq!(look(&mut part, ended(12, true, 1, 0)), 1.0);
    }

    // docs/documents.md, 4.4: another best move.
    #[test]
    fn textbook_best_move_changing() {
        let mut part = Changes::new(&ParamValues::default(), &CHANGES_BASIC);
        assert_eq!(look(&mut part, ended(1, true, 1, 0)), 1.0);
        assert_eq!(look(&mut part, ended(2, true, 2, 0)), 1.0);
        assert_eq!(look(&mut part, ended(3, true, 3, 0)), 1.3);
        assert_eq!(look(&mut part, ended(4, false, 3, 1)), 1.3);
        assert_eq!(look(&mut part, ended(5, true, 4, 0)), 1.3 * 1.3);
        part.begin();
        assert_eq!(part.observe(None, &SearchSnapshot::default()), 1.0);
    }

    // docs/documents.md, 4.7: another best move.
    #[test]
    fn textbook_complete_move_changed() {
        let mut part = Changes::new(&ParamValues::default(), &CHANGES_COMPLETE);
        assert_eq!(look(&mut part, ended(1, true, 1, 0)), 1.2);
    }
}
