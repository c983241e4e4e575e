#![doc = include_str!("../../docs/overhead.md")]

use super::increment_credit::{ClockStep, IncrementCredit};

/// Longest lag that is believed, in milliseconds: beyond it the game was paused, or the clock was set by hand.
const LONGEST_LAG_MS: f64 = 5_000.0;
/// Share of the difference by which the estimate falls after a smaller lag.
const FALL: f64 = 0.1;
/// Moves within which a second lag shows that the first was no accident. If a connection stalls less often than every
/// eighth move, its lags cost less than the time that would be kept clear for them.
const WINDOW: usize = 8;
/// Largest share of the clock that is kept clear for a lag seen once. All plans of the rest of the game are made from
/// what the overhead leaves of the clock: they lose this share at most.
const ALONE_SHARE: f64 = 0.1;

/// Largest share of the clock that is kept clear for the part of the gaps that may be no lag but a missing increment or
/// rounding.
const DOUBTFUL_SHARE: f64 = 0.5;

/// Learns the time that passes on the judge's clock but not between our `go` and our `bestmove`, and the increment that
/// does not come.
///
/// Without lag the next clock would be the last clock, less the time used, plus the increment. A clock that shows more
/// gives no sample: the time control was reached, or time was added.
#[derive(Clone, Debug, Default)]
pub(crate) struct LagEstimator {
    /// The estimate of the gap between the expected and the reported clock.
    gap: Delay,
    /// The estimate of the part of that gap which nothing but a lag explains.
    lag: Delay,
    overshoot: Delay,
    increment: IncrementCredit,
    expected: Option<Expected>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    /// Game ply of the move after the opponent's reply.
    ply: u32,
    before_ms: f64,
    used_ms: f64,
    increment_ms: f64,
}

impl LagEstimator {
    /// Time to keep clear for the lag and the overshoot of hard limits, in milliseconds; `clock_ms` is the clock less
    /// the user's overhead.
    pub(crate) fn overhead_ms(&self, clock_ms: f64) -> f64 {
        let doubtful_ms = self.gap.estimate_ms - self.lag.estimate_ms;
        self.lag.estimate_ms + doubtful_ms.min(DOUBTFUL_SHARE * clock_ms.max(0.0)) + self.overshoot.estimate_ms
    }

    /// The part of an increment of `increment_ms` that is not to be counted on, in milliseconds.
    pub(crate) fn missing_increment_ms(&self, increment_ms: f64) -> f64 {
        self.increment.missing_share() * increment_ms
    }

    /// Learns from a search that ended `late_ms` after its hard limit (negative before it) and left `clock_ms` on the
    /// clock.
    pub(crate) fn search_ended(&mut self, late_ms: f64, clock_ms: f64) {
        if late_ms <= LONGEST_LAG_MS {
            self.overshoot.learn(late_ms.max(0.0), clock_ms);
        }
    }

    /// Takes in a move at `ply`, for which the clock showed `before_ms` and our own clock measured `used_ms`.
    pub(crate) fn move_played(&mut self, ply: u32, before_ms: f64, increment_ms: f64, used_ms: f64) {
        let is_clock = (before_ms - used_ms + increment_ms).is_finite();
        let expected = || Expected { ply: ply.saturating_add(2), before_ms, used_ms, increment_ms };
        self.expected = is_clock.then(expected);
    }

    /// Learns from the clock of the next move, which shows `after_ms` at `ply`.
    pub(crate) fn clock_seen(&mut self, ply: u32, after_ms: f64) {
        let Some(expected) = self.expected.take().filter(|expected| expected.ply == ply) else { return };
        let Expected { before_ms, used_ms, increment_ms, .. } = expected;
        let step = ClockStep { before_ms, used_ms, increment_ms, after_ms };
        let gap_ms = step.gap_ms();
        // The part of the gap that is a lag even if the increment did not come.
        let beyond_ms = if step.lacks_increment() { gap_ms - increment_ms } else { gap_ms };
        if gap_ms.is_nan() || gap_ms < -step.rounding_ms() || beyond_ms > LONGEST_LAG_MS || step.stands_still() {
            return;
        }
        if increment_ms > 0.0 {
            self.increment.learn(&step);
        }
        let is_doubtful = step.lacks_increment() || !self.increment.is_proven();
        let doubtful_ms = step.rounding_ms() + if is_doubtful { increment_ms.max(0.0) } else { 0.0 };
        // More than was left cannot have been lost, or the game were over.
        let most_ms = (before_ms - used_ms).max(0.0);
        let seen_ms = if gap_ms > LONGEST_LAG_MS { beyond_ms } else { gap_ms };
        // A clock that is reported to the nearest second may show half of one that is not there.
        self.gap.learn(seen_ms.clamp(0.0, most_ms).max(0.5 * step.rounding_ms()), after_ms);
        self.lag.learn((gap_ms - doubtful_ms).clamp(0.0, most_ms), after_ms);
    }

    /// Forgets the last move: the next clock belongs to another game.
    pub(crate) fn forget_move(&mut self) {
        self.expected = None;
    }
}

