//! Measures the time that is lost between this engine and the judge of its clock: the lag between the two, and how far
//! searches go past their limits on a busy machine.
//!
//! # How much of a lag is believed
//!
//! Too large an overhead costs a little strength and too small a one costs the game, so a larger lag is believed at once and
//! a smaller one slowly. But a single lag may be an accident (a lost packet, a machine that swapped), and in a short game
//! the accident can be as long as the clock: one of 5 s in a game of 10 s left its moves 0 to 60 ms each. So there are two
//! measures, of which the larger counts:
//!
//! - the *second largest* of the last eight lags, in full: what came twice comes again. On a laggy connection the second
//!   lag is believed wholly, whatever the clock shows; nothing is taken off it.
//! - the last lag alone, up to a tenth of the clock: with minutes on it, everything at once; in time trouble an
//!   accident costs a tenth of the time.
//!
//! The rule is ours. The second largest is the order statistic that one outlier cannot move, as a median of three is.

/// A lag longer than this, in milliseconds, is no lag: the game was paused, or the clock was set by hand.
const LONGEST_LAG_MS: f64 = 5_000.0;
/// How much of the difference a smaller lag takes from the estimate.
const FALL: f64 = 0.1;
/// Moves within which a second lag shows that the first was no accident. A connection that stalls less often than every
/// eighth move costs less than the time that would be kept clear for it.
const WINDOW: usize = 8;
/// Largest share of the clock that is kept clear for a lag seen once. All plans of the rest of the game are made from what
/// the overhead leaves of the clock: they lose this share at most.
const ALONE_SHARE: f64 = 0.1;

/// Learns the time that passes on the judge's clock but not between our `go` and our `bestmove`.
///
/// When a move is played, the next clock is known but for that lag: the last clock, less the time used, plus the
/// increment. The lag is the difference to the clock that is then shown. A clock that shows more gives no sample: the
/// time control was reached, or time was added.
#[derive(Clone, Debug, Default)]
pub struct LagEstimator {
    lag: Delay,
    overshoot: Delay,
    expected: Option<Expected>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    /// Game ply of the move after the opponent's reply.
    ply: u32,
    clock_ms: f64,
}

impl LagEstimator {
    /// Time to keep clear on top of the user's overhead, in milliseconds: the lag, and the overshoot of hard limits.
    pub fn overhead_ms(&self) -> f64 {
        self.lag.estimate_ms + self.overshoot.estimate_ms
    }

    /// Learns from a search that ended `late_ms` after its hard limit (negative before it) and left `clock_ms` on the
    /// clock.
    pub fn search_ended(&mut self, late_ms: f64, clock_ms: f64) {
        if late_ms <= LONGEST_LAG_MS {
            self.overshoot.learn(late_ms.max(0.0), clock_ms);
        }
    }

    /// A move was played at `ply`, where the clock showed `clock_ms`, after `used_ms` by our own clock.
    pub fn move_played(&mut self, ply: u32, clock_ms: f64, increment_ms: f64, used_ms: f64) {
        let clock_ms = clock_ms - used_ms + increment_ms;
        self.expected = clock_ms.is_finite().then(|| Expected { ply: ply.saturating_add(2), clock_ms });
    }

    /// The clock shows `clock_ms` at `ply`.
    pub fn clock_seen(&mut self, ply: u32, clock_ms: f64) {
        let Some(expected) = self.expected.take().filter(|expected| expected.ply == ply) else { return };
        let lag = expected.clock_ms - clock_ms;
        if !(0.0..=LONGEST_LAG_MS).contains(&lag) {
            return;
        }
        self.lag.learn(lag, clock_ms);
    }

    /// The next clock belongs to another game.
    pub fn forget_move(&mut self) {
        self.expected = None;
    }
}

/// A delay that comes with every move.
#[derive(Clone, Debug, Default)]
struct Delay {
    estimate_ms: f64,
    /// The last samples, in a ring.
    recent_ms: [f64; WINDOW],
    next: usize,
}

