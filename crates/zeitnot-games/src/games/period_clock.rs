//! Counts the moves of one side until the next period of its time control.

use super::time_control::TimeControl;

/// The periods of one side's clock, and the place in them. A last period with a number of moves repeats.
#[derive(Clone, Debug)]
pub struct PeriodClock<'a> {
    periods: &'a [TimeControl],
    at: usize,
    moves_to_go: Option<u32>,
}

impl<'a> PeriodClock<'a> {
    /// The clock at the start; without periods the side has no clock.
    pub fn new(periods: &'a [TimeControl]) -> PeriodClock<'a> {
        PeriodClock { periods, at: 0, moves_to_go: periods.first().and_then(|period| period.moves) }
    }

    /// The time at the start, in milliseconds, without the first increment; `None` for a side without a clock.
    pub fn base_ms(&self) -> Option<f64> {
        self.periods.first().map(|period| period.base_ms)
    }

    /// The increment of the next move, in milliseconds.
    pub fn increment_ms(&self) -> f64 {
        self.periods.get(self.at).map_or(0.0, |period| period.increment_ms)
    }

    /// Moves until the next period, the next move among them; `None` in a period that lasts for the rest of the game.
    pub fn moves_to_go(&self) -> Option<u32> {
        self.moves_to_go
    }

    /// Counts a move. Returns the milliseconds that the move adds to the clock: the increment, and the time of a period
    /// that begins.
    pub fn count_move(&mut self) -> f64 {
        let increment_ms = self.increment_ms();
        self.moves_to_go = self.moves_to_go.map(|moves| moves - 1);
        if self.moves_to_go != Some(0) {
            return increment_ms;
        }
        self.at = (self.at + 1).min(self.periods.len() - 1);
        let next = &self.periods[self.at];
        self.moves_to_go = next.moves;
        increment_ms + next.base_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(texts: &[&str]) -> Vec<TimeControl> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn periods_follow_each_other() {
        let periods = clock(&["2/60", "30+1"]);
        let mut clock = PeriodClock::new(&periods);
        assert_eq!((clock.base_ms(), clock.moves_to_go(), clock.increment_ms()), (Some(60_000.0), Some(2), 0.0));
        assert_eq!((clock.count_move(), clock.moves_to_go()), (0.0, Some(1)));
        assert_eq!((clock.count_move(), clock.moves_to_go(), clock.increment_ms()), (30_000.0, None, 1_000.0));
        assert_eq!(clock.count_move(), 1_000.0);
    }

    #[test]
    fn the_last_period_of_moves_begins_again() {
        let periods = clock(&["2/10+0.5"]);
        let mut clock = PeriodClock::new(&periods);
        let added: Vec<f64> = (0..5).map(|_| clock.count_move()).collect();
        assert_eq!(added, [500.0, 10_500.0, 500.0, 10_500.0, 500.0]);
        assert_eq!(PeriodClock::new(&[]).count_move(), 0.0);
    }
}
