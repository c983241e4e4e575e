//! Starts a search on threads of its own, and ends it.

use super::begin_search;
use super::move_limits::MoveLimits;
use super::shared::{ANSWER_POLL, SharedSearch};
use super::state::State;
use super::threads::SearchThreads;
use super::worker::clear_queue;
use crate::search::request::{Finished, Listener, NotStarted, SearchRequest};
use crate::search::tree::Tree;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zeitnot_backend::{Backend, EvaluatorPool};
use zeitnot_base::clock::Clock;
use zeitnot_time::due::STOP_GRACE_MS;
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::{Begun, Plan, SearchLimits, Timekeeper};

/// A running search.
pub(crate) struct Search {
    shared: Arc<SharedSearch>,
}

/// A pondered move that is played: the limits of its search, when its clock started, and the decision on its time.
pub(crate) struct Hit {
    /// The limits.
    pub limits: SearchLimits,
    /// Start of the move's clock, on the search's clock.
    pub start_ms: f64,
    /// The timekeeper's decision.
    pub begun: Begun,
}

impl Search {
    /// Starts searching on `threads`, with a worker for each evaluator. An answer that is due already is given here,
    /// before any thread begins.
    ///
    /// # Errors
    /// [`NotStarted`], when the operating system has no thread to give.
    pub(crate) fn start(
        threads: &mut SearchThreads,
        evaluators: Arc<EvaluatorPool>,
        tree: Tree,
        backend: Arc<dyn Backend>,
        clock: Arc<dyn Clock>,
        request: SearchRequest,
        listener: Arc<dyn Listener>,
    ) -> Result<Search, NotStarted> {
        let workers = evaluators.count();
        let (context, state) = begin_search(tree, backend, workers, clock, request);
        let search = Search { shared: Arc::new(SharedSearch::new(context, state, evaluators, listener)) };
        if search.answer_if_due() {
            return Ok(search);
        }
        if let Err(error) = threads.ensure(workers) {
            return Err(NotStarted { error, remains: Box::new(search.abandon()) });
        }
        threads.search(&search.shared);
        Ok(search)
    }

    /// Gives the answer on this thread if it is due. Returns whether it has been given.
    fn answer_if_due(&self) -> bool {
        let mut state = self.shared.lock();
        if self.shared.is_due(&state) {
            self.shared.answer(&mut state);
        } else {
            self.shared.wake.notify_all();
        }
        self.shared.is_over()
    }

    /// Makes the search answer now: on this thread, from the tree. Where nothing was evaluated yet, the answer may take
    /// a moment.
    pub(crate) fn stop(&self) {
        let mut state = self.shared.lock();
        if self.shared.is_over() {
            return;
        }
        let context = &self.shared.context;
        // A clock runs while a ponder search is being stopped.
        if !self.shared.user_stop.swap(true, Ordering::SeqCst) && !context.pondering {
            state.answer_by_ms = Some(state.elapsed_ms(context) + STOP_GRACE_MS);
        }
        drop(state);
        self.answer_if_due();
        self.shared.end_waits();
    }

