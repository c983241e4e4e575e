//! Estimates the fraction of its budget that a search uses: smart pruning stops many searches early.

use super::LearnedShare;

/// The estimate of the fraction of its budget that a search uses (`timeuse`). Source: docs/documents.md, 1.7.
#[derive(Clone, Debug)]
pub(crate) struct BudgetUse {
    pub(crate) share: LearnedShare,
}

impl BudgetUse {
    /// An estimate that begins at `initial` and stays at least `min`, fractions above 0. After `update_rate` average
    /// moves it has moved half-way to a new sample.
    pub(crate) fn new(initial: f64, min: f64, update_rate: f64) -> Self {
        Self { share: LearnedShare::new(initial, [min, f64::INFINITY], update_rate) }
    }

    /// Learns from a search that used `used_ms` of `budget_ms` and took `average_moves` average move times.
    ///
    /// The sample is at most 1. The time past the budget is the latency of the last batch, and counting it would feed
    /// on itself: a smaller budget, a larger excess, a still smaller budget. A search without a budget gives no sample.
    pub(crate) fn search_ended(&mut self, used_ms: f64, budget_ms: f64, average_moves: f64) {
        if budget_ms > 0.0 && used_ms >= 0.0 {
            self.share.learn((used_ms / budget_ms).min(1.0), average_moves);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BudgetUse;

    fn seed_defaults() -> BudgetUse {
        BudgetUse::new(0.7, 0.3, 10.0)
    }

    // docs/documents.md, 1.7.
    #[test]
    fn seed_timeuse_is_time_used_over_time_budgeted() {
        let mut timeuse = seed_defaults();
        // 500 of 1000 ms, over ten average moves (the update rate): half-way from 0.7 to 0.5.
        timeuse.search_ended(500.0, 1_000.0, 10.0);
        assert!((timeuse.share.value - 0.6).abs() < 1e-12);
        // Exactly one average move: 0.9 - 0.3·2^-0.1 = 0.620090
        timeuse.search_ended(900.0, 1_000.0, 1.0);
        assert!((timeuse.share.value - 0.620_090).abs() < 1e-6, "{}", timeuse.share.value);
    }

    // docs/documents.md, 1.7: never below `min-timeuse`.
    #[test]
    fn seed_timeuse_is_limited_by_min_timeuse() {
        let mut timeuse = seed_defaults();
        timeuse.search_ended(0.0, 1_000.0, 1e9);
        assert_eq!(timeuse.share.value, 0.3);
        assert!(timeuse.share.limited);
        assert_eq!(BudgetUse::new(0.1, 0.3, 10.0).share.value, 0.3);
    }

    #[test]
    fn overrun_counts_as_the_whole_budget_and_no_budget_gives_no_sample() {
        let mut timeuse = seed_defaults();
        timeuse.search_ended(40.0, 0.0, 1.0);
        timeuse.search_ended(f64::NAN, 10.0, 1.0);
        assert_eq!(timeuse.share.value, 0.7);
        timeuse.search_ended(1_000.0, 10.0, 1e9);
        assert_eq!(timeuse.share.value, 1.0);
    }
}
