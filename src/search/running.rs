//! A search under way: its workers, the watchdog that answers in time, and what comes back at the end.

use super::clock::Clock;
use super::params::SearchParams;
use super::puct::DrawScore;
use super::report::{MoveStats, Report};
use super::state::{Setting, State};
use super::tree::Tree;
use crate::backend::{Backend, Evaluator};
use crate::chess::{Game, Move};
use crate::time_manager::{MoveOutcome, Plan, SearchLimits, StopReason, Stoppers, TimeManager};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest and shortest sleep of the watchdog between two checks (Lc0's 100 ms and 1 ms).
const WATCHDOG_LONGEST_MS: f64 = 100.0;
const WATCHDOG_SHORTEST_MS: f64 = 1.0;

/// A move without any evaluation is little better than a random one: this long, in milliseconds, a stop waits for the
/// first one before it answers without.
const FIRST_EVALUATION_GRACE_MS: f64 = 100.0;

/// An unchanged search reports again after this many milliseconds (Lc0's 5 s).
const REPORT_INTERVAL_MS: f64 = 5000.0;

/// Hears from a search. Called from the search's own threads.
pub trait Listener: Send + Sync {
    /// What the time manager decided, before the search of a timed move starts.
    fn planned(&self, _: &Plan) {}
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
    /// When the move's clock started, on the injected clock.
    pub start_ms: f64,
    /// When an answer is due at the latest, in milliseconds since then, even before the first evaluation.
    pub deadline_ms: Option<f64>,
}

/// What a finished search gives back for the next one.
pub struct Finished {
    /// The tree.
    pub tree: Tree,
    /// The manager, having seen the outcome.
    pub manager: Option<Box<dyn TimeManager>>,
    /// The workers' evaluators.
    pub evaluators: Vec<Box<dyn Evaluator>>,
}

struct Shared {
    setting: Setting,
    state: Mutex<State>,
    /// Signalled when a batch was backed up: whoever found nothing to gather may try again.
    backed_up: Condvar,
    /// Signalled when the watchdog has to look: the stoppers or the user said stop.
    wake: Condvar,
    answered: Mutex<bool>,
    answer_given: Condvar,
    user_stop: AtomicBool,
    over: AtomicBool,
    infinite: bool,
    deadline_ms: Option<f64>,
    with_move_stats: bool,
}

/// A running search.
pub struct Search {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<Box<dyn Evaluator>>>,
    watchdog: JoinHandle<()>,
}

impl Search {
    /// Starts searching on one thread for each evaluator, and a watchdog.
    ///
    /// # Errors
    /// The operating system's, when it has no thread to give.
    pub fn start(
        mut tree: Tree,
        backend: Arc<dyn Backend>,
        evaluators: Vec<Box<dyn Evaluator>>,
        clock: Arc<dyn Clock>,
        request: SearchRequest,
        listener: Arc<dyn Listener>,
    ) -> std::io::Result<Search> {
        tree.follow(request.game.clone());
        let attributes = backend.attributes();
        let minibatch_size = match request.params.minibatch_size {
            0 => attributes.preferred_batch,
            size => size,
        };
        let nodes = request.limits.nodes;
        let playouts = request.limits.playouts.map(|playouts| playouts.saturating_add(u64::from(tree.visits())));
        let setting = Setting {
            draw: DrawScore::new(request.params.draw_score, request.game.current().turn()),
            minibatch_size: minibatch_size.clamp(1, attributes.maximum_batch.max(1)),
            params: request.params,
            clock,
            game: request.game,
            search_moves: request.search_moves,
            multi_pv: request.multi_pv,
            start_ms: request.start_ms,
            node_limit: [nodes, playouts].into_iter().flatten().min().unwrap_or(u64::from(u32::MAX)),
            backend,
        };
        let shared = Arc::new(Shared {
            setting,
            state: Mutex::new(State::new(tree, request.stoppers, request.manager)),
            backed_up: Condvar::new(),
            wake: Condvar::new(),
            answered: Mutex::new(false),
            answer_given: Condvar::new(),
            user_stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            infinite: request.limits.infinite || request.limits.ponder,
            deadline_ms: request.deadline_ms,
            with_move_stats: request.with_move_stats,
        });
        let mut workers = Vec::with_capacity(evaluators.len());
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let shared = Arc::clone(&shared);
            let name = format!("search-{index}");
            workers.push(std::thread::Builder::new().name(name).spawn(move || work(&shared, evaluator))?);
        }
        let watchdog = {
            let shared = Arc::clone(&shared);
            let run = move || watch(&shared, listener.as_ref());
            std::thread::Builder::new().name("watchdog".to_owned()).spawn(run)?
        };
        Ok(Search { shared, workers, watchdog })
    }

    /// Asks the search to answer now. Does not wait.
    pub fn stop(&self) {
        self.shared.user_stop.store(true, Ordering::SeqCst);
        // Under the lock, or the watchdog could miss it between its look at the flag and its sleep.
        let _state = self.shared.state.lock();
        self.shared.wake.notify_all();
    }

    /// Whether the answer was given, or is just being given: whoever has read it finds the search finished.
    pub fn is_finished(&self) -> bool {
        self.shared.over.load(Ordering::SeqCst) || self.watchdog.is_finished()
    }

    /// Waits for the answer alone: batches may still be under way.
    pub fn wait_for_answer(&self) {
        let mut answered = self.shared.answered.lock();
        while !*answered && !self.watchdog.is_finished() {
            self.shared.answer_given.wait_for(&mut answered, Duration::from_millis(WATCHDOG_LONGEST_MS as u64));
        }
    }

    /// Waits for the end: the answer, and then the batches still being evaluated.
    pub fn wait(self) -> Finished {
        // A panic in a search thread is a defect; it must not be hidden.
        self.watchdog.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let join = |worker: JoinHandle<_>| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let evaluators = self.workers.into_iter().map(join).collect();
        let shared = Arc::into_inner(self.shared).expect("the threads that shared it have been joined");
        let state = shared.state.into_inner();
        Finished { tree: state.tree, manager: state.manager, evaluators }
    }
}

