//! Searches on the caller's thread: one worker, no watchdog and no wait, over any clock. It goes through the same steps
//! as one worker thread does, so on a virtual clock a search is a computation that gives the same visits, the same
//! times and the same answer on any machine.
//!
//! On a clock that only work moves, a batch takes what its evaluator models
//! ([`Evaluator::modelled_cost_ms`](zeitnot_backend::Evaluator::modelled_cost_ms)), a playout what the clock says. What
//! a watchdog would do while the batch is evaluated happens at its moment: where a limit falls into a batch the answer
//! is given at the limit, from the tree without that batch. The batch is backed up afterwards, as the threads of a real
//! search do when its next move comes later, and the next search has its first evaluation when that batch is over.

use super::answer::conclude;
use super::begin_search;
use super::search::Search;
use super::state::State;
use super::worker::ask;
use crate::search::context::SearchContext;
use crate::search::gather::batch::Batch;
use crate::search::request::{Finished, SearchEnd, SearchRequest};
use crate::search::tree::Tree;
use std::sync::Arc;
use zeitnot_backend::{Backend, Evaluator};
use zeitnot_base::clock::Clock;
use zeitnot_chess::Game;
use zeitnot_time::due::STOP_GRACE_MS;

/// Milliseconds that pass when there is nothing to gather, or the search is faster than it may be: nothing else would
/// move a virtual clock then.
const IDLE_MS: f64 = 1.0;

impl Search {
    /// Searches on this thread until the answer is found. `stop_ms`: when `stop` comes, in milliseconds since the
    /// move's clock started. A search that neither its limits nor `stop_ms` end runs for ever.
    ///
    /// On the machine's clock nobody watches while a batch is evaluated: the answer may be late by one batch.
    pub(crate) fn run(
        tree: Tree,
        backend: Arc<dyn Backend>,
        evaluator: &mut dyn Evaluator,
        clock: Arc<dyn Clock>,
        request: SearchRequest,
        stop_ms: Option<f64>,
    ) -> (SearchEnd, Finished) {
        let busy_until_ms = request.busy_until_ms;
        let (context, state) = begin_search(tree, backend, 1, clock, request);
        let game = context.game.clone();
        let has_moves = !game.current().legal_moves().is_empty();
        let mut run = Run { context, state, evaluator, game, stop_ms, has_moves, over: false, busy_until_ms };
        let mut batch = Batch::default();
        let mut late = false;
        while !late && run.goes_on() {
            late = run.make_batch(&mut batch);
        }
        run.wait_for_stop();
        run.wait_for_answer();
        // The answers of a late batch are in the cache already, but not yet on this clock.
        let end = conclude(&run.context, &mut run.state, !late);
        if late {
            // The answer did not wait for it, but it was evaluated, and counts for the next search.
            run.state.back_up(&run.context, &mut batch);
        }
        let Run { state, busy_until_ms, .. } = run;
        let State { tree, time, latency, .. } = state;
        (end, Finished { tree, time, latency, busy_until_ms })
    }
}

/// A search under way.
struct Run<'a> {
    context: SearchContext,
    state: State,
    evaluator: &'a mut dyn Evaluator,
    /// The game that walks to the leaves of a batch and back.
    game: Game,
    stop_ms: Option<f64>,
    has_moves: bool,
    /// Whether the answer is due.
    over: bool,
    /// End of the batch that an answer did not wait for, on the clock.
    busy_until_ms: f64,
}

