//! Parameters, terms of plans, and estimates of tree reuse and budget use that the forms of `smooth` share.

use crate::estimators::budget_use::BudgetUse;
use crate::estimators::tree_reuse::TreeReuse;
use crate::params::{ParamValues, param_specs};
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{Estimates, MS_PER_SECOND, MoveOutcome};

// A form may change default and help text; meaning and range of each parameter are declared here once.
param_specs! {
    INIT_TREE_REUSE "init-tree-reuse" 0.5 0.0 0.99 Ratio
        "Fraction of the tree that is reused after a full move, at the start of a game.";
    MAX_TREE_REUSE "max-tree-reuse" 0.7 0.0 0.99 Ratio "The expected tree reuse never goes above this.";
    TREE_REUSE_UPDATE_RATE "tree-reuse-update-rate" 4.0 0.01 10000.0 Moves
        "Average move times after which the expected tree reuse has moved half-way.";
    INIT_NPS "init-nps" 20000.0 0.1 1e9 NodesPerSecond "Expected speed at the start of a game.";
    NPS_UPDATE_RATE "nps-update-rate" 5.0 0.01 10000.0 Moves
        "Average move times after which a measured speed counts for half.";
    INIT_TIMEUSE "init-timeuse" 0.7 0.01 1.0 Ratio
        "Fraction of its budget that a move really uses, at the start of a game.";
    MIN_TIMEUSE "min-timeuse" 0.3 0.01 1.0 Ratio "The expected time use never falls below this.";
    TIMEUSE_UPDATE_RATE "timeuse-update-rate" 10.0 0.01 10000.0 Moves
        "Average move times after which the expected time use has moved half-way.";
    MAX_MOVE_BUDGET "max-move-budget" 0.3 0.001 1.0 Ratio "Largest fraction of the clock that one move may use.";
}

/// Records the speed that was learned, in nodes per second.
pub(super) fn nps_term(plan: &mut PlanBuilder, nps: f64) -> f64 {
    plan.term("nps = from the searches, at first its initial value", nps, Unit::NodesPerSecond)
}

/// Records the reused share of the tree, and the size of a tree that gets `new_per_move` new nodes on every move.
/// `limited`: whether the share is at its maximum.
pub(super) fn total_nodes_term(plan: &mut PlanBuilder, new_per_move: f64, reuse: f64, limited: bool) -> f64 {
    let name = "tree_reuse = from the searches (at most max-tree-reuse), at first its initial value";
    let reuse = plan.estimate(name, reuse, Unit::Ratio, limited);
    let total = new_per_move / (1.0 - reuse);
    plan.term("average_total_nodes = average_new_nodes / (1 - tree_reuse)", total, Unit::Nodes)
}

/// Records the share of a budget that searches use. `limited`: whether it is at its minimum.
pub(super) fn time_use_term(plan: &mut PlanBuilder, time_use: f64, limited: bool) -> f64 {
    let name = "timeuse = from the searches (not below a least value), at first its initial value";
    plan.estimate(name, time_use, Unit::Ratio, limited)
}

/// The tree reuse and the budget use of a game, which plain `smooth` and `smooth(preset=pr1195)` learn alike.
#[derive(Debug)]
pub(super) struct Learned {
    pub tree_reuse: TreeReuse,
    budget_use: BudgetUse,
}

impl Learned {
    pub(super) fn new(values: &ParamValues) -> Self {
        let [reuse, most, reuse_rate] =
            [&INIT_TREE_REUSE, &MAX_TREE_REUSE, &TREE_REUSE_UPDATE_RATE].map(|p| values.get(p));
        let [used, least, use_rate] = [&INIT_TIMEUSE, &MIN_TIMEUSE, &TIMEUSE_UPDATE_RATE].map(|p| values.get(p));
        Self { tree_reuse: TreeReuse::new(reuse, most, reuse_rate), budget_use: BudgetUse::new(used, least, use_rate) }
    }

    /// [`total_nodes_term`] with the learned tree reuse.
    pub(super) fn total_nodes_term(&self, plan: &mut PlanBuilder, new_per_move: f64) -> f64 {
        total_nodes_term(plan, new_per_move, self.tree_reuse.share.value, self.tree_reuse.share.limited)
    }

    /// Records the time budget of a search for `new_nodes`, by the learned budget use.
    pub(super) fn search_time_budget_term(&self, plan: &mut PlanBuilder, new_nodes: f64, nps: f64) -> f64 {
        let name = "target_search_time = target_new_nodes / nps * 1000";
        let search_time = plan.term(name, new_nodes / nps * MS_PER_SECOND, Unit::Milliseconds);
        let time_use = time_use_term(plan, self.budget_use.share.value, self.budget_use.share.limited);
        plan.term("search_time_budget = target_search_time / timeuse", search_time / time_use, Unit::Milliseconds)
    }

    /// Learns from a search that was planned to take `budget_ms`, in a game whose moves take `average_move_ms`.
    pub(super) fn search_ended(&mut self, outcome: &MoveOutcome, budget_ms: f64, average_move_ms: f64) {
        let average_moves = if average_move_ms > 0.0 { outcome.elapsed_ms / average_move_ms } else { 0.0 };
        self.tree_reuse.search_ended(outcome.total_nodes, average_moves);
        self.budget_use.search_ended(outcome.elapsed_ms, budget_ms, average_moves);
    }

    /// The estimates of the manager, with its speed.
    pub(super) fn estimates(&self, nps: f64) -> Estimates {
        let (tree_reuse, timeuse) = (Some(self.tree_reuse.share.value), Some(self.budget_use.share.value));
        Estimates { nps: Some(nps), tree_reuse, timeuse, ..Estimates::default() }
    }
}
