//! Estimates the latency of a batch from its size: the last batch before a deadline has to fit.

/// Share of its weight that every earlier batch loses with each new batch.
const FORGETTING: f64 = 0.05;

/// Share of the estimated times that [`BatchLatency::relax`] leaves: after 14 moves without a batch they are halved.
const RELAXED: f64 = 0.95;

/// Learns the latency of batches as `fixed + positions · each`, by least squares over the last few dozen.
///
/// A GPU's latency is nearly fixed, a CPU's nearly proportional. Equal batches do not show which of the two holds:
/// while the last few dozen are equal, the fixed share found before is kept, and until sizes have differed once the
/// whole latency is taken to be proportional.
#[derive(Clone, Debug, Default)]
pub struct BatchLatency {
    /// Decayed sums of weight, size, time, size², size · time.
    weight: f64,
    size: f64,
    ms: f64,
    size_size: f64,
    size_ms: f64,
    /// The share of a batch's time that was fixed when sizes last differed.
    fixed_share: f64,
}

impl BatchLatency {
    /// Learns from a batch of `size` positions that took `ms` milliseconds.
    pub fn observe(&mut self, size: usize, ms: f64) {
        if size == 0 || !ms.is_finite() || ms < 0.0 {
            return;
        }
        let size = size as f64;
        for (sum, new) in [
            (&mut self.weight, 1.0),
            (&mut self.size, size),
            (&mut self.ms, ms),
            (&mut self.size_size, size * size),
            (&mut self.size_ms, size * ms),
        ] {
            *sum = *sum * (1.0 - FORGETTING) + new;
        }
        if let Some((fixed, each)) = self.regression() {
            self.fixed_share = fixed / (fixed + each * size).max(f64::MIN_POSITIVE);
        }
    }

    /// Lowers the estimate. To be called when the estimate kept a batch from being started: without a batch nothing
    /// else would ever correct it.
    pub fn relax(&mut self) {
        self.ms *= RELAXED;
        self.size_ms *= RELAXED;
    }

    fn means(&self) -> (f64, f64) {
        (self.size / self.weight, self.ms / self.weight)
    }

    /// The fixed time of a batch and the time per position, in milliseconds, by the last batches; `None` if their sizes
    /// hardly differ.
    fn regression(&self) -> Option<(f64, f64)> {
        let (size, ms) = self.means();
        let variance = self.size_size / self.weight - size * size;
        // Sizes that differ by less than a tenth of their mean draw no line.
        if variance < 0.01 * size * size {
            return None;
        }
        let each = ((self.size_ms / self.weight - size * ms) / variance).clamp(0.0, ms / size);
        Some((ms - each * size, each))
    }

    /// The fixed time of a batch and that of each position, in milliseconds; `None` before the first batch.
    fn line(&self) -> Option<(f64, f64)> {
        if self.weight == 0.0 {
            return None;
        }
        let (size, ms) = self.means();
        Some(self.regression().unwrap_or((self.fixed_share * ms, (1.0 - self.fixed_share) * ms / size)))
    }

    /// The expected latency of a batch of `size` positions, in milliseconds; `None` before the first batch.
    pub fn expected_ms(&self, size: usize) -> Option<f64> {
        self.line().map(|(fixed, each)| fixed + each * size as f64)
    }

    /// The largest batch, from 1 to `most`, that is expected to end within `remaining_ms`; 1 if none fits: whether to
    /// begin one at all is another question.
    pub fn fitting(&self, remaining_ms: f64, most: usize) -> usize {
        let most = most.max(1);
        let Some((fixed, each)) = self.line().filter(|_| !remaining_ms.is_nan()) else { return most };
        if fixed + each * most as f64 <= remaining_ms {
            return most;
        }
        // A smaller batch that hardly takes less time brings fewer nodes for the same delay.
        if each <= 0.0 {
            return most;
        }
        (((remaining_ms - fixed) / each).floor().max(1.0) as usize).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_batches_are_taken_as_proportional() {
        let mut latency = BatchLatency::default();
        assert_eq!((latency.expected_ms(16), latency.fitting(1.0, 16)), (None, 16));
        for _ in 0..50 {
            latency.observe(16, 8.0);
        }
        assert!((latency.expected_ms(4).unwrap() - 2.0).abs() < 1e-9);
        for (remaining, size) in [(100.0, 16), (8.1, 16), (4.1, 8), (0.6, 1), (0.1, 1), (-5.0, 1), (f64::NAN, 16)] {
            assert_eq!(latency.fitting(remaining, 16), size, "{remaining}");
        }
    }

    #[test]
    fn sizes_that_differ_show_the_fixed_part() {
        let mut latency = BatchLatency::default();
        for round in 0..60 {
            let size = 8 + 8 * (round % 4);
            latency.observe(size, 5.0 + 0.25 * size as f64);
        }
        assert!((latency.expected_ms(100).unwrap() - 30.0).abs() < 1e-6);
        assert_eq!(latency.fitting(10.1, 256), 20);
        assert_eq!(latency.fitting(3.0, 256), 1);
        // A device whose latency does not depend on the size gains nothing by less.
        let mut fixed = BatchLatency::default();
        for round in 0..60 {
            fixed.observe(8 + 8 * (round % 4), 5.0);
        }
        assert_eq!(fixed.fitting(1.0, 256), 256);
    }

    #[test]
    fn fixed_share_is_remembered_while_batches_are_equal() {
        let mut fixed = BatchLatency::default();
        fixed.observe(1, 10.0);
        (0..500).for_each(|_| fixed.observe(16, 10.0));
        assert_eq!(fixed.fitting(5.0, 16), 16);
        let mut half = BatchLatency::default();
        for (size, ms) in [(1, 8.5), (16, 16.0), (1, 8.5), (16, 16.0)] {
            half.observe(size, ms);
        }
        (0..500).for_each(|_| half.observe(16, 16.0));
        assert!((half.expected_ms(16).unwrap() - 16.0).abs() < 1e-6);
        assert!((half.expected_ms(8).unwrap() - 12.0).abs() < 1e-6, "{:?}", half.expected_ms(8));
    }

    #[test]
    fn a_relaxed_estimate_falls() {
        let mut latency = BatchLatency::default();
        latency.observe(1, 100.0);
        latency.observe(8, 170.0);
        let before = latency.expected_ms(4).unwrap();
        (0..14).for_each(|_| latency.relax());
        assert!((latency.expected_ms(4).unwrap() / before - 0.95_f64.powi(14)).abs() < 1e-9);
    }

    #[test]
    fn absurd_latencies_are_not_learned() {
        let mut latency = BatchLatency::default();
        latency.observe(0, 1.0);
        latency.observe(5, f64::NAN);
        latency.observe(5, -1.0);
        assert_eq!(latency.expected_ms(1), None);
        latency.observe(usize::MAX, f64::MAX);
        assert!(latency.fitting(1.0, 16) >= 1);
    }
}
