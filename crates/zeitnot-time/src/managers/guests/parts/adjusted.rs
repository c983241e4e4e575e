//! `adjust(...)`: parts on top of any manager, `legacy(adjust(stability,score-drop))`.

use super::Part;
use super::history::History;
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

const MOST: ParamSpec = ParamSpec {
    name: "most",
    default: 2.5,
    min: 1.0,
    max: 100.0,
    unit: Unit::Ratio,
    help: "Largest factor on a budget from the parts that judge the running search.",
};

/// The group `adjust`.
pub(crate) const ADJUST: GroupSpec = GroupSpec {
    name: "adjust",
    help: "Parts that change the budgets of the manager; each is in effect when it is named.",
    params: &[MOST],
    groups: super::GROUPS,
};

/// A manager whose budgets and limits are multiplied by the factors of parts.
///
/// The plan of the manager, and its limit while the search runs, are multiplied by the factors known before the search.
/// The factors that judge the running search move the limit between 0 and `most` times the budget. The manager learns
/// from the move as it was played, and is told the factors known before the search ([`MoveOutcome::factor`]).
#[derive(Debug)]
pub(crate) struct Adjusted {
    inner: Box<dyn TimeManager>,
    parts: Vec<Box<dyn Part>>,
    most: f64,
    history: History,
    current: Option<CurrentMove>,
}

#[derive(Clone, Copy, Debug)]
struct CurrentMove {
    factor: f64,
    hard_limit_ms: f64,
}

impl Adjusted {
    /// `inner` with the parts that `values` name, or as it is if there are none.
    pub fn around(inner: Box<dyn TimeManager>, values: &ParamValues) -> Box<dyn TimeManager> {
        let parts = super::named(values, ADJUST.name);
        if parts.is_empty() {
            return inner;
        }
        let most = values.get_at(&[ADJUST.name], &MOST);
        Box::new(Self { inner, parts, most, history: History::default(), current: None })
    }
}

