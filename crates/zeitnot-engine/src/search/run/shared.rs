//! Holds the state that the threads of a search share, tells them when to leave, and gives the answer.

use super::answer::{conclude, unsearched};
use super::state::State;
use super::work_queue::WorkQueue;
use crate::search::context::SearchContext;
use crate::search::request::{EndReason, Listener, SearchEnd};
use crate::search::root::report::Report;
use crossbeam::utils::{Backoff, CachePadded};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zeitnot_backend::EvaluatorPool;

/// Interval at which a thread that waits for the answer checks that the search is still alive.
pub(crate) const ANSWER_POLL: Duration = Duration::from_millis(100);

const PANICKED: &str =
    "a thread of the search panicked: this is a defect, please report it with the file that standard error names";

/// The state that the threads of a search share. The first thread that finds an answer due gives it, the caller's
/// thread included, so that no answer waits for a certain thread to get a processor.
pub(crate) struct SharedSearch {
    pub context: SearchContext,
    /// The search's state, on cache lines of its own: its lock is taken for every batch, while others look at the flags
    /// below. `None` when the next search has taken it, while a worker still evaluates a batch that nobody waits for.
    pub state: CachePadded<Mutex<Option<State>>>,
    pub queue: WorkQueue,
    pub evaluators: Arc<EvaluatorPool>,
    pub listener: Arc<dyn Listener>,
    /// The worker that owns the tree waits here when there is nothing to gather; `stop` ends the wait.
    pub idle: Condvar,
    /// Signalled when the watchdog has to look: the plan has changed, or there is an answer.
    pub wake: Condvar,
    /// Whether the listener has been given the answer. It is locked during every call of the listener.
    pub answered: Mutex<bool>,
    pub answer_given: Condvar,
    pub user_stop: AtomicBool,
    /// Whether there is a legal move.
    pub has_moves: bool,
    /// Whether the answer is decided; nobody may start another batch then. Set under the lock of the state.
    pub over: AtomicBool,
    pub panicked: AtomicBool,
    /// Number of workers that have not left.
    pub working: Mutex<usize>,
    pub left: Condvar,
}

/// The state under its lock. After every wait it may be gone, together with the search: see [`SharedSearch::is_over`].
pub(crate) struct StateGuard<'a>(MutexGuard<'a, Option<State>>);

const NOT_OVER: &str = "the state is taken from a search that is over, which is asked after every wait for the lock";

impl Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.0.as_ref().expect(NOT_OVER)
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect(NOT_OVER)
    }
}

impl StateGuard<'_> {
    /// Takes the state out for the next search; the threads of this one then find none.
    pub(crate) fn take(&mut self) -> Option<State> {
        self.0.take()
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_none()
    }

    /// Lets another thread that waits for the lock have it.
    pub(crate) fn bump(&mut self) {
        MutexGuard::bump(&mut self.0);
    }

    /// Does `work` with the lock released, and takes the lock again.
    pub(crate) fn unlocked<T>(&mut self, work: impl FnOnce() -> T) -> T {
        MutexGuard::unlocked(&mut self.0, work)
    }

    pub(crate) fn wait_for(&mut self, signal: &Condvar, timeout: Duration) {
        signal.wait_for(&mut self.0, timeout);
    }
}

impl SharedSearch {
    pub(crate) fn new(
        context: SearchContext,
        state: State,
        evaluators: Arc<EvaluatorPool>,
        listener: Arc<dyn Listener>,
    ) -> SharedSearch {
        SharedSearch {
            queue: WorkQueue::new(context.workers),
            has_moves: !context.game.current().legal_moves().is_empty(),
            context,
            state: CachePadded::new(Mutex::new(Some(state))),
            evaluators,
            listener,
            idle: Condvar::new(),
            wake: Condvar::new(),
            answered: Mutex::new(false),
            answer_given: Condvar::new(),
            user_stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            working: Mutex::new(0),
            left: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> StateGuard<'_> {
        StateGuard(self.state.lock())
    }

    /// Locks the state for a worker. Other threads hold the lock for microseconds at a time, less than a thread takes
    /// to fall asleep and wake up again: it is tried a few times before the operating system is asked to wait.
    pub(crate) fn lock_soon(&self) -> StateGuard<'_> {
        let backoff = Backoff::new();
        while !backoff.is_completed() {
            if let Some(state) = self.state.try_lock() {
                return StateGuard(state);
            }
            backoff.snooze();
        }
        self.lock()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Runs a thread's work; `None` if it panics: a defect, but the game goes on, and the search ends with an error.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| self.note_panic()).ok()
    }

    fn note_panic(&self) {
        self.panicked.store(true, Ordering::SeqCst);
        self.fail(PANICKED);
    }

