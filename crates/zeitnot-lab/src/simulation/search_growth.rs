//! Continues a recorded search below its first snapshot and beyond its last, so that a simulated search may find a
//! smaller tree than the recorded one did, and may go on for longer.

use crate::recordings::{RecordedSearch, RecordedSnapshot};
use std::borrow::Cow;

/// Factor by which the root's visits grow from step to step, where that is more than a batch. With batches of 8 the
/// stoppers check after each batch up to 800 visits, and beyond nearly as often.
const GROWTH: f64 = 1.01;
/// Most visits of a simulated search as a multiple of its record's: more than any machine has memory for.
const LONGEST: f64 = 1e6;

/// A recorded search as steps with more and more visits of the root, from one visit on.
#[derive(Clone, Debug)]
pub(super) struct SearchGrowth {
    /// The steps from one visit of the root to the end of the record.
    steps: Vec<RecordedSnapshot>,
    batch: u64,
}

impl SearchGrowth {
    /// The growth of a recorded search, in steps of a batch or more; without snapshots it has no steps.
    pub fn new(trace: &RecordedSearch, batch: u64) -> SearchGrowth {
        let mut steps: Vec<RecordedSnapshot> = Vec::new();
        let Some(first) = trace.snapshots.first() else { return SearchGrowth { steps, batch } };
        // With fewer visits than at its first snapshot the root looked much like there.
        let mut total = 1;
        while total < first.total_nodes {
            steps.push(scaled(first, total));
            total = after(total, batch);
        }
        for pair in trace.snapshots.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            while total < to.total_nodes {
                let way = (to.total_nodes - from.total_nodes) as f64;
                steps.push(from.towards(to, (total - from.total_nodes) as f64 / way));
                total = after(total, batch);
            }
        }
        steps.extend(trace.snapshots.last().cloned());
        SearchGrowth { steps, batch }
    }

    /// The visits of the root at the end of the record.
    pub fn recorded(&self) -> u64 {
        self.steps.last().map_or(0, |last| last.total_nodes)
    }

    /// The steps of a search that finds a tree of `reused` visits. They go on far beyond the record, with the shares of
    /// visits that the moves had at its end.
    pub fn from(&self, reused: u64) -> impl Iterator<Item = Cow<'_, RecordedSnapshot>> {
        let first_batch = if reused == 0 { 1 } else { self.batch };
        let begin = self.steps.partition_point(|step| step.total_nodes < reused.saturating_add(first_batch));
        let recorded = self.steps[begin..].iter().map(Cow::Borrowed);
        let beyond = self.steps.last().into_iter().flat_map(move |last| {
            let longest = (last.total_nodes as f64 * LONGEST) as u64;
            let begin = after(last.total_nodes.max(reused), self.batch);
            let totals = std::iter::successors(Some(begin), |total| Some(after(*total, self.batch)));
            totals.take_while(move |total| *total < longest).map(|total| Cow::Owned(scaled(last, total)))
        });
        recorded.chain(beyond)
    }
}

/// The visits of the root at the next step.
fn after(total: u64, batch: u64) -> u64 {
    ((total as f64 * GROWTH) as u64).max(total.saturating_add(batch))
}

/// The root with `total` visits, of which each move has the same share as before.
fn scaled(snapshot: &RecordedSnapshot, total: u64) -> RecordedSnapshot {
    let factor = total as f64 / snapshot.total_nodes.max(1) as f64;
    RecordedSnapshot {
        total_nodes: total,
        batches: (snapshot.batches as f64 * factor).ceil() as u64,
        visits: snapshot.visits.iter().map(|visits| (f64::from(*visits) * factor).round() as u32).collect(),
        ..snapshot.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::example_search;

    #[test]
    fn a_search_grows_from_any_tree_to_any_size() {
        let trace = example_search(0, 0);
        let growth = SearchGrowth::new(&trace, 8);
        let totals = |reused: u64| -> Vec<u64> { growth.from(reused).map(|step| step.total_nodes).take(60).collect() };
        let all = totals(0);
        assert_eq!((all[0], all[1]), (1, 9));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1] && pair[1] <= pair[0] + 8), "{all:?}");
        assert!(all.contains(&325), "the record's last snapshot: {all:?}");
        assert!(totals(100)[0] >= 108 && totals(100)[0] < 124);
        assert!(totals(1_000_000)[0] > 1_000_000);
        // Beyond the record the shares stay as they were.
        let large = growth.from(0).find(|step| step.total_nodes > 3_000).unwrap();
        let last = trace.snapshots.last().unwrap();
        let share = |snapshot: &RecordedSnapshot| f64::from(snapshot.visits[0]) / snapshot.total_nodes as f64;
        assert!((share(&large) - share(last)).abs() < 0.001);
        assert_eq!(large.best_move, last.best_move);
    }

    #[test]
    fn visits_grow_evenly_between_snapshots() {
        let growth = SearchGrowth::new(&example_search(0, 0), 8);
        let visits: Vec<u32> = growth.from(0).map(|step| step.visits[0]).take(20).collect();
        assert!(visits.windows(2).all(|pair| pair[0] <= pair[1]), "{visits:?}");
    }
}
