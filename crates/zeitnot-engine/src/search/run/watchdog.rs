//! Watches over a search: reports, and answers in time even when the workers are late.

use super::shared::SharedSearch;
use super::state::State;
use crate::search::context::SearchContext;
use crate::search::root::report::Report;
use std::time::Duration;
use zeitnot_chess::Move;

/// Longest sleep between two checks, as in Lc0.
const LONGEST_SLEEP_MS: f64 = 100.0;
/// Shortest sleep between two checks, as in Lc0.
const SHORTEST_SLEEP_MS: f64 = 1.0;

/// Milliseconds after which an unchanged search reports again (in Lc0 5 s), so that with the sleep between two checks
/// no second goes by without a report.
const REPORT_INTERVAL_MS: f64 = 800.0;
/// Least milliseconds between two reports of a search that keeps changing.
const SHORTEST_REPORT_INTERVAL_MS: f64 = 100.0;

/// Reports changes, and answers when an answer is due and no other thread has given it: the workers may be
/// evaluating.
pub(crate) fn watch(shared: &SharedSearch) {
    let context = &shared.context;
    let mut state = shared.lock();
    let mut reported = Reported::default();
    let mut failure_told = false;
    while !shared.is_over() {
        // Only time passes between two batches. Everything else is asked of the stoppers when a worker has backed one
        // up, so that a search with one thread and no clock repeats itself.
        if state.time_is_up(context) {
            state.check(context);
        }
        if shared.is_due(&state) {
            return shared.answer(&mut state);
        }
        if state.limits.is_infinite
            && !failure_told
            && let Some(error) = state.error.clone()
        {
            failure_told = true;
            state.unlocked(|| shared.report_before_answer(|listener| listener.failed(&error)));
            continue;
        }
        if !state.tree.is_empty()
            && let Some(report) = reported.news(&state, context)
        {
            // Much may have happened while it was written.
            state.unlocked(|| shared.report_before_answer(|listener| listener.report(&report)));
            continue;
        }
        let sleep_ms = match state.limit_ms {
            _ if state.stop.is_some() && !state.limits.is_infinite => {
                state.wait_ms(context).unwrap_or_default().clamp(SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS)
            }
            _ if state.tree.is_empty() && state.error.is_none() => SHORTEST_SLEEP_MS,
            Some(limit_ms) => (limit_ms - state.elapsed_ms(context)).clamp(SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS),
            None => LONGEST_SLEEP_MS,
        };
        state.wait_for(&shared.wake, Duration::from_secs_f64(sleep_ms / 1e3));
    }
}

/// The state at the last report, by which the next is decided (docs/lc0.md, 3.8): another best move, another depth, or
/// a second that has passed.
#[derive(Default)]
struct Reported {
    best: Option<Move>,
    depths: (u32, u32),
    /// Time on the search's clock.
    at_ms: Option<f64>,
}

impl Reported {
    fn news(&mut self, state: &State, context: &SearchContext) -> Option<Report> {
        // Not the time of the move, which begins anew with `ponderhit`.
        let now_ms = context.clock.now_ms();
        let since_ms = self.at_ms.map_or(f64::INFINITY, |at_ms| now_ms - at_ms);
        if !is_due(since_ms, true) {
            return None;
        }
        let mut report = state.report(context);
        let best = report.lines.first().and_then(|line| line.moves.first().copied());
        let depths = (report.tree_depth, report.seldepth);
        if !is_due(since_ms, best != self.best || depths != self.depths) {
            return None;
        }
        (self.best, self.depths, self.at_ms) = (best, depths, Some(now_ms));
        if context.live_stats {
            report.move_stats = state.move_stats(context);
        }
        Some(report)
    }
}

/// Whether a report is due, `since_ms` after the last one; `is_news`: it shows a change.
fn is_due(since_ms: f64, is_news: bool) -> bool {
    since_ms >= if is_news { SHORTEST_REPORT_INTERVAL_MS } else { REPORT_INTERVAL_MS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_one_report_at_least_and_ten_at_most() {
        for (is_news, reports) in [(true, 90..=100), (false, 11..=13)] {
            // The watchdog looks once in a while, and more often near the end.
            for sleep_ms in [SHORTEST_SLEEP_MS, 7.0, LONGEST_SLEEP_MS] {
                let (mut now_ms, mut last_ms, mut count) = (0.0, 0.0, 0);
                while now_ms < 10_000.0 {
                    now_ms += sleep_ms;
                    if is_due(now_ms - last_ms, is_news) {
                        assert!(now_ms - last_ms <= 1000.0, "{sleep_ms}");
                        (last_ms, count) = (now_ms, count + 1);
                    }
                }
                assert!(reports.contains(&count), "{is_news} {sleep_ms}: {count}");
            }
        }
    }
}
