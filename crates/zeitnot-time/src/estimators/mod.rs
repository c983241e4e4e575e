//! The estimators that managers share: each is a small state machine over numbers that knows nothing of its manager.

pub mod batch_latency;
pub(crate) mod budget_use;
mod increment_credit;
pub mod moves_left;
pub(crate) mod nps;
pub mod overhead;
pub(crate) mod overrun;
pub(crate) mod speed;
pub(crate) mod tree_reuse;

/// Moves from `from` towards `to`: half-way after `value` = `step`, three quarters after twice that, and so on.
///
/// `value` and `step` share one unit (seconds, average moves); `step` is positive. For a `value` of 0 or less, or not a
/// number, the result is `from`.
///
/// Source: docs/documents.md, 1.8.
pub(crate) fn exponential_decay(from: f64, to: f64, step: f64, value: f64) -> f64 {
    if value > 0.0 { to - (to - from) * 0.5_f64.powf(value / step) } else { from }
}

#[cfg(test)]
mod tests {
    use super::exponential_decay;

    // docs/documents.md, 1.8: from 100 to 20 the whole way is -80.
    #[test]
    fn exponential_decay_halves_the_distance_each_step() {
        assert_eq!(exponential_decay(100.0, 20.0, 5.0, 0.0), 100.0); // value = 0: from
        assert_eq!(exponential_decay(100.0, 20.0, 5.0, 5.0), 60.0); // one step: 100 - 40
        assert_eq!(exponential_decay(100.0, 20.0, 5.0, 10.0), 40.0); // two steps: 100 - 60
        assert_eq!(exponential_decay(100.0, 20.0, 5.0, 15.0), 30.0); // three steps: 100 - 70
    }

    #[test]
    fn exponential_decay_of_an_unusable_value_moves_nothing_and_of_an_endless_one_arrives() {
        assert_eq!(exponential_decay(1.0, 2.0, 3.0, -1.0), 1.0);
        assert_eq!(exponential_decay(1.0, 2.0, 3.0, f64::NAN), 1.0);
        assert_eq!(exponential_decay(1.0, 2.0, 3.0, f64::INFINITY), 2.0);
    }

    // Lc0 #1243: the roles of old and new value were exchanged, so that a short step moved the estimate almost all the
    // way.
    #[test]
    fn exponential_decay_of_a_short_step_stays_near_the_old_value() {
        let moved = exponential_decay(20_000.0, 1_000.0, 5.0, 0.01);
        assert!((19_900.0..20_000.0).contains(&moved), "{moved}");
    }
}

/// The share that searches teach, kept within bounds.
#[derive(Clone, Debug)]
pub(crate) struct LearnedShare {
    pub(crate) value: f64,
    /// Whether the bounds changed the value.
    pub(crate) limited: bool,
    bounds: [f64; 2],
    /// Length of search that moves the value half-way to the sample, in average moves.
    update_rate: f64,
}

impl LearnedShare {
    fn new(initial: f64, bounds: [f64; 2], update_rate: f64) -> Self {
        let [least, most] = bounds;
        let value = initial.max(least).min(most);
        Self { value, limited: initial != value, bounds, update_rate }
    }

    /// Learns from the sample of a search that took `average_moves` average move times.
    fn learn(&mut self, sample: f64, average_moves: f64) {
        let moved = exponential_decay(self.value, sample, self.update_rate, average_moves);
        *self = Self::new(moved, self.bounds, self.update_rate);
    }
}
