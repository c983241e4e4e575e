//! Computes the factor `easy-move` on the time of a move: less time while one move is far better than the rest
//! (docs/documents.md, 4.4).

use super::history::{Iteration, centipawns};
use super::{Part, factor, read};
use crate::SearchSnapshot;
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;

/// Half the soft limit where the best move is more than 150 centipawns above the second (docs/documents.md, 4.4).
const PARAMS: [ParamSpec; 2] = [
    factor("easy", 0.5, "Factor of an easy move."),
    ParamSpec {
        name: "gap",
        default: 150.0,
        min: 0.0,
        max: 20_000.0,
        unit: Unit::Centipawns,
        help: "A move is easy when its score is more than this above the second best.",
        words: &[],
    },
];

/// The part `easy-move`.
pub const GROUP: GroupSpec =
    GroupSpec { name: "easy-move", help: "Less time when one move is far better than the rest.", params: &PARAMS };

/// A factor for less time while one move is far better than the rest. It applies once; the textbook's loop multiplies
/// by it at every iteration.
#[derive(Clone, Debug)]
pub struct EasyMove {
    values: [f64; 2],
    holds: bool,
}

impl EasyMove {
    pub fn new(values: &ParamValues) -> Self {
        Self { values: read(values, GROUP.name, &PARAMS), holds: false }
    }
}

impl Part for EasyMove {
    fn begin(&mut self) {
        self.holds = false;
    }

    /// Judges at the end of an iteration, as all of the textbook's rules do: in between values jump.
    fn observe(&mut self, iteration: Option<&Iteration>, snapshot: &SearchSnapshot) -> f64 {
        let [factor, gap] = self.values;
        if iteration.is_some() {
            let scores = snapshot.best_value.zip(snapshot.second_value);
            self.holds = scores.is_some_and(|(best, second)| centipawns(best) > centipawns(second) + gap);
        }
        if self.holds { factor } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::value;
    use super::*;

    // docs/documents.md, 4.4.
    #[test]
    fn textbook_easy_move() {
        let mut part = EasyMove::new(&ParamValues::default());
        let ended = Iteration { depth: 5, changed: false, changes: 0, stable: 0, drop_cp: None };
        let seen = |best, second| SearchSnapshot {
            best_value: Some(value(best)),
            second_value: Some(value(second)),
            ..SearchSnapshot::default()
        };
        assert_eq!(part.observe(Some(&ended), &seen(100.0, -49.0)), 1.0);
        assert_eq!(part.observe(Some(&ended), &seen(100.0, -51.0)), 0.5);
        assert_eq!(part.observe(None, &seen(100.0, 90.0)), 0.5);
        assert_eq!(part.observe(Some(&ended), &seen(100.0, -51.0)), 0.5, "once, not again and again");
        assert_eq!(part.observe(Some(&ended), &seen(100.0, 90.0)), 1.0);
        assert_eq!(part.observe(Some(&ended), &SearchSnapshot::default()), 1.0);
    }
}
