//! `smooth`: spend the clock so that every move of the game ends with a tree of the same size, reused nodes included.
//!
//! Three forms share the name. `smooth(preset=pr1195)` is the design page of Lc0's PR #1195 to the letter
//! ([`pr1195`]); `smooth(preset=lc0)` is what became of it in Lc0's master, number for number ([`lc0`]); plain
//! `smooth`, here, is the idea without the defects that made Lc0 drop it as its default.
//!
//! # Formulas
//!
//! ```text
//! game time          = clock + increment · (moves left − 1) − overhead − bank − moves left · overrun
//! average new nodes  = game time / moves left · nps
//! average tree       = average new nodes / (1 − tree reuse)
//! credit             = min(nodes in the tree, max-tree-reuse · average tree)
//! target new nodes   = average tree − credit
//! budget             = target new nodes / nps / time use        at most max-move-budget · clock
//! reserve            = extension · budget + the bank            while the search is hard
//! ```
//!
//! *Worked example*: 60 s and 1 s a move, overhead 200 ms, first move, no network head. Moves left 70 (`mle-legacy`);
//! game time 60,000 + 1,000 · 69 − 200 = 128,800 ms; average new nodes 128.8 / 70 · 20,000 = 36,800; average tree
//! 73,600 at a reuse of 0.5; nothing to credit; 73,600 / 20,000 / 0.7 = 5.26 s, and a reserve of 2.63 s.
//!
//! # What is different from PR #1195
//!
//! - **Moves left** come from the network's moves-left head where it has one, and are renewed while the search goes on
//!   (`mle-mlh`); any estimator, or several, can be named instead. Their numbers are fitted to games of TCEC.
//! - **Speed** is nodes over time of the whole game, not a decay of speeds: it survives a slow first batch and a lost
//!   tree, and in bullet it is right after the first moves (see [`SpeedEstimator`]).
//! - **A reused tree is credited for max-tree-reuse of the target at the most.** In Lc0's issue #1585 an underestimated
//!   speed made 4.6 million reused nodes "enough", and it moved at once with 3,203 s on its clock.
//! - **The clock's end**: the increment of the last move is never seen, and the last moves of a control may use their
//!   share.
//! - **What moves take past their limits** (the last batch, a busy machine) is expected of the moves to come, too: in
//!   bullet it is as much as a budget. It counts from the moment the limit in force was due: a search that ends because
//!   its reserve was taken back, or its moves left renewed downwards, is not late.
//! - **A hard move gets more**: while the most visited move is not the best valued (Lc0 #1310), when the value has dropped
//!   since the last move (#1582, #1534), while a rival is overtaking (`overtaking`, #1762).
//! - Off by default, for lack of evidence: a first-move bonus (#1891), a floor of nodes in time trouble (#713), a budget in
//!   nodes as well as in time and a target of the best move's nodes (#1529, both from the seed's own notes), the piggybank.
//!
//! *When to use it*: always, unless another manager is to be compared with it.

pub mod lc0;
mod params;
mod piggybank;
pub mod pr1195;
mod trend;

use crate::time_manager::estimators::moves_left::{GROUPS, MovesLeft};
use crate::time_manager::estimators::speed::SpeedEstimator;
use crate::time_manager::estimators::time_use::TimeUse;
use crate::time_manager::estimators::tree_reuse::TreeReuse;
use crate::time_manager::params::{GroupSpec, ManagerSpec, ParamValues};
use crate::time_manager::plan::Plan;
use crate::time_manager::plan_builder::{PlanBuilder, believed_ms};
use crate::time_manager::unit::Unit;
use crate::time_manager::{
    Estimates, MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict,
};
use params::*;
use piggybank::Piggybank;
use trend::{Trend, Window};

/// A renewed estimate of moves left changes the budget when it differs by more than this fraction: small changes are
/// noise, and every change costs a computation.
const RENEWAL_THRESHOLD: f64 = 0.02;
/// By how much the share of the best move may change the number of nodes wanted, at the most.
const LARGEST_SHARE_FACTOR: f64 = 2.0;
/// Share of a search's visits that go to its best move, before the first search of a game.
const INIT_BEST_SHARE: f64 = 0.7;
/// Weight of a new search in that share.
const BEST_SHARE_UPDATE: f64 = 0.2;
/// Weight of a new move in the average of what moves take past their limits.
const OVERRUN_UPDATE: f64 = 0.2;

/// More than this past a limit, in milliseconds, says nothing of the next move.
const LONGEST_OVERRUN_MS: f64 = 1_000.0;

/// How `smooth` is chosen and configured.
pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("zeitnot"),
    help: "Aims at trees of equal size on every move, learning speed, tree reuse and time use as the game goes.",
    params: OWN,
    choices: &[],
    groups: &SMOOTH_GROUPS,
    build: |values| Box::new(Smooth::new(values)),
};

const SMOOTH_GROUPS: [GroupSpec; 5] = [GROUPS[0], GROUPS[1], GROUPS[2], PIGGYBANK, OVERTAKING];

