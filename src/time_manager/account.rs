//! What a manager's moves came to: the account of the last one, and the statistics of the game.

use super::face::{Estimates, StopReason};
use super::parts::control::TimeClass;
use super::parts::phase::GamePhase;
use serde::ser::{SerializeMap as _, SerializeStruct as _};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// How the last move under a clock went.
///
/// `{}` prints it in one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MoveAccount {
    /// Name and preset of the manager, [`TimeManager::name`](super::TimeManager::name).
    pub manager: Cow<'static, str>,
    /// Time the move was planned to take.
    pub budget_ms: f64,
    /// Time it was not to exceed.
    pub hard_limit_ms: f64,
    /// Time it took.
    pub used_ms: f64,
    /// What ended the search; `None`: it was told to stop, or nothing was left to search.
    pub stop: Option<StopReason>,
    /// When time would have ended it otherwise, as the manager saw it last.
    pub limit_ms: Option<f64>,
    /// When the manager first knew that: the limit, or later where the search itself moved the limit back into the
    /// past.
    pub due_ms: Option<f64>,
    /// Nodes in the tree at the end.
    pub total_nodes: u64,
    /// Nodes the tree was meant to have.
    pub target_nodes: Option<f64>,
    /// What the manager now believes.
    pub estimates: Estimates,
}

impl fmt::Display for MoveAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { manager, budget_ms, hard_limit_ms, used_ms, total_nodes, .. } = self;
        write!(f, "{manager}: used={used_ms:.0}ms budget={budget_ms:.0}ms hard_limit={hard_limit_ms:.0}ms")?;
        if let Some(limit_ms) = self.limit_ms {
            write!(f, " limit={limit_ms:.0}ms")?;
            if let Some(due_ms) = self.due_ms.filter(|due_ms| *due_ms > limit_ms) {
                write!(f, " due={due_ms:.0}ms")?;
            }
        }
        write!(f, " nodes={total_nodes}")?;
        if let Some(target_nodes) = self.target_nodes {
            write!(f, " target_nodes={target_nodes:.0}")?;
        }
        let Estimates { nps, tree_reuse, timeuse, bank_ms } = self.estimates;
        let known = [("nps", nps, 0), ("tree_reuse", tree_reuse, 3), ("timeuse", timeuse, 3), ("bank_ms", bank_ms, 0)];
        for (name, value, decimals) in known {
            if let Some(value) = value {
                write!(f, " {name}={value:.decimals$}")?;
            }
        }
        match self.stop {
            Some(stop) => write!(f, " stopped by {stop}"),
            None => write!(f, " stopped from outside"),
        }
    }
}

/// Moves and time of one phase of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseUse {
    /// Moves made in it.
    pub moves: u64,
    /// Time they took.
    pub used_ms: f64,
}

/// The statistics of a game, as Sharp Rustic lists them (docs/documents.md, 3.6).
///
/// `{}` prints its line, to the letter: `Time Stats: Total=15, Success=14, Rate=93.3%, Avg=1250ms,
/// Phase=EarlyMiddlegame, Control=Blitz, Emergency=false`. That line leaves out two items of the document's own list, time
/// losses and the time of each phase: [`Statistics::time_use`] is a line with those. JSON has everything: the fields by
/// their names, `success_rate` in percent, `average_ms`, and `phases` by the names of the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Moves made under a clock.
    pub moves: u64,
    /// Moves that took no longer than their hard limit and the overhead allowed, nor than the clock had.
    pub successes: u64,
    /// Moves that took longer than the clock had.
    pub losses: u64,
    /// Time of all of them.
    pub used_ms: f64,
    /// Moves and time by phase, in the order of [`GamePhase::ALL`].
    pub phases: [PhaseUse; 4],
    /// Phase of the last move.
    pub phase: GamePhase,
    /// Class of the time control, as the manager sees it; by Sharp Rustic's bounds where it has no classes.
    pub control: TimeClass,
    /// Whether the last move was an emergency to its manager.
    pub emergency: bool,
}

impl Statistics {
    /// Share of the moves that were a success, in percent; 100 before the first.
    pub fn success_rate(&self) -> f64 {
        if self.moves == 0 { 100.0 } else { 100.0 * self.successes as f64 / self.moves as f64 }
    }

    /// Average time of a move, in milliseconds.
    pub fn average_ms(&self) -> f64 {
        if self.moves == 0 { 0.0 } else { self.used_ms / self.moves as f64 }
    }

    /// A line with the time losses, and the time and the number of the moves of each phase: `Time Use: Losses=0,
    /// Opening=13750ms/11, EarlyMiddlegame=5000ms/4, LateMiddlegame=0ms/0, Endgame=0ms/0`.
    pub fn time_use(&self) -> String {
        let phases = GamePhase::ALL.iter().zip(&self.phases);
        let by_phase = phases.map(|(phase, PhaseUse { moves, used_ms })| format!(", {phase}={used_ms:.0}ms/{moves}"));
        format!("Time Use: Losses={}{}", self.losses, by_phase.collect::<String>())
    }
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { moves, successes, losses, used_ms, phases, phase, control, emergency } = self;
        let mut object = serializer.serialize_struct("Statistics", 10)?;
        object.serialize_field("moves", moves)?;
        object.serialize_field("successes", successes)?;
        object.serialize_field("losses", losses)?;
        object.serialize_field("success_rate", &self.success_rate())?;
        object.serialize_field("used_ms", used_ms)?;
        object.serialize_field("average_ms", &self.average_ms())?;
        object.serialize_field("phases", &ByPhase(phases))?;
        object.serialize_field("phase", phase)?;
        object.serialize_field("control", control)?;
        object.serialize_field("emergency", emergency)?;
        object.end()
    }
}

/// Moves and time by phase, as an object with a key for each phase.
struct ByPhase<'a>(&'a [PhaseUse; GamePhase::ALL.len()]);

impl Serialize for ByPhase<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (phase, used) in GamePhase::ALL.iter().zip(self.0) {
            object.serialize_entry(phase, used)?;
        }
        object.end()
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moves, successes, phase, control, emergency, .. } = self;
        let (rate, average) = (self.success_rate(), self.average_ms());
        write!(f, "Time Stats: Total={moves}, Success={successes}, Rate={rate:.1}%, Avg={average:.0}ms, ")?;
        write!(f, "Phase={phase}, Control={control}, Emergency={emergency}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            statistics.time_use(),
            "Time Use: Losses=1, Opening=4000ms/2, EarlyMiddlegame=0ms/0, LateMiddlegame=0ms/0, Endgame=2000ms/1"
        );
        let expected = serde_json::json!({
            "moves": 3, "successes": 2, "losses": 1, "success_rate": 200.0 / 3.0, "used_ms": 6000.0, "average_ms": 2000.0,
            "phases": {
                "Opening": {"moves": 2, "used_ms": 4000.4}, "EarlyMiddlegame": {"moves": 0, "used_ms": 0.0},
                "LateMiddlegame": {"moves": 0, "used_ms": 0.0}, "Endgame": {"moves": 1, "used_ms": 1999.6},
            },
            "phase": "Endgame", "control": "Rapid", "emergency": true,
        });
        assert_eq!(serde_json::to_value(statistics).unwrap(), expected);
    }
}
