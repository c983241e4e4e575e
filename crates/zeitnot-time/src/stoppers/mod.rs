//! [movetime]: crate::estimators::overhead#go-movetime
//! [deadline]: crate::estimators::overhead#the-answer-deadline
#![doc = include_str!("../../docs/stopping.md")]

mod forced_move;
mod kld_gain;
mod smart_pruning;

use serde::{Deserialize, Serialize};

use super::{SearchSnapshot, ShownLines, StopReason, TimeManager, Verdict, exact};
use forced_move::ForcedMove;
use kld_gain::KldGain;
use smart_pruning::SmartPruning;

/// Most nodes that a tree may have, so that 32-bit visit counts cannot overflow (docs/lc0.md, 2.2).
const MAX_TREE_NODES: u64 = 4_000_000_000;

/// Least time that is left of a `movetime` when the overhead is subtracted, in milliseconds.
const MIN_MOVETIME_MS: f64 = 1.0;

/// Largest share of a `movetime` that the default overhead takes. The default of 200 ms is for clocks, whose end loses
/// a game; from a `movetime` of 100 ms it left time for one node.
const MOST_OF_MOVETIME: f64 = 0.1;

/// The limits of a `go` command, without the clocks, which are the manager's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchLimits {
    /// `go infinite`: only `stop` ends the search, or a limit on nodes, depth or mate that was given too.
    pub infinite: bool,
    /// `go ponder`: a search while the opponent thinks, which ends as an infinite one does.
    pub ponder: bool,
    /// Most nodes in the tree, reused ones included.
    pub nodes: Option<u64>,
    /// Most nodes that this search may add.
    pub playouts: Option<u64>,
    /// Time for this move, in milliseconds, from which the overhead is subtracted.
    #[serde(with = "exact::option")]
    pub movetime_ms: Option<f64>,
    /// Average depth at which the search ends, in plies.
    pub depth: Option<u32>,
    /// Longest mate to look for, in moves. Until it is found only limits end the search: the move that looks best is
    /// not the question, so smart pruning and KLD gain are off.
    pub mate: Option<u32>,
}

/// Engine options that the stoppers depend on. The defaults are Lc0's (docs/lc0.md, 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopperParams {
    /// `SmartPruningFactor`, 0 to 10; 0 turns smart pruning off, larger values stop earlier.
    #[serde(with = "exact::float")]
    pub smart_pruning_factor: f64,
    /// `SmartPruningMinimumBatches`: batches after which smart pruning counts visits.
    pub smart_pruning_minimum_batches: u64,
    /// `KLDGainAverageInterval`: nodes between two samples of the visits.
    pub kld_gain_interval: u64,
    /// `MinimumKLDGainPerNode`, in nats per node; 0 turns KLD gain off.
    #[serde(with = "exact::float")]
    pub minimum_kld_gain: f64,
    /// `MoveOverheadMs`, subtracted from `go movetime`: wholly if the user set it, else a tenth at most.
    #[serde(with = "exact::float")]
    pub overhead_ms: f64,
    /// Whether the user has set the overhead, even to its default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overhead_is_set: bool,
    /// `NodesPerSecondLimit`: the expected speed where no manager estimates one; 0 or less: no limit.
    #[serde(with = "exact::float")]
    pub nodes_per_second_limit: f64,
}

impl Default for StopperParams {
    fn default() -> Self {
        Self {
            smart_pruning_factor: 1.33,
            smart_pruning_minimum_batches: 0,
            kld_gain_interval: 100,
            minimum_kld_gain: 0.0,
            overhead_ms: 200.0,
            overhead_is_set: false,
            nodes_per_second_limit: 0.0,
        }
    }
}

impl StopperParams {
    /// Time that a `go movetime` leaves for the search, in milliseconds. The measured lag is not subtracted: no clock
    /// can run out.
    fn within_movetime_ms(&self, movetime_ms: f64) -> f64 {
        let most = if self.overhead_is_set { f64::INFINITY } else { MOST_OF_MOVETIME * movetime_ms.max(0.0) };
        (movetime_ms - self.overhead_ms.max(0.0).min(most)).max(MIN_MOVETIME_MS)
    }
}

/// The chain of stoppers of one search.
#[derive(Clone, Debug)]
pub(crate) struct Stoppers {
    timed: bool,
    nodes: u64,
    playouts: Option<u64>,
    movetime_ms: Option<f64>,
    depth: Option<u32>,
    mate: Option<u32>,
    kld_gain: Option<KldGain>,
    smart_pruning: Option<SmartPruning>,
    publishes_nodes: bool,
    nps_limit: Option<f64>,
}

impl Stoppers {
    /// The chain for `limits`. Pondering and infinite searches ignore `movetime` and have no KLD gain and no smart
    /// pruning. The search for a mate lacks those two but obeys `movetime`: Lc0 ignores it there and searches on until
    /// `stop` (docs/lc0.md, 2.1), but a program that gives both limits counts on an answer in time.
    pub(crate) fn new(limits: &SearchLimits, params: &StopperParams) -> Self {
        let timed = !limits.infinite && !limits.ponder;
        let chooses_a_move = timed && limits.mate.is_none();
        let smart_pruning = SmartPruning::new(params.smart_pruning_factor, params.smart_pruning_minimum_batches);
        let kld_gain = KldGain::new(params.minimum_kld_gain, params.kld_gain_interval);
        Self {
            timed,
            nodes: limits.nodes.unwrap_or(MAX_TREE_NODES).min(MAX_TREE_NODES),
            playouts: limits.playouts,
            movetime_ms: limits.movetime_ms.filter(|_| timed).map(|movetime_ms| params.within_movetime_ms(movetime_ms)),
            depth: limits.depth,
            mate: limits.mate,
            kld_gain: kld_gain.filter(|_| chooses_a_move),
            publishes_nodes: smart_pruning.is_some(),
            smart_pruning: smart_pruning.filter(|_| chooses_a_move),
            nps_limit: Some(params.nodes_per_second_limit).filter(|nps| *nps > 0.0),
        }
    }

