//! Decides about a move of plain `smooth`, from its parameters and from what it has learned.

use super::params::*;
use super::piggybank::Piggybank;
use super::trend::{Trend, Window};
use super::{SPEC, Smooth};
use crate::params::ParamValues;
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{MS_PER_SECOND, MoveRequest};

/// The parameters of the manager itself, without those of its estimators.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub max_tree_reuse: f64,
    pub nps_update_rate: f64,
    pub max_move_budget: f64,
    pub first_move_bonus: f64,
    pub extension: f64,
    pub score_drop: f64,
    pub min_nodes: f64,
    pub node_budget: f64,
    pub total_nodes_share: f64,
    pub trend: Option<Trend>,
}

impl Settings {
    pub fn new(values: &ParamValues) -> Self {
        let trend = || {
            let value = |param| values.get_in(OVERTAKING.name, param);
            let (best, rival) = (value(&BEST_OPTIMISM), value(&RIVAL_OPTIMISM));
            Trend::new(value(&TREND_PERIOD), best, rival, Window::Shortest)
        };
        Self {
            max_tree_reuse: values.get(&MAX_TREE_REUSE),
            nps_update_rate: values.get(&NPS_UPDATE_RATE),
            max_move_budget: values.get(&MAX_MOVE_BUDGET),
            first_move_bonus: values.get(&FIRST_MOVE_BONUS),
            extension: values.get(&EXTENSION),
            score_drop: values.get(&SCORE_DROP),
            min_nodes: values.get(&MIN_NODES),
            node_budget: values.get(&NODE_BUDGET),
            total_nodes_share: values.get(&TOTAL_NODES_SHARE),
            trend: values.has(OVERTAKING.name).then(trend),
        }
    }
}

/// The numbers of one decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Moves left by the estimators alone, without `movestogo`.
    pub expected_moves: f64,
    pub average_move_ms: f64,
    pub budget_ms: f64,
    pub extra_ms: f64,
    pub tax_ms: f64,
    /// New nodes that the budget is expected to bring.
    pub new_nodes: f64,
}

impl Smooth {
    /// The decision from what is known now, one term per step of the formulas of its [page](super).
    pub(super) fn decide(&self, request: &MoveRequest, is_first: bool) -> (Plan, Budget) {
        use Unit::{Milliseconds, Nodes, Ratio};
        let settings = &self.settings;
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, moves_to_go, .. } = *plan.request();
        let expected_moves = self.moves_left.estimate();
        let moves_left = plan.moves_left(expected_moves, self.moves_left.source());
        let bank_ms = self.bank.as_ref().map_or(0.0, Piggybank::saved_ms);
        if self.bank.is_some() {
            plan.term("bank = from earlier moves", bank_ms, Milliseconds);
        }
        let mut game_time = clock_ms + increment_ms * (moves_left - 1.0) - overhead_ms - bank_ms;
        let overrun_ms = self.overrun.average_ms();
        if overrun_ms > 0.0 {
            game_time -=
                moves_left * plan.term("overrun = from what moves took past their limits", overrun_ms, Milliseconds);
        }
        let game_time = plan.at_least(
            "game_time = max(0, clock + increment * (moves_left - 1) - overhead - bank - moves_left * overrun)",
            game_time,
            0.0,
            Milliseconds,
        );
        let average_move_ms =
            plan.term("average_move_time = game_time / moves_left", game_time / moves_left, Milliseconds);
        let nps = nps_term(&mut plan, self.speed.nps());
        let new_per_move = plan.term(
            "average_new_nodes = average_move_time / 1000 * nps",
            average_move_ms * nps / MS_PER_SECOND,
            Nodes,
        );
        let total_per_move = self.learned.total_nodes_term(&mut plan, new_per_move);
        let reused = plan.term("reused_nodes", request.reused_nodes as f64, Nodes);
        let credit = plan.at_most(
            "credited_nodes = min(reused_nodes, max-tree-reuse * average_total_nodes)",
            reused,
            settings.max_tree_reuse * total_per_move,
            Nodes,
        );
        let target_new = plan.at_least(
            "target_new_nodes = max(0, average_total_nodes - credited_nodes)",
            total_per_move - credit,
            0.0,
            Nodes,
        );
        let search_time = plan.term(
            "target_search_time = target_new_nodes / nps * 1000",
            target_new / nps * MS_PER_SECOND,
            Milliseconds,
        );
        let tax_ms = self.bank.as_ref().map_or(0.0, |bank| bank.tax_ms(search_time));
        let search_time = match self.bank {
            Some(_) => {
                plan.term("bank_tax = per-move * target_search_time", tax_ms, Milliseconds);
                plan.term("taxed_search_time = target_search_time - bank_tax", search_time - tax_ms, Milliseconds)
            }
            None => search_time,
        };
        let time_use = self.learned.time_use_term(&mut plan);
        let mut budget = plan.term(
            "search_time_budget = (target_search_time - bank_tax) / timeuse",
            search_time / time_use,
            Milliseconds,
        );
        if is_first && settings.first_move_bonus > 0.0 {
            let factor = plan.term("first_move = 1 + first-move-bonus", 1.0 + settings.first_move_bonus, Ratio);
            budget = plan.term("first_budget = search_time_budget * first_move", budget * factor, Milliseconds);
        }
        if settings.min_nodes > 0.0 {
            let floor = settings.min_nodes / nps * MS_PER_SECOND;
            budget = plan.at_least(
                "nodes_floor = max(search_time_budget, first_budget, min-nodes / nps * 1000)",
                budget,
                floor,
                Milliseconds,
            );
        }
        // The next period's time comes on top after the last move of a control, which need not save for it.
        let (name, share) = match moves_to_go {
            Some(moves) => ("max_move_budget = max(max-move-budget, 1 / moves_to_go)", 1.0 / f64::from(moves)),
            None => ("max_move_budget = max-move-budget", 0.0),
        };
        let fraction = plan.at_least(name, settings.max_move_budget, share, Ratio);
        let most = fraction * clock_ms;
        let budget = plan.at_most(
            "limited_budget = min(max(search_time_budget, first_budget, nodes_floor), max_move_budget * clock)",
            budget,
            most,
            Milliseconds,
        );
        let bank_use = self.bank.as_ref().map_or(0.0, Piggybank::available_ms);
        let extra = settings.extension * budget + bank_use;
        let extra = if extra > 0.0 {
            plan.at_most(
                "reserve = min(extension * limited_budget, max_move_budget * clock - limited_budget) + max-use * bank",
                extra,
                most - budget + bank_use,
                Milliseconds,
            )
        } else {
            0.0
        };
        let plan = plan.finish(("limited_budget", budget), ("reserve", extra), Some(total_per_move));
        let new_nodes = plan.budget_ms * nps / MS_PER_SECOND;
        let (budget_ms, extra_ms) = (plan.budget_ms, plan.extra_ms);
        (plan, Budget { expected_moves, average_move_ms, budget_ms, extra_ms, tax_ms, new_nodes })
    }
}