/// The estimate of a delay that comes with every move.
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

    /// A clock on which half of the time is more than any lag here.
    const MINUTES: f64 = 600_000.0;

    #[test]
    fn lag_is_the_difference_to_the_expected_clock() {
        let mut lag = LagEstimator::default();
        lag.clock_seen(0, 60_000.0);
        assert_eq!(lag.overhead_ms(MINUTES), 0.0);
        lag.move_played(0, 60_000.0, 600.0, 2_000.0); // 58,600 to come
        lag.clock_seen(2, 58_570.0);
        assert_eq!(lag.overhead_ms(MINUTES), 30.0, "believed at once");
        lag.move_played(2, 58_570.0, 600.0, 1_000.0); // 58,170
        lag.clock_seen(4, 58_160.0);
        assert_eq!(lag.overhead_ms(MINUTES), 28.0, "forgotten slowly: 30 - 0.1 * 20");
    }

    #[test]
    fn lag_is_not_learned_from_other_clocks() {
        let mut lag = LagEstimator::default();
        let mut see = |ply, clock_ms| {
            lag.move_played(10, 10_000.0, 0.0, 1_000.0);
            lag.clock_seen(ply, clock_ms);
            lag.overhead_ms(MINUTES)
        };
        assert_eq!(see(12, 69_000.0), 0.0, "the control was reached");
        assert_eq!(see(11, 8_900.0), 0.0, "the other side's clock");
        assert_eq!(see(12, 1_000.0), 0.0, "a pause");
        assert_eq!(see(12, f64::NAN), 0.0);
        assert_eq!(see(12, 8_950.0), 50.0);
        lag.move_played(10, 10_000.0, 0.0, 1_000.0);
        lag.forget_move();
        lag.clock_seen(12, 8_000.0);
        assert_eq!(lag.overhead_ms(MINUTES), 50.0, "another game");
        lag.move_played(10, f64::INFINITY, 0.0, f64::INFINITY);
        lag.clock_seen(12, 0.0);
        assert_eq!(lag.overhead_ms(MINUTES), 50.0);
    }

    #[test]
    fn overhead_includes_the_overshoot_of_searches() {
        let mut lag = LagEstimator::default();
        for (late, overhead) in [(-50.0, 0.0), (40.0, 40.0), (0.0, 36.0), (f64::NAN, 36.0), (1e9, 36.0)] {
            lag.search_ended(late, 10_000.0);
            assert_eq!(lag.overhead_ms(MINUTES), overhead, "{late}");
        }
        lag.move_played(0, 1_000.0, 0.0, 100.0);
        lag.clock_seen(2, 890.0);
        assert_eq!(lag.overhead_ms(890.0), 46.0);
    }

    /// The lag kept clear after each of `lags` on a clock of `clock_ms`.
    fn after(clock_ms: f64, lags: &[f64]) -> Vec<f64> {
        let mut lag = LagEstimator::default();
        let see = |(index, &late)| {
            let ply = 2 * index as u32;
            lag.move_played(ply, clock_ms + late, 0.0, 0.0);
            lag.clock_seen(ply + 2, clock_ms);
            lag.overhead_ms(clock_ms).round()
        };
        lags.iter().enumerate().map(see).collect()
    }

    #[test]
    fn one_long_lag_does_not_starve_a_short_game() {
        // 10 s, of which 5 s are lost at once: a tenth of the rest is kept clear, and soon less.
        assert_eq!(after(5_001.0, &[0.0, 5_000.0, 0.0, 0.0]), [0.0, 500.0, 450.0, 405.0]);
        assert_eq!(after(600_000.0, &[5_000.0]), [5_000.0], "with minutes on the clock it costs little");
        let mut lag = LagEstimator::default();
        lag.search_ended(3_000.0, 4_000.0);
        assert_eq!(lag.overhead_ms(4_000.0), 400.0, "nor does a machine that hung once");
        lag.search_ended(3_000.0, -1.0);
        assert_eq!(lag.overhead_ms(0.0), 3_000.0);
    }

    #[test]
    fn a_repeated_lag_is_believed_whatever_the_clock() {
        assert_eq!(after(2_001.0, &[800.0, 800.0, 900.0]), [200.0, 800.0, 800.0]);
        assert_eq!(after(300.0, &[800.0, 900.0, 850.0]), [30.0, 800.0, 850.0]);
        // Every fourth move.
        let stalls: Vec<f64> = (0..24).map(|index| if index % 4 == 3 { 700.0 } else { 20.0 }).collect();
        assert!(after(2_001.0, &stalls)[7..].iter().all(|lag| *lag == 700.0));
        assert!(after(2_001.0, &[[700.0; 2].as_slice(), &[0.0; 30]].concat())[31] < 100.0, "and forgotten");
    }

    /// The state after moves of (used, lag) on a clock with an increment of 1 s that `credit` gives the clock back.
    fn on_clock(first_ms: f64, moves: &[(f64, f64)], credit: impl Fn(f64) -> f64) -> (LagEstimator, f64) {
        let (mut lag, mut clock_ms) = (LagEstimator::default(), first_ms);
        for (ply, (used_ms, lag_ms)) in (0..).step_by(2).zip(moves) {
            lag.move_played(ply, clock_ms, 1_000.0, *used_ms);
            let lost_ms = used_ms + lag_ms;
            clock_ms += credit(lost_ms) - lost_ms;
            lag.clock_seen(ply + 2, clock_ms);
        }
        (lag, clock_ms)
    }

    #[test]
    fn with_an_increment_that_comes_a_lag_is_believed_wholly_once_the_clock_has_risen() {
        let (slow, fast) = ([(900.0, 600.0); 2], [(50.0, 600.0); 2]);
        let (lag, clock_ms) = on_clock(1_800.0, &slow, |_| 1_000.0);
        assert_eq!((lag.overhead_ms(clock_ms), clock_ms), (400.0, 800.0), "it may be a delay: half of the clock");
        let (lag, clock_ms) = on_clock(1_800.0, &[slow, fast].concat(), |_| 1_000.0);
        assert_eq!((lag.overhead_ms(clock_ms), clock_ms), (600.0, 1_500.0));
        assert_eq!((lag.overhead_ms(700.0), lag.missing_increment_ms(1_000.0)), (600.0, 0.0));
    }

    #[test]
    fn a_delay_is_no_lag() {
        let moves = [(300.0, 20.0), (900.0, 30.0), (5.0, 20.0)];
        let bronstein = |lost_ms: f64| lost_ms.min(1_000.0);
        let (lag, clock_ms) = on_clock(800.0, &moves, bronstein);
        assert_eq!((clock_ms, lag.overhead_ms(clock_ms), lag.missing_increment_ms(1_000.0)), (800.0, 0.0, 0.0));
        // Where it is used up the lag shows.
        let (lag, clock_ms) = on_clock(5_000.0, &[(1_500.0, 40.0); 2], bronstein);
        assert_eq!((clock_ms, lag.overhead_ms(clock_ms)), (3_920.0, 40.0));
        // And where the clock is not the very same to the millisecond, half of it is left.
        let (lag, clock_ms) = on_clock(800.0, &moves, |lost_ms| lost_ms.min(1_000.0) - 5.0);
        assert_eq!((clock_ms, lag.missing_increment_ms(1_000.0) < 500.0), (785.0, true));
        assert_eq!(lag.overhead_ms(clock_ms), 392.5);
    }

    #[test]
    fn an_increment_that_does_not_come_is_not_counted_on_and_no_lag() {
        let (lag, clock_ms) = on_clock(3_000.0, &[(500.0, 20.0); 3], |_| 0.0);
        assert_eq!((clock_ms, lag.missing_increment_ms(1_000.0)), (1_440.0, 1_000.0));
        assert_eq!(lag.overhead_ms(clock_ms), 20.0 + 720.0);
        let (lag, _) = on_clock(60_000.0, &[(500.0, 20.0); 3], |_| 0.0);
        assert_eq!(lag.overhead_ms(20_000.0), 1_020.0);
        let (lag, _) = on_clock(90_000.0, &[(500.0, 20.0), (6_000.0, 7_000.0)], |_| 0.0);
        assert_eq!(lag.missing_increment_ms(1_000.0), 1_000.0, "a pause of 7 s says nothing");
    }

    #[test]
    fn a_lag_is_at_most_what_was_left() {
        let mut lag = LagEstimator::default();
        lag.move_played(0, 2_500.0, 3_000.0, 2_000.0);
        lag.clock_seen(2, 2_400.0);
        assert_eq!(lag.overhead_ms(MINUTES), 240.0, "once: a tenth of the clock");
        lag.move_played(2, 2_400.0, 3_000.0, 2_000.0);
        lag.clock_seen(4, 2_350.0);
        assert_eq!(lag.overhead_ms(MINUTES), 400.0);
    }

    #[test]
    fn whole_seconds_are_doubtful() {
        let mut lag = LagEstimator::default();
        for ply in [0, 2] {
            lag.move_played(ply, 3_000.0, 0.0, 100.0);
            lag.clock_seen(ply + 2, 2_000.0);
        }
        assert_eq!((lag.overhead_ms(MINUTES), lag.overhead_ms(1_000.0)), (900.0, 500.0));
        // Though nothing seems to be lost the clock may have been rounded up.
        let mut lag = LagEstimator::default();
        for ply in [0, 2] {
            lag.move_played(ply, 3_000.0, 0.0, 1_200.0);
            lag.clock_seen(ply + 2, 2_000.0);
        }
        assert_eq!(lag.overhead_ms(MINUTES), 500.0);
        // The same clock before each move, as scripts give it, says nothing.
        let mut lag = LagEstimator::default();
        for ply in [0, 2, 4] {
            lag.move_played(ply, 10_000.0, 0.0, 700.0);
            lag.clock_seen(ply + 2, 10_000.0);
        }
        assert_eq!(lag.overhead_ms(MINUTES), 0.0);
    }
}
