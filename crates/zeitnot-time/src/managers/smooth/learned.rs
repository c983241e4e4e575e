//! Learns the tree reuse and the time use of a game, which plain `smooth` and `smooth(preset=pr1195)` do alike.

use super::params::*;
use crate::estimators::time_use::TimeUse;
use crate::estimators::tree_reuse::TreeReuse;
use crate::params::ParamValues;
use crate::plan_builder::PlanBuilder;
use crate::{Estimates, MoveOutcome};

#[derive(Debug)]
pub(super) struct Learned {
    pub tree_reuse: TreeReuse,
    pub time_use: TimeUse,
}

impl Learned {
    pub fn new(values: &ParamValues) -> Self {
        let [reuse, most, reuse_rate] =
            [&INIT_TREE_REUSE, &MAX_TREE_REUSE, &TREE_REUSE_UPDATE_RATE].map(|p| values.get(p));
        let [used, least, use_rate] = [&INIT_TIMEUSE, &MIN_TIMEUSE, &TIMEUSE_UPDATE_RATE].map(|p| values.get(p));
        Self { tree_reuse: TreeReuse::new(reuse, most, reuse_rate), time_use: TimeUse::new(used, least, use_rate) }
    }

    /// [`total_nodes_term`] with the tree reuse learned.
    pub fn total_nodes_term(&self, plan: &mut PlanBuilder, new_per_move: f64) -> f64 {
        total_nodes_term(plan, new_per_move, self.tree_reuse.factor(), self.tree_reuse.limited())
    }

    /// [`time_use_term`] with the time use learned.
    pub fn time_use_term(&self, plan: &mut PlanBuilder) -> f64 {
        time_use_term(plan, self.time_use.factor(), self.time_use.limited())
    }

    /// A search of a move ended that was planned to take `budget_ms`, in a game whose moves take `average_move_ms`.
    pub fn search_ended(&mut self, outcome: &MoveOutcome, budget_ms: f64, average_move_ms: f64) {
        let average_moves = if average_move_ms > 0.0 { outcome.elapsed_ms / average_move_ms } else { 0.0 };
        self.tree_reuse.search_ended(outcome.total_nodes, average_moves);
        self.time_use.search_ended(outcome.elapsed_ms, budget_ms, average_moves);
    }

    pub fn estimates(&self, nps: f64, bank_ms: Option<f64>) -> Estimates {
        let (tree_reuse, timeuse) = (Some(self.tree_reuse.factor()), Some(self.time_use.factor()));
        Estimates { nps: Some(nps), tree_reuse, timeuse, bank_ms, ..Estimates::default() }
    }
}
