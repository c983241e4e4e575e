//! Stops a search when more nodes hardly change the distribution of visits: KLD gain.

use crate::SearchSnapshot;

/// The stopper by KLD gain. Source: docs/lc0.md, 2.5.
#[derive(Clone, Debug)]
pub(super) struct KldGain {
    /// Gain below which the search stops, in nats per node.
    minimum: f64,
    /// Nodes between two samples.
    interval: f64,
    /// Visits of the root moves and their sum at the last sample.
    previous: Option<(Vec<u32>, f64)>,
}

impl KldGain {
    /// A stopper that samples every `interval` nodes; `None` unless `minimum`, in nats per node, is above 0.
    pub(super) fn new(minimum: f64, interval: u64) -> Option<Self> {
        (minimum > 0.0).then_some(Self { minimum, interval: interval.max(1) as f64, previous: None })
    }

    /// Whether the visits since the last sample brought less than the minimum.
    pub(super) fn stops(&mut self, snapshot: &SearchSnapshot) -> bool {
        // The root's own first visit went to none of its moves.
        let nodes = snapshot.total_nodes.saturating_sub(1) as f64;
        let sampled_at = self.previous.as_ref().map_or(0.0, |(_, nodes)| *nodes);
        if nodes < sampled_at + self.interval {
            return false;
        }
        let stops = self.previous.as_ref().is_some_and(|(visits, sampled_at)| {
            divergence(visits, *sampled_at, &snapshot.root_visits, nodes) / (nodes - sampled_at) < self.minimum
        });
        self.previous = Some((snapshot.root_visits.to_vec(), nodes));
        stops
    }
}

/// Kullback-Leibler divergence KL(old || new) of the shares of visits, in nats.
fn divergence(old: &[u32], old_nodes: f64, new: &[u32], new_nodes: f64) -> f64 {
    let visited = old.iter().zip(new).filter(|(old, _)| **old > 0);
    visited
        .map(|(old, new)| {
            let (p_old, p_new) = (f64::from(*old) / old_nodes, f64::from(*new) / new_nodes);
            p_old * (p_old / p_new).ln()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample<'a>(total_nodes: u64, root_visits: &'a [u32]) -> SearchSnapshot<'a> {
        SearchSnapshot { total_nodes, root_visits: root_visits.into(), ..SearchSnapshot::default() }
    }

    // docs/lc0.md, 2.5. From (60, 40) of 100 to (150, 50) of 200, 0.6 ln(0.6/0.75) + 0.4 ln(0.4/0.25) = 0.0541153,
    // over 100 nodes 0.000541153 a node.
    #[test]
    fn kld_gain_per_node_is_compared_with_the_minimum() {
        for (minimum, expected) in [(0.000_541, false), (0.000_542, true)] {
            let mut kld_gain = KldGain::new(minimum, 100).unwrap();
            assert!(!kld_gain.stops(&sample(101, &[60, 40])), "the first sample is only kept");
            assert!(!kld_gain.stops(&sample(200, &[149, 50])), "199 nodes: the interval is not over");
            assert_eq!(kld_gain.stops(&sample(201, &[150, 50])), expected);
        }
    }

    #[test]
    fn kld_gain_ignores_unvisited_moves_and_is_infinite_for_lost_visits() {
        let mut kld_gain = KldGain::new(1e-9, 100).unwrap();
        assert!(!kld_gain.stops(&sample(101, &[100, 0])));
        assert!(!kld_gain.stops(&sample(201, &[0, 200])), "infinite gain");
        assert!(kld_gain.stops(&sample(401, &[0, 400])), "no gain");
    }

    #[test]
    fn kld_gain_is_off_at_zero() {
        assert!(KldGain::new(0.0, 100).is_none());
        assert!(KldGain::new(f64::NAN, 100).is_none());
    }
}
