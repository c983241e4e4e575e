//! The sizes of runs on a device, and the one that saturates it.

use crate::preferences;
use zeitnot_runtime::Provider;

/// Milliseconds of a thread for an evaluation, from its visit's choice to the backup: 88,600 a second by one thread
/// with the backend simulated and `card=none`.
const HOST_MS: f64 = 0.011;
/// Most workers beyond the runs in flight: more would wait for each other, as one at a time has the tree.
const MOST_GATHERING: f64 = 2.0;
/// Share of the best rate of positions that a smaller batch must reach for the device to count as saturated.
const SATURATED: f64 = 0.95;

/// The numbers of rows (positions) that runs may have. Fewer positions are filled up, because a device plans anew for
/// each size it has not seen (CUDA, DirectML), takes one only (CoreML), or was built for a range (TensorRT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The fewest rows of a run.
    pub(crate) least: usize,
    /// The most rows of a run.
    pub most: usize,
    /// The sizes of runs, smallest first, `least` and `most` among them; empty where any size between them will do.
    sizes: Vec<usize>,
}

impl Rows {
    /// Runs of any size from `least` to `most`.
    pub(crate) fn any(least: usize, most: usize) -> Rows {
        Rows { least, most, sizes: Vec::new() }
    }

    /// Default rows of a provider's runs.
    pub fn of_provider(provider: Provider) -> Rows {
        match preferences(provider).rows {
            (least, most, []) => Rows::any(least, most),
            (least, most, sizes) => Rows::sizes_between(sizes, least, most),
        }
    }

    /// Runs of just this size.
    pub fn fixed(rows: usize) -> Rows {
        Rows { least: rows, most: rows, sizes: vec![rows] }
    }

    /// Runs of those `sizes` that lie between `least` and `most`, and of `least` and `most` themselves.
    pub(crate) fn sizes_between(sizes: &[usize], least: usize, most: usize) -> Rows {
        let between = sizes.iter().copied().filter(|size| (least + 1..most).contains(size));
        let mut sizes: Vec<usize> = std::iter::once(least).chain(between).chain([most]).collect();
        sizes.dedup();
        Rows { least, most, sizes }
    }

    /// The rows of a run that holds `positions`, which are at most [`Rows::most`].
    pub fn of(&self, positions: usize) -> usize {
        let wanted = positions.max(self.least);
        match self.sizes.is_empty() {
            true => wanted,
            false => {
                self.sizes[self.sizes.partition_point(|&size| size < wanted).min(self.sizes.len() - 1)].max(positions)
            }
        }
    }

    /// Whether runs may have any size from the least to the most.
    pub(crate) fn are_any(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The only size of runs; `None` if there are several.
    pub fn only(&self) -> Option<usize> {
        (self.of(1) == self.most).then_some(self.most)
    }

    /// Positions from which a larger batch gains next to nothing on this provider. If there is only one size it is
    /// preferred, as it is run in full also with few positions in it.
    pub fn preferred(&self, provider: Provider) -> usize {
        self.only().unwrap_or(preferences(provider).batch.min(self.most))
    }

    /// The batch and the workers that suit a device with `runs` in flight, by the milliseconds of a run of each size.
    pub(crate) fn suited(&self, provider: Provider, times: &[(usize, f64)], runs: usize) -> Suited {
        // Two ends say nothing of what lies between them.
        let rates: Vec<_> = times.iter().map(|&(rows, time)| (rows, rows as f64 / time)).collect();
        match saturation(&rates, SATURATED).filter(|_| !self.are_any()) {
            Some((rows, rate)) => {
                // Whoever waits for the device does not gather for it.
                let gathering = (rate * HOST_MS).ceil().clamp(1.0, MOST_GATHERING) as usize;
                Suited { batch: self.of(rows), workers: runs + gathering }
            }
            None => Suited { batch: self.preferred(provider), workers: runs + 1 },
        }
    }

    /// All sizes that runs can have, smallest first; if any size will do, only the least and the most.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        match self.sizes.is_empty() {
            true if self.least == self.most => vec![self.most],
            true => vec![self.least, self.most],
            false => self.sizes.clone(),
        }
    }

    /// Rows without the sizes that are not among these, which have the milliseconds of a run each and are smallest
    /// first; where any size will do, up to the largest of them. Without any, the rows as they are.
    pub(crate) fn among(&self, times: &[(usize, f64)]) -> Rows {
        let ([(least, _), ..], [.., (most, _)]) = (times, times) else { return self.clone() };
        let sizes = self.sizes.iter().copied().filter(|size| times.iter().any(|(of, _)| of == size)).collect();
        Rows { least: self.least.max(*least).min(*most), most: self.most.min(*most), sizes }
    }

    /// Rows without sizes whose runs take as long as a larger size's by `milliseconds`, the time of a run of each
    /// size: the further positions of the larger size are free. The largest size stays.
    pub(crate) fn without_slower(&self, milliseconds: &[(usize, f64)]) -> Rows {
        let time = |size: usize| milliseconds.iter().find(|(of, _)| *of == size).map(|&(_, time)| time);
        let is_slower = |size: usize| {
            let larger = self.sizes.iter().filter(|&&other| other > size);
            larger.filter_map(|&other| time(other)).any(|larger| time(size).is_some_and(|own| own >= larger))
        };
        let sizes: Vec<usize> = self.sizes.iter().copied().filter(|&size| !is_slower(size)).collect();
        Rows { least: sizes.first().copied().unwrap_or(self.least), most: self.most, sizes }
    }
}

