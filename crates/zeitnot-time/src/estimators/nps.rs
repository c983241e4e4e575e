//! Estimates nodes per second by decay, as the design page of `smooth` does.

use super::exponential_decay;
use super::speed::{RANGE, first_batch_nodes};
use crate::{MS_PER_SECOND, SearchSnapshot};

/// The estimate of speed of the smooth manager. Source: docs/documents.md, 1.4.
///
/// While a move is searched, the estimate decays towards the *current nps* of that move, half-way in `half_life_ms`;
/// each update counts by the time since the one before, so many checks and few checks give the same answer. The current
/// nps is the number of nodes evaluated after the first batch over the time since that batch ended: a slow first batch
/// (a cold device) does not pull it down, and the first batch's nodes do not push it up (Lc0 counts them, and its
/// estimate ratchets to almost twice the truth: docs/lc0.md, 7.3).
#[derive(Clone, Debug)]
pub(crate) struct NpsEstimator {
    estimate: f64,
    half_life_ms: f64,
    /// Nodes of the first batch of this move, once it has ended.
    first_batch_nodes: Option<f64>,
    /// Time of the last update, in ms since the first batch of this move ended.
    updated_at_ms: f64,
}

impl NpsEstimator {
    /// Starts from `initial` nodes per second; `half_life_ms` is the time to move half-way to a new speed.
    pub(crate) fn new(initial: f64, half_life_ms: f64) -> Self {
        Self { estimate: initial, half_life_ms, first_batch_nodes: None, updated_at_ms: 0.0 }
    }

    pub(crate) fn nps(&self) -> f64 {
        self.estimate
    }

    pub(crate) fn set(&mut self, nps: f64) {
        if nps.is_finite() {
            self.estimate = nps.clamp(*RANGE.start(), *RANGE.end());
        }
    }

    /// Begins a move: the next observation belongs to it.
    pub(crate) fn begin_move(&mut self) {
        self.first_batch_nodes = None;
        self.updated_at_ms = 0.0;
    }

    pub(crate) fn observe(&mut self, snapshot: &SearchSnapshot) {
        let Some(since_first_batch) = snapshot.since_first_batch_ms.filter(|t| t.is_finite()) else {
            return;
        };
        let nodes = snapshot.new_nodes as f64;
        let first_batch = *self.first_batch_nodes.get_or_insert(first_batch_nodes(snapshot));
        let measured = nodes - first_batch;
        let step = since_first_batch - self.updated_at_ms;
        if measured <= 0.0 || step <= 0.0 {
            return;
        }
        let current = measured * MS_PER_SECOND / since_first_batch;
        self.set(exponential_decay(self.estimate, current.min(*RANGE.end()), self.half_life_ms, step));
        self.updated_at_ms = since_first_batch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(since_first_batch_ms: f64, new_nodes: u64, batches: u64) -> SearchSnapshot<'static> {
        SearchSnapshot {
            elapsed_ms: since_first_batch_ms,
            since_first_batch_ms: Some(since_first_batch_ms),
            new_nodes,
            batches,
            ..SearchSnapshot::default()
        }
    }

    // docs/documents.md, 1.4: init-nps 20000, nps-update-rate 5 s.
    #[test]
    fn seed_estimating_nodes_per_second_moves_half_way_in_one_update_rate() {
        let mut nps = NpsEstimator::new(20_000.0, 5_000.0);
        assert_eq!(nps.nps(), 20_000.0);
        // 50000 nodes in 5 s: current nps 10000, one half-life: (20000 + 10000)/2.
        nps.observe(&snapshot(5_000.0, 50_000, 0));
        assert_eq!(nps.nps(), 15_000.0);
        // 5 s more at the same speed: (15000 + 10000)/2.
        nps.observe(&snapshot(10_000.0, 100_000, 0));
        assert_eq!(nps.nps(), 12_500.0);
    }

    // docs/documents.md, 1.4: as the search goes; the answer must not depend on how often it is asked.
    #[test]
    fn seed_nps_counts_time_and_not_updates() {
        let mut nps = NpsEstimator::new(20_000.0, 5_000.0);
        for ms in 1..=5_000_u32 {
            nps.observe(&snapshot(f64::from(ms), u64::from(ms) * 10, 0));
        }
        assert!((nps.nps() - 15_000.0).abs() < 1e-6, "{}", nps.nps());
    }

    // docs/documents.md, 1.4: it lives on from move to move.
    #[test]
    fn seed_nps_is_kept_from_move_to_move() {
        let mut nps = NpsEstimator::new(20_000.0, 5_000.0);
        nps.observe(&snapshot(5_000.0, 50_000, 0));
        nps.begin_move();
        assert_eq!(nps.nps(), 15_000.0);
        // A new move: its time starts again at 0. 2.5 s at 1000 nps: 1000 + 14000·2^-0.5 = 10899.494936611665.
        nps.observe(&snapshot(2_500.0, 2_500, 0));
        assert!((nps.nps() - 10_899.494_936_611_665).abs() < 1e-9, "{}", nps.nps());
    }

    // docs/lc0.md, 1.11, the ratchet: true speed 1000 nps, batches of 20 nodes in 20 ms, moves of one second. Lc0
    // settles near 1900.
    #[test]
    fn the_first_batch_does_not_ratchet_the_estimate() {
        let mut nps = NpsEstimator::new(1_000.0, 5_000.0);
        for _ in 0..12 {
            nps.begin_move();
            for batch in 1..=50_u32 {
                nps.observe(&snapshot(f64::from((batch - 1) * 20), u64::from(batch) * 20, u64::from(batch)));
            }
            assert!((nps.nps() - 1_000.0).abs() < 1e-6, "{}", nps.nps());
        }
        // A first look that comes late knows the batches only by their count.
        nps.begin_move();
        nps.observe(&snapshot(40.0, 60, 3));
        assert!((nps.nps() - 1_000.0).abs() < 1e-6, "{}", nps.nps());
    }

    #[test]
    fn nothing_is_learned_before_the_first_batch_ends_or_between_two_batches() {
        let mut nps = NpsEstimator::new(20_000.0, 5_000.0);
        nps.observe(&SearchSnapshot { elapsed_ms: 9_000.0, ..SearchSnapshot::default() });
        nps.observe(&snapshot(100.0, 256, 1)); // the second batch is still running
        nps.observe(&snapshot(f64::NAN, 512, 2));
        nps.observe(&snapshot(-5.0, 512, 2));
        assert_eq!(nps.nps(), 20_000.0);
    }

    #[test]
    fn absurd_speeds_stay_finite() {
        let mut nps = NpsEstimator::new(20_000.0, 5_000.0);
        nps.observe(&snapshot(f64::MIN_POSITIVE, u64::MAX, 0));
        nps.observe(&snapshot(1e300, u64::MAX, 0));
        assert!(RANGE.contains(&nps.nps()));
        nps.set(f64::NAN);
        assert!(RANGE.contains(&nps.nps()));
    }
}
