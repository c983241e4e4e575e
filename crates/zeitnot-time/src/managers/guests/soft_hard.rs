#![doc = include_str!("../../../docs/soft-hard.md")]

use super::parts::history::History;
use super::parts::rules::{self, Rule};
use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    MOVES "moves" 40.0 1.0 1000.0 Moves "Moves that sudden death is expected to last.";
    SOFT "soft" 1.0 0.01 10.0 Ratio "The soft limit as a multiple of the base time.";
    HARD "hard" 5.0 0.01 100.0 Ratio "The hard limit as a multiple of the base time.";
    HARD_CLOCK "hard-clock" 0.25 0.001 1.0 Ratio "The hard limit as a fraction of the clock, at the most.";
    MARGIN "margin" 50.0 0.0 1e6 Milliseconds "Safety margin of a limit.";
    LEAST "least" 10.0 0.0 1e6 Milliseconds "No limit is shorter than this.";
}

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "soft-hard",
    preset: Some("complete"),
    is_first: true,
    help: "The textbook's: a soft limit that score drops, best moves and easy moves change, and a hard one.",
    params: &[MOVES, SOFT, HARD, HARD_CLOCK, MARGIN, LEAST],
    groups: &rules::COMPLETE,
    build: |values| Box::new(SoftHard::new(values, &SPEC, true)),
};

const BASIC_TITLE: &str = "soft-hard(preset=basic)";

pub(crate) const BASIC: ManagerSpec = ManagerSpec {
    name: "soft-hard",
    preset: Some("basic"),
    is_first: false,
    help: "The textbook's first version: 60 % of an equal share as the soft limit, 200 % as the hard one.",
    params: &[MOVES.defaulting_to(30.0), SOFT.defaulting_to(0.6), HARD.defaulting_to(2.0), HARD_CLOCK, MARGIN, LEAST],
    groups: &rules::BASIC,
    build: |values| Box::new(SoftHard::new(values, &BASIC, false)),
};

/// The clock below which time trouble begins, in milliseconds; then divisors of the clock that bound its limits.
const TROUBLE_MS: f64 = 30_000.0;
const TROUBLE_SOFT: f64 = 15.0;
const TROUBLE_HARD: f64 = 5.0;
const EMERGENCY_MS: f64 = 10_000.0;
const EMERGENCY_SOFT_OF_INCREMENT: f64 = 0.8;
const EMERGENCY_HARD: f64 = 3.0;

/// Formulas of the terms: of the complete and the basic version; then of the limits in calm, trouble and emergency.
const COMPLETE_NAMES: [&str; 3] = [
    "base = max(least, clock / moves_left + increment - margin)",
    "soft = max(least, base * soft)",
    "hard = max(least, min(base * hard, clock * hard-clock))",
];
const BASIC_NAMES: [&str; 3] = [
    "base = clock / moves_left + increment",
    "soft = max(least, base * soft - margin)",
    "hard = max(least, min(base * hard, clock * hard-clock) - margin)",
];
const CALM_NAMES: [&str; 2] =
    ["hard_limit_wanted = max(least, hard)", "soft_limit = min(max(least, soft), hard_limit_wanted)"];
const TROUBLE_NAMES: [&str; 2] =
    ["hard_limit_wanted = max(least, trouble_hard)", "soft_limit = min(max(least, trouble_soft), hard_limit_wanted)"];
const EMERGENCY_NAMES: [&str; 2] = [
    "hard_limit_wanted = max(least, emergency_hard)",
    "soft_limit = min(max(least, emergency_soft), hard_limit_wanted)",
];

#[derive(Debug)]
struct SoftHard {
    /// Values of the parameters moves, soft, hard, hard-clock, margin and least, in this order.
    values: [f64; 6],
    is_complete: bool,
    rules: [Rule; 4],
    history: History,
    /// Budget and hard limit of the move that is searched.
    current: Option<(f64, f64)>,
}