    /// Ends the search with this error, unless it has one already.
    pub(crate) fn fail(&self, error: &str) {
        let mut state = self.state.lock();
        if let Some(state) = state.as_mut() {
            state.error.get_or_insert_with(|| error.to_owned());
        }
        self.wake.notify_all();
        drop(state);
        self.end_waits();
    }

    /// Ends the waits of the workers: there is an answer, or there is to be one.
    pub(crate) fn end_waits(&self) {
        self.idle.notify_all();
        self.queue.wake();
        self.evaluators.wake();
    }

    /// Whether an answer is due now and has not been given yet.
    pub(crate) fn is_due(&self, state: &StateGuard) -> bool {
        if self.is_over() {
            return false;
        }
        let elapsed_ms = state.elapsed_ms(&self.context);
        let nothing_evaluated = self.has_moves && state.tree.is_empty() && state.error.is_none();
        if nothing_evaluated && state.limits.due_ms.is_some_and(|due_ms| elapsed_ms >= due_ms) {
            return true;
        }
        // An infinite search that has nothing left to do still waits to be asked.
        let ends = !state.limits.is_infinite && (!self.has_moves || state.stop.is_some() || state.error.is_some());
        let ends = ends && state.wait_ms(&self.context).is_none();
        let user_stop = self.user_stop.load(Ordering::SeqCst);
        let grace_over = || state.answer_by_ms.is_none_or(|answer_by_ms| elapsed_ms >= answer_by_ms);
        (user_stop || ends) && (!nothing_evaluated || grace_over())
    }

    /// Gives the answer, unless it was given.
    pub(crate) fn answer(&self, state: &mut StateGuard) {
        if self.over.swap(true, Ordering::SeqCst) {
            return;
        }
        let end = std::panic::catch_unwind(AssertUnwindSafe(|| conclude(&self.context, state, true)));
        let end = end.unwrap_or_else(|_| {
            self.panicked.store(true, Ordering::SeqCst);
            self.failed()
        });
        self.queue.close();
        tracing::debug!(reason = ?end.reason, nodes = end.report.nodes, elapsed_ms = end.report.elapsed_ms, "search ended");
        self.wake.notify_all();
        state.unlocked(|| {
            self.end_waits();
            self.report_end(&end);
        });
    }

    /// Ends the search without an answer. Returns whether no answer had been given.
    pub(crate) fn abandon(&self) -> bool {
        let state = self.lock();
        let is_new = !self.over.swap(true, Ordering::SeqCst);
        self.queue.close();
        self.wake.notify_all();
        drop(state);
        self.end_waits();
        is_new
    }

    /// Answers, when an answer is due, in place of a watchdog that has failed.
    pub(crate) fn answer_without_watchdog(&self) {
        let is_infinite = || self.state.lock().as_ref().is_some_and(|state| state.limits.is_infinite);
        while is_infinite() && !self.is_over() && !self.user_stop.load(Ordering::SeqCst) {
            std::thread::sleep(ANSWER_POLL);
        }
        if self.abandon() {
            self.report_end(&self.failed());
        }
    }

    /// Reports something of the search to the listener, unless the answer is decided: nothing may follow it.
    pub(crate) fn report_before_answer(&self, report: impl FnOnce(&dyn Listener)) {
        let answered = self.answered.lock();
        if !self.is_over() {
            report(self.listener.as_ref());
        }
        drop(answered);
    }

    fn report_end(&self, end: &SearchEnd) {
        let mut answered = self.answered.lock();
        let reported = std::panic::catch_unwind(AssertUnwindSafe(|| self.listener.finished(end)));
        if reported.is_err() {
            self.panicked.store(true, Ordering::SeqCst);
        }
        *answered = true;
        self.answer_given.notify_all();
    }

    /// The answer when the search itself has failed.
    fn failed(&self) -> SearchEnd {
        SearchEnd {
            best: unsearched(&self.context, true).map(|(_, line)| line.moves[0]),
            ponder: None,
            report: Report::default(),
            not_drawn: None,
            move_stats: Vec::new(),
            reason: EndReason::Failed,
            error: Some(PANICKED.to_owned()),
            time: None,
        }
    }

    /// Whether workers make another batch. At least one evaluation is always made: without it there is nothing to
    /// choose by.
    pub(crate) fn goes_on(&self, state: &StateGuard) -> bool {
        !self.is_over() && (state.tree.is_empty() && state.error.is_none() || !self.must_end(state))
    }

    /// Whether a worker has to leave.
    pub(crate) fn must_end(&self, state: &StateGuard) -> bool {
        self.is_over() || state.stop.is_some() || state.error.is_some() || self.user_stop.load(Ordering::SeqCst)
    }
}
