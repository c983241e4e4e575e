//! The decision about a move of `price`: what a node costs, and the most time that the move may take.

use super::gain_weights::PRICE;
use super::{HORIZON, MAX_AVERAGE, MAX_MOVE_BUDGET, Price, SPEC};
use crate::managers::shared::{game_time_term, max_move_budget_term, nps_term};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{MS_PER_SECOND, MoveRequest};

/// Relative change of the estimated moves left or speed above which the decision is made anew.
const RENEWAL_THRESHOLD: f64 = 0.02;
/// Bounds of [`Price::time_use`].
const TIME_USE: std::ops::RangeInclusive<f64> = 0.2..=5.0;
/// Least [`Decision::priced_nodes`]: no price is known for less than a node.
const FEWEST_NODES: f64 = 1.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    /// Moves left by the estimators alone, without `movestogo`.
    expected_moves: f64,
    nps: f64,
    pub average_move_ms: f64,
    pub budget_ms: f64,
    pub extra_ms: f64,
    /// New nodes of an average move, divided by the time use: the nodes that together have to gain the price.
    pub priced_nodes: f64,
}

impl Decision {
    /// Whether the estimates differ so much from the decision's own that it has to be made anew.
    pub(super) fn differs(&self, expected_moves: f64, nps: f64) -> bool {
        let differ = |a: f64, b: f64| (a / b - 1.0).abs() > RENEWAL_THRESHOLD;
        differ(expected_moves, self.expected_moves) || differ(nps, self.nps)
    }
}

impl Price {
    /// Time that moves have taken in this game, as a share of the average time that they were planned with.
    pub(super) fn time_use(&self) -> f64 {
        (self.shares / self.moves).clamp(*TIME_USE.start(), *TIME_USE.end())
    }

    /// The plan and the decision by the present estimates, one term per formula of the manager's [page](super).
    pub(super) fn decide(&self, request: &MoveRequest) -> (Plan, Decision) {
        use Unit::{Milliseconds, Nodes, Ratio};
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let clock_ms = plan.request().clock_ms;
        let expected_moves = self.moves_left.estimate();
        let moves_left = plan.moves_left(expected_moves, self.moves_left.source());
        let name = "priced_moves = max(1, min(moves_left, horizon * estimated_moves_left))";
        let moves = plan.at_least(name, moves_left.min(self.values.get(&HORIZON) * expected_moves), 1.0, Unit::Moves);
        let name = "game_time = max(0, clock + increment * (priced_moves - 1) - overhead - priced_moves * overrun)";
        let game_time = game_time_term(&mut plan, name, moves, &self.overrun);
        let average_move_ms =
            plan.term("average_move_time = game_time / priced_moves", game_time / moves, Milliseconds);
        let nps = nps_term(&mut plan, self.speed.nps());
        let name = "average_new_nodes = average_move_time / 1000 * nps";
        let new_nodes = plan.term(name, average_move_ms * nps / MS_PER_SECOND, Nodes);
        let time_use =
            plan.term("timeuse = from the moves of this game, at first its initial value", self.time_use(), Ratio);
        let name = "priced_nodes = max(1, average_new_nodes / timeuse)";
        let nodes = plan.at_least(name, new_nodes / time_use, FEWEST_NODES, Nodes);
        let price = "price = from recorded searches: the value that the nodes of an average move have to gain";
        plan.term(price, PRICE * 1e2, Unit::Percent);
        let fraction = max_move_budget_term(&mut plan, self.values.get(&MAX_MOVE_BUDGET));
        let longest = plan.at_most(
            "longest_move = min(max-average * average_move_time, max_move_budget * clock)",
            self.values.get(&MAX_AVERAGE) * average_move_ms,
            fraction * clock_ms,
            Milliseconds,
        );
        let name = "average_budget = min(average_move_time, longest_move)";
        let budget = plan.at_most(name, average_move_ms, longest, Milliseconds);
        let plan = plan.finish(("average_budget", budget), ("longest_move - average_budget", longest - budget), None);
        let (budget_ms, extra_ms) = (plan.budget_ms, plan.extra_ms);
        (plan, Decision { expected_moves, nps, average_move_ms, budget_ms, extra_ms, priced_nodes: nodes })
    }
}