impl Shared {
    fn must_end(&self, state: &State) -> bool {
        self.over.load(Ordering::SeqCst)
            || state.stop.is_some()
            || state.error.is_some()
            || self.user_stop.load(Ordering::SeqCst)
    }
}

/// One worker: gather under the lock, evaluate without it, back up under it.
fn work(shared: &Shared, mut evaluator: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
    let mut game = shared.setting.game.clone();
    if game.current().legal_moves().is_empty() {
        return evaluator;
    }
    let mut state = shared.state.lock();
    // At least one evaluation is always made: without it there is nothing to choose by.
    let pending = |state: &State| state.tree.is_empty() && state.error.is_none() && !shared.over.load(Ordering::SeqCst);
    while !shared.must_end(&state) || pending(&state) {
        let batch = state.gather(&shared.setting, &mut game);
        if batch.is_empty() {
            // Nothing but collisions: their visits come to nothing, or they would count against a node limit for good.
            batch.cancel(&mut state.tree);
            // Cache hits and terminals may have been backed up on the way; other workers hold the rest of the tree.
            state.check(&shared.setting);
            if shared.must_end(&state) && !pending(&state) {
                break;
            }
            shared.backed_up.wait_for(&mut state, Duration::from_secs_f64(WATCHDOG_SHORTEST_MS / 1e3));
            continue;
        }
        let answers = if batch.queries().is_empty() {
            Ok(Vec::new())
        } else {
            drop(state);
            let answers = evaluator.evaluate(batch.queries());
            state = shared.state.lock();
            answers
        };
        match answers {
            Ok(answers) => {
                let progress = batch.back_up(&mut state.tree, &answers, &shared.setting.params);
                state.count(progress);
                state.batch_done(&shared.setting);
            }
            Err(error) => {
                batch.cancel(&mut state.tree);
                state.error.get_or_insert(error.to_string());
                break;
            }
        }
        shared.backed_up.notify_all();
        if state.stop.is_some() {
            shared.wake.notify_all();
        }
    }
    shared.wake.notify_all();
    evaluator
}

