//! How the numbers of an activation are spread, and the range in which 8 bits tell them best apart.

use crate::network::ActivationRange;

/// Bins between the least and the largest number.
const BINS: usize = 2048;
/// Steps of 8 bits.
const STEPS: f64 = 255.0;
/// Shares of the full range that are tried for each end.
const CUTS: std::ops::RangeInclusive<usize> = 5..=100;

/// Counts of numbers between two bounds.
pub(super) struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<u64>,
}

impl Histogram {
    pub(super) fn new(low: f32, high: f32) -> Histogram {
        Histogram { low: f64::from(low.min(0.0)), high: f64::from(high.max(0.0)), counts: vec![0; BINS] }
    }

    fn width(&self) -> f64 {
        (self.high - self.low) / BINS as f64
    }

    pub(super) fn add(&mut self, values: &[f32]) {
        let per_bin = (1.0 / self.width()) as f32;
        let low = self.low as f32;
        for &value in values {
            let bin = ((value - low) * per_bin) as usize;
            self.counts[bin.min(BINS - 1)] += 1;
        }
    }

    /// The range with the least mean squared error: what is inside is rounded (a twelfth of the squared step), what is
    /// outside is clipped.
    pub(super) fn best_range(&self) -> ActivationRange {
        let mut best = (self.low, self.high);
        // Each end in turn, the other fixed: rounding depends on their sum only, clipping on each alone.
        for _ in 0..2 {
            let candidates = CUTS.map(|cut| (best.0, self.high * cut as f64 / 100.0));
            best = self.least(candidates, best);
            let candidates = CUTS.map(|cut| (self.low * cut as f64 / 100.0, best.1));
            best = self.least(candidates, best);
        }
        ActivationRange { minimum: best.0 as f32, maximum: best.1 as f32 }
    }

    fn least(&self, candidates: impl Iterator<Item = (f64, f64)>, start: (f64, f64)) -> (f64, f64) {
        let first = (self.error(start), start);
        let scored = candidates.map(|range| (self.error(range), range));
        scored.fold(first, |best, next| if next.0 < best.0 { next } else { best }).1
    }

    fn error(&self, (low, high): (f64, f64)) -> f64 {
        let step = (high - low) / STEPS;
        let width = self.width();
        let mut sum = 0.0;
        for (bin, &count) in self.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let value = self.low + (bin as f64 + 0.5) * width;
            let outside = (low - value).max(value - high).max(0.0);
            let square = if outside > 0.0 { outside * outside } else { step * step / 12.0 };
            sum += count as f64 * square;
        }
        sum
    }
}