/// The batch and the number of workers that suit a device.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Suited {
    /// Positions that a search should gather.
    pub batch: usize,
    pub workers: usize,
}

/// The smallest size whose rate is at least `share` of the best rate, and its rate; `None` without sizes. `rates` are
/// sizes and their rates in any order.
pub fn saturation(rates: &[(usize, f64)], share: f64) -> Option<(usize, f64)> {
    let most = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    rates.iter().copied().filter(|&(_, rate)| rate >= share * most).min_by_key(|&(size, _)| size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_preferences::NVIDIA_SIZES;

    #[test]
    fn runs_are_filled_up_to_sizes_that_the_device_knows() {
        let cuda = Rows::of_provider(Provider::Cuda);
        assert_eq!([1, 16, 17, 33, 250, 1000].map(|positions| cuda.of(positions)), [16, 16, 32, 64, 256, 1024]);
        assert_eq!(cuda.sizes(), NVIDIA_SIZES);
        assert_eq!(cuda.only(), None);
        assert_eq!(Rows::fixed(16).sizes(), [16]);
        assert_eq!(Rows::fixed(16).only(), Some(16));
        assert_eq!(Rows::any(1, 256).of(7), 7);
        assert_eq!((Rows::any(4, 256).of(1), Rows::any(4, 256).sizes()), (4, vec![4, 256]));
        // Ends that are no sizes of the list.
        let odd = Rows::sizes_between(&NVIDIA_SIZES, 10, 100);
        assert_eq!(odd.sizes(), [10, 16, 32, 64, 96, 100]);
        assert_eq!([1, 31, 97].map(|positions| odd.of(positions)), [10, 32, 100]);
        assert_eq!(Rows::sizes_between(&NVIDIA_SIZES, 8, 8), Rows::fixed(8));
    }

    #[test]
    fn a_size_that_takes_as_long_as_a_larger_one_is_left_out() {
        let rows = Rows::sizes_between(&NVIDIA_SIZES, 16, 256);
        let times = [(16, 1.0), (32, 1.0), (64, 1.5), (96, 2.6), (128, 2.5), (192, 3.0), (256, 4.0)];
        let kept = rows.without_slower(&times);
        assert_eq!(kept.sizes(), [32, 64, 128, 192, 256]);
        assert_eq!((kept.of(1), kept.of(70), kept.of(256)), (32, 128, 256));
        assert_eq!(rows.without_slower(&[]), rows);
        assert_eq!(rows.among(&times[1..3]), Rows::sizes_between(&[], 32, 64));
        assert_eq!((rows.among(&times), rows.among(&[])), (rows.clone(), rows));
        assert_eq!(Rows::any(1, 256).among(&times[..1]), Rows::any(16, 16));
        assert_eq!(Rows::any(1, 256).among(&[(1, 2.0)]), Rows::any(1, 1));
        assert_eq!(Rows::any(1, 256).without_slower(&[(1, 2.0), (256, 1.0)]), Rows::any(1, 256));
    }

    #[test]
    fn batch_and_workers_follow_from_the_times_of_runs() {
        let rows = Rows::sizes_between(&NVIDIA_SIZES, 16, 1024);
        let suited = |times: &[(usize, f64)], runs| {
            let Suited { batch, workers } = rows.suited(Provider::Cuda, times, runs);
            (batch, workers)
        };
        assert_eq!(suited(&[(16, 2.0), (256, 5.4), (512, 10.2), (1024, 19.6)], 2), (512, 3));
        assert_eq!(suited(&[(16, 1.0), (256, 1.0), (512, 2.0), (1024, 4.0)], 2), (256, 4), "the host is slower");
        assert_eq!(suited(&[(16, 1.0), (256, 16.0), (512, 32.0), (1024, 64.0)], 1), (16, 2), "a slow device");
        assert_eq!(suited(&[], 2), (256, 3));
    }

    #[test]
    fn saturation_is_the_smallest_size_near_the_best() {
        let times = [(16, 1.0), (32, 1.0), (64, 1.0), (128, 1.9), (256, 3.8)];
        let rates = times.map(|(size, time)| (size, size as f64 / time));
        let found = |rates: &[_], share| saturation(rates, share).map(|(size, _)| size);
        assert_eq!((found(&rates, 0.9), found(&rates, 1.0), found(&[], 0.9)), (Some(64), Some(128), None));
        assert_eq!(saturation(&rates, 0.9), Some((64, 64.0)));
    }
}
