//! Gives "now": the machine's monotonic clock, and a virtual one that only work moves.
//!
//! The search asks an injected [`Clock`] for the time, so that a timed game can run on either. On the virtual clock a
//! game is a computation: a batch takes as long as a cost model says (`CostedBackend`), a playout
//! as long as the clock says, and nothing else takes any time. The same game then has the same clocks on any machine, however busy.
//!
//! ```
//! use zeitnot_base::clock::{Clock, VirtualClock};
//!
//! let clock = VirtualClock::default();
//! clock.pass(12.5);
//! assert_eq!(clock.now_ms(), 12.5);
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Ticks of the virtual clock in a millisecond: a power of two, so that its times and their differences are exact.
const TICKS_PER_MS: f64 = (1u64 << 20) as f64;

/// A source of "now" in milliseconds from an origin of its own; never goes back.
pub trait Clock: Send + Sync {
    /// Milliseconds since the clock's origin.
    fn now_ms(&self) -> f64;

    /// Lets `ms` milliseconds pass: the machine's clock sleeps, a virtual clock advances by them.
    fn pass(&self, ms: f64);

    /// Milliseconds to charge for a playout, besides the network's time; 0 on a clock that runs on during the playout.
    fn playout_ms(&self) -> f64;

    /// Whether the clock stands still until [`Clock::pass`] is called.
    fn is_virtual(&self) -> bool {
        false
    }
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

    fn pass(&self, ms: f64) {
        if let Ok(duration) = Duration::try_from_secs_f64(ms / 1e3) {
            std::thread::sleep(duration);
        }
    }

    fn playout_ms(&self) -> f64 {
        0.0
    }
}

/// A clock that moves only by [`Clock::pass`]. It counts ticks of 2^-20 ms (about a nanosecond), which an `f64` holds
/// exactly for a hundred days: a duration does not depend on the time at which it begins.
#[derive(Debug)]
pub struct VirtualClock {
    ticks: AtomicU64,
    playout_ms: f64,
}

impl VirtualClock {
    /// Default milliseconds of a playout, without the network's time: the tree alone makes some 500,000 playouts in a
    /// CPU-second (`zeitnot bench --backend uniform`, Zen 4).
    pub const PLAYOUT_MS: f64 = 0.002;

    /// A clock at 0 on which a playout takes `playout_ms` milliseconds, added to the network's time. Without it, a
    /// search that asks no network (every line ends the game at once) would take no time and never run out of it.
    ///
    /// # Panics
    /// When `playout_ms` is not a number above 0.
    pub fn new(playout_ms: f64) -> VirtualClock {
        assert!(playout_ms > 0.0 && playout_ms.is_finite(), "a playout takes time, not {playout_ms} ms");
        VirtualClock { ticks: AtomicU64::new(0), playout_ms }
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        VirtualClock::new(VirtualClock::PLAYOUT_MS)
    }
}

impl Clock for VirtualClock {
    fn now_ms(&self) -> f64 {
        self.ticks.load(Ordering::SeqCst) as f64 / TICKS_PER_MS
    }

    fn pass(&self, ms: f64) {
        // Never less than a tick, so that small steps arrive. A time that is not above 0 passes none.
        if ms > 0.0 {
            self.ticks.fetch_add((ms * TICKS_PER_MS).round().max(1.0) as u64, Ordering::SeqCst);
        }
    }

    fn playout_ms(&self) -> f64 {
        self.playout_ms
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_clock_moves_only_when_told() {
        let clock = VirtualClock::default();
        assert_eq!(clock.now_ms(), 0.0);
        let tick = 1.0 / TICKS_PER_MS;
        for (ms, now) in [(0.5, 0.5), (0.0, 0.5), (-3.0, 0.5), (f64::NAN, 0.5), (1e-9, 0.5 + tick), (10.0, 10.5 + tick)]
        {
            clock.pass(ms);
            assert_eq!(clock.now_ms(), now, "{ms}");
        }
    }

    #[test]
    fn durations_do_not_depend_on_where_a_virtual_clock_stands() {
        let clock = VirtualClock::default();
        let duration = || {
            let before = clock.now_ms();
            clock.pass(12.345_678);
            clock.now_ms() - before
        };
        let first = duration();
        for _ in 0..1_000 {
            clock.pass(1_234.567);
            assert_eq!(duration(), first);
        }
    }

    #[test]
    fn monotonic_clock_sleeps_and_survives_absurd_times() {
        let clock = MonotonicClock::new();
        let before = clock.now_ms();
        clock.pass(2.0);
        assert!(clock.now_ms() >= before + 2.0);
        for ms in [-1.0, f64::NAN, f64::INFINITY] {
            clock.pass(ms);
        }
    }
}
