//! Holds the state that the threads of a search share, and says when they have to leave.

use super::answer::unsearched;
use super::state::State;
use super::work_queue::WorkQueue;
use crate::search::context::SearchContext;
use crate::search::request::{EndReason, Listener, SearchEnd};
use crate::search::root::report::Report;
use crossbeam::utils::{Backoff, CachePadded};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a waiter makes sure that the search is still alive.
pub(crate) const ANSWER_POLL: Duration = Duration::from_millis(100);

const PANICKED: &str =
    "a thread of the search panicked: this is a defect, please report it with the file that standard error names";

/// The state that the threads of a search share.
pub(crate) struct Shared {
    pub context: SearchContext,
    /// On cache lines of its own: its lock is taken for every batch, while others look at the flags below.
    pub state: CachePadded<Mutex<State>>,
    pub queue: WorkQueue,
    /// The worker that owns the tree waits here when there is nothing to gather; `stop` ends the wait.
    pub idle: Condvar,
    /// Signalled when the watchdog has to look: the stoppers or the user said stop.
    pub wake: Condvar,
    pub answered: Mutex<bool>,
    pub answer_given: Condvar,
    pub user_stop: AtomicBool,
    /// The answer is decided; nobody may start another batch.
    pub over: AtomicBool,
    pub panicked: AtomicBool,
    /// The listener has heard of the end, or is hearing of it.
    pub told: AtomicBool,
}

impl Shared {
    /// The state, for a worker. The others hold it for microseconds at a time, which is less than a thread takes to fall
    /// asleep and wake up again: it looks again a few times before it asks the operating system to wait.
    pub fn lock_soon(&self) -> MutexGuard<'_, State> {
        let backoff = Backoff::new();
        while !backoff.is_completed() {
            if let Some(state) = self.state.try_lock() {
                return state;
            }
            backoff.snooze();
        }
        self.state.lock()
    }

    pub fn note_panic(&self) {
        self.panicked.store(true, Ordering::SeqCst);
        self.state.lock().error.get_or_insert_with(|| PANICKED.to_owned());
        self.end_waits();
        self.wake.notify_all();
    }

    /// Ends the waits of the workers: there is an answer, or there is to be one.
    pub fn end_waits(&self) {
        self.idle.notify_all();
        self.queue.wake();
    }

    /// Answers in place of a watchdog that has failed: once, and when an answer is due.
    pub fn answer_without_watchdog(&self, listener: &dyn Listener) {
        if self.told.swap(true, Ordering::SeqCst) {
            return;
        }
        let end = self.failed();
        self.end_waits();
        while self.context.infinite && !self.user_stop.load(Ordering::SeqCst) {
            std::thread::sleep(ANSWER_POLL);
        }
        listener.finished(&end);
    }

    /// The answer when the watchdog itself has failed.
    fn failed(&self) -> SearchEnd {
        self.over.store(true, Ordering::SeqCst);
        SearchEnd {
            best: unsearched(&self.context, true).map(|(_, line)| line.moves[0]),
            ponder: None,
            report: Report::default(),
            move_stats: Vec::new(),
            reason: EndReason::Failed,
            error: Some(PANICKED.to_owned()),
            time: None,
        }
    }

    /// Whether a worker makes another batch. At least one evaluation is always made: without it there is nothing to
    /// choose by.
    pub fn goes_on(&self, state: &State) -> bool {
        let pending = state.tree.is_empty() && state.error.is_none() && !self.over.load(Ordering::SeqCst);
        pending || !self.must_end(state)
    }

    /// Whether a worker has to leave.
    pub fn must_end(&self, state: &State) -> bool {
        self.over.load(Ordering::SeqCst)
            || state.stop.is_some()
            || state.error.is_some()
            || self.user_stop.load(Ordering::SeqCst)
    }
}
