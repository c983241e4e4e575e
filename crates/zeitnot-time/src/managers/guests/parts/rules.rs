//! The textbook's rules, each a factor on the soft limit that the running search decides: drops of the score, changes
//! and stability of the best move, easy moves (docs/documents.md, 4.4).

use super::history::Iteration;
use super::{factor, param};
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;
use crate::{SearchSnapshot, centipawns};

/// Largest product of the factors of one rule, which keeps it finite: with it every soft limit is above the hard one.
const LARGEST_PRODUCT: f64 = 1e6;

const fn count(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    param(name, default, 1000.0, Unit::Iterations, help)
}

const fn score_drop(params: &'static [ParamSpec; 2]) -> GroupSpec {
    GroupSpec { name: "score-drop", help: "More time when the score drops.", params }
}

const fn score_drop_params(threshold: f64, default: f64) -> [ParamSpec; 2] {
    let help = "The score has dropped when it is more than this below that of the iteration before.";
    [
        factor("dropped", default, "Factor of every drop; they multiply."),
        param("drop", threshold, 10_000.0, Unit::Centipawns, help),
    ]
}

const fn changes(params: &'static [ParamSpec; 2]) -> GroupSpec {
    GroupSpec { name: "changes", help: "More time while the best move keeps changing.", params }
}

const fn changes_params(after: f64, default: f64) -> [ParamSpec; 2] {
    [
        factor("changed", default, "Factor of every change of the best move; they multiply."),
        count("changes-before", after, "Changes that are normal and have no factor."),
    ]
}

/// Parameters of the rule for a stable best move. The textbook: "if (stable_count >= 5 && depth >= 10) soft_limit =
/// soft_limit * 70 / 100".
const STABILITY: GroupSpec = GroupSpec {
    name: "stability",
    help: "Less time while the best move stays the same.",
    params: &[
        factor("stable", 0.7, "Factor while the best move stays the same."),
        count("stable-iterations", 5.0, "Iterations in a row with the same best move from which it counts as stable."),
        count("stable-depth", 10.0, "Iteration before which no best move counts as stable."),
    ],
};

/// Parameters of the rule for easy moves: half the soft limit where the best move is more than 150 centipawns above the
/// second.
const EASY_MOVE: GroupSpec = GroupSpec {
    name: "easy-move",
    help: "Less time when one move is far better than the rest.",
    params: &[
        factor("easy", 0.5, "Factor of an easy move."),
        param(
            "gap",
            150.0,
            20_000.0,
            Unit::Centipawns,
            "A move is easy when its score is more than this above the second best.",
        ),
    ],
};

/// Parameters of the four rules of the basic version: "if (new_score < prev_score - 50) soft_limit = soft_limit * 150 /
/// 100", and "if (best_move != prev_best_move) { move_changes++; if (move_changes > 2) soft_limit = soft_limit * 130 /
/// 100 }".
pub(crate) const BASIC: [GroupSpec; 4] =
    [score_drop(&score_drop_params(50.0, 1.5)), changes(&changes_params(2.0, 1.3)), STABILITY, EASY_MOVE];
/// Parameters of the four rules of the complete version: "if (info->score < prev_score - 30) soft_limit * 140 / 100",
/// and "Move changed: soft_limit * 120 / 100".
pub(crate) const COMPLETE: [GroupSpec; 4] =
    [score_drop(&score_drop_params(30.0, 1.4)), changes(&changes_params(0.0, 1.2)), STABILITY, EASY_MOVE];

/// A rule, with its factor in the running search.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Values of the rule's parameters: its factor, then the bounds from which it holds.
    values: Vec<f64>,
    /// Whether the rule holds at the end of an iteration, by its bounds.
    holds: fn(&[f64], &Iteration, &SearchSnapshot) -> bool,
    /// Whether the factors of all iterations in which the rule held multiply. Other rules apply once, while they hold; the
    /// textbook's loop multiplies by them at every iteration, until no time is left.
    multiplies: bool,
    factor: f64,
}

impl Rule {
    /// The four rules of a version, in the order of its groups of parameters.
    pub(crate) fn all(values: &ParamValues, groups: &[GroupSpec; 4]) -> [Self; 4] {
        let new = |index: usize, multiplies, holds| {
            let GroupSpec { name, params, .. } = groups[index];
            let values = params.iter().map(|param| values.get_in(name, param)).collect();
            Self { values, holds, multiplies, factor: 1.0 }
        };
        [
            new(0, true, |bounds, iteration, _| iteration.drop_cp.is_some_and(|drop| drop > bounds[0])),
            new(1, true, |bounds, iteration, _| iteration.changed && f64::from(iteration.changes) > bounds[0]),
            new(2, false, |bounds, iteration, _| {
                f64::from(iteration.stable) >= bounds[0] && f64::from(iteration.depth) >= bounds[1]
            }),
            new(3, false, |bounds, _, snapshot| {
                let values = snapshot.best_value.zip(snapshot.second_value);
                values
                    .is_some_and(|(best, second)| centipawns::of_value(best) > centipawns::of_value(second) + bounds[0])
            }),
        ]
    }

