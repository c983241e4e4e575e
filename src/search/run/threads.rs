//! Runs a search on threads of its own: starts its workers and the watchdog that answers in time, and ends it.

use super::begin_search;
use super::shared::{ANSWER_POLL, Shared};
use super::watchdog::watch;
use super::work_queue::WorkQueue;
use super::worker::work;
use crate::backend::{Backend, Evaluator};
use crate::clock::Clock;
use crate::search::request::{Finished, Listener, NotStarted, SearchRequest};
use crate::search::tree::Tree;
use crossbeam::utils::CachePadded;
use parking_lot::{Condvar, Mutex};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A worker's thread; it gives its evaluator back unless it panicked.
type Worker = JoinHandle<Option<Box<dyn Evaluator>>>;

/// A running search.
pub struct Search {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    watchdog: JoinHandle<()>,
}

impl Search {
    /// Starts searching on one thread for each evaluator, and a watchdog.
    ///
    /// # Errors
    /// [`NotStarted`], when the operating system has no thread to give.
    pub fn start(
        tree: Tree,
        backend: Arc<dyn Backend>,
        evaluators: Vec<Box<dyn Evaluator>>,
        clock: Arc<dyn Clock>,
        request: SearchRequest,
        listener: Arc<dyn Listener>,
    ) -> Result<Search, NotStarted> {
        let (context, state) = begin_search(tree, backend, evaluators.len(), clock, request);
        // No worker begins an evaluation that is not waited for: the next move would have to wait for its end.
        let is_due = state.tree.is_empty() && context.due_ms.is_some_and(|due_ms| context.elapsed_ms() >= due_ms);
        let shared = Arc::new(Shared {
            context,
            state: CachePadded::new(Mutex::new(state)),
            queue: WorkQueue::new(evaluators.len()),
            idle: Condvar::new(),
            told: AtomicBool::new(false),
            wake: Condvar::new(),
            answered: Mutex::new(false),
            answer_given: Condvar::new(),
            user_stop: AtomicBool::new(false),
            over: AtomicBool::new(is_due),
            panicked: AtomicBool::new(false),
        });
        let mut workers = Vec::with_capacity(evaluators.len());
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let its_shared = Arc::clone(&shared);
            let name = format!("search-{index}");
            let run = move || guarded(&its_shared, || work(&its_shared, index, evaluator));
            match std::thread::Builder::new().name(name).spawn(run) {
                Ok(worker) => workers.push(worker),
                // Fewer workers are slower, but they do.
                Err(error) if workers.is_empty() => {
                    return Err(NotStarted { error, remains: Box::new(finish(shared, workers)) });
                }
                Err(error) => tracing::warn!(%error, workers = workers.len(), "the system gives no more threads"),
            }
        }
        let watchdog = {
            let shared = Arc::clone(&shared);
            let run = move || {
                if guarded(&shared, || watch(&shared, listener.as_ref())).is_none() {
                    shared.answer_without_watchdog(listener.as_ref());
                }
                *shared.answered.lock() = true;
                shared.answer_given.notify_all();
            };
            std::thread::Builder::new().name("watchdog".to_owned()).spawn(run)
        };
        match watchdog {
            Ok(watchdog) => Ok(Search { shared, workers, watchdog }),
            Err(error) => {
                shared.over.store(true, Ordering::SeqCst);
                shared.end_waits();
                Err(NotStarted { error, remains: Box::new(finish(shared, workers)) })
            }
        }
    }

    /// Asks the search to answer now. Does not wait.
    pub fn stop(&self) {
        self.shared.user_stop.store(true, Ordering::SeqCst);
        // Under the lock, or the watchdog could miss it between its look at the flag and its sleep.
        let state = self.shared.state.lock();
        self.shared.wake.notify_all();
        drop(state);
        self.shared.end_waits();
    }

    /// Whether the answer was given, or is just being given: whoever has read it finds the search finished.
    pub fn is_finished(&self) -> bool {
        self.shared.over.load(Ordering::SeqCst) || self.watchdog.is_finished()
    }

    /// Whether only [`Search::stop`] is sure to end it.
    pub fn is_endless(&self) -> bool {
        self.shared.state.lock().time.is_endless()
    }

    /// Waits for the answer alone: batches may still be under way.
    pub fn wait_for_answer(&self) {
        let mut answered = self.shared.answered.lock();
        while !*answered && !self.watchdog.is_finished() {
            self.shared.answer_given.wait_for(&mut answered, ANSWER_POLL);
        }
    }

    /// Waits for the end: the answer, and then the batches still being evaluated.
    pub fn wait(self) -> Finished {
        // The threads catch their own panics, so that joining cannot fail.
        let _ = self.watchdog.join();
        finish(self.shared, self.workers)
    }
}

/// Waits for the workers and takes apart what the threads shared.
fn finish(shared: Arc<Shared>, workers: Vec<Worker>) -> Finished {
    let evaluators = workers.into_iter().filter_map(|worker| worker.join().ok().flatten()).collect();
    let shared = Arc::into_inner(shared).expect("the threads that shared it have been joined");
    let state = shared.state.into_inner().into_inner();
    let mut tree = state.tree;
    if shared.panicked.into_inner() {
        tree.reset(shared.context.game);
    }
    Finished { tree, time: state.time, latency: state.latency, evaluators, busy_until_ms: f64::NEG_INFINITY }
}

/// Runs a thread's work. A panic is a defect, but it must not cost the game: it ends the search with an error.
fn guarded<T>(shared: &Shared, work: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| shared.note_panic()).ok()
}