    /// Goes on with a pondered position as the search of the move that is played. `begin` plans it, from the tree and
    /// the latency of batches. Returns the plan; `None` when the search can go on no more: it has answered, or its
    /// workers leave.
    ///
    /// # Errors
    /// Those of `begin`; the search then has no limits, and is to be abandoned.
    pub(crate) fn ponder_hit<E>(
        &self,
        begin: impl FnOnce(&mut Tree, &mut BatchLatency, &mut Timekeeper) -> Result<Hit, E>,
    ) -> Option<Result<Option<Plan>, E>> {
        let shared = &self.shared;
        let mut guard = shared.lock();
        if shared.must_end(&guard) {
            return None;
        }
        let (elapsed_ms, nodes) = (guard.elapsed_ms(&shared.context), guard.nodes());
        guard.end_move(elapsed_ms, nodes);
        let state = &mut *guard;
        let Hit { limits, start_ms, begun: Begun { plan, hard_limit_ms, due_ms } } =
            match begin(&mut state.tree, &mut state.latency, &mut state.time) {
                Ok(hit) => hit,
                Err(error) => return Some(Err(error)),
            };
        let limits = MoveLimits::new(&limits, &state.tree, start_ms, hard_limit_ms, due_ms);
        // Nobody answers before the plan is reported.
        let (is_infinite, due_ms) = (limits.is_infinite, limits.due_ms);
        state.begin_move(MoveLimits { is_infinite: true, due_ms: None, ..limits });
        if let Some(plan) = &plan {
            guard.unlocked(|| shared.report_before_answer(|listener| listener.planned(plan)));
        }
        if !shared.is_over() {
            (guard.limits.is_infinite, guard.limits.due_ms) = (is_infinite, due_ms);
            guard.check(&shared.context);
        }
        drop(guard);
        self.answer_if_due();
        Some(Ok(plan))
    }

    /// Whether the answer was given, or is just being given: a listener that has read it finds the search finished.
    pub(crate) fn is_finished(&self) -> bool {
        self.shared.is_over()
    }

    /// Whether only [`Search::stop`] is sure to end the search.
    pub(crate) fn is_endless(&self) -> bool {
        let state = self.shared.lock();
        !state.is_taken() && state.time.is_endless()
    }

    /// Lets a thread look at the tree every `interval` until the search is over, which it finds out every `poll`. What
    /// `look` returns is done without the lock of the search.
    pub(crate) fn look_at_tree<W: FnOnce()>(
        &self,
        poll: Duration,
        interval: Duration,
        look: impl Fn(&Tree) -> W + Send + 'static,
    ) {
        let shared = Arc::clone(&self.shared);
        let looking = move || {
            let mut looked = Instant::now();
            while !shared.is_over() {
                std::thread::sleep(poll);
                if looked.elapsed() < interval {
                    continue;
                }
                looked = Instant::now();
                let state = shared.lock();
                if !state.is_taken() && !shared.is_over() {
                    let work = look(&state.tree);
                    drop(state);
                    work();
                }
            }
        };
        // Without a thread the tree is saved when the search has ended.
        let _ = std::thread::Builder::new().name("tree".to_owned()).spawn(looking);
    }

    /// Waits for the answer alone: batches may still be under way.
    pub(crate) fn wait_for_answer(&self) {
        let mut answered = self.shared.answered.lock();
        while !*answered {
            self.shared.answer_given.wait_for(&mut answered, ANSWER_POLL);
        }
    }

    /// Answers, if that was not done yet, and takes the search apart. Batches that are still evaluated are given up: no
    /// move waits for them.
    pub(crate) fn finish(self) -> Finished {
        self.shared.answer(&mut self.shared.lock());
        self.wait_for_answer();
        self.take_apart()
    }

    /// Takes the search apart without an answer.
    pub(crate) fn abandon(self) -> Finished {
        self.shared.abandon();
        self.take_apart()
    }

    /// Waits until the search ends of its own accord: for the answer, and then for the batches still being evaluated.
    pub(crate) fn wait(self) -> Finished {
        self.wait_for_answer();
        let mut working = self.shared.working.lock();
        while *working > 0 {
            self.shared.left.wait(&mut working);
        }
        drop(working);
        self.take_apart()
    }

    fn take_apart(self) -> Finished {
        let mut state = self.shared.lock();
        self.shared.queue.close();
        let panicked = self.shared.panicked.load(Ordering::SeqCst);
        if !panicked {
            clear_queue(&self.shared, &mut state);
        }
        let State { mut tree, time, latency, .. } = state.take().expect("a search is taken apart once");
        match panicked {
            // Takes what the thread has left of it.
            true => tree.reset(self.shared.context.game.clone()),
            false => tree.forget_visits_in_flight(),
        }
        Finished { tree, time, latency, busy_until_ms: f64::NEG_INFINITY }
    }
}
