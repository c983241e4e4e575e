//! [smooth]: crate::managers::smooth
#![doc = include_str!("../../../docs/price.md")]

mod decision;
pub mod gain;
mod gain_weights;
pub mod root_history;

use crate::estimators::moves_left::{GROUPS, MovesLeft};
use crate::estimators::overrun::Overrun;
use crate::estimators::speed::SpeedEstimator;
use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};
use decision::Decision;
use gain::{GAIN, GROWTH};
use gain_weights::PRICE;
use root_history::{KEPT_GROWTH, RootHistory};

param_specs! {
    INIT_NPS "init-nps" 20000.0 0.1 1e9 NodesPerSecond
        "Expected speed before the first batches of a game: it weighs 5 ms of search.";
    NPS_UPDATE_RATE "nps-update-rate" 5.0 0.01 10000.0 Moves
        "Average move times after which a measured speed counts for half.";
    INIT_TIMEUSE "init-timeuse" 1.2 0.05 5.0 Ratio
        "Share of the average time that moves take at the price of that time, at the start of a game.";
    TIMEUSE_UPDATE_RATE "timeuse-update-rate" 30.0 0.01 10000.0 Moves
        "Moves after which what a move used counts for half.";
    HORIZON "horizon" 0.6 0.05 5.0 Ratio
        "The clock is divided among this share of the estimated moves left.";
    MAX_MOVE_BUDGET "max-move-budget" 0.4 0.001 1.0 Ratio
        "Largest fraction of the clock that one move may use; the last moves of a control may use their share.";
    MAX_AVERAGE "max-average" 8.0 1.0 100.0 Moves "Longest time of one move, in average moves.";
}

/// Weight of the initial time use of a game, in moves.
const FIRST_TIME_USE_MOVES: f64 = 5.0;
/// Least new nodes for a prediction: the network was not trained on smaller searches.
const LEAST_NODES: u64 = 16;
/// Exponent by which the gain of one more node falls as the tree grows, roughly. From it follows the expected end of
/// the search, for smart pruning.
const GAIN_EXPONENT: f64 = 1.3;
/// Factor on the expected growth of the tree, so that smart pruning waits longer: a rival that is given up too early
/// does not come back.
const PATIENCE: f64 = 2.0;

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "price",
    preset: None,
    is_first: true,
    help: "Searches on as long as more nodes are expected to gain more than they cost.",
    params: &[INIT_NPS, NPS_UPDATE_RATE, INIT_TIMEUSE, TIMEUSE_UPDATE_RATE, HORIZON, MAX_MOVE_BUDGET, MAX_AVERAGE],
    groups: GROUPS,
    build: |values| Box::new(Price::new(values)),
};

#[derive(Debug)]
struct Price {
    values: ParamValues,
    moves_left: MovesLeft,
    speed: SpeedEstimator,
    overrun: Overrun,
    /// Sum of the moves' times so far, each as a share of its average time, and the number of moves; both decay at the
    /// same rate.
    shares: f64,
    moves: f64,
    current: Option<CurrentMove>,
    /// Gain of the nodes of an average move, as predicted at the last look at the root in the last search.
    last_gain: Option<f64>,
}

/// The numbers of the plan that are needed until the move ends.
#[derive(Clone, Debug)]
struct CurrentMove {
    request: MoveRequest,
    decision: Decision,
    hard_limit_ms: f64,
    root: RootHistory,
    /// Size of the tree, in nodes, from which the root is looked at again.
    next_look: f64,
    /// Nodes of the tree at the expected end of the search, by the last prediction; `None` before the first one.
    expected_end: Option<f64>,
}

impl Price {
    fn new(values: &ParamValues) -> Self {
        Self {
            shares: FIRST_TIME_USE_MOVES * values.get(&INIT_TIMEUSE),
            moves: FIRST_TIME_USE_MOVES,
            values: values.clone(),
            moves_left: MovesLeft::new(values),
            speed: SpeedEstimator::new(values.get(&INIT_NPS)),
            overrun: Overrun::default(),
            current: None,
            last_gain: None,
        }
    }

