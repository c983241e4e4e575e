//! Watches over a search: reports, and answers in time even when the workers are late.

use super::answer::conclude;
use super::shared::Shared;
use super::state::State;
use crate::chess::Move;
use crate::search::context::SearchContext;
use crate::search::request::Listener;
use crate::search::root::report::Report;
use crate::time_manager::due::STOP_GRACE_MS;
use parking_lot::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest and shortest sleep between two checks (Lc0's 100 ms and 1 ms).
const LONGEST_SLEEP_MS: f64 = 100.0;
const SHORTEST_SLEEP_MS: f64 = 1.0;

/// An unchanged search reports again after this many milliseconds (Lc0's 5 s).
const REPORT_INTERVAL_MS: f64 = 5000.0;

/// Answers when the search is to end, whether or not the workers are still evaluating, and reports meanwhile.
pub(crate) fn watch(shared: &Shared, listener: &dyn Listener) {
    let mut state = shared.state.lock();
    attend(shared, listener, &mut state);
    shared.over.store(true, Ordering::SeqCst);
    let end = conclude(&shared.context, &mut state, true);
    tracing::debug!(reason = ?end.reason, nodes = end.report.nodes, elapsed_ms = end.report.elapsed_ms, "search ended");
    drop(state);
    shared.end_waits();
    shared.told.store(true, Ordering::SeqCst);
    listener.finished(&end);
}

/// Reports what is new until an answer is due.
fn attend(shared: &Shared, listener: &dyn Listener, state: &mut MutexGuard<State>) {
    let context = &shared.context;
    let has_moves = !context.game.current().legal_moves().is_empty();
    let mut reported = Reported::default();
    let (mut stop_wanted_ms, mut failure_told) = (None, false);
    loop {
        // Only time passes between two batches. Everything else is asked of the stoppers when a worker has backed one up, so
        // that a search with one thread and no clock repeats itself.
        if state.time_is_up(context) {
            state.check(context);
        }
        if context.infinite
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
        if nothing_evaluated && context.due_ms.is_some_and(|due| context.elapsed_ms() >= due) {
            break;
        }
        if user_stop || (over && !context.infinite) {
            let since = *stop_wanted_ms.get_or_insert(context.elapsed_ms());
            let waited_ms = context.elapsed_ms() - since;
            if !nothing_evaluated || waited_ms >= STOP_GRACE_MS {
                break;
            }
        }
        if !state.tree.is_empty()
            && let Some(report) = reported.news(state, context)
        {
            MutexGuard::unlocked(state, || listener.report(&report));
        }
        let sleep_ms = match state.time_limit_ms {
            _ if nothing_evaluated => SHORTEST_SLEEP_MS,
            Some(limit_ms) => (limit_ms - context.elapsed_ms()).clamp(SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS),
            None => LONGEST_SLEEP_MS,
        };
        // The user may have said stop while the report was written.
        let user_stop = shared.user_stop.load(Ordering::SeqCst);
        if nothing_evaluated || !user_stop && (context.infinite || !shared.must_end(state)) {
            shared.wake.wait_for(state, Duration::from_secs_f64(sleep_ms / 1e3));
        }
    }
}

/// Decides what is news (docs/lc0.md, 3.8): another best move, another depth, or five seconds.
#[derive(Default)]
struct Reported {
    best: Option<Move>,
    depths: (u32, u32),
    at_ms: f64,
}

impl Reported {
    fn news(&mut self, state: &State, context: &SearchContext) -> Option<Report> {
        let mut report = state.report(context);
        let best = report.lines.first().and_then(|line| line.moves.first().copied());
        let depths = (report.depth, report.seldepth);
        let stale = report.elapsed_ms - self.at_ms >= REPORT_INTERVAL_MS;
        if best == self.best && depths == self.depths && !stale {
            return None;
        }
        (self.best, self.depths, self.at_ms) = (best, depths, report.elapsed_ms);
        if context.live_stats {
            report.move_stats = state.move_stats(context);
        }
        Some(report)
    }
}