#[derive(Debug)]
struct Smooth {
    settings: Settings,
    moves_left: MovesLeft,
    speed: SpeedEstimator,
    tree_reuse: TreeReuse,
    time_use: TimeUse,
    bank: Option<Piggybank>,
    /// Share of the visits that went to the best move, averaged over the searches.
    best_share: f64,
    /// What a move takes past its limit, on average, in milliseconds: the last batch, and a busy machine.
    overrun_ms: f64,
    is_first_move: bool,
    /// Value of the move played last.
    last_value: Option<f64>,
    current: Option<CurrentMove>,
}

#[derive(Clone, Debug)]
struct Settings {
    max_tree_reuse: f64,
    nps_update_rate: f64,
    max_move_budget: f64,
    first_move_bonus: f64,
    extension: f64,
    score_drop: f64,
    min_nodes: f64,
    node_budget: f64,
    total_nodes_share: f64,
    trend: Option<Trend>,
}

/// What of the plan is needed until the move ends.
#[derive(Clone, Debug)]
struct CurrentMove {
    request: MoveRequest,
    is_first: bool,
    budget: Budget,
    /// As planned: nothing goes past it.
    hard_limit_ms: f64,
    trend: Option<Trend>,
    /// The latest value of the best move, and its share of the visits.
    value: Option<f64>,
    best_share: Option<f64>,
}

/// The numbers of one decision.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Whatever the time control says.
    expected_moves: f64,
    average_move_ms: f64,
    budget_ms: f64,
    extra_ms: f64,
    tax_ms: f64,
    /// New nodes that the budget is expected to bring.
    new_nodes: f64,
}

impl Smooth {
    fn new(values: &ParamValues) -> Self {
        let trend = || {
            let value = |param| values.get_in(OVERTAKING.name, param);
            let (best, rival) = (value(&BEST_OPTIMISM), value(&RIVAL_OPTIMISM));
            Trend::new(value(&TREND_PERIOD), best, rival, Window::Shortest)
        };
        Self {
            settings: Settings {
                max_tree_reuse: values.get(&MAX_TREE_REUSE),
                nps_update_rate: values.get(&NPS_UPDATE_RATE),
                max_move_budget: values.get(&MAX_MOVE_BUDGET),
                first_move_bonus: values.get(&FIRST_MOVE_BONUS),
                extension: values.get(&EXTENSION),
                score_drop: values.get(&SCORE_DROP),
                min_nodes: values.get(&MIN_NODES),
                node_budget: values.get(&NODE_BUDGET),
                total_nodes_share: values.get(&TOTAL_NODES_SHARE),
                trend: values.has(&[OVERTAKING.name]).then(trend),
            },
            moves_left: MovesLeft::new(values),
            speed: SpeedEstimator::new(values.get(&INIT_NPS)),
            tree_reuse: TreeReuse::new(
                values.get(&INIT_TREE_REUSE),
                values.get(&MAX_TREE_REUSE),
                values.get(&TREE_REUSE_UPDATE_RATE),
            ),
            time_use: TimeUse::new(
                values.get(&INIT_TIMEUSE),
                values.get(&MIN_TIMEUSE),
                values.get(&TIMEUSE_UPDATE_RATE),
            ),
            bank: Piggybank::new(values),
            best_share: INIT_BEST_SHARE,
            overrun_ms: 0.0,
            is_first_move: true,
            last_value: None,
            current: None,
        }
    }

