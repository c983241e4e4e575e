//! Chooses how many positions a worker gathers into a batch.

use zeitnot_backend::Attributes;
use zeitnot_time::estimators::batch_latency::BatchLatency;

/// Milliseconds that a batch should keep the network busy. A batch comes from another processor in dozens of cache
/// lines, too many for an evaluation that takes less.
const WORTH_MS: f64 = 0.1;
/// Most positions that are gathered to keep the network busy.
const MOST: usize = 256;

/// Visits that the tree has for each position in flight at once: a visit that is chosen before the visits ahead of it
/// have come back knows less. In recorded positions the moves of searches of 150 visits lose 20.2 thousandths of value
/// in batches of 8, 16.5 with 32 visits a position, and 16.6 to 17.1 with 64 and 128 (docs/tuning.md, Maps).
const VISITS_A_POSITION: usize = 32;

/// Positions of a batch on a card whose tree is small: Lc0's. A card that gains by larger ones gets them as the tree
/// grows.
const CARD_BATCH: usize = 256;

/// Fewest positions in a batch while the tree is small, if nobody asked for a size: on a card no fewer than its smallest
/// run has rows, which take their time also where no position is in them.
pub(crate) fn least_batch(attributes: &Attributes) -> usize {
    match attributes.is_cpu {
        true => attributes.smallest_batch,
        false => attributes.smallest_batch.max(CARD_BATCH),
    }
}

/// The size of a batch that grows with the tree, from `least` to `most` in multiples of `least`. `least` is small on
/// devices that answer a few positions at nearly the rate of many, but not on a graphics card, which would be left
/// idle, and would fill up other sizes.
pub(crate) fn size_for_tree(least: usize, most: usize, visits: u32, workers: usize) -> usize {
    let size = (visits as usize / (VISITS_A_POSITION * workers)).clamp(least.min(most), most);
    if size < most { size - size % least } else { most }
}

/// The size of a batch: a minibatch, or several of them where the network takes next to no time for one. The network
/// still gets a minibatch at a time, but all visits of the batch are in flight together, and collide as in a minibatch
/// of that size. A minibatch of one, which means one visit after the other, stays as it is.
pub(crate) fn batch_size(latency: &BatchLatency, minibatch: usize, workers: usize) -> usize {
    match latency.expected_ms(minibatch) {
        Some(ms) if ms > 0.0 && workers > 1 && minibatch > 1 => {
            let minibatches = (WORTH_MS / ms) as usize;
            minibatch.max(minibatch.saturating_mul(minibatches).min(MOST))
        }
        _ => minibatch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_backend::{Backend as _, UniformBackend};

    fn seen(batches: &[(usize, f64)]) -> BatchLatency {
        let mut latency = BatchLatency::default();
        batches.iter().for_each(|(size, ms)| latency.observe(*size, *ms));
        latency
    }

    #[test]
    fn a_portion_is_larger_only_where_the_network_costs_nothing() {
        // Microseconds a position: the random backend, slower ones, a busy GPU, maia-1900 on a core.
        for (each_us, size) in [(0.1, 256), (0.7, 128), (1.5, 64), (4.0, 32), (10.0, 32), (70.0, 32)] {
            let latency = seen(&[(32, 32.0 * each_us / 1e3); 50]);
            assert_eq!(batch_size(&latency, 32, 2), size, "{each_us} us");
        }
        let random = seen(&[(32, 0.003); 50]);
        assert_eq!(batch_size(&random, 32, 1), 32, "one thread hands nothing over");
        assert_eq!(batch_size(&random, 1, 2), 1, "one visit after the other");
        assert_eq!(batch_size(&random, 512, 2), 512, "never less than was asked for");
    }

    #[test]
    fn a_small_tree_gets_small_batches() {
        for (visits, workers, size) in
            [(0, 1, 1), (63, 1, 1), (64, 1, 2), (150, 1, 4), (256, 1, 8), (1 << 20, 1, 8), (256, 2, 4)]
        {
            assert_eq!(size_for_tree(1, 8, visits, workers), size, "{visits} visits, {workers} workers");
        }
        assert_eq!((size_for_tree(4, 8, 10, 1), size_for_tree(8, 8, 10, 1)), (4, 8));
        let card = |visits| size_for_tree(256, 768, visits, 3);
        assert_eq!([0, 40_000, 50_000, 1 << 20].map(card), [256, 256, 512, 768]);
    }

    #[test]
    fn a_card_is_not_run_half_empty() {
        let backend = UniformBackend::new();
        let least = |is_cpu, smallest_batch| {
            least_batch(&Attributes { is_cpu, smallest_batch, ..backend.attributes().clone() })
        };
        // A size for each number of positions, one size alone, and a processor.
        assert_eq!([least(false, 16), least(false, 512), least(true, 1)], [256, 512, 1]);
    }

    #[test]
    fn a_network_whose_latency_does_not_depend_on_the_size_is_not_taken_for_a_free_one() {
        let flat: Vec<_> = (0..60).map(|batch| (8 + 8 * (batch % 4), 3.0)).collect();
        assert_eq!(batch_size(&seen(&flat), 32, 2), 32);
        assert_eq!(batch_size(&seen(&[(1, 5.0), (20, 1.4)]), 8, 2), 8, "the first evaluation took longest");
    }

    #[test]
    fn what_was_not_measured_is_not_free() {
        assert_eq!(batch_size(&BatchLatency::default(), 32, 2), 32);
        assert_eq!(batch_size(&seen(&[(32, 0.0); 5]), 32, 2), 32, "a clock that stands");
    }
}
