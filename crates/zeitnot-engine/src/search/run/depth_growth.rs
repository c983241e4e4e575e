//! Detects that the lines of a search end before the depth that was asked for: at the fifty-move rule, say, or at
//! repetitions. `go depth` would then wait for ever.
//!
//! The mean depth of a tree that is open grows by about the same at each doubling of its visits. Where most lines have
//! an end that is near, it grows less and less, and the visits that the depth would take can be extrapolated.

use crate::search::gather::batch::Progress;

/// Playouts at the first look, which only notes the state. Each further look comes at twice as many playouts; the
/// second is beyond the nodes that `bench` gives a position.
const FIRST_LOOK: u64 = 8192;

/// Share of bounded playouts ([`Progress::bounded`]) from which on the others are too few for the search to go deeper.
const NEARLY_ALL: f64 = 0.9;

/// Share of bounded playouts ([`Progress::bounded`]) from which on growth is extrapolated. With fewer the tree is open,
/// and the search goes on at any depth: GUIs ask for 99 plies where they mean no end.
const MOST: f64 = 0.5;

/// Most doublings of the visits that a depth is worth waiting for: a million times as many visits.
const MOST_DOUBLINGS: f64 = 20.0;

/// Watches how the mean depth grows.
#[derive(Debug, Default)]
pub(crate) struct DepthGrowth {
    /// The progress of the search at the last look.
    seen: Progress,
    /// Mean depth of the playouts between the last two looks, in plies.
    mean_depth: f64,
    excluded: bool,
}

impl DepthGrowth {
    /// Whether a search with the progress `so_far` will not reach the mean depth `asked`, in plies.
    pub(crate) fn excludes(&mut self, so_far: &Progress, asked: u32) -> bool {
        if so_far.playouts < FIRST_LOOK.max(2 * self.seen.playouts) {
            return self.excluded;
        }
        let playouts = (so_far.playouts - self.seen.playouts) as f64;
        let mean_depth = (so_far.depth_sum - self.seen.depth_sum) as f64 / playouts;
        let growth = (mean_depth - self.mean_depth).max(0.0);
        let bounded = (so_far.bounded - self.seen.bounded) as f64 / playouts;
        let missing = f64::from(asked) - mean_depth;
        let is_hopeless = bounded >= NEARLY_ALL || bounded >= MOST && missing > growth * MOST_DOUBLINGS;
        self.excluded = is_hopeless && self.seen.playouts > 0;
        (self.seen, self.mean_depth) = (*so_far, mean_depth);
        self.excluded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search in batches whose mean depth after that many doublings is that of `depth`, in plies, and of whose
    /// playouts a share has lines that end. Returns the playouts after which the depth asked for is excluded.
    fn excluded_after(asked: u32, bounded: f64, depth: impl Fn(f64) -> f64) -> Option<u64> {
        let (mut growth, mut so_far) = (DepthGrowth::default(), Progress::default());
        while so_far.playouts < 1 << 24 {
            let batch = 512;
            so_far.playouts += batch;
            so_far.depth_sum += (batch as f64 * depth((so_far.playouts as f64).log2())) as u64;
            so_far.bounded += (batch as f64 * bounded) as u64;
            if growth.excludes(&so_far, asked) {
                return Some(so_far.playouts);
            }
        }
        None
    }

    #[test]
    fn a_depth_beyond_the_ends_of_all_lines_is_excluded() {
        // All lines end at ten plies, and some have come nearer than others.
        assert_eq!(excluded_after(30, 1.0, |_| 10.0), Some(2 * FIRST_LOOK));
        assert_eq!(excluded_after(12, 0.95, |doublings| 0.5 * doublings), Some(2 * FIRST_LOOK));
        // Most do, and the mean comes nearer to that more and more slowly.
        let nearer = |doublings: f64| 10.0 - 40.0 / doublings.powi(2);
        assert_eq!(excluded_after(30, 0.8, nearer), Some(2 * FIRST_LOOK));
        assert!(excluded_after(12, 0.6, nearer).is_some());
        // Mates that are found are nearer.
        assert!(excluded_after(30, 0.6, |doublings| 20.0 - doublings).is_some());
    }

    #[test]
    fn a_depth_that_takes_long_is_waited_for() {
        // An open tree, however slowly it grows.
        assert_eq!(excluded_after(30, 0.0, |doublings| 0.01 * doublings), None);
        assert_eq!(excluded_after(30, 0.4, |_| 10.0), None);
        // Many lines end, but the others become longer.
        assert_eq!(excluded_after(30, 0.8, |doublings| 1.5 * doublings), None);
    }
}
