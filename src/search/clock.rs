//! The one place that reads the time. The search asks an injected clock, so that a game can also run on a virtual one.

use std::time::Instant;

/// A source of "now" in milliseconds from an origin of its own; never goes back.
pub trait Clock: Send + Sync {
    /// Milliseconds since the clock's origin.
    fn now_ms(&self) -> f64;
}

/// The machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(Instant);

impl MonotonicClock {
    /// A clock whose origin is this moment.
    pub fn new() -> MonotonicClock {
        MonotonicClock(Instant::now())
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        MonotonicClock::new()
    }
}

impl Clock for MonotonicClock {
    fn now_ms(&self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1e3
    }
}
