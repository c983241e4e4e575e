//! Goes through a recorded search under a timekeeper, as if the search were being made: with its stops, and with smart
//! pruning at the root.

use super::recorded_search::RecordedSnapshot;
use super::root_pruning::RootPruning;
use std::borrow::Borrow;
use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{Begun, MoveOutcome, MoveRequest, SearchLimits, StopReason, StopperParams, Timekeeper};

/// The speed of searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Playouts a second.
    pub nps: f64,
    /// Playouts of a batch: the stoppers check after each batch.
    pub batch: u64,
}

impl Speed {
    /// The time of `nodes` playouts, in milliseconds.
    fn ms(self, nodes: u64) -> f64 {
        nodes as f64 * 1e3 / self.nps
    }
}

/// The outcome of a recorded search that was replayed.
pub(crate) struct ReplayedSearch {
    /// The move that is played, by its index among the recorded search's moves; `None` where nothing was searched.
    pub choice: Option<usize>,
    /// Playouts.
    pub nodes: u64,
    pub used_ms: f64,
    /// The manager's budget, in milliseconds.
    pub budget_ms: f64,
    /// Why the search stopped; `None` where it went on to the end of its record.
    pub stop: Option<StopReason>,
}

impl ReplayedSearch {
    /// Replays one move: begins it at the timekeeper, goes through `steps` until the timekeeper stops the search, its
    /// time is over or the steps end, and ends the move. The playouts of a step are its root visits beyond
    /// `request.reused_nodes`; `priors` are those of the recorded search.
    pub fn run(
        priors: &[f32],
        steps: impl Iterator<Item = impl Borrow<RecordedSnapshot>>,
        time: &mut Timekeeper,
        request: &MoveRequest,
        speed: Speed,
        stoppers: &StopperParams,
    ) -> ReplayedSearch {
        let start = SearchStart {
            limits: SearchLimits::default(),
            stoppers: stoppers.clone(),
            evaluation_ms: Some(1e3 / speed.nps),
        };
        let Begun { plan, hard_limit_ms, due_ms } = time.begin(&start, Some(request));
        // An empty tree begins with a batch of one.
        let first_batch_ms = speed.ms(if request.reused_nodes == 0 { 1 } else { speed.batch });
        let mut search = ReplayedSearch {
            choice: None,
            nodes: 0,
            used_ms: 0.0,
            budget_ms: plan.map_or(0.0, |plan| plan.budget_ms),
            stop: None,
        };
        let limit_ms = hard_limit_ms.unwrap_or(f64::INFINITY);
        // Without a tree there is nothing to answer with: the first evaluation is waited for.
        let first_limit_ms = if request.reused_nodes == 0 { due_ms.unwrap_or(limit_ms) } else { limit_ms };
        search.go(priors, steps, time, request.reused_nodes, speed, first_batch_ms, first_limit_ms.max(limit_ms));
        time.end(&MoveOutcome {
            elapsed_ms: search.used_ms,
            total_nodes: search.nodes + request.reused_nodes,
            stop: search.stop,
            first_evaluation_ms: (request.reused_nodes == 0).then_some(first_batch_ms),
            ..MoveOutcome::default()
        });
        search
    }

    #[expect(clippy::too_many_arguments, reason = "they are the facts of one search")]
    fn go(
        &mut self,
        priors: &[f32],
        steps: impl Iterator<Item = impl Borrow<RecordedSnapshot>>,
        time: &mut Timekeeper,
        reused: u64,
        speed: Speed,
        first_batch_ms: f64,
        mut limit_ms: f64,
    ) {
        let mut look = |snapshot: &RecordedSnapshot, new_nodes: u64, elapsed_ms: f64| {
            let since = (elapsed_ms >= first_batch_ms).then_some(elapsed_ms - first_batch_ms);
            time.observe(&snapshot.snapshot(priors, new_nodes, elapsed_ms, since))
        };
        let (mut pruning, mut expected) = (RootPruning::default(), f64::INFINITY);
        let mut last: Option<Root<_>> = None;
        for step in steps {
            let nodes = step.borrow().total_nodes.saturating_sub(reused);
            let elapsed_ms = speed.ms(nodes);
            if elapsed_ms > limit_ms {
                // The answer is given at the limit, from the tree without the batch that is not ready.
                self.used_ms = limit_ms.max(self.used_ms);
                let verdict = last.as_ref().and_then(|last| look(last.snapshot(), self.nodes, self.used_ms).stop);
                self.stop = verdict.or(Some(StopReason::Time));
                self.choice = self.choice.or(step.borrow().best_move.map(|best| best as usize));
                return;
            }
            let root = match pruning.step(step.borrow(), expected) {
                Some(pruned) => Root::Pruned(pruned),
                None => Root::Recorded(step),
            };
            (self.nodes, self.used_ms) = (nodes, elapsed_ms);
            let verdict = look(root.snapshot(), nodes, elapsed_ms);
            self.choice = root.snapshot().best_move.map(|best| best as usize);
            last = Some(root);
            self.stop = verdict.stop;
            if self.stop.is_some() {
                return;
            }
            expected = verdict.remaining_playouts.unwrap_or(f64::INFINITY);
            limit_ms = verdict.remaining_ms.map_or(f64::INFINITY, |remaining_ms| elapsed_ms + remaining_ms);
        }
    }
}

/// The root at a step: as recorded, or as smart pruning has changed its visits.
enum Root<S> {
    Recorded(S),
    Pruned(RecordedSnapshot),
}

impl<S: Borrow<RecordedSnapshot>> Root<S> {
    fn snapshot(&self) -> &RecordedSnapshot {
        match self {
            Root::Recorded(step) => step.borrow(),
            Root::Pruned(snapshot) => snapshot,
        }
    }
}
