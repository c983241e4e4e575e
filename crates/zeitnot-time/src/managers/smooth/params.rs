//! The parameters of plain `smooth`, and the terms that all forms of the manager have in their plans. The other forms
//! have some of the parameters with defaults of their own; the meaning and the range of each is declared here once.

use crate::params::{GroupSpec, ParamSpec, param_specs};
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;

param_specs! {
    INIT_TREE_REUSE "init-tree-reuse" 0.5 0.0 0.99 Ratio
        "Fraction of the tree that is reused after a full move, at the start of a game.";
    MAX_TREE_REUSE "max-tree-reuse" 0.7 0.0 0.99 Ratio "The expected tree reuse never goes above this.";
    TREE_REUSE_UPDATE_RATE "tree-reuse-update-rate" 4.0 0.01 10000.0 Moves
        "Average move times after which the expected tree reuse has moved half-way.";
    INIT_NPS "init-nps" 20000.0 0.1 1e9 NodesPerSecond "Expected speed before the first batches of a game.";
    NPS_UPDATE_RATE "nps-update-rate" 5.0 0.01 10000.0 Moves
        "Average move times after which a measured speed counts for half.";
    INIT_TIMEUSE "init-timeuse" 0.7 0.01 1.0 Ratio
        "Fraction of its budget that a move really uses, at the start of a game.";
    MIN_TIMEUSE "min-timeuse" 0.3 0.01 1.0 Ratio "The expected time use never falls below this.";
    TIMEUSE_UPDATE_RATE "timeuse-update-rate" 10.0 0.01 10000.0 Moves
        "Average move times after which the expected time use has moved half-way.";
    MAX_MOVE_BUDGET "max-move-budget" 0.3 0.001 1.0 Ratio "Largest fraction of the clock that one move may use.";
    FIRST_MOVE_BONUS "first-move-bonus" 0.0 0.0 10.0 Ratio
        "Extra time of the first move of a game, as a multiple of its budget.";
    EXTENSION "extension" 2.0 0.0 10.0 Ratio
        "Reserve of a move that turns out to be hard, as a multiple of its budget. Simulated games of three recordings lose least at 2.";
    SCORE_DROP "score-drop" 0.1 0.0 2.0 Ratio
        "Drop of the value since the move before from which a move is hard, too (1: from a win to a draw); 0: never.";
    MIN_NODES "min-nodes" 0.0 0.0 1e9 Nodes
        "New nodes that a move still gets in time trouble, if max-move-budget allows.";
    NODE_BUDGET "node-budget" 0.0 0.0 100.0 Ratio
        "The search also ends at this multiple of the nodes its time is expected to bring; 0: never. At 1 replays lose.";
    TOTAL_NODES_SHARE "total-nodes-share" 1.0 0.0 1.0 Ratio
        "The target is made of the nodes of the tree (1) or of those of the best move (0), or a mix. Replays do not tell 0 from 1.";

    BANK_INIT "init" 0.09 0.0 1.0 Ratio "Fraction of the first clock that goes into the bank.";
    BANK_TAX "per-move" 0.12 0.0 1.0 Ratio "Fraction of each move's expected time that goes into the bank.";
    BANK_USE "max-use" 0.94 0.0 1.0 Ratio "Fraction of the bank that one move may draw.";
    BANK_CAP "max-clock" 0.3 0.0 1.0 Ratio "Largest fraction of the clock that the bank holds.";

    TREND_PERIOD "period" 3000.0 1.0 1e9 Milliseconds "Window in which the growth of visits is measured.";
    BEST_OPTIMISM "best-optimism" 0.2 0.0 1000.0 Ratio
        "Factor on the growth of the best move's visits when they are projected.";
    RIVAL_OPTIMISM "rival-optimism" 4.0 0.0 1000.0 Ratio "The same for every other move.";
}

pub(super) const PIGGYBANK: GroupSpec = GroupSpec {
    name: "piggybank",
    help: "When named, moves save into a bank that hard moves draw on. Replays gain next to nothing with it.",
    params: &[BANK_INIT, BANK_TAX, BANK_USE, BANK_CAP],
};

pub(super) const OVERTAKING: GroupSpec = GroupSpec {
    name: "overtaking",
    help: "When named, a move is hard, too, while another one grows fast enough to become the best in time. Replays lose with it.",
    params: &[TREND_PERIOD, BEST_OPTIMISM, RIVAL_OPTIMISM],
};

/// All that are not in a group.
pub(super) const OWN: &[ParamSpec] = &[
    INIT_TREE_REUSE,
    MAX_TREE_REUSE.helping("The expected tree reuse never goes above this, and no tree counts for more of the target."),
    TREE_REUSE_UPDATE_RATE,
    INIT_NPS.helping(
        "Expected speed before the first batches of a game: it weighs 5 ms of search, whereas on Lc0's page \
         (preset=pr1195) it fades with nps-update-rate.",
    ),
    NPS_UPDATE_RATE.helping(
        "Average move times after which a measured speed counts for half; on Lc0's page (preset=pr1195) they are seconds.",
    ),
    INIT_TIMEUSE,
    MIN_TIMEUSE,
    TIMEUSE_UPDATE_RATE,
    MAX_MOVE_BUDGET.helping(
        "Largest fraction of the clock that one move may use; the last moves of a control may use their share.",
    ),
    FIRST_MOVE_BONUS,
    EXTENSION,
    SCORE_DROP,
    MIN_NODES,
    NODE_BUDGET,
    TOTAL_NODES_SHARE,
];

/// Records the speed that was learned, in nodes per second.
pub(super) fn nps_term(plan: &mut PlanBuilder, nps: f64) -> f64 {
    plan.term("nps = from the searches, at first its initial value", nps, Unit::NodesPerSecond)
}

/// Records the share of the tree that is reused, and the nodes of a tree that gets `new_per_move` on every move.
pub(super) fn total_nodes_term(plan: &mut PlanBuilder, new_per_move: f64, reuse: f64, limited: bool) -> f64 {
    let name = "tree_reuse = from the searches (at most max-tree-reuse), at first its initial value";
    let reuse = plan.estimate(name, reuse, Unit::Ratio, limited);
    let total = new_per_move / (1.0 - reuse);
    plan.term("average_total_nodes = average_new_nodes / (1 - tree_reuse)", total, Unit::Nodes)
}

/// Records the share of a budget that searches use.
pub(super) fn time_use_term(plan: &mut PlanBuilder, time_use: f64, limited: bool) -> f64 {
    let name = "timeuse = from the searches (at least min-timeuse), at first its initial value";
    plan.estimate(name, time_use, Unit::Ratio, limited)
}
