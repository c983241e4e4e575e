//! Estimates nodes per second as the game's nodes over the game's time.

use crate::{MS_PER_SECOND, SearchSnapshot};

/// Bounds of estimates, in nodes per second, which only keep absurd input finite: a node in a quarter of an hour, and a
/// node in a picosecond.
pub(super) const RANGE: std::ops::RangeInclusive<f64> = 1e-3..=1e12;
/// Weight of the first guess, in milliseconds of searching: less than the first batches of any search, because a
/// guess of 20,000 nodes per second says nothing about a search of 3,000.
const GUESS_WEIGHT_MS: f64 = 5.0;
/// Weight of a speed set from outside, in milliseconds of searching.
const SET_WEIGHT_MS: f64 = 10_000.0;
/// Shortest half-life of measurements, in milliseconds: a few batches say little about speed.
const SHORTEST_HALF_LIFE_MS: f64 = 1_000.0;

/// The estimate of speed of plain `smooth`: nodes over time of the searches so far, both forgotten at the same rate.
///
/// On the design page (docs/documents.md, 1.4) *speeds* decay (see [`NpsEstimator`](super::nps::NpsEstimator)); here
/// nodes and time do: a sample weighs by the time it took and by nothing else. So the first guess is gone after the
/// first batches, a slow moment weighs as much as it lasted, and a tree that is lost changes nothing by itself. The
/// collapse of Lc0's issue #1585 (60,701 to 12,990 nodes per second in one move) becomes what it was: one slow move
/// among many. The first batch of a move counts neither with its nodes nor with its time.
#[derive(Clone, Debug)]
pub(crate) struct SpeedEstimator {
    nodes: f64,
    ms: f64,
    half_life_ms: f64,
    /// Nodes at the last update of this move, and the time of that update since the first batch ended.
    last: Option<(f64, f64)>,
}

impl SpeedEstimator {
    pub(crate) fn new(guess: f64) -> Self {
        let (ms, half_life_ms) = (GUESS_WEIGHT_MS, SHORTEST_HALF_LIFE_MS);
        Self { nodes: guess * ms / MS_PER_SECOND, ms, half_life_ms, last: None }
    }

    pub(crate) fn nps(&self) -> f64 {
        (self.nodes * MS_PER_SECOND / self.ms).clamp(*RANGE.start(), *RANGE.end())
    }

    pub(crate) fn set(&mut self, nps: f64) {
        if nps.is_finite() {
            let nps = nps.clamp(*RANGE.start(), *RANGE.end());
            (self.nodes, self.ms) = (nps * SET_WEIGHT_MS / MS_PER_SECOND, SET_WEIGHT_MS);
        }
    }

    /// Ends a move: the next observation belongs to another one.
    pub(crate) fn end_move(&mut self) {
        self.last = None;
    }

    /// Sets the half-life of measurements, in milliseconds of search.
    pub(crate) fn set_half_life(&mut self, ms: f64) {
        if ms.is_finite() {
            self.half_life_ms = ms.max(SHORTEST_HALF_LIFE_MS);
        }
    }

    pub(crate) fn observe(&mut self, snapshot: &SearchSnapshot) {
        let Some(now_ms) = snapshot.since_first_batch_ms.filter(|ms| ms.is_finite() && *ms >= 0.0) else { return };
        let nodes = snapshot.new_nodes as f64;
        let (nodes_before, ms_before) = self.last.unwrap_or_else(|| (first_batch_nodes(snapshot), 0.0));
        let (new_nodes, passed_ms) = (nodes - nodes_before, now_ms - ms_before);
        // Between two batches only time passes; it counts when the batch is in.
        if new_nodes <= 0.0 || passed_ms <= 0.0 {
            self.last.get_or_insert((nodes_before, ms_before));
            return;
        }
        let kept = 0.5_f64.powf(passed_ms / self.half_life_ms);
        self.nodes = self.nodes * kept + new_nodes.min(RANGE.end() * passed_ms / MS_PER_SECOND);
        self.ms = self.ms * kept + passed_ms;
        self.last = Some((nodes, now_ms));
    }
}

