//! Computes the factor `score-drop` on the time of a move: more time when the score falls from one iteration to the
//! next (docs/documents.md, 4.4).

use super::history::Iteration;
use super::{Part, factor, read};
use crate::SearchSnapshot;
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;

/// Largest product of factors; with it every limit is far above the hard one.
pub(crate) const LARGEST_PRODUCT: f64 = 1e6;

const fn params(threshold: f64, default: f64) -> [ParamSpec; 2] {
    [
        factor("dropped", default, "Factor of every drop; they multiply."),
        ParamSpec {
            name: "drop",
            default: threshold,
            min: 0.0,
            max: 10_000.0,
            unit: Unit::Centipawns,
            help: "The score has dropped when it is more than this below that of the iteration before.",
            words: &[],
        },
    ]
}

/// The rule of the basic version: "if (new_score < prev_score - 50) soft_limit = soft_limit * 150 / 100".
pub(crate) const BASIC: [ParamSpec; 2] = params(50.0, 1.5);
/// The rule of the complete version: "if (info->score < prev_score - 30) soft_limit * 140 / 100".
pub(crate) const COMPLETE: [ParamSpec; 2] = params(30.0, 1.4);

/// The part `score-drop`.
pub const GROUP: GroupSpec = GroupSpec { name: "score-drop", help: "More time when the score drops.", params: &BASIC };

/// A factor for more time with every drop of the score.
#[derive(Clone, Debug)]
pub struct ScoreDrop {
    values: [f64; 2],
    factor: f64,
}

impl ScoreDrop {
    pub fn new(values: &ParamValues, params: &[ParamSpec; 2]) -> Self {
        Self { values: read(values, GROUP.name, params), factor: 1.0 }
    }
}

impl Part for ScoreDrop {
    fn begin(&mut self) {
        self.factor = 1.0;
    }

    fn observe(&mut self, iteration: Option<&Iteration>, _snapshot: &SearchSnapshot) -> f64 {
        let [factor, threshold] = self.values;
        if iteration.and_then(|iteration| iteration.drop_cp).is_some_and(|drop| drop > threshold) {
            self.factor = (self.factor * factor).clamp(f64::MIN_POSITIVE, LARGEST_PRODUCT);
        }
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(cp: f64) -> Iteration {
        Iteration { depth: 5, changed: false, changes: 0, stable: 0, drop_cp: Some(cp) }
    }

    // docs/documents.md, 4.4 and 4.7: thresholds and factors.
    #[test]
    fn textbook_score_dropping() {
        for (params, threshold, factor) in [(BASIC, 50.0, 1.5), (COMPLETE, 30.0, 1.4)] {
            let mut part = ScoreDrop::new(&ParamValues::default(), &params);
            let mut look = |cp: f64| part.observe(Some(&dropped(cp)), &SearchSnapshot::default());
            assert_eq!(look(threshold), 1.0);
            assert_eq!(look(threshold + 1.0), factor);
            assert_eq!(look(-500.0), factor, "what was granted stays");
            assert_eq!(look(threshold + 1.0), factor * factor);
        }
    }
}
