#![doc = include_str!("../../../docs/adaptive.md")]

use super::parts::control::{self, ControlFactor, SHARP_RUSTIC};
use super::parts::phase::GamePhase;
use super::parts::quality::{self, MoveQuality, Quality};
use super::statistics::{PlannedMove, Statistics};
use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{GameReport, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    EMERGENCY_TIME "emergency-ms" 2000.0 0.0 1e9 Milliseconds
        "Time on the clock for each move to go below which it is an emergency.";
    EMERGENCY_FACTOR "emergency-factor" 0.5 0.01 1.0 Ratio "Factor in an emergency.";
    EMERGENCY_DEPTH "emergency-depth" 8.0 1.0 1000.0 Plies
        "In an emergency, a search of this average depth or more gets no more than its budget, however unclear.";
}

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "adaptive",
    preset: None,
    is_first: true,
    help: "Sharp Rustic's: moves to go by phase, factors by time control and by how clear the choice is, emergency \
           mode.",
    params: &[EMERGENCY_TIME, EMERGENCY_FACTOR, EMERGENCY_DEPTH],
    groups: &[control::group(&SHARP_RUSTIC), quality::GROUP],
    build: |values| Box::new(Adaptive::new(values)),
};

/// Moves to go, by the table of docs/documents.md, 3.2.
fn adaptive_moves_to_go(ply: u32, pieces: Option<u32>) -> f64 {
    const MANY_PIECES: u32 = 20;
    match GamePhase::of(ply, pieces) {
        GamePhase::Opening => 30.0,
        GamePhase::EarlyMiddlegame if pieces.is_none_or(|pieces| pieces >= MANY_PIECES) => 25.0,
        GamePhase::EarlyMiddlegame => 20.0,
        GamePhase::LateMiddlegame => 15.0,
        GamePhase::Endgame => 10.0,
    }
}

#[derive(Debug)]
struct Adaptive {
    control: ControlFactor,
    quality: Quality,
    values: ParamValues,
    statistics: Statistics,
    current: Option<CurrentMove>,
}

#[derive(Clone, Copy, Debug)]
struct CurrentMove {
    normal_ms: f64,
    budget_ms: f64,
    hard_limit_ms: f64,
    in_check: bool,
    /// Average depth from which the search gets no more than the budget; `None` outside an emergency.
    deepest: Option<f64>,
    planned: PlannedMove,
}

impl Adaptive {
    fn new(values: &ParamValues) -> Self {
        Self {
            control: ControlFactor::new(values, control::GROUP, &SHARP_RUSTIC),
            quality: Quality::new(values, quality::GROUP.name),
            values: values.clone(),
            statistics: Statistics::default(),
            current: None,
        }
    }
}

