//! Learns whether the increment that is announced really comes.
//!
//! UCI has one word for every kind of increment, `winc`. A clock with a delay (Bronstein's, or the simple one) gives
//! back no more than was used, some interfaces announce an increment and never add it, or add it to every other move. A
//! single clock does not tell a missing increment from a lag of the same length, so the estimator looks for two facts
//! that only one of both can cause:
//!
//! - The clock *rose*: more came than was used. With a lag that still happens in quick moves; with a delay or a missing
//!   increment it never does.
//! - The clock fell by *all* that was used, or more: nothing of the increment is to be seen.

use crate::MS_PER_SECOND;

const WINDOW: usize = 8;
/// Error of a reported clock, in milliseconds: clocks are told in whole milliseconds, the used time is not.
const MILLISECOND: f64 = 1.0;
/// Share of the increment by which the clock has to rise to prove it: a smaller rise may be rounding.
const CLEAR_RISE: f64 = 0.1;

/// The clock before and after a move of ours, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockStep {
    /// The clock as it was announced before the move.
    pub before_ms: f64,
    /// Time used, by our own clock.
    pub used_ms: f64,
    /// The increment that was announced with the clock.
    pub increment_ms: f64,
    /// The clock as it was announced before the next move.
    pub after_ms: f64,
}

impl ClockStep {
    /// Time that the clock lacks after the move, once used time and increment are accounted for.
    pub(super) fn gap_ms(&self) -> f64 {
        self.before_ms - self.used_ms + self.increment_ms - self.after_ms
    }

    /// Whether the clock shows the same time as before the move, for a reason other than lag: a delay gave back what
    /// was used, or a clock in whole seconds shows nothing of a fast move.
    pub(super) fn stands_still(&self) -> bool {
        let may_stand = self.increment_ms > 0.0 || self.rounding_ms() > 0.0;
        may_stand && (self.after_ms - self.before_ms).abs() <= MILLISECOND
    }

    /// Whether no part of the increment shows on the clock; false for an increment that rounding could hide.
    pub(super) fn lacks_increment(&self) -> bool {
        let rounding_ms = self.rounding_ms().max(MILLISECOND);
        self.increment_ms >= 2.0 * rounding_ms && self.gap_ms() >= self.increment_ms - rounding_ms
    }

    /// Part of the gap that may be rounding: a second if both clocks were reported in whole seconds, else 0.
    pub(super) fn rounding_ms(&self) -> f64 {
        let is_whole = |ms: f64| ms % MS_PER_SECOND == 0.0;
        if is_whole(self.before_ms) && is_whole(self.after_ms) { MS_PER_SECOND } else { 0.0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Seen {
    /// The increment came, or a lag took part of it, or a delay gave part of it.
    #[default]
    Unclear,
    Rise,
    Lack,
}

/// The increments of the last moves.
#[derive(Clone, Debug, Default)]
pub(super) struct IncrementCredit {
    /// What the clock showed of the increments of the last moves, in a ring.
    last: [Seen; WINDOW],
    moves: usize,
}

impl IncrementCredit {
    /// Learns from a move whose clock had an increment.
    pub(super) fn learn(&mut self, step: &ClockStep) {
        let seen = match step.after_ms - step.before_ms {
            _ if step.lacks_increment() => Seen::Lack,
            rise if rise > CLEAR_RISE * step.increment_ms => Seen::Rise,
            _ => Seen::Unclear,
        };
        self.last[self.moves % WINDOW] = seen;
        self.moves += 1;
    }

    /// Whether the clock has risen lately, so that a gap smaller than the increment is a lag.
    pub(super) fn is_proven(&self) -> bool {
        self.last.contains(&Seen::Rise)
    }

    /// Share of the last moves whose increment did not come, 0 to 1.
    pub(super) fn missing_share(&self) -> f64 {
        let lacks = self.last.iter().filter(|seen| **seen == Seen::Lack).count();
        lacks as f64 / self.moves.clamp(1, WINDOW) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before_ms: f64, used_ms: f64, increment_ms: f64, after_ms: f64) -> ClockStep {
        ClockStep { before_ms, used_ms, increment_ms, after_ms }
    }

    #[test]
    fn a_rise_proves_the_increment_and_a_full_fall_its_absence() {
        let mut credit = IncrementCredit::default();
        assert!(!credit.is_proven() && credit.missing_share() == 0.0);
        credit.learn(&step(10_000.0, 400.0, 1_000.0, 9_600.5));
        assert!(!credit.is_proven() && credit.missing_share() == 1.0);
        credit.learn(&step(9_600.5, 400.0, 1_000.0, 10_150.0));
        assert!(credit.is_proven() && credit.missing_share() == 0.5);
        for _ in 0..2 {
            credit.learn(&step(10_000.0, 900.0, 1_000.0, 10_060.0));
        }
        assert!(credit.is_proven() && credit.missing_share() == 0.25);
        for _ in 0..6 {
            credit.learn(&step(10_000.0, 1_500.0, 1_000.0, 9_480.0));
        }
        assert!(!credit.is_proven() && credit.missing_share() == 0.0, "eight moves later it is forgotten");
    }

    #[test]
    fn a_small_rise_proves_nothing() {
        let mut credit = IncrementCredit::default();
        credit.learn(&step(10_000.0, 400.0, 3_000.0, 10_200.0));
        assert!(!credit.is_proven());
    }

    #[test]
    fn a_delay_stands_still_until_it_is_used_up() {
        assert!(step(2_500.0, 900.0, 3_000.0, 2_500.0).stands_still());
        assert!(!step(2_500.0, 3_100.0, 3_000.0, 2_400.0).stands_still());
        assert!(
            !step(2_500.0, 0.0, 0.0, 2_500.0).stands_still(),
            "a clock without increment does, if nothing was used"
        );
        assert!(step(3_000.0, 200.0, 0.0, 3_000.0).stands_still(), "or if it is told in whole seconds");
    }

    #[test]
    fn whole_seconds_show_an_increment_of_two_seconds_and_milliseconds_one_of_two() {
        assert!(step(60_000.0, 300.0, 3_000.0, 59_000.0).lacks_increment());
        assert!(step(60_000.0, 1_300.0, 3_000.0, 59_000.0).lacks_increment(), "58.7 may be told as 59");
        assert!(!step(60_000.0, 1_300.0, 3_000.0, 61_000.0).lacks_increment());
        assert!(!step(900.0, 300.0, 1.0, 601.0).lacks_increment() && step(900.0, 300.0, 2.0, 600.0).lacks_increment());
        assert!(
            !step(60_000.0, 300.0, 500.0, 59_000.0).lacks_increment(),
            "60.2 may be told as 60, and 60.9 as 60 before"
        );
    }

    #[test]
    fn clocks_in_whole_seconds_hide_a_second() {
        assert_eq!(step(60_000.0, 300.0, 0.0, 59_000.0).rounding_ms(), 1_000.0);
        for (before, after) in [(60_000.0, 58_570.0), (58_570.0, 58_000.0), (1_000.5, 1_000.0)] {
            assert_eq!(step(before, 300.0, 0.0, after).rounding_ms(), 0.0);
        }
    }
}
