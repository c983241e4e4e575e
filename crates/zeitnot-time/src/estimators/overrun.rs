//! Estimates how much time a move takes past its limit.

use crate::MoveOutcome;

/// Weight of a new move in the average.
const UPDATE: f64 = 0.2;
/// The longest overrun that is learned from, in milliseconds: a longer one is an accident.
const LONGEST_MS: f64 = 1_000.0;

/// The time that a move takes past its limit, on average: the last batch, and a busy machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overrun {
    average_ms: f64,
}

impl Overrun {
    pub(crate) fn average_ms(&self) -> f64 {
        self.average_ms
    }

    pub(crate) fn search_ended(&mut self, outcome: &MoveOutcome) {
        let overrun_ms = outcome.limit_reached_at_ms.map(|at_ms| (outcome.elapsed_ms - at_ms).clamp(0.0, LONGEST_MS));
        if let Some(overrun_ms) = overrun_ms.filter(|overrun_ms| overrun_ms.is_finite()) {
            self.average_ms += UPDATE * (overrun_ms - self.average_ms);
        }
    }
}
