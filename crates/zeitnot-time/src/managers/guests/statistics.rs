//! The statistics of a game as Sharp Rustic lists them (docs/documents.md, 3.6): moves, successes, losses on time, and the
//! time of each phase.

use super::parts::control::TimeClass;
use super::parts::phase::GamePhase;
use crate::{GameReport, MoveRequest, Plan};
use serde_json::{Map, json};
use std::fmt;

/// Moves of one phase of a game, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PhaseUse {
    moves: u64,
    used_ms: f64,
}

/// The statistics of a game.
///
/// `{}` prints the line of the Sharp Rustic document, to the letter: `Time Stats: Total=15, Success=14, Rate=93.3%,
/// Avg=1250ms, Phase=EarlyMiddlegame, Control=Blitz, Emergency=false`. The line leaves out two items of the document's
/// own list, time losses and the time of each phase, which [`Statistics::time_use`] adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Statistics {
    /// Moves made under a clock.
    moves: u64,
    /// Moves that took at most their hard limit plus the overhead, and at most the clock.
    successes: u64,
    /// Moves that took longer than the clock had.
    losses: u64,
    used_ms: f64,
    /// Moves and time by phase, in the order of a game.
    phases: [PhaseUse; 4],
    /// Phase of the last move.
    phase: GamePhase,
    /// Class of the time control.
    control: TimeClass,
    /// Whether the last move was an emergency.
    emergency: bool,
}

impl Statistics {
    pub(super) fn set_control(&mut self, control: TimeClass) {
        self.control = control;
    }

    /// Takes in a planned move that took `elapsed_ms`.
    pub(super) fn move_ended(&mut self, planned: &PlannedMove, elapsed_ms: f64) {
        let used_ms = if elapsed_ms.is_finite() { elapsed_ms.max(0.0) } else { 0.0 };
        let is_lost = used_ms > planned.clock_ms;
        self.moves += 1;
        self.successes += u64::from(!is_lost && used_ms <= planned.allowed_ms);
        self.losses += u64::from(is_lost);
        self.used_ms += used_ms;
        self.emergency = planned.is_emergency;
        self.phase = planned.phase;
        let phase = &mut self.phases[planned.phase as usize];
        phase.moves += 1;
        phase.used_ms += used_ms;
    }

    /// The two lines about the game so far, and their numbers.
    pub(super) fn report(&self) -> GameReport {
        let phase = |(phase, PhaseUse { moves, used_ms }): (GamePhase, PhaseUse)| {
            (format!("{phase:?}"), json!({ "moves": moves, "used_ms": used_ms }))
        };
        let phases: Map<_, _> = GamePhase::ALL.into_iter().zip(self.phases).map(phase).collect();
        let numbers = json!({
            "moves": self.moves, "successes": self.successes, "losses": self.losses, "success_rate": self.success_rate(),
            "used_ms": self.used_ms, "average_ms": self.average_ms(), "phases": phases, "phase": format!("{:?}", self.phase),
            "control": format!("{:?}", self.control), "emergency": self.emergency,
        });
        GameReport { lines: vec![self.to_string(), self.time_use()], numbers }
    }

    /// Share of the moves that were a success, in percent; 100 before the first.
    fn success_rate(&self) -> f64 {
        if self.moves == 0 { 100.0 } else { 100.0 * self.successes as f64 / self.moves as f64 }
    }

    fn average_ms(&self) -> f64 {
        if self.moves == 0 { 0.0 } else { self.used_ms / self.moves as f64 }
    }

    /// A line with the time losses, and the time and the number of the moves of each phase: `Time Use: Losses=0,
    /// Opening=13750ms/11, EarlyMiddlegame=5000ms/4, LateMiddlegame=0ms/0, Endgame=0ms/0`.
    fn time_use(&self) -> String {
        let by_phase = |(phase, PhaseUse { moves, used_ms })| format!(", {phase:?}={used_ms:.0}ms/{moves}");
        let phases: String = GamePhase::ALL.into_iter().zip(self.phases).map(by_phase).collect();
        format!("Time Use: Losses={}{phases}", self.losses)
    }
}

/// The facts about a planned move that the statistics need.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedMove {
    clock_ms: f64,
    /// The longest time with which the move is a success.
    allowed_ms: f64,
    phase: GamePhase,
    is_emergency: bool,
}

