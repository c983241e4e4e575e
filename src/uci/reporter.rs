//! Passes what a search reports on to the GUI.

use super::output::Output;
use super::print::{self, Display};
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::engine::{EndReason, Listener, MoveStats, Report, SearchEnd};
use zeitnot_time::Plan;

/// A listener to one search that writes its lines to the GUI.
pub(super) struct Reporter {
    pub(super) output: Output,
    pub(super) display: Display,
    /// Whether the option `TimeManagerLog` is set.
    pub(super) time_log: bool,
    /// Whether the option `VerboseMoveStats` is set; without it the statistics of moves go to the log.
    pub(super) verbose: bool,
    /// Whether a failure was reported before the answer.
    pub(super) failed: AtomicBool,
}

impl Reporter {
    fn hold_move_stats(&self, stats: &[MoveStats]) {
        for stats in stats {
            let line = self.display.move_stats(stats);
            match self.verbose {
                true => self.output.hold(&print::info(&line)),
                false => self.output.log("--", &line),
            }
        }
    }

    fn hold_report(&self, report: &Report) {
        self.display.report(report).iter().for_each(|line| self.output.hold(line));
        if let Some(line) = self.display.unvisited(report) {
            self.output.hold(&print::info(&line));
        }
        self.hold_move_stats(&report.move_stats);
    }
}

impl Listener for Reporter {
    fn planned(&self, plan: &Plan) {
        // It goes out with the first report, or with the answer.
        self.output.hold(&print::plan(plan, self.time_log));
    }

    fn report(&self, report: &Report) {
        self.hold_report(report);
        self.output.lines(std::iter::empty());
    }

    fn failed(&self, error: &str) {
        self.failed.store(true, Ordering::Relaxed);
        self.output.error(&error);
    }

    fn finished(&self, end: &SearchEnd) {
        if let Some(error) = end.error.as_ref().filter(|_| !self.failed.load(Ordering::Relaxed)) {
            self.output.error(error);
        }
        self.hold_report(&end.report);
        match end.reason {
            EndReason::Book { weight, total } => {
                self.output.hold(&print::book_move(weight, total));
            }
            EndReason::Unevaluated(guess) => {
                self.output.hold(&print::unevaluated(guess));
            }
            _ => {}
        }
        self.hold_move_stats(&end.move_stats);
        if let Some(time) = &end.time {
            if self.time_log {
                self.output.hold(&print::account(&time.account));
            }
            for line in time.game.iter().flat_map(|game| &game.lines) {
                self.output.hold(&print::info(line));
            }
        }
        self.output.line(&self.display.best_move(end));
    }
}
