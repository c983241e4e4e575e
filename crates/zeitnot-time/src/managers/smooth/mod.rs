//! [alpha-beta]: crate::managers::smooth::alpha_beta
//! [pr1195]: crate::managers::smooth::pr1195
//! [lc0]: crate::managers::smooth::lc0
//! [moves-left]: crate::estimators::moves_left
#![doc = include_str!("../../../docs/smooth.md")]

pub mod alpha_beta;
pub mod lc0;
pub mod pr1195;
mod shared;
mod trend;

use crate::estimators::moves_left::{GROUPS, MovesLeft};
use crate::estimators::overrun::Overrun;
use crate::estimators::speed::SpeedEstimator;
use crate::params::{ManagerSpec, ParamSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::specification;
use crate::unit::Unit;
use crate::{Estimates, MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};
use alpha_beta::Iterations;
use shared::*;

// Parameters of plain `smooth` alone; `shared` has the others.
param_specs! {
    EXTENSION "extension" 2.0 0.0 10.0 Ratio
        "Reserve of a move that turns out to be hard, as a multiple of its budget.";
    SCORE_DROP "score-drop" 0.1 0.0 2.0 Ratio
        "Drop of the value since the move before from which a move is hard, too (1: from a win to a draw); 0: never.";
    OPENING "opening" 0.4 0.01 1.0 Ratio
        "Least share of a full tree that the first moves of a game get; 1: as much as all others.";
    VISIT_SHARE "visit-share" 2.0 0.0 10.0 Ratio
        "Change of the budget, in budgets, where the best move's share of the visits is below its usual one by 1; 0: none.";
}

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("zeitnot"),
    is_first: true,
    help: "Aims at trees of equal size on every move but the first ones, learning speed, tree reuse and time use as the game goes.",
    params: &[PLAIN_TREE_REUSE, PLAIN_MOVE_BUDGET, OPENING, EXTENSION, SCORE_DROP, VISIT_SHARE],
    groups: GROUPS,
    build: |values| Box::new(Smooth::new(values, SPEC.name, None)),
};

const PLAIN_TREE_REUSE: ParamSpec =
    MAX_TREE_REUSE.helping("The expected tree reuse never goes above this, and no tree counts for more of the target.");
const PLAIN_MOVE_BUDGET: ParamSpec = MAX_MOVE_BUDGET
    .helping("Largest fraction of the clock that one move may use; the last moves of a control may use their share.");

/// Relative change of the estimated moves left above which the budget is computed anew: small changes are noise, and
/// every computation costs time.
const RENEWAL_THRESHOLD: f64 = 0.02;
/// Largest factor by which the best move's share of the visits may lengthen or shorten the budget.
const LARGEST_SHARE_FACTOR: f64 = 2.0;
/// Share of the visits that the best move is taken to get before the first search of a game.
const INIT_BEST_SHARE: f64 = 0.7;
/// Moves played when trees have their full size (docs/results/2026-11-first-moves.md).
const OPENING_END: f64 = 18.0;
/// Pieces that have left the board when an opening is over, however early.
const OPENING_PIECES: f64 = 8.0;
/// Weight of a new search in the average share of the best move.
const BEST_SHARE_UPDATE: f64 = 0.2;

/// A line for the user where `spec` names no `preset` and is taken for the design page, whose parameters it has. `None`
/// for any other specification.
pub fn preset_note(spec: &str) -> Option<String> {
    let (manager, values) = specification::resolve(spec, super::ALL).ok()?;
    let is_page = (manager.name, manager.preset) == (pr1195::SPEC.name, pr1195::SPEC.preset);
    (is_page && !values.names_preset)
        .then(|| format!("playing with {spec}: preset=pr1195, as plain smooth learns without parameters of Lc0's page"))
}

#[derive(Debug)]
struct Smooth {
    values: ParamValues,
    name: &'static str,
    /// For an engine that searches by iterations.
    iterations: Option<Iterations>,
    moves_left: MovesLeft,
    speed: SpeedEstimator,
    learned: Learned,
    /// Share of the visits that went to the best move, averaged over the searches.
    best_share: f64,
    overrun: Overrun,
    /// Value of the move played last.
    last_value: Option<f64>,
    current: Option<CurrentMove>,
}

#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Moves left by the estimators alone, without `movestogo`.
    expected_moves: f64,
    average_move_ms: f64,
    budget_ms: f64,
    extra_ms: f64,
}

/// The numbers of the plan that are needed until the move ends.
#[derive(Clone, Debug)]
struct CurrentMove {
    request: MoveRequest,
    budget: Budget,
    /// The hard limit as planned: nothing goes past it.
    hard_limit_ms: f64,
    /// The latest value of the best move, and its share of the visits.
    value: Option<f64>,
    best_share: Option<f64>,
}

