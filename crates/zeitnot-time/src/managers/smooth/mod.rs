#![doc = include_str!("../../../docs/smooth.md")]

mod decision;
pub mod lc0;
mod learned;
mod params;
mod piggybank;
pub mod pr1195;
mod trend;

use crate::estimators::moves_left::{GROUPS, MovesLeft};
use crate::estimators::overrun::Overrun;
use crate::estimators::speed::{GUESS_WEIGHT_MS, SpeedEstimator};
use crate::params::{GroupSpec, ManagerSpec, ParamSpec, ParamValues};
use crate::plan::Plan;
use crate::plan_builder::believed_ms;
use crate::specification;
use crate::{Estimates, GameReport, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};
use decision::{Budget, Settings};
use learned::Learned;
use params::*;
use piggybank::Piggybank;
use trend::Trend;

/// A renewed estimate of moves left changes the budget when it differs by more than this fraction: small changes are
/// noise, and every change costs a computation.
const RENEWAL_THRESHOLD: f64 = 0.02;
/// By how much the share of the best move may change the number of nodes wanted, at the most.
const LARGEST_SHARE_FACTOR: f64 = 2.0;
/// Share of a search's visits that its best move gets, before the first search of a game.
const INIT_BEST_SHARE: f64 = 0.7;
/// Weight of a new search in that share.
const BEST_SHARE_UPDATE: f64 = 0.2;

/// How `smooth` is chosen and configured.
pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("zeitnot"),
    help: "Aims at trees of equal size on every move, learning speed, tree reuse and time use as the game goes.",
    params: OWN,
    groups: &SMOOTH_GROUPS,
    build: |values| Box::new(Smooth::new(values)),
};

const SMOOTH_GROUPS: [GroupSpec; 5] = [GROUPS[0], GROUPS[1], GROUPS[2], PIGGYBANK, OVERTAKING];

/// A line for the user that names the parameters in `spec` which mean something else in plain `smooth` than on the
/// design page whose names they have. `None` where it sets none of them, names the form with `preset`, or is no
/// specification of `smooth`.
pub fn parameter_note(spec: &str) -> Option<String> {
    let (manager, values) = specification::resolve(spec, super::ALL).ok()?;
    if (manager.name, manager.preset) != (SPEC.name, SPEC.preset) || values.names_preset {
        return None;
    }
    let given = |param: &ParamSpec, meaning: String| values.gives(param).then_some(meaning);
    let meanings = [
        given(&NPS_UPDATE_RATE, format!("{} counts average moves, not seconds", NPS_UPDATE_RATE.name)),
        given(&INIT_NPS, format!("{} weighs no more than {GUESS_WEIGHT_MS} ms of search", INIT_NPS.name)),
    ];
    let meanings: Vec<_> = meanings.into_iter().flatten().collect();
    let meanings = meanings.join("; ");
    (!meanings.is_empty())
        .then(|| format!("playing with {spec}: {meanings}; for the meaning on Lc0's page add preset=pr1195"))
}

#[derive(Debug)]
struct Smooth {
    settings: Settings,
    moves_left: MovesLeft,
    speed: SpeedEstimator,
    learned: Learned,
    bank: Option<Piggybank>,
    /// Share of the visits that went to the best move, averaged over the searches.
    best_share: f64,
    overrun: Overrun,
    is_first_move: bool,
    /// Value of the move played last.
    last_value: Option<f64>,
    current: Option<CurrentMove>,
}

/// The numbers of the plan that are needed until the move ends.
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

impl Smooth {
    fn new(values: &ParamValues) -> Self {
        Self {
            settings: Settings::new(values),
            moves_left: MovesLeft::new(values),
            speed: SpeedEstimator::new(values.get(&INIT_NPS)),
            learned: Learned::new(values),
            bank: Piggybank::new(values),
            best_share: INIT_BEST_SHARE,
            overrun: Overrun::default(),
            is_first_move: true,
            last_value: None,
            current: None,
        }
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
        self.learned.tree_reuse.search_begins(request.reused_nodes);
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
            trend.observe(snapshot.elapsed_ms, &snapshot.root_visits);
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
        let mut verdict =
            Verdict { nps, usual_ms: Some(limit), ..Verdict::at_limit(snapshot, limit, StopReason::Time) };
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

    fn wants_root_values(&self) -> bool {
        false
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.speed.end_move();
        let Some(current) = self.current.take() else {
            self.learned.tree_reuse.forget_last();
            self.last_value = None;
            return;
        };
        let Budget { average_move_ms, budget_ms, tax_ms, .. } = current.budget;
        self.learned.search_ended(outcome, budget_ms, average_move_ms);
        if let Some(bank) = &mut self.bank {
            bank.move_ended(tax_ms, outcome.elapsed_ms - budget_ms);
        }
        if let Some(share) = current.best_share {
            self.best_share += BEST_SHARE_UPDATE * (share - self.best_share);
        }
        self.last_value = current.value;
        self.overrun.search_ended(outcome);
    }

    fn estimates(&self) -> Estimates {
        self.learned.estimates(self.speed.nps(), self.bank.as_ref().map(Piggybank::saved_ms))
    }

    fn report(&self) -> Option<GameReport> {
        None
    }

    fn set_nps(&mut self, nps: f64) {
        self.speed.set(nps);
    }
}

#[cfg(test)]
mod tests;
