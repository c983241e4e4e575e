//! Reads PGN's tag `TimeControl`: periods such as `40/7200:900+30`, in seconds.

/// A period of a time control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// Moves after which the next period's time is added; `None`: the rest of the game.
    pub moves: Option<u32>,
    /// Milliseconds that it adds.
    pub base_ms: f64,
    /// Milliseconds that each of its moves adds.
    pub increment_ms: f64,
}

/// The periods of a tag, as PGN's standard and match runners write it: `300`, `3600+7`, `40/7200:20/3600:900+30`, `40/60`.
/// After the last period of moves it begins again. `None` of anything else, such as `-`, `?` or `*180`.
pub fn periods(tag: &str) -> Option<Vec<Period>> {
    tag.trim().split(':').map(period).collect()
}

fn period(text: &str) -> Option<Period> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.trim().parse::<u32>().ok().filter(|moves| *moves > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let ms = |text: &str| {
        let seconds: f64 = text.trim().parse().ok()?;
        (0.0..1e8).contains(&seconds).then_some(seconds * 1e3)
    };
    Some(Period { moves, base_ms: ms(base)?, increment_ms: ms(increment)? })
}

/// The clock of one side, by its periods.
#[derive(Clone, Debug)]
pub(super) struct PeriodClock<'a> {
    periods: &'a [Period],
    at: usize,
    /// Moves until the next period, where it has as many.
    pub to_go: Option<u32>,
}

impl<'a> PeriodClock<'a> {
    pub fn new(periods: &'a [Period]) -> PeriodClock<'a> {
        PeriodClock { periods, at: 0, to_go: periods.first().and_then(|period| period.moves) }
    }

    /// The increment of the next move, in milliseconds.
    pub fn increment_ms(&self) -> f64 {
        self.periods.get(self.at).map_or(0.0, |period| period.increment_ms)
    }

    /// Counts a move. Returns the milliseconds that the next period adds, if it begins.
    pub fn moved(&mut self) -> f64 {
        self.to_go = self.to_go.map(|moves| moves - 1);
        if self.to_go != Some(0) {
            return 0.0;
        }
        // The last period of moves begins again.
        self.at = (self.at + 1).min(self.periods.len() - 1);
        self.to_go = self.periods[self.at].moves;
        self.periods[self.at].base_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_tournaments() {
        let one = |moves, base_s: f64, inc_s: f64| Period { moves, base_ms: base_s * 1e3, increment_ms: inc_s * 1e3 };
        assert_eq!(periods("3600+7"), Some(vec![one(None, 3600.0, 7.0)]));
        assert_eq!(periods("10+0.1"), Some(vec![one(None, 10.0, 0.1)]));
        assert_eq!(
            periods("40/7200:20/3600:900+30"),
            Some(vec![one(Some(40), 7200.0, 0.0), one(Some(20), 3600.0, 0.0), one(None, 900.0, 30.0)])
        );
        for tag in ["", "-", "?", "*180", "0/60", "40/", "1e99", "a+b", "-5"] {
            assert_eq!(periods(tag), None, "{tag}");
        }
    }

    #[test]
    fn periods_follow_each_other() {
        let periods = periods("2/60:30+1").unwrap();
        let mut clock = PeriodClock::new(&periods);
        assert_eq!((clock.to_go, clock.increment_ms(), clock.moved(), clock.to_go), (Some(2), 0.0, 0.0, Some(1)));
        assert_eq!((clock.moved(), clock.to_go, clock.increment_ms()), (30_000.0, None, 1_000.0));
        assert_eq!(clock.moved(), 0.0);
    }
}