impl Delay {
    /// Learns from a delay of `sample_ms` with `clock_ms` on the clock.
    fn learn(&mut self, sample_ms: f64, clock_ms: f64) {
        self.recent_ms[self.next] = sample_ms;
        self.next = (self.next + 1) % WINDOW;
        let (_, second_ms) = self.recent_ms.iter().fold((0.0_f64, 0.0_f64), |(largest, second), &seen| {
            if seen > largest { (seen, largest) } else { (largest, second.max(seen)) }
        });
        let believed_ms = second_ms.max(sample_ms.min(ALONE_SHARE * clock_ms.max(0.0)));
        let fall = if believed_ms > self.estimate_ms { 1.0 } else { FALL };
        self.estimate_ms += fall * (believed_ms - self.estimate_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_the_difference_to_the_expected_clock() {
        let mut lag = LagEstimator::default();
        lag.clock_seen(0, 60_000.0);
        assert_eq!(lag.lag.estimate_ms, 0.0);
        lag.move_played(0, 60_000.0, 600.0, 2_000.0); // 58,600 to come
        lag.clock_seen(2, 58_570.0);
        assert_eq!(lag.lag.estimate_ms, 30.0, "believed at once");
        lag.move_played(2, 58_570.0, 600.0, 1_000.0); // 58,170
        lag.clock_seen(4, 58_160.0);
        assert_eq!(lag.lag.estimate_ms, 28.0, "forgotten slowly: 30 - 0.1 * 20");
    }

    #[test]
    fn lag_is_not_learned_from_other_clocks() {
        let mut lag = LagEstimator::default();
        let mut see = |ply, clock_ms| {
            lag.move_played(10, 10_000.0, 0.0, 1_000.0);
            lag.clock_seen(ply, clock_ms);
            lag.lag.estimate_ms
        };
        assert_eq!(see(12, 69_000.0), 0.0, "the control was reached");
        assert_eq!(see(11, 8_900.0), 0.0, "the other side's clock");
        assert_eq!(see(12, 1_000.0), 0.0, "a pause");
        assert_eq!(see(12, f64::NAN), 0.0);
        assert_eq!(see(12, 8_950.0), 50.0);
        lag.move_played(10, 10_000.0, 0.0, 1_000.0);
        lag.forget_move();
        lag.clock_seen(12, 8_000.0);
        assert_eq!(lag.lag.estimate_ms, 50.0, "another game");
        lag.move_played(10, f64::INFINITY, 0.0, f64::INFINITY);
        lag.clock_seen(12, 0.0);
        assert_eq!(lag.lag.estimate_ms, 50.0);
    }

    #[test]
    fn overhead_includes_the_overshoot_of_searches() {
        let mut lag = LagEstimator::default();
        for (late, overhead) in [(-50.0, 0.0), (40.0, 40.0), (0.0, 36.0), (f64::NAN, 36.0), (1e9, 36.0)] {
            lag.search_ended(late, 10_000.0);
            assert_eq!(lag.overhead_ms(), overhead, "{late}");
        }
        lag.move_played(0, 1_000.0, 0.0, 100.0);
        lag.clock_seen(2, 890.0);
        assert_eq!((lag.lag.estimate_ms, lag.overhead_ms()), (10.0, 46.0));
    }

    /// The expected lags after each of `lags` on a clock of `clock_ms`.
    fn after(clock_ms: f64, lags: &[f64]) -> Vec<f64> {
        let mut lag = LagEstimator::default();
        let see = |(index, &late)| {
            let ply = 2 * index as u32;
            lag.move_played(ply, clock_ms + late, 0.0, 0.0);
            lag.clock_seen(ply + 2, clock_ms);
            lag.lag.estimate_ms.round()
        };
        lags.iter().enumerate().map(see).collect()
    }

    #[test]
    fn one_long_lag_does_not_starve_a_short_game() {
        // 10 s, of which 5 s are lost at once: a tenth of the rest is kept clear, and soon less.
        assert_eq!(after(5_000.0, &[0.0, 5_000.0, 0.0, 0.0]), [0.0, 500.0, 450.0, 405.0]);
        assert_eq!(after(600_000.0, &[5_000.0]), [5_000.0], "with minutes on the clock it costs little");
        let mut lag = LagEstimator::default();
        lag.search_ended(3_000.0, 4_000.0);
        assert_eq!(lag.overhead_ms(), 400.0, "nor does a machine that hung once");
        lag.search_ended(3_000.0, -1.0);
        assert_eq!(lag.overhead_ms(), 3_000.0);
    }

    #[test]
    fn a_repeated_lag_is_believed_whatever_the_clock() {
        assert_eq!(after(2_000.0, &[800.0, 800.0, 900.0]), [200.0, 800.0, 800.0]);
        assert_eq!(after(300.0, &[800.0, 900.0, 850.0]), [30.0, 800.0, 850.0]);
        // Every fourth move.
        let stalls: Vec<f64> = (0..24).map(|index| if index % 4 == 3 { 700.0 } else { 20.0 }).collect();
        assert!(after(2_000.0, &stalls)[7..].iter().all(|lag| *lag == 700.0));
        assert!(after(2_000.0, &[[700.0; 2].as_slice(), &[0.0; 30]].concat())[31] < 100.0, "and forgotten");
    }
}