impl TimeManager for Adaptive {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Ratio};
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, in_check, .. } = *plan.request();
        let moves_left =
            plan.moves_left(adaptive_moves_to_go(request.ply, request.pieces), "from the phase and the pieces");
        let name = "time_slice = clock / moves_left + increment";
        let slice = plan.term(name, clock_ms / moves_left + increment_ms, Milliseconds);
        self.statistics.set_control(self.control.class(clock_ms));
        let control = self.control.plan(&mut plan, clock_ms);
        let is_emergency = clock_ms < moves_left * self.values.get(&EMERGENCY_TIME);
        plan.term("emergency = clock < moves_left * emergency-ms", f64::from(u8::from(is_emergency)), Ratio);
        let factor = match is_emergency {
            true => plan.term("emergency_factor = emergency-factor", self.values.get(&EMERGENCY_FACTOR), Ratio),
            false => plan.term("emergency_factor = 1", 1.0, Ratio),
        };
        let normal_ms =
            plan.term("normal_time = time_slice * control * emergency_factor", slice * control * factor, Milliseconds);
        let quality = self.quality.of(self.quality.before_search(in_check));
        let quality = plan.term("quality = from the position: in check or not", quality, Ratio);
        let name = "largest_quality = max(excellent, good, acceptable, poor, critical)";
        let largest = plan.term(name, self.quality.largest(), Ratio);
        let budget = normal_ms * quality;
        let plan = plan.finish(
            ("normal_time * quality", budget),
            ("max(0, normal_time * largest_quality - normal_time * quality)", (normal_ms * largest - budget).max(0.0)),
            None,
        );
        let deepest = is_emergency.then_some(self.values.get(&EMERGENCY_DEPTH));
        let (budget_ms, hard_limit_ms) = (plan.budget_ms, plan.hard_limit_ms);
        let planned = PlannedMove::new(request, &plan, is_emergency);
        self.current = Some(CurrentMove { normal_ms, budget_ms, hard_limit_ms, in_check, deepest, planned });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let Some(current) = self.current else { return Verdict::default() };
        let quality: MoveQuality = self.quality.assess(snapshot, current.in_check);
        let is_deep = current.deepest.is_some_and(|deepest| f64::from(snapshot.average_depth) >= deepest);
        let most = if is_deep { current.budget_ms } else { current.hard_limit_ms };
        let limit = (current.normal_ms * self.quality.of(quality)).min(most);
        Verdict::at_limit(snapshot, limit, StopReason::Time)
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        if let Some(current) = self.current.take() {
            self.statistics.move_ended(&current.planned, outcome.elapsed_ms);
        }
    }

    fn report(&self) -> Option<GameReport> {
        Some(self.statistics.report())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build;

    fn request(clock_ms: f64, increment_ms: f64, ply: u32, pieces: u32) -> MoveRequest {
        MoveRequest { clock_ms, increment_ms, ply, pieces: Some(pieces), ..MoveRequest::default() }
    }

    fn plan(request: &MoveRequest) -> Plan {
        build("adaptive").unwrap().plan(request)
    }

    // docs/documents.md, 3.2: every row, at both ends.
    #[test]
    fn sharp_rustic_adaptive_moves_to_go_table() {
        for (ply, pieces, moves) in [
            (0, 32, 30.0),
            (20, 32, 30.0),
            (20, 13, 30.0),
            (21, 20, 25.0),
            (30, 32, 25.0),
            (21, 19, 20.0),
            (30, 13, 20.0),
            (31, 13, 15.0),
            (40, 32, 15.0),
            (41, 32, 10.0),
            (200, 2, 10.0),
            (35, 12, 10.0),
            (22, 12, 10.0),
            (10, 12, 10.0),
        ] {
            assert_eq!(adaptive_moves_to_go(ply, Some(pieces)), moves, "{ply} {pieces}");
            assert_eq!(plan(&request(600_000.0, 0.0, ply, pieces)).moves_left, moves);
        }
        let close = MoveRequest { moves_to_go: Some(7), ..request(600_000.0, 0.0, 0, 32) };
        assert_eq!(plan(&close).moves_left, 7.0);
    }

    // docs/documents.md, 3.1: the threshold, the factor and the depth.
    #[test]
    fn sharp_rustic_emergency_time_management() {
        // 30 moves to go: the threshold is 60,000 ms.
        let calm = plan(&request(60_000.0, 0.0, 0, 32));
        assert_eq!(calm.term("emergency").unwrap().value, 0.0);
        assert_eq!(calm.budget_ms, 60_000.0 / 30.0 * 0.8);
        let urgent = plan(&request(59_999.0, 0.0, 0, 32));
        assert_eq!(urgent.term("emergency").unwrap().value, 1.0);
        assert!((urgent.budget_ms - 59_999.0 / 30.0 * 0.8 * 0.5).abs() < 1e-9, "{urgent}");
        for (clock, depth, unclear) in [(59_999.0, 8, 1.0), (59_999.0, 7, 1.2), (60_000.0, 8, 1.2), (60_000.0, 99, 1.2)]
        {
            let mut manager = build("adaptive").unwrap();
            let budget_ms = manager.plan(&request(clock, 0.0, 0, 32)).budget_ms;
            let seen = SearchSnapshot { average_depth: depth, ..SearchSnapshot::default() };
            assert_eq!(manager.observe(&seen).remaining_ms, Some(budget_ms), "{clock} {depth}");
            // The most visited move is not the best valued one: a difficult position, 120 %.
            let seen = SearchSnapshot { need_more_time: true, root_visits: (&[60, 50]).into(), ..seen };
            let limit = manager.observe(&seen).remaining_ms.unwrap();
            assert!((limit / budget_ms - unclear).abs() < 1e-12, "{clock} {depth}: {limit} of {budget_ms}");
        }
    }

    /// The worked example of the module's documentation.
    #[test]
    fn sharp_rustic_enhanced_time_slice() {
        let request = request(300_000.0, 3_000.0, 24, 28);
        let mut manager = build("adaptive").unwrap();
        let plan = manager.plan(&request);
        assert_eq!((plan.budget_ms, plan.hard_limit_ms), (13_500.0, 20_250.0));
        let clear = SearchSnapshot {
            root_visits: (&[900, 100]).into(),
            best_value: Some(0.5),
            second_value: Some(0.1),
            ..SearchSnapshot::default()
        };
        for (seen, limit) in [
            (SearchSnapshot::default(), 13_500.0),
            (clear.clone(), 9_450.0),
            (SearchSnapshot { second_value: Some(0.45), ..clear.clone() }, 11_475.0),
            (SearchSnapshot { need_more_time: true, ..clear.clone() }, 16_200.0),
        ] {
            assert_eq!(manager.observe(&seen).remaining_ms, Some(limit));
        }
        let check = manager.plan(&MoveRequest { in_check: true, ..request });
        assert_eq!((check.budget_ms, check.extra_ms), (20_250.0, 0.0));
        assert_eq!(manager.observe(&clear).remaining_ms, Some(20_250.0));
    }
}