impl Run<'_> {
    /// Whether the stoppers, a failure or the user end the search.
    fn must_end(&self) -> bool {
        self.over || self.state.stop.is_some() || self.state.error.is_some()
    }

    /// Whether another batch is made. At least one evaluation is always made unless the answer is due before.
    fn goes_on(&mut self) -> bool {
        // The stop or the answer may be due before the first batch.
        self.pass(0.0);
        let pending = self.state.tree.is_empty() && self.state.error.is_none() && !self.over;
        self.has_moves && (pending || !self.must_end())
    }

    /// The next moment at which an answer may be due, in milliseconds since the move's clock started.
    fn next_moment_ms(&self) -> f64 {
        let is_empty = self.state.tree.is_empty();
        let limit_ms = if is_empty { self.state.limits.due_ms } else { self.state.limit_ms };
        let stop_ms = self.stop_ms.map(|stop_ms| if is_empty { stop_ms + STOP_GRACE_MS } else { stop_ms });
        [limit_ms, stop_ms].into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// Lets `ms` pass, and acts as a watchdog at each moment in between. Returns whether all of it passed
    /// before the answer was due.
    fn pass(&mut self, ms: f64) -> bool {
        let clock = Arc::clone(&self.context.clock);
        let end_ms = self.state.elapsed_ms(&self.context) + ms;
        loop {
            let now_ms = self.state.elapsed_ms(&self.context);
            let moment_ms = self.next_moment_ms();
            // What ends at the very moment is in time.
            if moment_ms > now_ms && moment_ms >= end_ms || self.must_end() && !self.state.tree.is_empty() {
                break;
            }
            if moment_ms > now_ms {
                clock.pass(moment_ms - now_ms);
            }
            let is_empty = self.state.tree.is_empty();
            let grace_ms = if is_empty { STOP_GRACE_MS } else { 0.0 };
            let stopped =
                self.stop_ms.is_some_and(|stop_ms| self.state.elapsed_ms(&self.context) >= stop_ms + grace_ms);
            if stopped || is_empty {
                self.over = true;
                return false;
            }
            self.state.check(&self.context);
            if self.must_end() && !self.state.limits.is_infinite {
                return false;
            }
            // The manager has moved the limit, or nothing comes of it.
            if self.next_moment_ms() <= self.state.elapsed_ms(&self.context) {
                break;
            }
        }
        let rest_ms = end_ms - self.state.elapsed_ms(&self.context);
        if rest_ms > 0.0 {
            clock.pass(rest_ms);
        }
        true
    }

    /// Lets the clock advance by the cost of the playouts made since their number was `before`.
    fn charge(&mut self, before: u64) {
        let playouts = self.state.playouts() - before;
        self.pass(playouts as f64 * self.context.clock.playout_ms());
    }

    /// Makes a batch: gathers, evaluates and backs up. Returns whether the answer was due before its evaluations were
    /// there: then the batch is not backed up yet.
    fn make_batch(&mut self, batch: &mut Batch) -> bool {
        self.state.begin(&self.context, batch);
        let progress = self.gather(batch);
        if self.must_end() && !self.state.tree.is_empty() {
            // The answer fell due while visits were backed up: nobody begins an evaluation any more.
            batch.cancel(&mut self.state.tree);
            return false;
        }
        if batch.is_empty() {
            // Nothing but collisions: their visits come to nothing.
            batch.cancel(&mut self.state.tree);
            match progress {
                true => self.state.batch_done(&self.context),
                false => {
                    self.state.check(&self.context);
                    if !self.must_end() {
                        self.pass(IDLE_MS);
                    }
                }
            }
            return false;
        }
        if !batch.queries().is_empty() {
            if !self.wait_for_evaluator() {
                batch.cancel(&mut self.state.tree);
                return false;
            }
            if !self.evaluate(batch) {
                return self.state.error.is_none();
            }
        }
        let before = self.state.playouts();
        self.state.back_up(&self.context, batch);
        self.charge(before);
        self.state.batch_done(&self.context);
        while self.state.too_fast(&self.context) && !self.must_end() && self.pass(IDLE_MS) {}
        false
    }

    /// Fills a batch, round by round. Returns whether some of it was backed up on the way: cache hits and ends of the
    /// game.
    fn gather(&mut self, batch: &mut Batch) -> bool {
        let root_plies = self.context.game.moves().len();
        let mut progress = false;
        loop {
            let mut picked = false;
            while !(picked && self.must_end()) && self.state.pick(&self.context, batch) {
                picked = true;
            }
            if picked && batch.has_news() {
                batch.extend_leaves(&mut self.game, root_plies, &self.context);
                if !batch.has_out_of_order(&self.context.params) {
                    return progress;
                }
            }
            let before = self.state.playouts();
            let freed = picked && self.state.back_up_out_of_order(&self.context, batch);
            self.charge(before);
            progress |= freed;
            if !freed || self.must_end() && !self.state.tree.is_empty() {
                return progress;
            }
        }
    }

    /// Waits until the evaluator is done with the batch that the previous search left behind. Returns whether that was
    /// before this search's own answer was due.
    fn wait_for_evaluator(&mut self) -> bool {
        let rest_ms = self.busy_until_ms - self.context.clock.now_ms();
        rest_ms <= 0.0 || self.pass(rest_ms)
    }

    /// Asks the network. Returns whether the answers were there before the search's own was due.
    fn evaluate(&mut self, batch: &mut Batch) -> bool {
        let began_ms = self.state.elapsed_ms(&self.context);
        let positions = batch.queries().len();
        debug_assert!(positions <= self.context.minibatch_size, "the cost of one call is modelled");
        match ask(self.evaluator, batch.queries(), self.context.minibatch_size) {
            Ok(answers) => batch.take_answers(&answers, &self.context),
            Err(error) => {
                batch.cancel(&mut self.state.tree);
                self.state.error.get_or_insert(error.to_string());
                return false;
            }
        }
        let (in_time, took_ms) = match self.evaluator.modelled_cost_ms() {
            Some(cost_ms) => (self.pass(cost_ms), cost_ms),
            None => (true, self.state.elapsed_ms(&self.context) - began_ms),
        };
        if !in_time {
            self.busy_until_ms = self.state.limits.start_ms + began_ms + took_ms;
        }
        self.state.observe(&self.context, positions, took_ms);
        in_time
    }

    /// Lets a search that has ended wait until the manager lets it answer, or `stop` comes.
    fn wait_for_answer(&mut self) {
        if let Some(wait_ms) = self.state.wait_ms(&self.context).filter(|_| !self.over) {
            let rest_ms = self.stop_ms.map_or(f64::INFINITY, |stop_ms| stop_ms - self.state.elapsed_ms(&self.context));
            self.context.clock.pass(wait_ms.min(rest_ms.max(0.0)));
        }
    }

    /// Lets a search that only `stop` ends wait for `stop`.
    fn wait_for_stop(&mut self) {
        if let Some(stop_ms) = self.stop_ms.filter(|_| self.state.limits.is_infinite && !self.over) {
            let rest_ms = stop_ms - self.state.elapsed_ms(&self.context);
            if rest_ms > 0.0 {
                self.context.clock.pass(rest_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bare_tests::{Uncached, request};
    use crate::search::{Search, SearchParams, Tree};
    use std::sync::Arc;
    use zeitnot_backend::Backend as _;
    use zeitnot_base::clock::VirtualClock;
    use zeitnot_chess::{Game, to_uci};
    use zeitnot_time::{SearchLimits, StopperParams};

    #[test]
    fn a_search_on_the_callers_thread_finds_a_mate() {
        let game = Game::from_fen("6k1/5ppp/8/8/8/8/8/1R4K1 w - - 0 1", false).unwrap();
        let limits = SearchLimits { nodes: Some(500), ..SearchLimits::default() };
        let request = request(game.clone(), limits, &StopperParams::default(), SearchParams::LC0, None);
        let (backend, clock) = (Arc::new(Uncached::new()), Arc::new(VirtualClock::default()));
        let mut evaluator = backend.evaluator().unwrap();
        let (end, _) = Search::run(Tree::new(game), backend, &mut *evaluator, clock, request, None);
        assert_eq!(end.best.map(|mv| to_uci(mv, false)).as_deref(), Some("b1b8"));
        assert_eq!(end.report.lines[0].mate, Some(1));
    }
}