impl Smooth {
    fn new(values: &ParamValues, name: &'static str, iterations: Option<Iterations>) -> Self {
        Self {
            name,
            iterations,
            moves_left: MovesLeft::new(values),
            speed: SpeedEstimator::new(values.get(&INIT_NPS)),
            learned: Learned::new(values),
            best_share: INIT_BEST_SHARE,
            overrun: Overrun::default(),
            last_value: None,
            current: None,
            values: values.clone(),
        }
    }

    /// The plan and the budget by the present estimates, one term per step of the formulas.
    fn decide(&self, request: &MoveRequest) -> (Plan, Budget) {
        use Unit::{Milliseconds, Nodes};
        let mut plan = PlanBuilder::new(self.name, request);
        let clock_ms = plan.request().clock_ms;
        let expected_moves = self.moves_left.estimate();
        let moves_left = plan.moves_left(expected_moves, self.moves_left.source());

        // An equal share of the game's time, in nodes.
        let game_time = self.game_time_term(&mut plan, moves_left);
        let average_move_ms =
            plan.term("average_move_time = game_time / moves_left", game_time / moves_left, Milliseconds);
        let nps = nps_term(&mut plan, self.speed.nps());
        let name = "average_new_nodes = average_move_time / 1000 * nps";
        let new_per_move = plan.term(name, average_move_ms * nps / MS_PER_SECOND, Nodes);
        let full = self.learned.total_nodes_term(&mut plan, new_per_move);
        let target = self.opening_term(&mut plan, moves_left, full);

        // The nodes that this tree lacks, in time.
        let reused = plan.term("reused_nodes", request.reused_nodes as f64, Nodes);
        let name = "credited_nodes = min(reused_nodes, max-tree-reuse * target_nodes)";
        let credit = plan.at_most(name, reused, self.values.get(&MAX_TREE_REUSE) * target, Nodes);
        let name = "target_new_nodes = max(0, target_nodes - credited_nodes)";
        let target_new = plan.at_least(name, target - credit, 0.0, Nodes);
        let budget = self.learned.search_time_budget_term(&mut plan, target_new, nps);

        let most = self.max_move_budget_term(&mut plan) * clock_ms;
        let name = "limited_budget = min(search_time_budget, max_move_budget * clock)";
        let budget = plan.at_most(name, budget, most, Milliseconds);
        let reserve = self.reserve_term(&mut plan, budget, most);
        self.iterations.iter().for_each(|iterations| iterations.terms(&mut plan, budget, reserve));
        let plan = plan.finish(("limited_budget", budget), ("reserve", reserve), Some(target));
        let (budget_ms, extra_ms) = (plan.budget_ms, plan.extra_ms);
        (plan, Budget { expected_moves, average_move_ms, budget_ms, extra_ms })
    }

    /// Records the size of this move's tree, where trees would have `full` nodes if all were of one size. In the first
    /// moves of a game they are smaller, and the nodes that these save go to all of the `moves_left`.
    fn opening_term(&self, plan: &mut PlanBuilder, moves_left: f64, full: f64) -> f64 {
        let MoveRequest { ply, pieces, .. } = *plan.request();
        let played = f64::from(ply) / 2.0;
        let gone = pieces.map_or(0.0, |pieces| 32.0 - f64::from(pieces)) / OPENING_PIECES;
        let share = |played: f64| (played / OPENING_END).max(gone).clamp(self.values.get(&OPENING), 1.0);
        let this = share(played);
        if this == 1.0 {
            return plan.term("target_nodes = average_total_nodes", full, Unit::Nodes);
        }
        plan.term("opening_share = from the moves played and the pieces", this, Unit::Ratio);
        let coming = (0..).map(f64::from).take_while(|later| played + later < OPENING_END && *later < moves_left);
        let saved = coming.map(|later| (moves_left - later).min(1.0) * (1.0 - share(played + later))).sum();
        plan.term("saved_moves = from the opening shares of the moves left", saved, Unit::Moves);
        let name = "target_nodes = opening_share * moves_left / (moves_left - saved_moves) * average_total_nodes";
        plan.term(name, this * moves_left / (moves_left - saved) * full, Unit::Nodes)
    }

    /// Records the time for the next `moves` moves of the game, less the expected overrun of every move.
    fn game_time_term(&self, plan: &mut PlanBuilder, moves: f64) -> f64 {
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        // The increment of the last move never comes.
        let mut game_time = clock_ms + increment_ms * (moves - 1.0) - overhead_ms;
        let overrun_ms = self.overrun.average_ms();
        if overrun_ms > 0.0 {
            let name = "overrun = from what moves took past their limits";
            game_time -= moves * plan.term(name, overrun_ms, Unit::Milliseconds);
        }
        let name = "game_time = max(0, clock + increment * (moves_left - 1) - overhead - moves_left * overrun)";
        plan.at_least(name, game_time, 0.0, Unit::Milliseconds)
    }

