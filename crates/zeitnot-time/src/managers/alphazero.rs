#![doc = include_str!("../../docs/alphazero.md")]

use crate::params::{ManagerSpec, param_specs};
use crate::plan::Plan;
use crate::plan_builder::{NO_RESERVE, PlanBuilder};
use crate::unit::Unit;
use crate::{MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    TIME_PERCENT "alphazero-time-pct" 12.0 0.0 100.0 Percent "Share of the clock that a move gets.";
}

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "alphazero",
    preset: None,
    is_first: true,
    help: "A fixed share of the clock for every move.",
    params: &[TIME_PERCENT],
    groups: &[],
    build: |values| Box::new(AlphaZero { percent: values.get(&TIME_PERCENT), hard_limit_ms: None }),
};

#[derive(Debug)]
struct AlphaZero {
    percent: f64,
    hard_limit_ms: Option<f64>,
}

impl TimeManager for AlphaZero {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, overhead_ms, .. } = *plan.request();
        let available =
            plan.at_least("available = max(0, clock - overhead)", clock_ms - overhead_ms, 0.0, Unit::Milliseconds);
        let percent = plan.term("share = alphazero-time-pct", self.percent, Unit::Percent);
        // Every move takes the same share of the rest of the clock: 100 / share of them make up the whole.
        plan.moves_left_by_share(percent.max(f64::MIN_POSITIVE));
        let budget = (available * percent / 100.0).trunc();
        let plan = plan.finish(("whole(available * share / 100)", budget), NO_RESERVE, None);
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