    /// Looks at the root, if the tree has grown enough since the last look. Returns the predicted gain of the nodes of
    /// an average move; `None` without a look or a prediction.
    fn look(&mut self, current: &mut CurrentMove, snapshot: &SearchSnapshot, total: f64) -> Option<f64> {
        if total < current.next_look {
            return None;
        }
        let priced_nodes = current.decision.priced_nodes;
        // The next look is after the growth of the recordings, which is counted on no more than the priced nodes.
        current.next_look = total + (KEPT_GROWTH - 1.0) * total.min(priced_nodes);
        let inputs = current.root.inputs(snapshot).filter(|_| snapshot.new_nodes >= LEAST_NODES)?;
        // The network predicts what all new nodes of a tree grown by GROWTH gain: this is the part of the priced ones.
        let gain = GAIN.gain(&inputs) / (total * (GROWTH - 1.0)) * priced_nodes;
        // The gain of one more node falls with a power of the nodes: after this growth it has fallen to the price.
        let growth = libm::pow(gain / PRICE, 1.0 / GAIN_EXPONENT);
        current.expected_end = Some(total * (1.0 + (growth - 1.0).max(0.0) * PATIENCE));
        self.last_gain = Some(gain);
        Some(gain)
    }
}

impl TimeManager for Price {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        self.speed.end_move();
        self.moves_left.begin_move(request.ply, request.pieces);
        self.moves_left.read(request.moves_left_plies);
        let (plan, decision) = self.decide(request);
        self.speed.set_half_life(self.values.get(&NPS_UPDATE_RATE) * decision.average_move_ms);
        self.current = Some(CurrentMove {
            request: request.clone(),
            decision,
            hard_limit_ms: plan.hard_limit_ms,
            root: RootHistory::default(),
            next_look: 0.0,
            expected_end: None,
        });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.speed.observe(snapshot);
        let nps = Some(self.speed.nps());
        let Some(mut current) = self.current.take() else { return Verdict { nps, ..Verdict::default() } };
        self.moves_left.read(snapshot.moves_left_plies);
        if current.decision.differs(self.moves_left.estimate(), self.speed.nps()) {
            current.decision = self.decide(&current.request).1;
        }
        let Decision { budget_ms, extra_ms, .. } = current.decision;
        let total = snapshot.total_nodes.max(1) as f64;
        let looked = self.look(&mut current, snapshot, total);
        // Before the first look there is no gain to compare with the price: the average time is all that is known.
        let limit_ms = if current.expected_end.is_some() { budget_ms + extra_ms } else { budget_ms };
        let limit_ms = limit_ms.min(current.hard_limit_ms);
        let usual_ms = Some(current.decision.average_move_ms);
        let mut verdict = Verdict { nps, usual_ms, ..Verdict::at_limit(snapshot, limit_ms, StopReason::Time) };
        // Nothing is given up before the next look.
        verdict.remaining_playouts = current.expected_end.map(|end| end.max(current.next_look) - total);
        if looked.is_some_and(|gain| gain < PRICE) && verdict.stop.is_none() {
            verdict.stop = Some(StopReason::Price);
        }
        self.current = Some(current);
        verdict
    }

    fn wants_root_values(&self) -> bool {
        true
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.speed.end_move();
        let Some(current) = self.current.take() else { return };
        let share = outcome.elapsed_ms / current.decision.average_move_ms;
        if share.is_finite() && share >= 0.0 {
            let kept = libm::exp2(-1.0 / self.values.get(&TIMEUSE_UPDATE_RATE));
            self.shares = self.shares * kept + share.min(self.values.get(&MAX_AVERAGE));
            self.moves = self.moves * kept + 1.0;
        }
        self.overrun.search_ended(outcome);
    }

    fn estimates(&self) -> Estimates {
        Estimates {
            nps: Some(self.speed.nps()),
            timeuse: Some(self.time_use()),
            gain: self.last_gain,
            price: Some(PRICE),
            ..Estimates::default()
        }
    }

    fn set_nps(&mut self, nps: f64) {
        self.speed.set(nps);
    }
}

#[cfg(test)]
mod tests;
