#![doc = include_str!("../../../docs/complexity.md")]

use super::parts::control::{self, ControlFactor, MERGEN, TimeClass};
use super::parts::param;
use super::parts::phase::{self, LAST_MIDDLEGAME_MOVE, LAST_OPENING_MOVE, MovePhase, PhaseFactor, move_number};
use super::parts::position_complexity::{self, Complexity};
use crate::params::{ManagerSpec, ParamSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    BASE_FACTOR "base-time-factor" 0.04 0.001 1.0 Ratio
        "Scales every move: 0.04 leaves the estimate of moves remaining as it is.";
    MIN_FACTOR "min-time-factor" 0.01 0.0 1.0 Ratio "Least fraction of the clock for a move.";
    MAX_FACTOR "max-time-factor" 0.15 0.001 1.0 Ratio "Largest fraction of the clock for a move's target.";
    MAX_OVER_TARGET "max-over-target" 2.5 1.0 100.0 Ratio "Maximum of a move over its target.";
    MAX_CLOCK "max-clock" 0.25 0.001 1.0 Ratio "Largest fraction of the clock for a move's maximum.";
    INCREMENT_USE "increment-use" 0.0 0.0 1.0 Ratio "Fraction of the increment that is added to the base time.";
    EMERGENCY_THRESHOLD "emergency-threshold" 10.0 0.0 1e6 Seconds
        "Time on the clock below which it is an emergency.";
    EMERGENCY_TARGET "emergency-target" 0.10 0.0 1.0 Ratio "Fraction of the clock for a move's target in an emergency.";
    EMERGENCY_MAX "emergency-max" 0.15 0.0 1.0 Ratio "Fraction of the clock for a move's maximum in an emergency.";
    EMERGENCY_DEPTH "emergency-depth" 4.0 1.0 1000.0 Plies
        "In an emergency, a search of this average depth or more ends at its target, decided or not.";
}

/// The class of the time control, which the document's program takes as an argument.
const CLASS: ParamSpec = ParamSpec {
    words: &["auto", "bullet", "blitz", "rapid", "classical"],
    ..param("class", 0.0, 4.0, Unit::Ratio, "The class of the time control; auto: from the first clock.")
};

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "complexity",
    preset: None,
    is_first: true,
    help: "Mergen's: more time for complex positions and the middlegame, a target and a maximum, emergency mode.",
    params: &[
        BASE_FACTOR,
        MIN_FACTOR,
        MAX_FACTOR,
        MAX_OVER_TARGET,
        MAX_CLOCK,
        INCREMENT_USE,
        EMERGENCY_THRESHOLD,
        EMERGENCY_TARGET,
        EMERGENCY_MAX,
        EMERGENCY_DEPTH,
        CLASS,
    ],
    groups: &[control::group(&MERGEN), phase::GROUP, position_complexity::GROUP],
    build: |values| Box::new(ComplexityManager::new(values)),
};

/// "Estimate moves remaining in game": the document gives a range for each phase, within which the estimate falls with
/// the move number; in the endgame with the pieces, from 20 moves with ten pieces to 10 with two.
fn moves_remaining(ply: u32, pieces: Option<u32>) -> f64 {
    const OPENING: (f64, f64) = (40.0, 35.0);
    const MIDDLEGAME: (f64, f64) = (30.0, 20.0);
    const ENDGAME: (f64, f64) = (20.0, 10.0);
    const ENDGAME_PIECES: (f64, f64) = (10.0, 2.0);
    let between = |(from, to): (f64, f64), share: f64| from + (to - from) * share.clamp(0.0, 1.0);
    let number = move_number(ply);
    let share_of = |first: u32, last: u32| f64::from(number.saturating_sub(first)) / f64::from(last - first);
    match MovePhase::of(ply, pieces) {
        MovePhase::Opening => between(OPENING, share_of(1, LAST_OPENING_MOVE)),
        MovePhase::Middlegame => between(MIDDLEGAME, share_of(LAST_OPENING_MOVE + 1, LAST_MIDDLEGAME_MOVE)),
        MovePhase::Endgame => {
            let (most, fewest) = ENDGAME_PIECES;
            let pieces = pieces.map_or(most, f64::from);
            between(ENDGAME, (most - pieces) / (most - fewest))
        }
    }
}

#[derive(Debug)]
struct ComplexityManager {
    values: ParamValues,
    control: ControlFactor,
    phase: PhaseFactor,
    complexity: Complexity,
    current: Option<CurrentMove>,
}

#[derive(Clone, Copy, Debug)]
struct CurrentMove {
    budget_ms: f64,
    hard_limit_ms: f64,
    /// Average depth from which the search gets no reserve; `None` outside an emergency.
    deepest: Option<f64>,
}

impl CurrentMove {
    /// The time at which the search has to end, as it stands now.
    fn limit_ms(&self, snapshot: &SearchSnapshot) -> f64 {
        let is_deep = self.deepest.is_some_and(|deepest| f64::from(snapshot.average_depth) >= deepest);
        if snapshot.need_more_time && !is_deep { self.hard_limit_ms } else { self.budget_ms }
    }
}

