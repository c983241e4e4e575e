//! Terms of what the forms of `smooth` learn: all of them learn the same three.

use crate::time_manager::plan_builder::PlanBuilder;
use crate::time_manager::unit::Unit;

/// Records the speed that was learned, in nodes per second.
pub(super) fn nps(plan: &mut PlanBuilder, nps: f64) -> f64 {
    plan.term("nps = from the searches, at first its initial value", nps, Unit::NodesPerSecond)
}

/// Records the share of the tree that is reused, and the nodes of a tree that gets so many new ones on every move: these.
pub(super) fn total_nodes(plan: &mut PlanBuilder, new_per_move: f64, reuse: f64, limited: bool) -> f64 {
    let name = "tree_reuse = from the searches (at most max-tree-reuse), at first its initial value";
    let reuse = plan.estimate(name, reuse, Unit::Ratio, limited);
    let total = new_per_move / (1.0 - reuse);
    plan.term("average_total_nodes = average_new_nodes / (1 - tree_reuse)", total, Unit::Nodes)
}

/// Records the share of a budget that searches use.
pub(super) fn time_use(plan: &mut PlanBuilder, time_use: f64, limited: bool) -> f64 {
    let name = "timeuse = from the searches (at least min-timeuse), at first its initial value";
    plan.estimate(name, time_use, Unit::Ratio, limited)
}