/// Nodes of a search's first batch, from the first look at the search: if several batches have ended by then, they are
/// taken as equal. 0 if the caller counts no batches: then speed is measured from the start.
pub(super) fn first_batch_nodes(snapshot: &SearchSnapshot) -> f64 {
    if snapshot.batches == 0 { 0.0 } else { snapshot.new_nodes as f64 / snapshot.batches as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(since_first_batch_ms: f64, new_nodes: u64, batches: u64) -> SearchSnapshot<'static> {
        let since_first_batch_ms = Some(since_first_batch_ms);
        SearchSnapshot { since_first_batch_ms, new_nodes, batches, ..SearchSnapshot::default() }
    }

    /// A search at a constant speed: a batch of 16 every `batch_ms`.
    fn search(speed: &mut SpeedEstimator, batch_ms: f64, batches: u64) {
        speed.end_move();
        for batch in 1..=batches {
            speed.observe(&look((batch - 1) as f64 * batch_ms, batch * 16, batch));
        }
    }

    #[test]
    fn speed_is_learned_in_the_first_moves_of_bullet() {
        // 3,000 nodes a second, moves of 40 ms: the design page's rule would still say 17,000 after ten of them.
        let mut speed = SpeedEstimator::new(20_000.0);
        for _ in 0..3 {
            search(&mut speed, 16.0 / 3.0, 8);
        }
        assert!((2_900.0..4_000.0).contains(&speed.nps()), "{}", speed.nps());
        for _ in 0..20 {
            search(&mut speed, 16.0 / 3.0, 8);
        }
        assert!((2_990.0..3_200.0).contains(&speed.nps()), "{}", speed.nps());
    }

    // docs/lc0.md, 1.11, the ratchet: Lc0 settles near 1900.
    #[test]
    fn defect_h3_a_move_does_not_begin_with_a_jump() {
        let mut speed = SpeedEstimator::new(1_000.0);
        for _ in 0..12 {
            search(&mut speed, 16.0, 60);
        }
        assert!((speed.nps() - 1_000.0).abs() < 1e-6, "{}", speed.nps());
    }

    // Lc0 #1585: one move at a fifth of the speed, after a reply that lost the tree.
    #[test]
    fn one_slow_move_hardly_changes_the_speed() {
        let mut speed = SpeedEstimator::new(20_000.0);
        speed.set_half_life(3.0 * 108_000.0);
        for _ in 0..10 {
            search(&mut speed, 16e3 / 60_701.0 * 1_000.0, 411);
        }
        let before = speed.nps();
        search(&mut speed, 16e3 / 12_990.0 * 1_000.0, 88);
        assert!((60.0..61.0).contains(&before), "{before}");
        assert!(speed.nps() > 0.8 * before, "{} of {before}", speed.nps());
    }

    #[test]
    fn speed_does_not_depend_on_the_number_of_looks() {
        let (mut often, mut rarely) = (SpeedEstimator::new(500.0), SpeedEstimator::new(500.0));
        for ms in 0..=4_000_u32 {
            often.observe(&look(f64::from(ms), 16 + u64::from(ms) * 2, 1));
        }
        rarely.observe(&look(0.0, 16, 1));
        rarely.observe(&look(4_000.0, 8_016, 1));
        assert!((often.nps() - rarely.nps()).abs() < 3.0, "{} {}", often.nps(), rarely.nps());
    }

    #[test]
    fn speed_stays_finite_for_absurd_input() {
        let mut speed = SpeedEstimator::new(1e9);
        for (ms, nodes) in [(f64::NAN, 5), (f64::MIN_POSITIVE, u64::MAX), (1e300, u64::MAX), (2.0, 1), (-1.0, 7)] {
            speed.observe(&look(ms, nodes, 1));
            assert!(RANGE.contains(&speed.nps()), "{}", speed.nps());
        }
        speed.set(f64::INFINITY);
        speed.set(0.0);
        assert_eq!(speed.nps(), *RANGE.start());
    }
}
