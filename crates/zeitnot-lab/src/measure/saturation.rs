//! Searches sizes upwards until a larger one no longer pays, and finds where a device saturates. Rates come in as
//! numbers.

use serde::{Deserialize, Serialize};

use zeitnot_engine::backend::saturation;

/// The share by which a larger size must raise the rate to pay. Measurements differ by about as much, and a search
/// learns more from each visit in smaller batches.
pub const GAIN: f64 = 0.05;
/// Sizes in a row that do not pay before the search ends: a single size may suit the device badly.
const PATIENCE: usize = 2;

/// The sizes to measure, one after another: batches in positions, or threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// These sizes, whatever their rates.
    Listed(Vec<usize>),
    /// The sizes of `first`, in rising order, then doublings until two in a row do not pay or `most` is reached.
    Rising {
        /// The sizes to begin with; at least one.
        first: Vec<usize>,
        /// The largest size, which is measured even if it is no doubling.
        most: usize,
    },
}

impl Sizes {
    /// Sizes that begin with `first` and double up to `most`, as long as larger ones pay.
    pub fn doubling(first: usize, most: usize) -> Sizes {
        Sizes::Rising { first: vec![first.min(most)], most }
    }

    /// The size to measure after `measured`, the sizes and their rates so far in the order of measurement; `None` at
    /// the end.
    pub fn after(&self, measured: &[(usize, f64)]) -> Option<usize> {
        match self {
            Sizes::Listed(sizes) => sizes.get(measured.len()).copied(),
            Sizes::Rising { .. } if unpaid(measured) >= PATIENCE => None,
            Sizes::Rising { first, most } => match (first.get(measured.len()), measured.last()) {
                (Some(&size), _) => Some(size),
                (None, Some(&(last, _))) if last < *most => Some((2 * last).min(*most)),
                (None, _) => None,
            },
        }
    }

    /// The largest size that may be measured.
    pub fn largest(&self) -> usize {
        match self {
            Sizes::Listed(sizes) => sizes.iter().copied().max().unwrap_or(0),
            Sizes::Rising { first, most } => first.iter().copied().fold(*most, usize::max),
        }
    }
}

/// Number of sizes at the end of `measured`, none of which raised the highest rate before it by [`GAIN`].
fn unpaid(measured: &[(usize, f64)]) -> usize {
    let (mut most, mut unpaid) = (0.0_f64, 0);
    for (index, &(_, rate)) in measured.iter().enumerate() {
        let pays = index == 0 || rate > 0.0 && rate >= most * (1.0 + GAIN);
        unpaid = if pays { 0 } else { unpaid + 1 };
        most = most.max(rate);
    }
    unpaid
}

/// The batch size from which a device gains next to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The smallest batch, in positions, within 5 % of the most evaluations a second.
    pub batch: usize,
    /// Evaluations a second at that batch.
    pub evals_per_s: f64,
    /// Whether larger batches were measured, and gained less; otherwise the device may be capable of more.
    pub is_reached: bool,
}

impl Saturation {
    /// Finds the saturation among batch sizes and their evaluations a second, in any order; `None` without any.
    pub fn of(measured: &[(usize, f64)]) -> Option<Saturation> {
        let (batch, evals_per_s) = saturation(measured, 1.0 - GAIN)?;
        let is_reached = measured.iter().any(|&(other, _)| other > batch);
        Some(Saturation { batch, evals_per_s, is_reached })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that are measured where the rate of a size is this.
    fn climb(sizes: &Sizes, rate: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut measured = Vec::new();
        while let Some(size) = sizes.after(&measured) {
            measured.push((size, rate(size)));
        }
        measured.into_iter().map(|(size, _)| size).collect()
    }

    #[test]
    fn sizes_rise_until_two_in_a_row_do_not_pay() {
        let saturating_at = |batch: usize| move |size: usize| size.min(batch) as f64;
        let to_1024 = Sizes::doubling(1, 1024);
        assert_eq!(climb(&to_1024, saturating_at(16)), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(climb(&to_1024, saturating_at(9000)), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(climb(&Sizes::doubling(64, 1024), saturating_at(1)), [64, 128, 256]);
        // A single size that suits the device badly is passed over.
        let with_a_dip = |size: usize| if size == 32 { 20.0 } else { size as f64 };
        assert_eq!(climb(&Sizes::doubling(8, 128), with_a_dip), [8, 16, 32, 64, 128]);
        // Two sizes that gain 3 % each do not pay, though both together would.
        assert_eq!(climb(&to_1024, |size| 100.0 + 3.0 * f64::from(size.ilog2())), [1, 2, 4]);
        // A size at which nothing could be measured does not pay.
        assert_eq!(climb(&to_1024, |size| if size > 2 { 0.0 } else { size as f64 }), [1, 2, 4, 8]);
        assert_eq!(climb(&to_1024, |_| 0.0), [1, 2, 4]);
    }

    #[test]
    fn the_most_is_measured_and_never_more() {
        let all = |size: usize| size as f64;
        assert_eq!(climb(&Sizes::doubling(64, 200), all), [64, 128, 200]);
        assert_eq!(climb(&Sizes::doubling(64, 64), all), [64]);
        assert_eq!(climb(&Sizes::doubling(64, 16), all), [16]);
        let threads = Sizes::Rising { first: vec![1, 2, 3, 4], most: 16 };
        assert_eq!(climb(&threads, all), [1, 2, 3, 4, 8, 16]);
        assert_eq!(climb(&threads, |threads| threads.min(2) as f64), [1, 2, 3, 4]);
        let listed = Sizes::Listed(vec![8, 1, 1]);
        assert_eq!((climb(&listed, |_| 1.0), listed.largest()), (vec![8, 1, 1], 8));
        assert_eq!((threads.largest(), Sizes::doubling(1, 1024).largest()), (16, 1024));
    }

    #[test]
    fn a_device_saturates_at_the_smallest_of_the_good_batches() {
        let table = [(1, 100.0), (64, 900.0), (16, 400.0), (32, 870.0), (128, 890.0)];
        let reached = Saturation::of(&table).unwrap();
        assert_eq!(reached, Saturation { batch: 32, evals_per_s: 870.0, is_reached: true });
        let rising = Saturation::of(&[(1, 100.0), (2, 180.0)]).unwrap();
        assert_eq!((rising.batch, rising.is_reached), (2, false));
        assert_eq!(Saturation::of(&[]), None);
    }
}
