//! A search under way: its workers, the watchdog that answers in time, and what comes back at the end.

use super::clock::Clock;
use super::desk::Desk;
use super::packed::PackedMove;
use super::params::SearchParams;
use super::puct::DrawScore;
use super::report::{MoveStats, Report};
use super::setting::Setting;
use super::state::State;
use super::tree::Tree;
use super::watchdog::watch;
use super::worker::work;
use crate::backend::{Backend, Evaluator};
use crate::chess::{Game, Move};
use crate::tablebase::Probes;
use crate::time_manager::estimators::batch::BatchLatency;
use crate::time_manager::{MoveAccount, Plan, SearchLimits, Statistics, StopReason, Stoppers, TimeManager};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a waiter makes sure that the search is still alive.
const ANSWER_POLL: Duration = Duration::from_millis(100);

const PANICKED: &str =
    "a thread of the search panicked: this is a defect, please report it with the lines on standard error";

/// Hears from a search. Called from the search's own threads.
pub trait Listener: Send + Sync {
    /// What the time manager decided, before the search of a timed move starts.
    fn planned(&self, _: &Plan) {}
    /// It failed, but only `stop` (or `ponderhit`) ends it; the answer that comes then says so, too.
    fn failed(&self, _: &str) {}
    /// Something worth telling changed: the best move, the depth, or five seconds passed.
    fn report(&self, report: &Report);
    /// The end: exactly one call a search.
    fn finished(&self, end: &SearchEnd);
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// One of the stoppers, the time manager among them.
    Stopper(StopReason),
    /// It was told to.
    Stopped,
    /// There was nothing to choose from: no legal move.
    NoMoves,
    /// There was no search: the move is from a book, with this weight of that of all its moves there.
    Book {
        /// The move's.
        weight: u32,
        /// That of all.
        total: u32,
    },
    /// The evaluator failed.
    Failed,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchEnd {
    /// The move to play; `None` when there is no legal move.
    pub best: Option<Move>,
    /// The reply expected.
    pub ponder: Option<Move>,
    /// The last state.
    pub report: Report,
    /// Statistics of the root's moves, when they were asked for.
    pub move_stats: Vec<MoveStats>,
    /// Why it ended.
    pub reason: EndReason,
    /// What went wrong, in one line.
    pub error: Option<String>,
    /// How the manager's move went, if it had a clock.
    pub time: Option<TimeReport>,
}

/// What a time manager has to say after a move.
#[derive(Clone, Debug)]
pub struct TimeReport {
    /// The move.
    pub account: MoveAccount,
    /// The game so far.
    pub statistics: Statistics,
    /// Whether the manager tells its statistics unasked.
    pub reports_statistics: bool,
}

impl TimeReport {
    /// The report of a manager whose move has just ended.
    pub(super) fn of(manager: &dyn TimeManager) -> Option<TimeReport> {
        let (account, statistics) = (manager.last_move()?.clone(), *manager.statistics()?);
        Some(TimeReport { account, statistics, reports_statistics: manager.reports_statistics() })
    }
}

/// All a search needs to start.
pub struct SearchRequest {
    /// The position, with its history.
    pub game: Game,
    /// What ends the search.
    pub limits: SearchLimits,
    /// The chain that watches the limits.
    pub stoppers: Stoppers,
    /// The clock's budget, if the move has one. It comes back with the end of the search.
    pub manager: Option<Box<dyn TimeManager>>,
    /// Only these root moves; empty: all.
    pub search_moves: Vec<Move>,
    /// Parameters.
    pub params: SearchParams,
    /// Lines to report.
    pub multi_pv: usize,
    /// Whether the end carries [`SearchEnd::move_stats`].
    pub with_move_stats: bool,
    /// Whether the reports before it carry [`Report::move_stats`].
    pub with_live_stats: bool,
    /// What is known of how long batches take. It comes back with the end of the search.
    pub latency: BatchLatency,
    /// Of everything that is random: the noise at the root and the choice of the move.
    pub seed: u64,
    /// The endgame tables.
    pub probes: Probes,
    /// When the move's clock started, on the injected clock.
    pub start_ms: f64,
    /// When an answer is due, in milliseconds since then, although nothing was evaluated yet.
    pub due_ms: Option<f64>,
}

/// What a finished search gives back for the next one.
pub struct Finished {
    /// The tree.
    pub tree: Tree,
    /// The manager, having seen the outcome.
    pub manager: Option<Box<dyn TimeManager>>,
    /// How long batches took, those of earlier searches among them.
    pub latency: BatchLatency,
    /// The workers' evaluators.
    pub evaluators: Vec<Box<dyn Evaluator>>,
}

/// What the threads of a search have in common.
pub(super) struct Shared {
    pub setting: Setting,
    pub state: Mutex<State>,
    pub desk: Desk,
    /// Where whoever has the tree waits when there is nothing to do with it; `stop` ends the wait.
    pub idle: Condvar,
    /// Signalled when the watchdog has to look: the stoppers or the user said stop.
    pub wake: Condvar,
    answered: Mutex<bool>,
    answer_given: Condvar,
    pub user_stop: AtomicBool,
    /// The answer is decided; nobody may start another batch.
    pub over: AtomicBool,
    pub infinite: bool,
    pub due_ms: Option<f64>,
    pub with_move_stats: bool,
    panicked: AtomicBool,
    /// The listener has heard of the end, or is hearing of it.
    pub told: AtomicBool,
}

/// A worker's thread; it gives its evaluator back unless it panicked.
type Worker = JoinHandle<Option<Box<dyn Evaluator>>>;

/// A search that did not start.
pub struct NotStarted {
    /// The operating system's reason.
    pub error: std::io::Error,
    /// What the search was given.
    pub remains: Box<Finished>,
}

/// A running search.
pub struct Search {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    watchdog: JoinHandle<()>,
}

/// Looks at a lock that another worker holds before the operating system is asked to wait: some 50 microseconds.
const LOOKS_AT_THE_LOCK: u32 = 2000;

impl Shared {
    /// The state, for a worker. The others hold it for microseconds at a time, which is less than a thread takes to fall
    /// asleep and wake up again.
    pub fn lock_soon(&self) -> MutexGuard<'_, State> {
        for _ in 0..LOOKS_AT_THE_LOCK {
            if let Some(state) = self.state.try_lock() {
                return state;
            }
            std::hint::spin_loop();
        }
        self.state.lock()
    }
}

