//! [lc0]: crate::managers::smooth::lc0
//! [smooth]: crate::managers::smooth
#![doc = include_str!("../../../docs/smooth-pr1195.md")]

use super::shared::{self, *};
use crate::estimators::moves_left::{MLE_LEGACY_ALONE, MleLegacy};
use crate::estimators::nps::NpsEstimator;
use crate::params::{ManagerSpec, ParamSpec, ParamValues};
use crate::plan::Plan;
use crate::plan_builder::{NO_RESERVE, PlanBuilder};
use crate::unit::Unit;
use crate::{Estimates, MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

const NPS_UPDATE_RATE: ParamSpec = ParamSpec { unit: Unit::Seconds, ..shared::NPS_UPDATE_RATE }
    .helping("Time of search after which the expected speed has moved half-way.");

const TITLE: &str = "smooth(preset=pr1195)";

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("pr1195"),
    is_first: false,
    help: "Aims at trees of equal size on every move, learning speed, tree reuse and time use as the game goes.",
    params: &[
        INIT_TREE_REUSE,
        MAX_TREE_REUSE,
        TREE_REUSE_UPDATE_RATE,
        INIT_NPS,
        NPS_UPDATE_RATE,
        INIT_TIMEUSE,
        MIN_TIMEUSE,
        TIMEUSE_UPDATE_RATE,
        MAX_MOVE_BUDGET,
    ],
    groups: &[MLE_LEGACY_ALONE],
    build: |values| Box::new(Smooth::new(values)),
};

#[derive(Debug)]
struct Smooth {
    moves_left: MleLegacy,
    nps: NpsEstimator,
    learned: Learned,
    values: ParamValues,
    current: Option<CurrentMove>,
}

/// The numbers of the plan that are needed until the move ends.
#[derive(Clone, Copy, Debug)]
struct CurrentMove {
    budget_ms: f64,
    hard_limit_ms: f64,
    average_move_ms: f64,
}

impl Smooth {
    fn new(values: &ParamValues) -> Self {
        Self {
            moves_left: MleLegacy::new(values, &MLE_LEGACY_ALONE),
            nps: NpsEstimator::new(values.get(&INIT_NPS), values.get(&NPS_UPDATE_RATE) * MS_PER_SECOND),
            learned: Learned::new(values),
            values: values.clone(),
            current: None,
        }
    }
}

impl TimeManager for Smooth {
    fn name(&self) -> &'static str {
        TITLE
    }

    /// Plans by the steps of docs/documents.md, 1.2, one term per step.
    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Nodes, Ratio};
        self.nps.begin_move();
        self.learned.tree_reuse.search_begins(request.reused_nodes, 1.0);

        let mut plan = PlanBuilder::new(TITLE, request);
        let clock = plan.request().clock_ms;
        let increment = plan.request().increment_ms;

        let moves_left = plan.moves_left(self.moves_left.estimate(request.ply), "from mle-legacy");
        let game_time =
            plan.term("game_time = clock + moves_left * increment", clock + moves_left * increment, Milliseconds);
        let average_move_ms =
            plan.term("average_move_time = game_time / moves_left", game_time / moves_left, Milliseconds);
        let nps = nps_term(&mut plan, self.nps.nps());
        let game_nodes = plan.term("game_nodes = game_time / 1000 * nps", game_time * nps / MS_PER_SECOND, Nodes);
        let new_per_move = plan.term("average_new_nodes = game_nodes / moves_left", game_nodes / moves_left, Nodes);
        let total_per_move = self.learned.total_nodes_term(&mut plan, new_per_move);
        let reused_nodes = plan.term("reused_nodes", request.reused_nodes as f64, Nodes);
        let name = "target_new_nodes = max(0, average_total_nodes - reused_nodes)";
        let target_new = plan.at_least(name, total_per_move - reused_nodes, 0.0, Nodes);
        let budget = self.learned.search_time_budget_term(&mut plan, target_new, nps);
        let max_fraction = plan.term("max_move_budget = max-move-budget", self.values.get(&MAX_MOVE_BUDGET), Ratio);
        let name = "limited_budget = min(search_time_budget, max_move_budget * clock)";
        let budget = plan.at_most(name, budget, max_fraction * clock, Milliseconds);

        let plan = plan.finish(("limited_budget", budget), NO_RESERVE, Some(total_per_move));
        self.current =
            Some(CurrentMove { budget_ms: plan.budget_ms, hard_limit_ms: plan.hard_limit_ms, average_move_ms });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.nps.observe(snapshot);
        let verdict = match self.current {
            Some(current) => Verdict::at_limit(snapshot, current.hard_limit_ms, StopReason::Time),
            None => Verdict::default(),
        };
        Verdict { nps: Some(self.nps.nps()), ..verdict }
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.nps.begin_move();
        let Some(current) = self.current.take() else {
            self.learned.tree_reuse.forget_last();
            return;
        };
        self.learned.search_ended(outcome, current.budget_ms, current.average_move_ms);
    }

    fn estimates(&self) -> Estimates {
        self.learned.estimates(self.nps.nps())
    }

    fn set_nps(&mut self, nps: f64) {
        self.nps.set(nps);
    }
}

#[cfg(test)]
#[path = "pr1195_tests.rs"]
mod tests;
