//! Computes means and quantiles of measurements.

use serde::{Deserialize, Serialize};

/// The mean and quantiles of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
}

impl Latency {
    /// The latency of batches that took these times; zeros without times.
    pub fn of(mut times: Vec<f64>) -> Latency {
        times.sort_by(f64::total_cmp);
        let at = |share| quantile(&times, share);
        Latency { mean: mean(&times), p50: at(0.50), p95: at(0.95), p99: at(0.99) }
    }
}

/// The arithmetic mean; 0 without numbers.
pub(super) fn mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() { 0.0 } else { numbers.iter().sum::<f64>() / numbers.len() as f64 }
}

/// The median; 0 without numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    quantile(&numbers, 0.5)
}

/// A quantile of sorted numbers, interpolated (Hyndman and Fan's type 7); 0 without numbers.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// A count for each second; 0 where no time passed.
pub(super) fn rate(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { count / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let latency = Latency::of((0..=100).rev().map(f64::from).collect());
        assert_eq!(latency, Latency { mean: 50.0, p50: 50.0, p95: 95.0, p99: 99.0 });
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
        assert_eq!(median(vec![7.0]), 7.0);
        assert_eq!(Latency::of(Vec::new()), Latency::default());
        assert_eq!(rate(5.0, 0.0), 0.0);
    }
}
