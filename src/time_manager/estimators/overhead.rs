//! What is lost between this engine and the judge of its clock, measured: the lag between the two, and how far searches
//! go past their limits on a busy machine.

/// A lag longer than this, in milliseconds, is no lag: the game was paused, or the clock was set by hand.
const LONGEST_LAG_MS: f64 = 5_000.0;
/// How much of the difference a smaller lag takes from the estimate; a larger one is believed at once, because too
/// large an overhead costs a little strength and too small a one costs the game.
const FALL: f64 = 0.1;

/// Learns the time that passes on the judge's clock but not between our `go` and our `bestmove`.
///
/// When a move is played, the next clock is known but for that lag: what it showed, less what we used, plus the
/// increment. What the clock then shows less is the lag. A clock that shows more says nothing: the time control was
/// reached, or somebody was generous.
#[derive(Clone, Debug, Default)]
pub struct LagEstimator {
    lag_ms: f64,
    overshoot_ms: f64,
    expected: Option<Expected>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    /// Game ply of the move after the opponent's reply.
    ply: u32,
    clock_ms: f64,
}

impl LagEstimator {
    /// The lag to expect, in milliseconds.
    pub fn lag_ms(&self) -> f64 {
        self.lag_ms
    }

    /// What to keep clear of beside what the user says, in milliseconds: the lag, and what searches took past their
    /// hard limits.
    pub fn overhead_ms(&self) -> f64 {
        self.lag_ms + self.overshoot_ms
    }

    /// A search ended so long after its hard limit, in milliseconds; negative before it.
    pub fn search_ended(&mut self, late_ms: f64) {
        if late_ms <= LONGEST_LAG_MS {
            self.overshoot_ms = learn(self.overshoot_ms, late_ms.max(0.0));
        }
    }

    /// A move was played at this ply with so much on the clock, after so much time by our own.
    pub fn move_played(&mut self, ply: u32, clock_ms: f64, increment_ms: f64, used_ms: f64) {
        let clock_ms = clock_ms - used_ms + increment_ms;
        self.expected = clock_ms.is_finite().then(|| Expected { ply: ply.saturating_add(2), clock_ms });
    }

    /// The clock shows so much at this ply.
    pub fn clock_seen(&mut self, ply: u32, clock_ms: f64) {
        let Some(expected) = self.expected.take().filter(|expected| expected.ply == ply) else { return };
        let lag = expected.clock_ms - clock_ms;
        if !(0.0..=LONGEST_LAG_MS).contains(&lag) {
            return;
        }
        self.lag_ms = learn(self.lag_ms, lag);
    }

    /// The next clock belongs to another game.
    pub fn forget_move(&mut self) {
        self.expected = None;
    }
}

fn learn(estimate: f64, sample: f64) -> f64 {
    if sample > estimate { sample } else { estimate + FALL * (sample - estimate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_clock_shows_less_than_expected_is_lag() {
        let mut lag = LagEstimator::default();
        lag.clock_seen(0, 60_000.0);
        assert_eq!(lag.lag_ms(), 0.0);
        lag.move_played(0, 60_000.0, 600.0, 2_000.0); // 58,600 to come
        lag.clock_seen(2, 58_570.0);
        assert_eq!(lag.lag_ms(), 30.0, "believed at once");
        lag.move_played(2, 58_570.0, 600.0, 1_000.0); // 58,170
        lag.clock_seen(4, 58_160.0);
        assert_eq!(lag.lag_ms(), 28.0, "forgotten slowly: 30 - 0.1 * 20");
    }

    #[test]
    fn other_clocks_say_nothing() {
        let mut lag = LagEstimator::default();
        let mut see = |ply, clock_ms| {
            lag.move_played(10, 10_000.0, 0.0, 1_000.0);
            lag.clock_seen(ply, clock_ms);
            lag.lag_ms()
        };
        assert_eq!(see(12, 69_000.0), 0.0, "the control was reached");
        assert_eq!(see(11, 8_900.0), 0.0, "the other side's clock");
        assert_eq!(see(12, 1_000.0), 0.0, "a pause");
        assert_eq!(see(12, f64::NAN), 0.0);
        assert_eq!(see(12, 8_950.0), 50.0);
        lag.move_played(10, 10_000.0, 0.0, 1_000.0);
        lag.forget_move();
        lag.clock_seen(12, 8_000.0);
        assert_eq!(lag.lag_ms(), 50.0, "another game");
        lag.move_played(10, f64::INFINITY, 0.0, f64::INFINITY);
        lag.clock_seen(12, 0.0);
        assert_eq!(lag.lag_ms(), 50.0);
    }

    #[test]
    fn what_searches_take_past_their_limits_is_kept_clear_too() {
        let mut lag = LagEstimator::default();
        for (late, overhead) in [(-50.0, 0.0), (40.0, 40.0), (0.0, 36.0), (f64::NAN, 36.0), (1e9, 36.0)] {
            lag.search_ended(late);
            assert_eq!(lag.overhead_ms(), overhead, "{late}");
        }
        lag.move_played(0, 1_000.0, 0.0, 100.0);
        lag.clock_seen(2, 890.0);
        assert_eq!((lag.lag_ms(), lag.overhead_ms()), (10.0, 46.0));
    }
}
