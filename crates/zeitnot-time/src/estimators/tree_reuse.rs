//! Estimates the fraction of a search tree that survives our move and the opponent's reply.

use super::LearnedShare;

/// The estimate of tree reuse of the smooth manager. Source: docs/documents.md, 1.5.
#[derive(Clone, Debug)]
pub(crate) struct TreeReuse {
    pub(crate) share: LearnedShare,
    last: Option<LastSearch>,
}

#[derive(Clone, Copy, Debug)]
struct LastSearch {
    total_nodes: u64,
    /// Time of the search as a multiple of an average move's: the weight of its sample.
    average_moves: f64,
}

impl TreeReuse {
    /// An estimate that begins at `initial` and stays at most `max`, fractions with `max` below 1. After `update_rate`
    /// average moves it has moved half-way to a new sample.
    pub(crate) fn new(initial: f64, max: f64, update_rate: f64) -> Self {
        Self { share: LearnedShare::new(initial, [0.0, max], update_rate), last: None }
    }

    /// Takes in a search that ended with `total_nodes` in the tree after `average_moves` average move times.
    pub(crate) fn search_ended(&mut self, total_nodes: u64, average_moves: f64) {
        self.last = Some(LastSearch { total_nodes, average_moves });
    }

    /// Forgets the last search: the next tree is no sample of its reuse.
    pub(crate) fn forget_last(&mut self) {
        self.last = None;
    }

    /// Learns from the beginning of a search: the sample is the `reused_nodes` in the tree over the nodes at the end of
    /// the last search, and `of_grown` for a tree that is larger than it was then, because it grew while pondering
    /// (docs/lc0.md, 7.6).
    pub(crate) fn search_begins(&mut self, reused_nodes: u64, of_grown: f64) {
        let Some(last) = self.last.take().filter(|last| last.total_nodes > 0) else {
            return;
        };
        let sample =
            if reused_nodes > last.total_nodes { of_grown } else { reused_nodes as f64 / last.total_nodes as f64 };
        self.share.learn(sample, last.average_moves);
    }
}

#[cfg(test)]
mod tests {
    use super::TreeReuse;

    fn seed_defaults() -> TreeReuse {
        TreeReuse::new(0.5, 0.7, 4.0)
    }

    // docs/documents.md, 1.5.
    #[test]
    fn seed_tree_reuse_is_nodes_at_the_beginning_over_nodes_at_the_end_of_the_previous_search() {
        let mut reuse = seed_defaults();
        reuse.search_begins(300, 0.7); // the first search of a game has no previous one
        assert_eq!(reuse.share.value, 0.5);
        // 100 of 1000 nodes survive a search of 4 average moves (the update rate): half-way from 0.5 to 0.1.
        reuse.search_ended(1_000, 4.0);
        reuse.search_begins(100, 0.7);
        assert!((reuse.share.value - 0.3).abs() < 1e-12);
        // The sample is used once.
        reuse.search_begins(100, 0.7);
        assert!((reuse.share.value - 0.3).abs() < 1e-12);
    }

    // docs/documents.md, 1.5: never above `max-tree-reuse`.
    #[test]
    fn seed_tree_reuse_is_limited_by_max_tree_reuse() {
        let mut reuse = seed_defaults();
        assert!(!reuse.share.limited);
        // Sample 1.0 over two update rates: 0.5 + 0.75·0.5 = 0.875, above 0.7.
        reuse.search_ended(1_000, 8.0);
        reuse.search_begins(1_000, 0.7);
        assert_eq!(reuse.share.value, 0.7);
        assert!(reuse.share.limited);
        assert_eq!(TreeReuse::new(0.9, 0.7, 4.0).share.value, 0.7);
    }

    // docs/documents.md, 1.6.
    #[test]
    fn seed_average_move_time_weighs_the_update() {
        let after = |average_moves: f64| {
            let mut reuse = seed_defaults();
            reuse.search_ended(1_000, average_moves);
            reuse.search_begins(0, 0.7);
            reuse.share.value
        };
        assert!((after(1.0) - 0.5 * 0.5_f64.powf(0.25)).abs() < 1e-12); // exactly average: the per-move rate, 0.420448
        assert!(after(2.0) < after(1.0)); // longer than average: more weight
        assert!((after(0.001) - 0.499_913).abs() < 1e-6); // an insta-move: 0.5·2^-0.00025, almost no update
    }

    #[test]
    fn a_tree_that_grew_counts_as_given_and_an_empty_one_teaches_nothing() {
        // 1 - 0.5·2^-0.25 = 0.579552, and 0.7 - 0.2·2^-0.25 = 0.531821
        for (of_grown, value) in [(1.0, 0.579_552), (0.7, 0.531_821)] {
            let mut grown = seed_defaults();
            grown.search_ended(1_000, 1.0);
            grown.search_begins(5_000, of_grown);
            assert!((grown.share.value - value).abs() < 1e-6, "{}", grown.share.value);
        }
        let mut empty = seed_defaults();
        empty.search_ended(0, 1.0);
        empty.search_begins(0, 0.7);
        assert_eq!(empty.share.value, 0.5);
    }
}
