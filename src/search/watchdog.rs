//! The watchdog of a search: it reports, and it answers in time whatever the workers are doing.

use super::report::Report;
use super::request::{EndReason, Listener, SearchEnd, TimeReport};
use super::setting::Setting;
use super::shared::Shared;
use super::state::State;
use crate::chess::Move;
use crate::time_manager::MoveOutcome;
use parking_lot::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest and shortest sleep between two checks (Lc0's 100 ms and 1 ms).
const LONGEST_SLEEP_MS: f64 = 100.0;
const SHORTEST_SLEEP_MS: f64 = 1.0;

/// A move without any evaluation is little better than a random one: this long, in milliseconds, `stop` waits for the
/// first one before it answers without.
const FIRST_EVALUATION_GRACE_MS: f64 = 100.0;

/// An unchanged search reports again after this many milliseconds (Lc0's 5 s).
const REPORT_INTERVAL_MS: f64 = 5000.0;

/// Answers when the search is to end, whether or not the workers are still evaluating, and reports meanwhile.
pub(super) fn watch(shared: &Shared, listener: &dyn Listener) {
    let mut state = shared.state.lock();
    attend(shared, listener, &mut state);
    shared.over.store(true, Ordering::SeqCst);
    let end = conclude(shared, &mut state);
    tracing::debug!(reason = ?end.reason, nodes = end.report.nodes, elapsed_ms = end.report.elapsed_ms, "search ended");
    drop(state);
    shared.end_waits();
    shared.told.store(true, Ordering::SeqCst);
    listener.finished(&end);
}

/// Reports what is new until an answer is due.
fn attend(shared: &Shared, listener: &dyn Listener, state: &mut MutexGuard<State>) {
    let setting = &shared.setting;
    let has_moves = !setting.game.current().legal_moves().is_empty();
    let mut reported = Reported::default();
    let (mut stop_wanted_ms, mut failure_told) = (None, false);
    loop {
        // Only time passes between two batches. Everything else is asked of the stoppers when a worker has backed one up, so
        // that a search with one thread and no clock repeats itself.
        if state.time_is_up(setting) {
            state.check(setting);
        }
        if shared.infinite
            && !failure_told
            && let Some(error) = state.error.clone()
        {
            failure_told = true;
            MutexGuard::unlocked(state, || listener.failed(&error));
        }
        let user_stop = shared.user_stop.load(Ordering::SeqCst);
        // An infinite search that has nothing left to do still waits to be asked.
        let over = !has_moves || state.stop.is_some() || state.error.is_some();
        let nothing_evaluated = has_moves && state.tree.is_empty() && state.error.is_none();
        if nothing_evaluated && shared.due_ms.is_some_and(|due| setting.elapsed_ms() >= due) {
            break;
        }
        if user_stop || (over && !shared.infinite) {
            let since = *stop_wanted_ms.get_or_insert(setting.elapsed_ms());
            let waited_ms = setting.elapsed_ms() - since;
            if !nothing_evaluated || waited_ms >= FIRST_EVALUATION_GRACE_MS {
                break;
            }
        }
        if !state.tree.is_empty()
            && let Some(report) = reported.news(state, setting)
        {
            MutexGuard::unlocked(state, || listener.report(&report));
        }
        let sleep_ms = match state.time_limit_ms {
            _ if nothing_evaluated => SHORTEST_SLEEP_MS,
            Some(limit_ms) => (limit_ms - setting.elapsed_ms()).clamp(SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS),
            None => LONGEST_SLEEP_MS,
        };
        // The user may have said stop while the report was written.
        let user_stop = shared.user_stop.load(Ordering::SeqCst);
        if nothing_evaluated || !user_stop && (shared.infinite || !shared.must_end(state)) {
            shared.wake.wait_for(state, Duration::from_secs_f64(sleep_ms / 1e3));
        }
    }
}

/// The answer from the tree as it stands; the manager learns what the move really took.
fn conclude(shared: &Shared, state: &mut State) -> SearchEnd {
    let setting = &shared.setting;
    let report = state.report(setting);
    let outcome = MoveOutcome {
        elapsed_ms: report.elapsed_ms,
        total_nodes: report.nodes,
        stop: state.stop,
        ..MoveOutcome::default()
    };
    if let Some(manager) = state.manager.as_deref_mut() {
        manager.finish(&outcome);
    }
    let random_line = state.move_at_random(setting).map(|index| state.line(setting, index));
    let line = random_line.as_ref().or(report.lines.first());
    // Something has to be played even if nothing was evaluated in time.
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
        time: state.manager.as_deref().and_then(TimeReport::of),
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
        let mut report = state.report(setting);
        let best = report.lines.first().and_then(|line| line.moves.first().copied());
        let depths = (report.depth, report.seldepth);
        let stale = report.elapsed_ms - self.at_ms >= REPORT_INTERVAL_MS;
        if best == self.best && depths == self.depths && !stale {
            return None;
        }
        (self.best, self.depths, self.at_ms) = (best, depths, report.elapsed_ms);
        if setting.live_stats {
            report.move_stats = state.move_stats(setting);
        }
        Some(report)
    }
}