impl ComplexityManager {
    fn new(values: &ParamValues) -> Self {
        let mut control = ControlFactor::new(values, control::GROUP, &MERGEN);
        let classes = [TimeClass::Bullet, TimeClass::Blitz, TimeClass::Rapid, TimeClass::Classical];
        // The first word leaves the class to the clock.
        let named = (values.get(&CLASS) as usize).checked_sub(1);
        if let Some(class) = named.and_then(|index| classes.get(index)) {
            control.fix(*class);
        }
        Self {
            control,
            phase: PhaseFactor::new(values, phase::GROUP.name),
            complexity: Complexity::new(values, position_complexity::GROUP.name),
            values: values.clone(),
            current: None,
        }
    }
}

impl TimeManager for ComplexityManager {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Ratio};
        let value = |param| self.values.get(param);
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        let moves_left =
            plan.moves_left(moves_remaining(request.ply, request.pieces), "from the move number and the pieces");
        let available =
            plan.at_least("available = max(0, clock - overhead)", clock_ms - overhead_ms, 0.0, Milliseconds);
        let scale = value(&BASE_FACTOR) / BASE_FACTOR.default;
        let base = (available / moves_left + value(&INCREMENT_USE) * increment_ms) * scale;
        let name = "base = (available / moves_left + increment-use * increment) * base-time-factor / 0.04";
        let base = plan.term(name, base, Milliseconds);
        let control = self.control.plan(&mut plan, clock_ms);
        let name = "phase = from the phase of the game";
        let phase = plan.term(name, self.phase.of(MovePhase::of(request.ply, request.pieces)), Ratio);
        let name = "complexity_score = from moves, pieces, captures and check";
        let score = plan.term(name, position_complexity::score(request), Ratio);
        let name = "complexity = simplest + (hardest - simplest) * complexity_score";
        let complexity = plan.term(name, self.complexity.of(score), Ratio);
        let name = "adjusted = base * control * phase * complexity";
        let target = plan.term(name, base * control * phase * complexity, Milliseconds);
        let name = "min_target = max(adjusted, min-time-factor * clock)";
        let target = plan.at_least(name, target, value(&MIN_FACTOR) * clock_ms, Milliseconds);
        let name = "target = min(min_target, max-time-factor * clock)";
        let mut target = plan.at_most(name, target, value(&MAX_FACTOR) * clock_ms, Milliseconds);
        let maximum = target * value(&MAX_OVER_TARGET);
        let mut maximum = plan
            .at_most(
                "maximum = min(target * max-over-target, max-clock * clock)",
                maximum,
                value(&MAX_CLOCK) * clock_ms,
                Milliseconds,
            )
            .max(target);
        let threshold_ms = value(&EMERGENCY_THRESHOLD) * MS_PER_SECOND;
        let is_emergency = clock_ms < threshold_ms;
        plan.term("emergency = clock < emergency-threshold * 1000", f64::from(u8::from(is_emergency)), Ratio);
        if is_emergency {
            let name = "emergency_target = emergency-target * clock";
            target = plan.term(name, value(&EMERGENCY_TARGET) * clock_ms, Milliseconds);
            maximum = plan
                .term("emergency_maximum = emergency-max * clock", value(&EMERGENCY_MAX) * clock_ms, Milliseconds)
                .max(target);
        } else {
            // A longer clock must not give the move a smaller target or maximum.
            let name = "above_emergency = max(target, emergency-target * emergency-threshold * 1000)";
            target = plan.at_least(name, target, value(&EMERGENCY_TARGET) * threshold_ms, Milliseconds);
            let least = (value(&EMERGENCY_MAX) * threshold_ms).max(target);
            maximum = plan.at_least(
                "maximum_above_emergency = \
                 max(maximum, target, above_emergency, emergency-max * emergency-threshold * 1000)",
                maximum,
                least,
                Milliseconds,
            );
        }
        let [target_name, reserve_name] = match is_emergency {
            true => ["emergency_target", "max(0, emergency_maximum - emergency_target)"],
            false => ["above_emergency", "maximum_above_emergency - above_emergency"],
        };
        let plan = plan.finish((target_name, target), (reserve_name, maximum - target), None);
        let (budget_ms, hard_limit_ms) = (plan.budget_ms, plan.hard_limit_ms);
        let deepest = is_emergency.then_some(self.values.get(&EMERGENCY_DEPTH));
        self.current = Some(CurrentMove { budget_ms, hard_limit_ms, deepest });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let Some(current) = self.current else { return Verdict::default() };
        Verdict::at_limit(snapshot, current.limit_ms(snapshot), StopReason::Time)
    }

    fn finish(&mut self, _outcome: &MoveOutcome) {
        self.current = None;
    }
}

#[cfg(test)]
#[path = "complexity_tests.rs"]
mod tests;
