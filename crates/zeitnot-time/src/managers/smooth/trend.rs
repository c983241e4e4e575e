//! Projects how the visits of the root's moves grow, to see whether the best move is being overtaken.

/// The growth of the visits of the root's moves by Lc0's rule with its flaws (docs/lc0.md, 1.9 and 7.4): growth is
/// measured between the last two looks, a second look in one millisecond is passed over, after a gap longer than the
/// period the earlier of the two looks never changes again, and a count that shrinks reads as a huge growth.
#[derive(Clone, Debug)]
pub(super) struct Trend {
    period_ms: f64,
    best_optimism: f64,
    overtaker_optimism: f64,
    previous: Option<Sample>,
    current: Option<Sample>,
    last: Option<Sample>,
}

#[derive(Clone, Debug)]
struct Sample {
    at_ms: f64,
    visits: Vec<u32>,
}

impl Trend {
    /// A projection that multiplies the growth of the best move's visits by `best_optimism`, that of the others' by
    /// `overtaker_optimism`.
    pub(super) fn new(period_ms: f64, best_optimism: f64, overtaker_optimism: f64) -> Self {
        Self { period_ms, best_optimism, overtaker_optimism, previous: None, current: None, last: None }
    }

    /// Takes in the visits at `now_ms`.
    pub(super) fn observe(&mut self, now_ms: f64, visits: &[u32]) {
        if self.last.as_ref().is_some_and(|last| now_ms <= last.at_ms) {
            return;
        }
        let sample = Sample { at_ms: now_ms, visits: visits.to_vec() };
        let moves_on = |current: &Sample| current.at_ms + self.period_ms >= now_ms;
        if self.current.as_ref().is_none_or(moves_on) {
            self.previous = self.current.replace(sample.clone());
        }
        self.last = Some(sample);
    }

    /// Whether another move than the present best one is expected to have the most visits at `then_ms`.
    pub(super) fn is_overtaken_by(&self, then_ms: f64) -> bool {
        // Before the first turn of the window growth is measured from the first look on.
        let earlier = self.previous.as_ref().or(self.current.as_ref());
        let (Some(previous), Some(last)) = (earlier, &self.last) else { return false };
        let (passed, to_come) = (last.at_ms - previous.at_ms, then_ms - last.at_ms);
        if !(passed > 0.0 && to_come > 0.0) {
            return false;
        }
        let Some(best) = (0..last.visits.len()).rev().max_by_key(|index| last.visits[*index]) else { return false };
        let projected = |index: usize, optimism: f64| {
            let before = previous.visits.get(index).copied().unwrap_or(0);
            let grown = last.visits[index].wrapping_sub(before);
            let rate = f64::from(grown) / passed;
            f64::from(last.visits[index]) + optimism * rate * to_come
        };
        let to_beat = projected(best, self.best_optimism);
        (0..last.visits.len()).any(|index| index != best && projected(index, self.overtaker_optimism) > to_beat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_grows_faster_overtakes_in_time() {
        let mut trend = Trend::new(3_000.0, 1.0, 1.0);
        trend.observe(0.0, &[100, 50]);
        assert!(!trend.is_overtaken_by(1e9), "one sample shows no growth");
        trend.observe(100.0, &[110, 80]);
        // 110 + 0.1 t against 80 + 0.3 t: level after 150 ms.
        assert!(!trend.is_overtaken_by(249.0));
        assert!(trend.is_overtaken_by(251.0));
        assert!(!trend.is_overtaken_by(100.0), "what is past is not projected");
    }

    #[test]
    fn lc0_window_passes_over_a_second_look_in_a_millisecond() {
        let mut trend = Trend::new(3_000.0, 1.0, 1.0);
        trend.observe(100.0, &[100, 50]);
        trend.observe(101.0, &[100, 90]);
        // Neither a later state of the same moment nor a thread that comes late with its own changes anything.
        for at_ms in [101.0, 100.0] {
            trend.observe(at_ms, &[180, 90]);
            assert!(trend.is_overtaken_by(102.0), "{at_ms}");
        }
        trend.observe(102.0, &[180, 91]);
        assert!(!trend.is_overtaken_by(1e6));
    }

    #[test]
    fn lc0_window_measures_a_first_gap_from_the_first_look_on() {
        let mut trend = Trend::new(1_000.0, 1.0, 1.0);
        trend.observe(10.0, &[10, 0]);
        trend.observe(3_010.0, &[1_000, 999]);
        // 1000 + 0.330 t against 999 + 0.333 t: level after 333 ms.
        assert!(!trend.is_overtaken_by(3_340.0) && trend.is_overtaken_by(3_350.0));
    }

    // docs/lc0.md, 7.4, kept.
    #[test]
    fn lc0_window_keeps_old_samples_after_a_long_gap() {
        let mut trend = Trend::new(1_000.0, 1.0, 1.0);
        trend.observe(0.0, &[10, 9]);
        trend.observe(100.0, &[11, 20]);
        trend.observe(5_000.0, &[500, 20]);
        trend.observe(5_100.0, &[510, 20]);
        // From the first sample on: 500 in 5100 ms against 11.
        assert!(!trend.is_overtaken_by(1e6));
        assert_eq!(trend.previous.as_ref().map(|sample| sample.at_ms), Some(0.0));
    }
}