    /// Records the largest fraction of the clock that this move may use. Before a time control it is at least an equal
    /// share: time is added at the control, so nothing has to be saved.
    fn max_move_budget_term(&self, plan: &mut PlanBuilder) -> f64 {
        let (name, share) = match plan.request().moves_to_go {
            Some(moves) => ("max_move_budget = max(max-move-budget, 1 / moves_to_go)", 1.0 / f64::from(moves)),
            None => ("max_move_budget = max-move-budget", 0.0),
        };
        plan.at_least(name, self.values.get(&MAX_MOVE_BUDGET), share, Unit::Ratio)
    }

    /// Records the reserve of a move that turns out to be hard, beside its `budget`; `most` is the bound of all
    /// budgets.
    fn reserve_term(&self, plan: &mut PlanBuilder, budget: f64, most: f64) -> f64 {
        let reserve = self.values.get(&EXTENSION) * budget;
        let name = "reserve = min(extension * limited_budget, max_move_budget * clock - limited_budget)";
        match reserve > 0.0 {
            true => plan.at_most(name, reserve, most - budget, Unit::Milliseconds),
            false => 0.0,
        }
    }

    /// Whether the search has reason to take longer than planned: the most visited move is not the best by value, or
    /// the best move's value has dropped since our last move.
    fn is_hard(&self, snapshot: &SearchSnapshot) -> bool {
        let score_drop = self.values.get(&SCORE_DROP);
        let values = self.last_value.zip(snapshot.best_value);
        let dropped = score_drop > 0.0 && values.is_some_and(|(last, now)| last - now > score_drop);
        snapshot.need_more_time || dropped
    }

    /// Factor on the budget by the best move's present share of the visits. A move whose share is below its usual one is
    /// less sure than usual, and gets longer. 1 before the first visit.
    fn share_factor(&self, current: &CurrentMove) -> f64 {
        let Some(share) = current.best_share else { return 1.0 };
        let by_share = 1.0 + self.values.get(&VISIT_SHARE) * (self.best_share - share);
        by_share.clamp(1.0 / LARGEST_SHARE_FACTOR, LARGEST_SHARE_FACTOR)
    }
}

impl TimeManager for Smooth {
    fn name(&self) -> &'static str {
        self.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        self.speed.end_move();
        // No target credits more of a tree that grew while pondering.
        self.learned.tree_reuse.search_begins(request.reused_nodes, self.values.get(&MAX_TREE_REUSE));
        self.moves_left.begin_move(request.ply);
        self.moves_left.read(request.moves_left_plies);
        let (plan, budget) = self.decide(request);
        self.speed.set_half_life(self.values.get(&NPS_UPDATE_RATE) * budget.average_move_ms);
        self.iterations.iter_mut().for_each(Iterations::begin);
        self.current = Some(CurrentMove {
            request: request.clone(),
            budget,
            hard_limit_ms: plan.hard_limit_ms,
            value: None,
            best_share: None,
        });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.speed.observe(snapshot);
        let nps = Some(self.speed.nps());
        let Some(mut current) = self.current.take() else { return Verdict { nps, ..Verdict::default() } };
        self.moves_left.read(snapshot.moves_left_plies);
        if (self.moves_left.estimate() / current.budget.expected_moves - 1.0).abs() > RENEWAL_THRESHOLD {
            current.budget = self.decide(&current.request).1;
        }
        current.value = snapshot.best_value.or(current.value);
        let visits: f64 = snapshot.root_visits.iter().map(|visits| f64::from(*visits)).sum();
        let most = snapshot.root_visits.iter().max().copied().unwrap_or(0);
        // The share of an only move says nothing about others.
        if visits > 0.0 && snapshot.root_visits.len() > 1 {
            current.best_share = Some(f64::from(most) / visits);
        }

        let factor = self.share_factor(&current);
        let extra = if self.is_hard(snapshot) { current.budget.extra_ms } else { 0.0 };
        let hard_limit_ms = current.hard_limit_ms;
        let usual_ms = (current.budget.budget_ms * factor + extra).min(hard_limit_ms);
        self.current = Some(current);
        let limit_ms = match &mut self.iterations {
            Some(iterations) => iterations.limit(snapshot, usual_ms).min(hard_limit_ms),
            None => usual_ms,
        };
        Verdict { nps, usual_ms: Some(usual_ms), ..Verdict::at_limit(snapshot, limit_ms, StopReason::Time) }
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.speed.end_move();
        let Some(current) = self.current.take() else {
            self.learned.tree_reuse.forget_last();
            self.last_value = None;
            return;
        };
        let average_move_ms = current.budget.average_move_ms;
        let budget_ms = current.budget.budget_ms * self.share_factor(&current);
        self.learned.search_ended(outcome, budget_ms, average_move_ms);
        if let Some(share) = current.best_share {
            self.best_share += BEST_SHARE_UPDATE * (share - self.best_share);
        }
        self.last_value = current.value;
        self.overrun.search_ended(outcome);
    }

    fn estimates(&self) -> Estimates {
        self.learned.estimates(self.speed.nps())
    }

    fn set_nps(&mut self, nps: f64) {
        self.speed.set(nps);
    }
}

#[cfg(test)]
mod tests;