impl TimeManager for Adjusted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let base = self.inner.plan(request);
        let (base_budget, base_extra) = (base.budget_ms, base.extra_ms);
        let mut plan = PlanBuilder::resume(base, request);
        let clock_ms = plan.request().clock_ms;
        let (mut factor, mut names) = (1.0, Vec::new());
        for part in &mut self.parts {
            let known = part.begin(&MoveRequest { clock_ms, ..request.clone() });
            factor *= plan.term(part.term(), known, Unit::Ratio);
            plan.time_class(part.time_class());
            names.extend(part.term().split_whitespace().next());
        }
        let factor = plan.term_of("adjust_factor", names.join(" * "), factor, Unit::Ratio);
        let budget =
            plan.term("adjusted_budget = planned_budget * adjust_factor", base_budget * factor, Unit::Milliseconds);
        let reserve = (base_extra * factor).max(budget * (self.most - 1.0));
        let formula = match base_extra > 0.0 {
            true => "max(planned_extra * adjust_factor, (most - 1) * adjusted_budget)",
            false => "(most - 1) * adjusted_budget",
        };
        let plan = plan.finish_again(("adjusted_budget", budget), (formula, reserve));
        self.history.begin_move(self.current.is_none());
        self.current = Some(CurrentMove { factor, hard_limit_ms: plan.hard_limit_ms });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let verdict = self.inner.observe(snapshot);
        let iteration = self.history.observe(snapshot);
        let factors = self.parts.iter_mut().map(|part| part.observe(iteration.as_ref(), snapshot));
        let factor: f64 = factors.product();
        let (Some(current), Some(remaining_ms)) = (self.current, verdict.remaining_ms) else { return verdict };
        if verdict.stop.is_some_and(|stop| stop != StopReason::Time) {
            return verdict;
        }
        let limit = (snapshot.elapsed_ms + remaining_ms) * current.factor * factor;
        let adjusted = Verdict::at_limit(snapshot, limit.min(current.hard_limit_ms), StopReason::Time);
        Verdict { remaining_ms: adjusted.remaining_ms, stop: adjusted.stop, ..verdict }
    }

    fn wants_root_values(&self) -> bool {
        self.inner.wants_root_values()
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        let factor = self.current.take().map(|current| current.factor);
        if factor.is_none() {
            self.history.begin_move(false);
        }
        self.inner.finish(&MoveOutcome { factor, ..outcome.clone() });
    }

    fn estimates(&self) -> Estimates {
        self.inner.estimates()
    }

    fn reports_statistics(&self) -> bool {
        self.inner.reports_statistics()
    }

    fn set_nps(&mut self, nps: f64) {
        self.inner.set_nps(nps);
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::{look, value};
    use super::*;
    use crate::build;

    fn request(ply: u32) -> MoveRequest {
        MoveRequest { clock_ms: 60_000.0, ply, pieces: Some(32), legal_moves: Some(20), ..MoveRequest::default() }
    }

    #[test]
    fn factors_known_before_the_search_scale_the_plan() {
        let base = build("alphazero").unwrap().plan(&request(0));
        let plan = build("alphazero(adjust(phase,complexity))").unwrap().plan(&request(0));
        // Mergen: the opening, and the start position's complexity of 0.46.
        assert!((plan.budget_ms - base.budget_ms * 0.7 * 0.984).abs() < 1e-9, "{plan}");
        assert!((plan.hard_limit_ms - plan.budget_ms * 2.5).abs() < 1e-9, "{plan}");
        let names: Vec<_> = plan.terms.iter().map(|term| term.name.as_ref()).collect();
        let order = ["planned_budget", "adjust_phase", "adjust_complexity", "adjusted_budget", "safe_clock", "budget"];
        let found: Vec<_> = order.iter().map(|name| names.iter().position(|other| other == name).unwrap()).collect();
        assert!(found.is_sorted(), "{names:?}");
        assert_eq!(names.iter().filter(|name| **name == "budget").count(), 1);
    }

    #[test]
    fn factors_of_the_search_move_the_limit() {
        let mut manager = build("legacy(adjust(stability,score-drop,easy-move))").unwrap();
        let plan = manager.plan(&request(20));
        let base = build("legacy").unwrap().plan(&request(20));
        assert_eq!(plan.budget_ms, base.budget_ms);
        let mut factor = |seen: SearchSnapshot| manager.observe(&seen).remaining_ms.unwrap() / plan.budget_ms;
        assert_eq!(factor(look(2, 0, value(100.0))), 1.0);
        assert!((factor(look(4, 0, value(40.0))) - 1.5).abs() < 1e-9);
        assert!((factor(look(8, 0, value(-20.0))) - 2.25).abs() < 1e-9);
        assert!((factor(look(16, 0, value(-80.0))) - 2.5).abs() < 1e-9, "most");
        let easy = SearchSnapshot { second_value: Some(value(-500.0)), ..look(32, 0, value(-80.0)) };
        assert!((factor(easy) - 3.375 / 2.0).abs() < 1e-9);
    }

    #[test]
    fn adjust_keeps_statistics_speed_and_node_budget() {
        assert!(build("adaptive(adjust(stability))").unwrap().reports_statistics());
        let mut smooth = build("smooth(node-budget=1,adjust(stability))").unwrap();
        smooth.plan(&request(0));
        assert!(smooth.observe(&look(5, 0, 0.0)).nps.is_some());
        assert_eq!(smooth.observe(&look(100_000_000, 0, 0.0)).stop, Some(StopReason::NodeBudget));
    }

    #[test]
    fn an_unknown_part_is_named() {
        let error = build("legacy(adjust(luck))").unwrap_err().to_string();
        assert!(
            error.starts_with("legacy.adjust has no parameter \"luck\"; its parameters are: most, phase("),
            "{error}"
        );
        assert!(build("legacy(adjust(score-drop(drop=30,dropped=1.4),stability(stable=0.5)))").is_ok());
        let range = build("legacy(adjust(stability(stable=0)))").unwrap_err().to_string();
        assert_eq!(
            range,
            "legacy.adjust.stability.stable = 0: out of range, expected a number from 0.01 to 100 (no unit)"
        );
    }
}