    pub(crate) fn begin(&mut self) {
        self.factor = 1.0;
    }

    /// The factor at this look. It changes only when an iteration has just ended, which `iteration` then is: between
    /// iterations values jump.
    pub(crate) fn observe(&mut self, iteration: Option<&Iteration>, snapshot: &SearchSnapshot) -> f64 {
        if let Some(iteration) = iteration {
            let (factor, bounds) = (self.values[0], &self.values[1..]);
            self.factor = match ((self.holds)(bounds, iteration, snapshot), self.multiplies) {
                (true, true) => (self.factor * factor).clamp(f64::MIN_POSITIVE, LARGEST_PRODUCT),
                (true, false) => factor,
                (false, true) => self.factor,
                (false, false) => 1.0,
            };
        }
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::value;
    use super::*;

    const NOTHING: Iteration = Iteration { depth: 5, changed: false, changes: 0, stable: 0, drop_cp: None };

    /// Shows one rule the looks of a search and compares its factor after each.
    #[track_caller]
    fn check(groups: &[GroupSpec; 4], rule: usize, looks: &[(Option<Iteration>, SearchSnapshot, f64)]) {
        let mut rules = Rule::all(&ParamValues::default(), groups);
        for (index, (iteration, seen, factor)) in looks.iter().enumerate() {
            assert_eq!(rules[rule].observe(iteration.as_ref(), seen), *factor, "look {index}: {iteration:?}");
        }
        rules[rule].begin();
        assert_eq!(rules[rule].observe(None, &SearchSnapshot::default()), 1.0);
    }

    fn unseen<const N: usize>(
        looks: [(Option<Iteration>, f64); N],
    ) -> [(Option<Iteration>, SearchSnapshot<'static>, f64); N] {
        looks.map(|(iteration, factor)| (iteration, SearchSnapshot::default(), factor))
    }

    // docs/documents.md, 4.4 and 4.7: thresholds and factors.
    #[test]
    fn textbook_score_dropping() {
        for (groups, threshold, factor) in [(BASIC, 50.0, 1.5), (COMPLETE, 30.0, 1.4)] {
            let dropped = |cp| Some(Iteration { drop_cp: Some(cp), ..NOTHING });
            let looks = [
                (dropped(threshold), 1.0),
                (dropped(threshold + 1.0), factor),
                (dropped(-500.0), factor), // what was granted stays
                (dropped(threshold + 1.0), factor * factor),
            ];
            check(&groups, 0, &unseen(looks));
        }
    }

    // docs/documents.md, 4.4 and 4.7: another best move.
    #[test]
    fn textbook_best_move_changing() {
        let ended =
            |depth, changed, changes, stable| Some(Iteration { depth, changed, changes, stable, drop_cp: None });
        let looks = [
            (ended(1, true, 1, 0), 1.0),
            (ended(2, true, 2, 0), 1.0),
            (ended(3, true, 3, 0), 1.3),
            (ended(4, false, 3, 1), 1.3),
            (ended(5, true, 4, 0), 1.3 * 1.3),
        ];
        check(&BASIC, 1, &unseen(looks));
        check(&COMPLETE, 1, &unseen([(ended(1, true, 1, 0), 1.2)]));
    }

    // docs/documents.md, 4.4: the same best move.
    #[test]
    fn textbook_best_move_stable() {
        let ended =
            |depth, changed, changes, stable| Some(Iteration { depth, changed, changes, stable, drop_cp: None });
        let looks = [
            (ended(9, false, 0, 9), 1.0),  // depth >= 10
            (ended(10, false, 0, 4), 1.0), // stable_count >= 5
            (ended(10, false, 0, 5), 0.7),
            (None, 0.7),
            (ended(11, false, 0, 6), 0.7), // once, not again and again
            (ended(12, true, 1, 0), 1.0),
        ];
        check(&BASIC, 2, &unseen(looks));
    }

    // docs/documents.md, 4.4.
    #[test]
    fn textbook_easy_move() {
        let seen = |best, second| SearchSnapshot {
            best_value: Some(value(best)),
            second_value: Some(value(second)),
            ..SearchSnapshot::default()
        };
        let looks = [
            (Some(NOTHING), seen(100.0, -49.0), 1.0),
            (Some(NOTHING), seen(100.0, -51.0), 0.5),
            (None, seen(100.0, 90.0), 0.5),
            (Some(NOTHING), seen(100.0, -51.0), 0.5), // once, not again and again
            (Some(NOTHING), seen(100.0, 90.0), 1.0),
            (Some(NOTHING), SearchSnapshot::default(), 1.0),
        ];
        check(&BASIC, 3, &looks);
    }
}