/// Answers when the search is to end, whether or not the workers are still evaluating, and reports meanwhile.
fn watch(shared: &Shared, listener: &dyn Listener) {
    let mut state = shared.state.lock();
    attend(shared, listener, &mut state);
    shared.over.store(true, Ordering::SeqCst);
    let end = conclude(shared, &mut state);
    drop(state);
    shared.backed_up.notify_all();
    listener.finished(&end);
    *shared.answered.lock() = true;
    shared.answer_given.notify_all();
}

/// Reports what is new until an answer is due.
fn attend(shared: &Shared, listener: &dyn Listener, state: &mut MutexGuard<State>) {
    let setting = &shared.setting;
    let has_moves = !setting.game.current().legal_moves().is_empty();
    let mut reported = Reported::default();
    let mut stop_wanted_ms = None;
    loop {
        state.check(setting);
        let user_stop = shared.user_stop.load(Ordering::SeqCst);
        // An infinite search that has nothing left to do still waits to be asked.
        let over = !has_moves || state.stop.is_some() || state.error.is_some();
        let overdue = !shared.infinite
            && state.tree.is_empty()
            && shared.deadline_ms.is_some_and(|due| setting.elapsed_ms() >= due);
        if user_stop || (over && !shared.infinite) || overdue {
            let since = *stop_wanted_ms.get_or_insert(setting.elapsed_ms());
            let waited_ms = setting.elapsed_ms() - since;
            if !has_moves || !state.tree.is_empty() || state.error.is_some() || waited_ms >= FIRST_EVALUATION_GRACE_MS {
                break;
            }
        }
        if !state.tree.is_empty()
            && let Some(report) = reported.news(state, setting)
        {
            MutexGuard::unlocked(state, || listener.report(&report));
        }
        let remaining = state.remaining_ms.unwrap_or(WATCHDOG_LONGEST_MS);
        let sleep_ms = remaining.clamp(WATCHDOG_SHORTEST_MS, WATCHDOG_LONGEST_MS);
        let first_evaluation_pending = state.tree.is_empty();
        let sleep_ms = if first_evaluation_pending { WATCHDOG_SHORTEST_MS } else { sleep_ms };
        if !shared.must_end(state) || first_evaluation_pending || shared.infinite {
            shared.wake.wait_for(state, Duration::from_secs_f64(sleep_ms / 1e3));
        }
    }
}

/// The answer from the tree as it stands; the manager learns what the move really took.
fn conclude(shared: &Shared, state: &mut State) -> SearchEnd {
    let setting = &shared.setting;
    let report = state.report(setting);
    let outcome = MoveOutcome { elapsed_ms: report.elapsed_ms, total_nodes: report.nodes };
    if let Some(manager) = state.manager.as_deref_mut() {
        manager.finish(&outcome);
    }
    let line = report.lines.first();
    let unsearched = || {
        let legal = setting.game.current().legal_moves();
        let first_allowed = setting.search_moves.first().copied();
        first_allowed.or_else(|| legal.into_iter().next())
    };
    SearchEnd {
        best: line.and_then(|line| line.moves.first().copied()).or_else(unsearched),
        ponder: line.and_then(|line| line.moves.get(1).copied()),
        move_stats: if shared.with_move_stats { state.move_stats(setting) } else { Vec::new() },
        reason: match state.stop {
            _ if state.error.is_some() => EndReason::Failed,
            Some(reason) => EndReason::Stopper(reason),
            None if line.is_none() && setting.game.current().legal_moves().is_empty() => EndReason::NoMoves,
            None => EndReason::Stopped,
        },
        error: state.error.clone(),
        report,
    }
}

/// Decides what is news (lc0.md C.9): another best move, another depth, or five seconds.
#[derive(Default)]
struct Reported {
    best: Option<Move>,
    depths: (u32, u32),
    at_ms: f64,
}

impl Reported {
    fn news(&mut self, state: &State, setting: &Setting) -> Option<Report> {
        let report = state.report(setting);
        let best = report.lines.first().and_then(|line| line.moves.first().copied());
        let depths = (report.depth, report.seldepth);
        let stale = report.elapsed_ms - self.at_ms >= REPORT_INTERVAL_MS;
        if best == self.best && depths == self.depths && !stale {
            return None;
        }
        (self.best, self.depths, self.at_ms) = (best, depths, report.elapsed_ms);
        Some(report)
    }
}