    /// The decision from what is known now, one term per step of the formulas above.
    fn decide(&self, request: &MoveRequest, is_first: bool) -> (Plan, Budget) {
        use Unit::{Milliseconds, Nodes, NodesPerSecond, Ratio};
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
        if self.overrun_ms > 0.0 {
            game_time -= moves_left
                * plan.term("overrun = from what moves took past their limits", self.overrun_ms, Milliseconds);
        }
        let game_time = plan.at_least(
            "game_time = max(0, clock + increment * (moves_left - 1) - overhead - bank - moves_left * overrun)",
            game_time,
            0.0,
            Milliseconds,
        );
        let average_move_ms =
            plan.term("average_move_time = game_time / moves_left", game_time / moves_left, Milliseconds);
        let nps = plan.term("nps = from its initial value and the searches so far", self.speed.nps(), NodesPerSecond);
        let new_per_move = plan.term(
            "average_new_nodes = average_move_time / 1000 * nps",
            average_move_ms * nps / MS_PER_SECOND,
            Nodes,
        );
        let reuse = plan.estimate(
            "tree_reuse = from its initial value and the searches so far, at most max-tree-reuse",
            self.tree_reuse.factor(),
            Ratio,
            self.tree_reuse.limited(),
        );
        let total_per_move = plan.term(
            "average_total_nodes = average_new_nodes / (1 - tree_reuse)",
            new_per_move / (1.0 - reuse),
            Nodes,
        );
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
        let time_use = plan.estimate(
            "timeuse = from its initial value and the searches so far, at least min-timeuse",
            self.time_use.factor(),
            Ratio,
            self.time_use.limited(),
        );
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
        // The clock is refilled after the last move of a control: what is left then is lost.
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

    /// Whether the search has found reason to take longer than planned.
    fn is_hard(&self, current: &CurrentMove, snapshot: &SearchSnapshot) -> bool {
        let dropped = self.settings.score_drop > 0.0
            && self
                .last_value
                .zip(snapshot.best_value)
                .is_some_and(|(last, now)| last - now > self.settings.score_drop);
        let end_ms = current.budget.budget_ms + current.budget.extra_ms;
        let overtaken = || current.trend.as_ref().is_some_and(|trend| trend.is_overtaken_by(end_ms));
        snapshot.need_more_time || dropped || overtaken()
    }

    /// Factor on the budget where the target counts the best move's nodes (Lc0 #1529): the same number of them costs
    /// more where the best move gets a smaller share of the visits than usual.
    fn share_factor(&self, share: f64) -> f64 {
        let theta = self.settings.total_nodes_share;
        let measure = |share: f64| theta + (1.0 - theta) * share;
        (measure(self.best_share) / measure(share)).clamp(1.0 / LARGEST_SHARE_FACTOR, LARGEST_SHARE_FACTOR)
    }
}

impl TimeManager for Smooth {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        self.speed.end_move();
        self.tree_reuse.search_begins(request.reused_nodes);
        self.moves_left.begin_move(request.ply, request.pieces);
        self.moves_left.read(request.moves_left_plies);
        let is_first = std::mem::take(&mut self.is_first_move);
        if let Some(bank) = &mut self.bank {
            bank.open(believed_ms(request.clock_ms));
        }
        let (plan, budget) = self.decide(request, is_first);
        self.speed.set_half_life(self.settings.nps_update_rate * budget.average_move_ms);
        self.current = Some(CurrentMove {
            request: request.clone(),
            is_first,
            budget,
            hard_limit_ms: plan.hard_limit_ms,
            trend: self.settings.trend.clone(),
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
            current.budget = self.decide(&current.request, current.is_first).1;
        }
        if let Some(trend) = &mut current.trend {
            trend.observe(snapshot.elapsed_ms, snapshot.root_visits);
        }
        current.value = snapshot.best_value.or(current.value);
        let visits: f64 = snapshot.root_visits.iter().map(|visits| f64::from(*visits)).sum();
        let most = snapshot.root_visits.iter().max().copied().unwrap_or(0);
        if visits > 0.0 {
            current.best_share = Some(f64::from(most) / visits);
        }

        let factor = current.best_share.map_or(1.0, |share| self.share_factor(share));
        let extra = if self.is_hard(&current, snapshot) { current.budget.extra_ms } else { 0.0 };
        let limit = (current.budget.budget_ms * factor + extra).min(current.hard_limit_ms);
        let mut verdict = Verdict { nps, ..Verdict::at_limit(snapshot, limit, StopReason::Time) };
        if self.settings.node_budget > 0.0 {
            let nodes = current.budget.new_nodes * self.settings.node_budget * factor;
            let remaining = (nodes - snapshot.new_nodes as f64).max(0.0);
            verdict.remaining_playouts = Some(remaining);
            if remaining == 0.0 && verdict.stop.is_none() && snapshot.new_nodes > 0 {
                verdict.stop = Some(StopReason::NodeBudget);
            }
        }
        self.current = Some(current);
        verdict
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.speed.end_move();
        let Some(current) = self.current.take() else {
            self.tree_reuse.forget_last();
            self.last_value = None;
            return;
        };
        let Budget { average_move_ms, budget_ms, tax_ms, .. } = current.budget;
        let average_moves = if average_move_ms > 0.0 { outcome.elapsed_ms / average_move_ms } else { 0.0 };
        self.tree_reuse.search_ended(outcome.total_nodes, average_moves);
        let budget_ms = budget_ms * outcome.granted();
        self.time_use.search_ended(outcome.elapsed_ms, budget_ms, average_moves);
        if let Some(bank) = &mut self.bank {
            bank.settle(tax_ms, outcome.elapsed_ms - budget_ms);
        }
        if let Some(share) = current.best_share {
            self.best_share += BEST_SHARE_UPDATE * (share - self.best_share);
        }
        self.last_value = current.value;
        let overrun_ms = outcome.due_ms.map(|due_ms| (outcome.elapsed_ms - due_ms).clamp(0.0, LONGEST_OVERRUN_MS));
        if let Some(overrun_ms) = overrun_ms.filter(|overrun_ms| overrun_ms.is_finite()) {
            self.overrun_ms += OVERRUN_UPDATE * (overrun_ms - self.overrun_ms);
        }
    }

    fn estimates(&self) -> Estimates {
        Estimates {
            nps: Some(self.speed.nps()),
            tree_reuse: Some(self.tree_reuse.factor()),
            timeuse: Some(self.time_use.factor()),
            bank_ms: self.bank.as_ref().map(Piggybank::saved_ms),
        }
    }

    fn set_nps(&mut self, nps: f64) {
        self.speed.set(nps);
    }
}

#[cfg(test)]
mod tests;