    /// The time at which `go movetime` ends the search; `None` if it does not.
    pub(super) fn movetime_ms(&self) -> Option<f64> {
        self.movetime_ms
    }

    /// Whether only `stop` is sure to end the search, as of any that is infinite or pondering; a limit on the mate does
    /// not count, since there may be no mate. `has_manager`: whether a manager is asked, too.
    pub(crate) fn is_endless(&self, has_manager: bool) -> bool {
        let has_limit = has_manager
            || self.movetime_ms.is_some()
            || self.nodes < MAX_TREE_NODES
            || self.playouts.is_some()
            || self.depth.is_some();
        !self.timed || !has_limit
    }

    /// Asks the manager, unless the search is infinite or pondering, and then the stoppers in order, up to the first
    /// that stops. Each sees the remaining time and nodes and the speed that earlier ones reported. The verdict has the
    /// least remaining time and nodes, and the manager's speed.
    ///
    /// While the tree is empty nothing stops: there would be no move to answer with.
    pub(crate) fn check(&mut self, snapshot: &SearchSnapshot, manager: Option<&mut (dyn TimeManager + '_)>) -> Verdict {
        let mut so_far = Verdict { nps: self.nps_limit, ..Verdict::default() };
        if snapshot.total_nodes == 0 {
            return so_far;
        }
        let manager = manager.filter(|_| self.timed);
        let may_end_early = may_end_early(snapshot.lines, manager.is_some());
        so_far.stop = self.walk(snapshot, manager, may_end_early, &mut so_far);
        // By them moves are left alone that cannot become the best, but are lines to be searched.
        let remaining_playouts = so_far.remaining_playouts.filter(|_| may_end_early);
        so_far.remaining_playouts = remaining_playouts.map(|playouts| playouts.max(1.0));
        so_far
    }

    fn walk(
        &mut self,
        snapshot: &SearchSnapshot,
        manager: Option<&mut (dyn TimeManager + '_)>,
        may_end_early: bool,
        so_far: &mut Verdict,
    ) -> Option<StopReason> {
        let on_clock = manager.is_some();
        if let Some(manager) = manager {
            let verdict = manager.observe(snapshot);
            so_far.nps = verdict.nps.or(so_far.nps);
            so_far.usual_ms = verdict.usual_ms;
            // A move of a given time is not to look like a person's.
            so_far.answer_from_ms = verdict.answer_from_ms.filter(|_| self.movetime_ms.is_none());
            so_far.remaining_ms = verdict.remaining_ms;
            if verdict.stop.is_some() {
                return verdict.stop;
            }
        }
        if let Some(playouts) = self.playouts {
            self.node_limit(playouts, snapshot.new_nodes, so_far);
            if snapshot.new_nodes >= playouts {
                return Some(StopReason::Playouts);
            }
        }
        self.node_limit(self.nodes, snapshot.total_nodes, so_far);
        if snapshot.total_nodes >= self.nodes {
            return Some(StopReason::Nodes);
        }
        if let Some(movetime) = self.movetime_ms {
            let verdict = Verdict::at_limit(snapshot, movetime, StopReason::MoveTime);
            so_far.remaining_ms = smaller(so_far.remaining_ms, verdict.remaining_ms);
            if verdict.stop.is_some() {
                return verdict.stop;
            }
        }
        if self.depth.is_some_and(|depth| snapshot.average_depth >= depth) {
            return Some(StopReason::Depth);
        }
        let is_exhausted = snapshot.average_depth == u32::MAX;
        if self.mate.is_some_and(|mate| is_exhausted || snapshot.mate_depth.is_some_and(|found| found <= mate)) {
            return Some(StopReason::Mate);
        }
        if !may_end_early {
            return None;
        }
        if self.kld_gain.as_mut().is_some_and(|kld_gain| kld_gain.stops(snapshot)) {
            return Some(StopReason::KldGain);
        }
        // As in Lc0 the option for smart pruning turns forced moves off, too.
        let smart_pruning = self.smart_pruning.as_mut()?;
        match ForcedMove::of(snapshot) {
            Some(forced) => forced.stops(on_clock),
            None => smart_pruning.check(snapshot, so_far),
        }
    }

    /// Lowers the remaining nodes in `so_far`, which later stoppers see, to what `limit` leaves beyond `nodes`; only if
    /// smart pruning is on (docs/lc0.md, 2.2).
    fn node_limit(&self, limit: u64, nodes: u64, so_far: &mut Verdict) {
        if self.publishes_nodes {
            so_far.remaining_playouts = smaller(so_far.remaining_playouts, Some(limit.saturating_sub(nodes) as f64));
        }
    }
}

/// Whether a search may end before its limits once its best move is sure. With several `lines` shown it may not, as all
/// of them are wanted: except once all are proven, or on a clock (`on_clock`) once each has visits.
fn may_end_early(lines: Option<ShownLines>, on_clock: bool) -> bool {
    match lines {
        None | Some(ShownLines::Proven) => true,
        Some(ShownLines::Visited) => on_clock,
        Some(ShownLines::Unvisited) => false,
    }
}

fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
