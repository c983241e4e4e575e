#![doc = include_str!("../../docs/simple.md")]

use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::{NO_RESERVE, PlanBuilder};
use crate::unit::Unit;
use crate::{MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    BASE_PERCENT "base-pct" 1.4 0.001 100.0 Percent "Share of the clock that a move at the start of a game gets.";
    PLY_PERCENT "ply-pct" 0.049 0.0 1.0 Percent "By how much that share grows with every ply.";
    TIME_FACTOR "time-factor" 1.5 0.0 100.0 Ratio "How much of the increment, as a share of the clock, is added to it.";
    OPENING_BONUS_PERCENT "opening-bonus-pct" 0.0 0.0 1000.0 Percent "Extra time of the first move of a game, as a share of its budget.";
}

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "simple",
    preset: None,
    is_first: true,
    help: "A share of the clock that grows with the ply and the increment; time that a move leaves over goes to the next.",
    params: &[BASE_PERCENT, PLY_PERCENT, TIME_FACTOR, OPENING_BONUS_PERCENT],
    groups: &[],
    build: |values| Box::new(Simple { values: values.clone(), is_first_move: true, last: None, hard_limit_ms: None }),
};

#[derive(Debug)]
struct Simple {
    values: ParamValues,
    is_first_move: bool,
    last: Option<LastMove>,
    hard_limit_ms: Option<f64>,
}

/// The numbers of the last move that the next one needs.
#[derive(Clone, Copy, Debug)]
struct LastMove {
    ply: u32,
    budget_ms: f64,
    available_ms: f64,
}

impl TimeManager for Simple {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    /// Plans by the formulas of docs/lc0.md, 1.5, one term per quantity.
    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Percent, Ratio};
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        let available =
            plan.at_least("available = max(0, clock - overhead)", clock_ms - overhead_ms, 0.0, Milliseconds);
        let share = plan.term(
            "ply_share = base-pct + ply * ply-pct",
            self.values.get(&BASE_PERCENT) + f64::from(request.ply) * self.values.get(&PLY_PERCENT),
            Percent,
        );
        let increment_ratio = if clock_ms > 0.0 { increment_ms / clock_ms } else { 0.0 };
        let increment_ratio = plan.term("increment_ratio = increment / clock", increment_ratio, Ratio);
        let name = "share = ply_share + 100 * increment_ratio * time-factor";
        let share = plan.term(name, share + 100.0 * increment_ratio * self.values.get(&TIME_FACTOR), Percent);
        plan.moves_left_by_share(share);
        let mut budget = plan.term("share_of_clock = available * share / 100", available * share / 100.0, Milliseconds);
        if std::mem::take(&mut self.is_first_move) {
            let bonus =
                plan.term("opening_bonus = opening-bonus-pct", self.values.get(&OPENING_BONUS_PERCENT), Percent);
            budget *= 1.0 + bonus / 100.0;
        }
        // Any other ply is another game or another line of it, and a foreign clock shows nothing of our use.
        let is_next = |last: &LastMove| last.ply.checked_add(2) == Some(request.ply) && !request.is_foreign_clock;
        if let Some(last) = self.last.take().filter(is_next) {
            let last_budget = plan.term("last_budget = from the last move", last.budget_ms, Milliseconds);
            let last_available = plan.term("last_available = from the last move", last.available_ms, Milliseconds);
            let name = "last_used = last_available - available + increment";
            let used = plan.term(name, last_available - available + increment_ms, Milliseconds);
            let name = "left_over = min(last_budget - last_used, last_budget)";
            let left = plan.at_most(name, last_budget - used, last_budget, Milliseconds);
            budget += plan.at_least("saved = max(0, left_over)", left, 0.0, Milliseconds);
        }
        let name = "limited_budget = min(share_of_clock * (1 + opening_bonus / 100) + saved, available)";
        let budget = plan.at_most(name, budget, available, Milliseconds);
        self.last = Some(LastMove { ply: request.ply, budget_ms: budget, available_ms: available });
        let plan = plan.finish(("whole(limited_budget)", budget.trunc()), NO_RESERVE, None);
        self.hard_limit_ms = Some(plan.hard_limit_ms);
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.hard_limit_ms.map_or_else(Verdict::default, |limit| Verdict::at_limit(snapshot, limit, StopReason::Time))
    }

    fn finish(&mut self, _outcome: &MoveOutcome) {
        self.hard_limit_ms = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::{MoveOutcome, MoveRequest, build};

    #[test]
    fn a_longer_clock_is_not_time_left_over() {
        let request = |clock_ms, ply| MoveRequest { clock_ms, ply, overhead_ms: 200.0, ..MoveRequest::default() };
        let fresh = |clock_ms, ply| build("simple").unwrap().plan(&request(clock_ms, ply)).budget_ms;
        let mut manager = build("simple").unwrap();
        // The last move of 40 in 5 s, and the first of the next 40.
        let last = manager.plan(&request(1_000.0, 78)).budget_ms;
        manager.finish(&MoveOutcome { elapsed_ms: 50.0, ..MoveOutcome::default() });
        let next = manager.plan(&request(5_950.0, 80)).budget_ms;
        assert!(next <= fresh(5_950.0, 80) + last + 1.0, "{next}");
        assert!(next > fresh(5_950.0, 80), "the whole budget of the last move was left: {next}");
        // KeepTimeStats: the next game.
        manager.finish(&MoveOutcome { elapsed_ms: 50.0, ..MoveOutcome::default() });
        assert_eq!(manager.plan(&request(3_600_000.0, 0)).budget_ms, fresh(3_600_000.0, 0));
    }
}
