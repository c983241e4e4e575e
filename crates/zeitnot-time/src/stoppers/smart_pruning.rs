//! Stops a search when the rest of it cannot change the best move: smart pruning.

use crate::{MS_PER_SECOND, SearchSnapshot, StopReason, Verdict};

/// Time after the first evaluation before visits are counted: speed is not known sooner (docs/lc0.md, 2.6).
const TOLERANCE_MS: f64 = 200.0;

/// Share of the move's usual time that replaces [`TOLERANCE_MS`] if it is shorter and the speed is known from earlier
/// moves: in bullet 200 ms are most of a move.
const TOLERANCE_SHARE: f64 = 0.1;

/// Nodes added to the count when speed is measured, so that a slow start does not look hopeless (docs/lc0.md, 2.6).
const TOLERANCE_NODES: f64 = 300.0;

/// The stopper by visits: it stops when no rival can make up the best move's lead (docs/lc0.md, 2.6).
#[derive(Clone, Debug)]
pub(super) struct SmartPruning {
    factor: f64,
    minimum_batches: u64,
    /// Time of the first check after an evaluation, on the move's clock.
    first_evaluation_ms: Option<f64>,
}

impl SmartPruning {
    /// The stopper with this `factor`; `None` unless the factor is above 0.
    pub(super) fn new(factor: f64, minimum_batches: u64) -> Option<Self> {
        (factor > 0.0).then_some(Self { factor, minimum_batches, first_evaluation_ms: None })
    }

    /// Stops if no rival can still overtake the best move. From the remaining time and nodes in `so_far` it computes
    /// the nodes that rivals can still get, and stores that number in `so_far`.
    pub(super) fn check(&mut self, snapshot: &SearchSnapshot, so_far: &mut Verdict) -> Option<StopReason> {
        if snapshot.root_visits.is_empty() || snapshot.new_nodes == 0 {
            return None;
        }
        let Some(first_evaluation_ms) = self.first_evaluation_ms else {
            self.first_evaluation_ms = Some(snapshot.elapsed_ms);
            return None;
        };
        let searched_ms = snapshot.elapsed_ms - first_evaluation_ms;
        let known_ms = so_far.usual_ms.map(|usual_ms| TOLERANCE_SHARE * (usual_ms - first_evaluation_ms));
        let tolerance_ms = known_ms.map_or(TOLERANCE_MS, |known_ms| known_ms.min(TOLERANCE_MS));
        if searched_ms.is_nan() || searched_ms < tolerance_ms {
            return None;
        }
        let remaining = self.remaining_playouts(snapshot.new_nodes, searched_ms, so_far)?;
        so_far.remaining_playouts = Some(remaining);
        if snapshot.batches < self.minimum_batches {
            return None;
        }
        (remaining < lead(&snapshot.root_visits)).then_some(StopReason::CannotBeOvertaken)
    }

    /// Nodes that the search's limits on time and nodes still allow, divided by the factor; `None` without a limit.
    fn remaining_playouts(&self, new_nodes: u64, searched_ms: f64, so_far: &Verdict) -> Option<f64> {
        let by_time = so_far.remaining_ms.map(|remaining_ms| {
            let measured = (new_nodes as f64 + TOLERANCE_NODES) * MS_PER_SECOND / searched_ms + 1.0;
            remaining_ms / MS_PER_SECOND * so_far.nps.unwrap_or(measured)
        });
        super::smaller(by_time, so_far.remaining_playouts).map(|playouts| playouts / self.factor)
    }
}

/// Lead of the most visited move over the second, in visits.
fn lead(visits: &[u32]) -> f64 {
    let (mut first, mut second) = (0, 0);
    for &visits in visits {
        if visits > first {
            (first, second) = (visits, first);
        } else {
            second = second.max(visits);
        }
    }
    f64::from(first - second)
}

#[cfg(test)]
mod tests {
    use super::lead;

    #[test]
    fn lead_is_over_the_second_wherever_it_stands() {
        for visits in [[10, 7, 3], [7, 10, 3], [3, 10, 7], [10, 3, 7], [3, 7, 10], [7, 3, 10]] {
            assert_eq!(lead(&visits), 3.0, "{visits:?}");
        }
        assert_eq!(lead(&[5, 5]), 0.0);
        assert_eq!(lead(&[u32::MAX, 0]), 4_294_967_295.0);
    }
}