impl SoftHard {
    fn new(values: &ParamValues, spec: &ManagerSpec, is_complete: bool) -> Self {
        Self {
            values: std::array::from_fn(|index| values.get(&spec.params[index])),
            is_complete,
            rules: Rule::all(values, if is_complete { &rules::COMPLETE } else { &rules::BASIC }),
            history: History::default(),
            current: None,
        }
    }
}

impl TimeManager for SoftHard {
    fn name(&self) -> &'static str {
        if self.is_complete { SPEC.name } else { BASIC_TITLE }
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::Milliseconds;
        let [moves, soft, hard, hard_clock, margin, least] = self.values;
        let mut plan = PlanBuilder::new(self.name(), request);
        let MoveRequest { clock_ms, increment_ms, .. } = *plan.request();
        // The chapter takes the interface's moves to go as they are, even above its own guess.
        let moves_left = plan.moves_left_of(moves);
        let share = clock_ms / moves_left + increment_ms;
        let (base, after) = if self.is_complete { (share - margin, 0.0) } else { (share, margin) };
        let floor = if self.is_complete { least } else { 0.0 };
        let [base_name, soft_name, hard_name] = if self.is_complete { COMPLETE_NAMES } else { BASIC_NAMES };
        let base = plan.at_least(base_name, base, floor, Milliseconds);
        let mut soft = plan.at_least(soft_name, base * soft - after, least, Milliseconds);
        let hard = (base * hard).min(clock_ms * hard_clock) - after;
        let mut hard = plan.at_least(hard_name, hard, least, Milliseconds);
        let [mut hard_name, mut soft_name] = CALM_NAMES;
        if clock_ms < TROUBLE_MS {
            [hard_name, soft_name] = TROUBLE_NAMES;
            soft = plan.at_most("trouble_soft = min(soft, clock / 15)", soft, clock_ms / TROUBLE_SOFT, Milliseconds);
            hard = plan.at_most("trouble_hard = min(hard, clock / 5)", hard, clock_ms / TROUBLE_HARD, Milliseconds);
        }
        let is_emergency = clock_ms < EMERGENCY_MS;
        plan.term("emergency = clock < 10000", f64::from(u8::from(is_emergency)), Unit::Ratio);
        if is_emergency {
            [hard_name, soft_name] = EMERGENCY_NAMES;
            let name = "emergency_soft = min(trouble_soft, 0.8 * increment)";
            soft = plan.at_most(name, soft, increment_ms * EMERGENCY_SOFT_OF_INCREMENT, Milliseconds);
            let name = "emergency_hard = min(trouble_hard, clock / 3)";
            hard = plan.at_most(name, hard, clock_ms / EMERGENCY_HARD, Milliseconds);
        }
        let hard = plan.at_least(hard_name, hard, least, Milliseconds);
        let soft = plan.at_most(soft_name, soft.max(least), hard, Milliseconds);
        self.rules.iter_mut().for_each(Rule::begin);
        self.history.begin_move(self.current.is_none());
        let plan = plan.finish(("soft_limit", soft), ("hard_limit_wanted - soft_limit", hard - soft), None);
        self.current = Some((plan.budget_ms, plan.hard_limit_ms));
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let Some((budget_ms, hard_limit_ms)) = self.current else { return Verdict::default() };
        let iteration = self.history.observe(snapshot);
        let factors = self.rules.iter_mut().map(|rule| rule.observe(iteration.as_ref(), snapshot));
        let limit = (budget_ms * factors.product::<f64>()).min(hard_limit_ms);
        Verdict::at_limit(snapshot, limit, StopReason::Time)
    }

    fn finish(&mut self, _outcome: &MoveOutcome) {
        if self.current.take().is_none() {
            self.history.begin_move(false);
        }
    }
}

#[cfg(test)]
#[path = "soft_hard_tests.rs"]
mod tests;
