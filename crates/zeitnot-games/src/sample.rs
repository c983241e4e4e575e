//! Averages numbers that come one after another, and keeps a bounded random sample of them, to estimate the quantiles
//! of all.

use serde::{Deserialize, Serialize};
use zeitnot_engine::splitmix::SplitMix64;

/// A mean that numbers are added to: their sum and count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    pub sum: f64,
    /// How many numbers the sum has.
    pub count: usize,
}

impl Mean {
    pub fn add(&mut self, number: f64) {
        *self = Mean { sum: self.sum + number, count: self.count + 1 };
    }

    /// The mean of the numbers of both.
    pub fn join(self, other: Mean) -> Mean {
        Mean { sum: self.sum + other.sum, count: self.count + other.count }
    }

    /// The mean of the numbers; 0 without any.
    pub fn mean(self) -> f64 {
        if self.count > 0 { self.sum / self.count as f64 } else { 0.0 }
    }
}

/// Quantiles of a distribution, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The 5th percentile.
    pub p5: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
}

impl Quantiles {
    /// Quantiles of these numbers, each the number nearest to its rank, without interpolation; zeros without any
    /// numbers.
    pub fn of(mut numbers: Vec<f64>) -> Quantiles {
        numbers.sort_by(f64::total_cmp);
        let at = |percent: usize| match numbers.len() {
            0 => 0.0,
            len => numbers[((len - 1) * percent + 50) / 100],
        };
        Quantiles { p5: at(5), p50: at(50), p95: at(95) }
    }
}

/// A random sample of at most `most` of the added items, each kept with the same chance (Vitter's algorithm R). The
/// same items in the same order give the same sample; of up to `most` items it keeps all, in their order.
#[derive(Clone, Debug)]
pub struct Sample<T = f32> {
    most: usize,
    seen: usize,
    random: SplitMix64,
    items: Vec<T>,
}

impl<T> Sample<T> {
    /// An empty sample.
    pub fn new(most: usize) -> Sample<T> {
        Sample { most, seen: 0, random: SplitMix64(most as u64), items: Vec::new() }
    }

    pub fn add(&mut self, item: T) {
        self.seen += 1;
        if self.items.len() < self.most {
            self.items.push(item);
            return;
        }
        let place = self.random.below(self.seen);
        if let Some(kept) = self.items.get_mut(place) {
            *kept = item;
        }
    }

    /// Number of items that were added, kept or not.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// The items that are kept.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

// An `f32` has seven digits, more than clocks are rounded to.
impl Sample<f32> {
    /// Quantiles of the numbers that are kept.
    pub fn quantiles(&self) -> Quantiles {
        Quantiles::of(self.items.iter().map(|number| f64::from(*number)).collect())
    }

    /// The number in the middle, the upper one of two; `None` without numbers.
    pub fn median(&self) -> Option<f64> {
        let mut numbers = self.items.clone();
        numbers.sort_by(f32::total_cmp);
        numbers.get(numbers.len() / 2).map(|number| f64::from(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_numbers_are_all_kept_and_many_are_sampled() {
        let mut few = Sample::new(5);
        assert!(few.median().is_none());
        [3.0, 1.0, 2.0].into_iter().for_each(|number| few.add(number));
        assert_eq!((few.seen(), few.median(), few.quantiles().p95), (3, Some(2.0), 3.0));
        let mut many: Sample<u32> = Sample::new(1_000);
        (0..50_000).for_each(|number| many.add(number));
        assert_eq!((many.seen(), many.items().len()), (50_000, 1_000));
        // Those in turns, such as the colours of a match, and early ones have the same chance.
        for kind in [|number: u32| number.is_multiple_of(2), |number: u32| number < 25_000] {
            let kept = many.items().iter().filter(|number| kind(**number)).count();
            assert!((430..570).contains(&kept), "{kept}");
        }
    }
}
