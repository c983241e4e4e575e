//! Computes the mean over moves and its interval by bootstrap over whole groups of moves, such as pairs of games: the
//! moves of a group are alike.

use zeitnot_engine::splitmix::SplitMix64;

/// Number of times that the groups are resampled.
const RESAMPLINGS: usize = 2_000;
/// Seed of the resamplings.
const SEED: u64 = 27;

/// The mean over the entries of all groups, each given by the sum and the count of its entries, and the 95 % interval
/// of the mean. Without entries all three are 0. The interval of a single group is infinite, as one group does not show
/// how groups differ.
pub fn mean_and_interval(groups: &[(f64, f64)]) -> (f64, [f64; 2]) {
    let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    let mean = |sums: (f64, f64)| if sums.1 > 0.0 { sums.0 / sums.1 } else { 0.0 };
    if let [only] = groups {
        return (mean(*only), [f64::NEG_INFINITY, f64::INFINITY]);
    }
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLINGS)
        .map(|_| mean((0..groups.len()).map(|_| groups[random.below(groups.len())]).fold((0.0, 0.0), add)))
        .collect();
    means.sort_by(f64::total_cmp);
    let quantile = |share: f64| means[((RESAMPLINGS - 1) as f64 * share).round() as usize];
    (mean(groups.iter().copied().fold((0.0, 0.0), add)), [quantile(0.025), quantile(0.975)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_groups() {
        let width = |groups: u32| {
            let groups: Vec<(f64, f64)> = (0..groups).map(|group| (f64::from(group % 5), 1.0)).collect();
            let (mean, [low, high]) = mean_and_interval(&groups);
            assert!(mean == 2.0 && low < mean && mean < high);
            high - low
        };
        // The standard error of 100 numbers of deviation 1.41 is 0.141.
        assert!((width(100) / (2.0 * 1.96 * 0.1414) - 1.0).abs() < 0.1);
        assert!(width(400) < 0.6 * width(100));
        assert_eq!(mean_and_interval(&[]), (0.0, [0.0; 2]));
        assert_eq!(mean_and_interval(&[(6.0, 2.0)]), (3.0, [f64::NEG_INFINITY, f64::INFINITY]));
    }

    #[test]
    fn entries_that_are_alike_in_a_group_do_not_narrow_it() {
        let width = |count: f64| {
            let groups: Vec<(f64, f64)> = (0..50).map(|group| (f64::from(group % 5) * count, count)).collect();
            let (_, [low, high]) = mean_and_interval(&groups);
            high - low
        };
        assert!((width(1.0) - width(30.0)).abs() < 1e-9);
    }
}
