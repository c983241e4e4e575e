//! Holds the evaluations of a device against those of the CPU.

use crate::{Arithmetic, Evaluation};

/// The difference that rounding may make. Seen on a CPU, float32 against the same network in float16: 0.005 in q and
/// 0.016 in a logit at most (maia-1900, meangirl-8, tinygyal-8, T1-256x10).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Bound of the difference in q and in the probability of a draw.
    pub(super) value: f32,
    pub(super) logit: f32,
    /// Bound of the difference in the moves left, as a share of the CPU's moves left plus one.
    pub(super) moves_left: f32,
}

/// A number that is further away from the CPU's than its bound.
pub(super) struct Difference {
    pub(super) what: What,
    pub(super) found: f32,
    pub(super) expected: f32,
    pub(super) allowed: f32,
}

/// The number that differs.
pub(super) enum What {
    Q,
    Draw,
    MovesLeft,
    /// The logit of the legal move with this index.
    Logit(usize),
}

impl Bounds {
    pub(super) fn of(arithmetic: Arithmetic) -> Bounds {
        let (value, logit, moves_left) = match arithmetic {
            Arithmetic::Float32 => (1e-3, 0.02, 0.01),
            Arithmetic::Float16 => (0.02, 0.3, 0.05),
            Arithmetic::Bfloat16 | Arithmetic::Int8 => (0.05, 1.0, 0.2),
        };
        Bounds { value, logit, moves_left }
    }

    /// The first number that is beyond its bound; `None` if all are within. Not-a-number is beyond every bound.
    pub(super) fn difference(&self, found: &Evaluation, expected: &Evaluation) -> Option<Difference> {
        let moves_left = found.m.zip(expected.m).map(|(found, expected)| {
            let allowed = self.moves_left * (1.0 + expected.abs());
            Difference { what: What::MovesLeft, found, expected, allowed }
        });
        let value = |what, found, expected| Difference { what, found, expected, allowed: self.value };
        let values = [value(What::Q, found.q, expected.q), value(What::Draw, found.d, expected.d)];
        let logits = found.logits.iter().zip(&expected.logits).enumerate();
        let logits = logits.map(|(index, (&found, &expected))| {
            let what = What::Logit(index);
            Difference { what, found, expected, allowed: self.logit }
        });
        let is_close = |it: &Difference| (it.found - it.expected).abs() <= it.allowed;
        values.into_iter().chain(moves_left).chain(logits).find(|difference| !is_close(difference))
    }

    /// Whether the move that the device likes best is the CPU's first choice, or one as good within the bound: random
    /// weights make near ties.
    pub(super) fn is_first_choice(&self, found: &Evaluation, expected: &Evaluation) -> bool {
        let best = found.logits.iter().zip(&expected.logits).max_by(|(a, _), (b, _)| a.total_cmp(b));
        let most = expected.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        best.is_none_or(|(_, &expected)| expected >= most - self.logit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(q: f32, m: f32, logits: &[f32]) -> Evaluation {
        Evaluation { q, d: 0.25, m: Some(m), logits: logits.into() }
    }

    #[test]
    fn each_number_has_its_bound() {
        let bounds = Bounds::of(Arithmetic::Float32);
        let expected = evaluation(0.5, 99.0, &[1.0, 2.0]);
        let beyond = |found: &Evaluation| bounds.difference(found, &expected).map(|found| found.expected);
        assert_eq!(beyond(&evaluation(0.5009, 99.9, &[1.01, 1.99])), None);
        assert_eq!(beyond(&evaluation(0.502, 99.0, &[1.0, 2.0])), Some(0.5));
        assert_eq!(beyond(&evaluation(0.5, 101.0, &[1.0, 2.0])), Some(99.0));
        assert_eq!(beyond(&evaluation(0.5, 99.0, &[1.0, 2.03])), Some(2.0));
        assert_eq!(beyond(&Evaluation { d: 0.26, ..expected.clone() }), Some(0.25));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(beyond(&evaluation(bad, 99.0, &[1.0, 2.0])), Some(0.5));
            assert_eq!(beyond(&evaluation(0.5, bad, &[1.0, 2.0])), Some(99.0));
            assert_eq!(beyond(&evaluation(0.5, 99.0, &[bad, 2.0])), Some(1.0));
        }
        let half = Bounds::of(Arithmetic::Float16);
        assert!(half.difference(&evaluation(0.515, 99.0, &[1.2, 2.0]), &expected).is_none());
    }

    #[test]
    fn near_ties_are_one_choice() {
        let bounds = Bounds::of(Arithmetic::Float32);
        let expected = evaluation(0.0, 1.0, &[0.9, 1.0, 0.99]);
        let same = |logits: &[f32]| bounds.is_first_choice(&evaluation(0.0, 1.0, logits), &expected);
        assert!(same(&[0.9, 1.0, 0.99]) && same(&[0.9, 0.99, 1.0]) && !same(&[2.0, 1.0, 1.0]));
    }
}