impl Search {
    /// Starts searching on one thread for each evaluator, and a watchdog.
    ///
    /// # Errors
    /// [`NotStarted`], when the operating system has no thread to give.
    pub fn start(
        mut tree: Tree,
        backend: Arc<dyn Backend>,
        evaluators: Vec<Box<dyn Evaluator>>,
        clock: Arc<dyn Clock>,
        request: SearchRequest,
        listener: Arc<dyn Listener>,
    ) -> Result<Search, NotStarted> {
        tree.share_positions(request.params.transpositions);
        tree.follow(request.game.clone());
        // Every search draws its own.
        tree.set_root_noise(None);
        let attributes = backend.attributes();
        let minibatch_size = match request.params.minibatch_size {
            0 => attributes.preferred_batch,
            size => size,
        };
        let nodes = request.limits.nodes;
        let playouts = request.limits.playouts.map(|playouts| playouts.saturating_add(u64::from(tree.visits())));
        let setting = Setting {
            draw: DrawScore::new(request.params.draw_score, request.game.current().turn()),
            nps_limit: f64::from(request.params.nps_limit),
            minibatch_size: minibatch_size.clamp(1, attributes.maximum_batch.max(1)),
            workers: evaluators.len(),
            params: request.params,
            clock,
            game: request.game,
            packed_search_moves: request.search_moves.iter().map(|mv| PackedMove::new(*mv).0).collect(),
            search_moves: request.search_moves,
            multi_pv: request.multi_pv,
            probes: request.probes,
            start_ms: request.start_ms,
            live_stats: request.with_live_stats,
            node_limit: [nodes, playouts].into_iter().flatten().min().unwrap_or(u64::from(u32::MAX)),
            backend,
        };
        let shared = Arc::new(Shared {
            setting,
            state: Mutex::new(State::new(tree, request.stoppers, request.manager, request.latency, request.seed)),
            desk: Desk::new(evaluators.len()),
            idle: Condvar::new(),
            told: AtomicBool::new(false),
            wake: Condvar::new(),
            answered: Mutex::new(false),
            answer_given: Condvar::new(),
            user_stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            infinite: request.limits.infinite || request.limits.ponder,
            due_ms: request.due_ms,
            with_move_stats: request.with_move_stats,
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

    /// Whether only [`Search::stop`] ends it.
    pub fn is_endless(&self) -> bool {
        self.shared.infinite
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
    let state = shared.state.into_inner();
    let mut tree = state.tree;
    if shared.panicked.into_inner() {
        tree.reset(shared.setting.game);
    }
    Finished { tree, manager: state.manager, latency: state.latency, evaluators }
}

/// Runs a thread's work. A panic is a defect, but it must not cost the game: it ends the search with an error.
fn guarded<T>(shared: &Shared, work: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| shared.note_panic()).ok()
}

impl Shared {
    fn note_panic(&self) {
        self.panicked.store(true, Ordering::SeqCst);
        self.state.lock().error.get_or_insert_with(|| PANICKED.to_owned());
        self.end_waits();
        self.wake.notify_all();
    }

    /// Ends the waits of the workers: there is an answer, or there is to be one.
    pub fn end_waits(&self) {
        self.idle.notify_all();
        self.desk.wake();
    }

    /// Answers in place of a watchdog that has failed: once, and when an answer is due.
    fn answer_without_watchdog(&self, listener: &dyn Listener) {
        if self.told.swap(true, Ordering::SeqCst) {
            return;
        }
        let end = self.failed();
        self.end_waits();
        while self.infinite && !self.user_stop.load(Ordering::SeqCst) {
            std::thread::sleep(ANSWER_POLL);
        }
        listener.finished(&end);
    }

    /// The answer when the watchdog itself has failed.
    fn failed(&self) -> SearchEnd {
        self.over.store(true, Ordering::SeqCst);
        SearchEnd {
            best: self.setting.game.current().legal_moves().first().copied(),
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
