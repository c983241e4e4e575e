//! `simple`: a share of the clock that grows with the ply and with the increment.
//!
//! # Formulas
//!
//! ```text
//! share  = base-pct + ply · ply-pct + 100 · time-factor · increment / clock        in percent
//! budget = (clock − overhead) · share · (1 + opening-bonus-pct on the first move)  + what the last move left over
//! ```
//!
//! *Worked example*: 60 s + 1 s, overhead 200 ms, first move: 1.4 % + 100 · 1.5 · 1 / 60 = 3.9 % of 59,800 ms are 2,332 ms.
//!
//! *When to use it*: in games with an increment against engines, where Lc0's authors measured it ahead of `legacy` (#1876).
//!
//! Source: Lc0's manager of PR #1764, revised in #1876 (lc0.md A.4). `movestogo` does not count. A budget is never
//! negative here.

use crate::time_manager::params::{ManagerSpec, ParamSpec, ParamValues};
use crate::time_manager::plan::{NO_RESERVE, Plan, PlanBuilder, Unit};
use crate::time_manager::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

const BASE_PERCENT: ParamSpec = ParamSpec {
    name: "base-pct",
    default: 1.4,
    min: 0.001,
    max: 100.0,
    unit: Unit::Percent,
    help: "Share of the clock that a move at the start of a game gets.",
};
const PLY_PERCENT: ParamSpec = ParamSpec {
    name: "ply-pct",
    default: 0.049,
    min: 0.0,
    max: 1.0,
    unit: Unit::Percent,
    help: "By how much that share grows with every ply.",
};
const TIME_FACTOR: ParamSpec = ParamSpec {
    name: "time-factor",
    default: 1.5,
    min: 0.0,
    max: 100.0,
    unit: Unit::Ratio,
    help: "How much of the increment, as a share of the clock, is added to it.",
};
const OPENING_BONUS_PERCENT: ParamSpec = ParamSpec {
    name: "opening-bonus-pct",
    default: 0.0,
    min: 0.0,
    max: 1000.0,
    unit: Unit::Percent,
    help: "What the first move of a game gets on top.",
};

/// How `simple` is chosen and configured.
pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "simple",
    preset: None,
    help: "A share of the clock that grows with the ply and the increment; what a move leaves over goes to the next.",
    params: &[BASE_PERCENT, PLY_PERCENT, TIME_FACTOR, OPENING_BONUS_PERCENT],
    choices: &[],
    groups: &[],
    build: |values| Box::new(Simple::new(values)),
};

#[derive(Debug)]
struct Simple {
    base_percent: f64,
    ply_percent: f64,
    time_factor: f64,
    opening_bonus_percent: f64,
    /// The last move's budget and what was available for it, milliseconds.
    last: Option<(f64, f64)>,
    limit_ms: Option<f64>,
}

impl Simple {
    fn new(values: &ParamValues) -> Self {
        Self {
            base_percent: values.get(&BASE_PERCENT),
            ply_percent: values.get(&PLY_PERCENT),
            time_factor: values.get(&TIME_FACTOR),
            opening_bonus_percent: values.get(&OPENING_BONUS_PERCENT),
            last: None,
            limit_ms: None,
        }
    }
}

impl TimeManager for Simple {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    /// lc0.md A.4, one term per quantity.
    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Percent, Ratio};
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        let available =
            plan.at_least("available = max(0, clock - overhead)", clock_ms - overhead_ms, 0.0, Milliseconds);
        let share = plan.term(
            "ply_share = base-pct + ply * ply-pct",
            self.base_percent + f64::from(request.ply) * self.ply_percent,
            Percent,
        );
        let increment_ratio = if clock_ms > 0.0 { increment_ms / clock_ms } else { 0.0 };
        let increment_ratio = plan.term("increment_ratio = increment / clock", increment_ratio, Ratio);
        let share = plan.term(
            "share = ply_share + 100 * increment_ratio * time-factor",
            share + 100.0 * increment_ratio * self.time_factor,
            Percent,
        );
        plan.moves_left(100.0 / share, "100 / share");
        let mut budget = plan.term("share_of_clock = available * share / 100", available * share / 100.0, Milliseconds);
        match self.last {
            None => {
                let bonus = plan.term("opening_bonus = opening-bonus-pct", self.opening_bonus_percent, Percent);
                budget *= 1.0 + bonus / 100.0;
            }
            // What the last move left over of its budget.
            Some((last_budget, last_available)) => {
                let used = last_available - (available - increment_ms);
                budget += plan.at_least(
                    "saved = from what the last move left of its budget",
                    last_budget - used,
                    0.0,
                    Milliseconds,
                );
            }
        }
        let budget = plan.at_most(
            "limited_budget = min(share_of_clock * (1 + opening_bonus / 100) + saved, available)",
            budget,
            available,
            Milliseconds,
        );
        self.last = Some((budget, available));
        let plan = plan.finish(("whole(limited_budget)", budget.trunc()), NO_RESERVE, None);
        self.limit_ms = Some(plan.hard_limit_ms);
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.limit_ms.map_or_else(Verdict::default, |limit| Verdict::at_limit(snapshot, limit, StopReason::Time))
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.limit_ms = None;
        if let Some((budget, _)) = &mut self.last {
            *budget *= outcome.granted();
        }
    }

    fn estimates(&self) -> Estimates {
        Estimates::default()
    }

    fn set_nps(&mut self, _nps: f64) {}
}

#[cfg(test)]
mod tests {
    use crate::time_manager::managers::golden::{Played, check};

    // lc0.md A.4: fresh managers, observed by running Lc0; (200, 150) has a negative limit there.
    #[test]
    fn single_moves_are_those_of_lc0() {
        for (ply, clock, increment, moves_to_go, budget) in [
            (0, 60_000.0, 0.0, None, 837.0),
            (0, 60_000.0, 1_000.0, None, 2_332.0),
            (1, 60_000.0, 1_000.0, None, 2_361.0),
            (20, 300_000.0, 0.0, None, 7_135.0),
            (40, 180_000.0, 2_000.0, None, 9_037.0),
            (80, 30_000.0, 500.0, None, 2_330.0),
            (120, 5_000.0, 100.0, None, 493.0),
            (200, 1_000.0, 0.0, None, 89.0),
            (200, 150.0, 0.0, None, 0.0),
            (0, 2_400_000.0, 0.0, Some(40), 33_597.0),
            (78, 60_000.0, 0.0, Some(1), 3_122.0),
            (60, 7_200_000.0, 15_000.0, None, 334_970.0),
        ] {
            check("simple", &[Played { ply, clock, increment, moves_to_go, budget, used: 0.0 }]);
        }
    }

    // lc0.md A.4, "Sequence".
    #[test]
    fn what_a_move_leaves_over_goes_to_the_next() {
        let played = |clock, ply, budget| Played { ply, clock, increment: 600.0, moves_to_go: None, budget, used: 0.0 };
        check("simple", &[played(60_000.0, 0, 1_734.0), played(60_000.0, 2, 2_927.0), played(57_000.0, 4, 1_803.0)]);
    }
}
