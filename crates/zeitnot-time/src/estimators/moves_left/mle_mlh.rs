//! Estimates moves left from the network's moves-left head.

use super::LEAST_MOVES;
use super::choice::WEIGHT;
use crate::params::{GroupSpec, ParamValues, param_specs};

param_specs! {
    SCALE "scale" 0.5 0.01 100.0 Ratio "Factor on the network's moves left.";
}

/// The group under which [`MleMlh`] is configured.
pub(super) const MLE_MLH: GroupSpec = GroupSpec {
    name: "mle-mlh",
    help: "Moves left from the network's moves-left head, averaged over the search and smoothed over the moves.",
    params: &[SCALE, WEIGHT],
};

/// Weight of this position's reading against the expectation from the move before.
const TRUST: f64 = 0.5;

/// The estimator `mle-mlh`, which the design page of `smooth` announces (docs/documents.md, 1.3).
///
/// A scale of 0.70 fits the head of t1-256x10 best to the lengths of TCEC's games (0.65 and 0.75 on either half of
/// them); the default leaves less of the clock unused. In simulations the head is worth nothing to `smooth`
/// (docs/results/2026-11-scales.md): its half is there for games that begin late, where the move number tells little.
///
/// A reading is the root's average of the network's plies left, over the whole search so far. From one move of ours to
/// the next the expectation falls by one; a new reading moves it by [`TRUST`] of the difference, so that one odd position
/// does not turn the plan over (the mean error on TCEC's games is 20.4 to 20.9 moves for any trust from 0.1 to 1).
/// Readings of one position replace each other: looking often is no more certain than looking once.
#[derive(Clone, Debug)]
pub(super) struct MleMlh {
    scale: f64,
    /// Ply of this move, and the moves left at that ply by the readings of earlier positions.
    expected: Option<(u32, f64)>,
    /// Ply of this move, and the moves left at that ply with this position's reading.
    current: Option<(u32, f64)>,
}

impl MleMlh {
    pub(crate) fn new(values: &ParamValues) -> Self {
        Self { scale: values.get_in(MLE_MLH.name, &SCALE), expected: None, current: None }
    }

    /// Begins a move at this ply. The last estimate, less the moves played since, becomes the expectation.
    pub(super) fn begin_move(&mut self, ply: u32) {
        if let Some((then, moves)) = self.current.take().filter(|(then, _)| *then <= ply) {
            let played = f64::from(ply - then) / 2.0;
            self.expected = Some((ply, (moves - played).max(LEAST_MOVES)));
        } else if self.expected.is_some_and(|(then, _)| then != ply) {
            self.expected = None;
        }
    }

    /// Takes in the network's moves left for the position at this ply, in plies. A number that is not finite is
    /// ignored.
    pub(super) fn read(&mut self, ply: u32, plies: f64) {
        if !plies.is_finite() {
            return;
        }
        let reading = (plies / 2.0 * self.scale).max(LEAST_MOVES);
        let moves = match self.expected {
            Some((_, expected)) => expected + TRUST * (reading - expected),
            None => reading,
        };
        self.current = Some((ply, moves));
    }

    /// Our own moves expected to be left, smoothed over the moves played; `None` where neither this position nor those
    /// before had a number from the moves-left head.
    pub(super) fn estimate(&self) -> Option<f64> {
        self.current.or(self.expected).map(|(_, moves)| moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_smoothed_over_moves_and_replaced_within_one() {
        let mut mlh = MleMlh { scale: 1.0, ..MleMlh::new(&ParamValues::default()) };
        assert_eq!(mlh.estimate(), None);
        mlh.begin_move(0);
        mlh.read(0, 100.0);
        assert_eq!(mlh.estimate(), Some(50.0), "plies are half a move");
        mlh.read(0, 80.0);
        mlh.read(0, 80.0);
        assert_eq!(mlh.estimate(), Some(40.0), "the same position looked at again");
        // One move later 39 are expected; half-way to a reading of 29.
        mlh.begin_move(2);
        assert_eq!(mlh.estimate(), Some(39.0), "before the first evaluation");
        mlh.read(2, 58.0);
        assert_eq!(mlh.estimate(), Some(34.0));
        mlh.read(2, f64::NAN);
        assert_eq!(mlh.estimate(), Some(34.0));
    }

    #[test]
    fn mle_mlh_forgets_in_another_game() {
        let mut mlh = MleMlh::new(&ParamValues::default());
        mlh.begin_move(60);
        mlh.read(60, 20.0);
        mlh.begin_move(0);
        assert_eq!(mlh.estimate(), None);
        mlh.begin_move(0);
        mlh.read(0, -1e300);
        assert_eq!(mlh.estimate(), Some(LEAST_MOVES));
    }
}