impl PlannedMove {
    /// The move that `plan` was made for.
    pub(super) fn new(request: &MoveRequest, plan: &Plan, is_emergency: bool) -> Self {
        Self {
            clock_ms: request.clock_ms,
            // The overhead may be more than the clock.
            allowed_ms: plan.hard_limit_ms + request.whole_overhead_ms().max(0.0),
            phase: GamePhase::of(request.ply, request.pieces),
            is_emergency,
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moves, successes, phase, control, emergency, .. } = self;
        let (rate, average) = (self.success_rate(), self.average_ms());
        write!(f, "Time Stats: Total={moves}, Success={successes}, Rate={rate:.1}%, Avg={average:.0}ms, ")?;
        write!(f, "Phase={phase:?}, Control={control:?}, Emergency={emergency}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MoveOutcome, build};

    // docs/documents.md, 3.6: the line.
    #[test]
    fn sharp_rustic_example_output() {
        let statistics = Statistics {
            moves: 15,
            successes: 14,
            used_ms: 15.0 * 1_250.0,
            phase: GamePhase::EarlyMiddlegame,
            control: TimeClass::Blitz,
            ..Statistics::default()
        };
        assert_eq!(
            format!("info string {statistics}"),
            "info string Time Stats: Total=15, Success=14, Rate=93.3%, Avg=1250ms, Phase=EarlyMiddlegame, \
             Control=Blitz, Emergency=false"
        );
        assert!(Statistics::default().to_string().starts_with("Time Stats: Total=0, Success=0, Rate=100.0%, Avg=0ms"));
    }

    // docs/documents.md, 3.6: losses on time and the time of each phase, which the line leaves out.
    #[test]
    fn sharp_rustic_time_losses_and_time_of_phases_are_shown() {
        let mut statistics = Statistics {
            moves: 3,
            successes: 2,
            losses: 1,
            used_ms: 6_000.0,
            phase: GamePhase::Endgame,
            control: TimeClass::Rapid,
            emergency: true,
            ..Statistics::default()
        };
        statistics.phases[0] = PhaseUse { moves: 2, used_ms: 4_000.4 };
        statistics.phases[3] = PhaseUse { moves: 1, used_ms: 1_999.6 };
        let report = statistics.report();
        assert_eq!(report.lines[0], statistics.to_string());
        assert_eq!(
            report.lines[1],
            "Time Use: Losses=1, Opening=4000ms/2, EarlyMiddlegame=0ms/0, LateMiddlegame=0ms/0, Endgame=2000ms/1"
        );
        let expected = json!({
            "moves": 3, "successes": 2, "losses": 1, "success_rate": 200.0 / 3.0, "used_ms": 6000.0, "average_ms": 2000.0,
            "phases": {
                "Opening": {"moves": 2, "used_ms": 4000.4}, "EarlyMiddlegame": {"moves": 0, "used_ms": 0.0},
                "LateMiddlegame": {"moves": 0, "used_ms": 0.0}, "Endgame": {"moves": 1, "used_ms": 1999.6},
            },
            "phase": "Endgame", "control": "Rapid", "emergency": true,
        });
        assert_eq!(report.numbers, expected);
    }

    // docs/documents.md, 3.6: moves, successes, losses, average, by phase, rate.
    #[test]
    fn sharp_rustic_statistics_tracking() {
        let mut manager = build("adaptive").unwrap();
        let mut play = |clock_ms, ply, used: &dyn Fn(&Plan) -> f64| {
            let pieces = Some(20);
            let plan =
                manager.plan(&MoveRequest { clock_ms, ply, pieces, overhead_ms: 100.0, ..MoveRequest::default() });
            manager.finish(&MoveOutcome { elapsed_ms: used(&plan), ..MoveOutcome::default() });
            let report = manager.report().unwrap();
            (report.lines.into_iter().next().unwrap(), report.numbers)
        };
        let (first, _) = play(300_000.0, 0, &|plan| plan.hard_limit_ms);
        assert!(first.starts_with("Time Stats: Total=1, Success=1, Rate=100.0%"), "{first}");
        assert!(first.ends_with("Phase=Opening, Control=Blitz, Emergency=false"), "{first}");
        let (second, numbers) = play(10_000.0, 24, &|plan| plan.hard_limit_ms + 101.0);
        assert!(second.starts_with("Time Stats: Total=2, Success=1, Rate=50.0%"), "{second}");
        assert!(second.ends_with("Phase=EarlyMiddlegame, Control=Blitz, Emergency=true"), "{second}");
        assert_eq!(numbers["losses"], 0);
        // A hard limit of 0 and an overhead of 100 ms, but only 50 on the clock.
        let (third, numbers) = play(50.0, 26, &|_| 60.0);
        assert!(third.starts_with("Time Stats: Total=3, Success=1, Rate=33.3%"), "a loss is no success: {third}");
        let phases = &numbers["phases"];
        assert_eq!((&numbers["losses"], &phases["Opening"]["moves"]), (&1.into(), &1.into()));
        assert_eq!(phases["EarlyMiddlegame"]["moves"], 2);
        let used = |phase: &str| phases[phase]["used_ms"].as_f64().unwrap();
        assert_eq!(numbers["used_ms"].as_f64().unwrap(), used("Opening") + used("EarlyMiddlegame"));
    }

    // docs/documents.md, 3.4: the class of the first clock, also with bounds of the user.
    #[test]
    fn sharp_rustic_statistics_have_the_class_of_the_manager() {
        for (spec, expected) in [("adaptive", "Blitz"), ("adaptive(control(blitz-minutes=5))", "Rapid")] {
            let mut manager = build(spec).unwrap();
            manager.plan(&MoveRequest { clock_ms: 600_000.0, ..MoveRequest::default() });
            assert_eq!(manager.report().unwrap().numbers["control"], expected, "{spec}");
        }
    }

    #[test]
    fn what_was_not_planned_is_not_counted() {
        let mut manager = build("adaptive").unwrap();
        manager.finish(&MoveOutcome::default());
        assert_eq!(manager.report().unwrap().numbers["moves"], 0);
    }
}
