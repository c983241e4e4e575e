//! Keeps the statistics of a game: its moves, their time by phase, successes and losses on time.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The classes by which the statistics of a game tell its moves apart. Their names are part of the statistics' lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classes {
    /// The phases of a game, in order.
    pub phases: [&'static str; 4],
    /// The index of the phase at a ply with this number of pieces.
    pub phase: fn(ply: u32, pieces: Option<u32>) -> usize,
    /// The class of the time control of a game whose first clock shows `clock_ms`.
    pub control: fn(clock_ms: f64) -> &'static str,
}

/// Moves and time of one phase of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseUse {
    /// The name of the phase, which is its key in JSON.
    #[serde(skip)]
    pub phase: &'static str,
    /// Moves made in it.
    pub moves: u64,
    /// Time they took.
    pub used_ms: f64,
}

/// The statistics of a game, as Sharp Rustic lists them (docs/documents.md, 3.6).
///
/// `{}` prints the line of the Sharp Rustic document, to the letter: `Time Stats: Total=15, Success=14, Rate=93.3%,
/// Avg=1250ms, Phase=EarlyMiddlegame, Control=Blitz, Emergency=false`. That line leaves out two items of the document's
/// own list, time losses and the time of each phase: [`Statistics::time_use`] is a line with those. JSON has
/// everything: the fields by their names, `success_rate` in percent, `average_ms`, and `phases` by the names of the
/// phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Moves made under a clock.
    pub moves: u64,
    /// Moves that took no longer than their hard limit and the overhead allowed, nor than the clock had.
    pub successes: u64,
    /// Moves that took longer than the clock had.
    pub losses: u64,
    /// Time of all of them.
    pub used_ms: f64,
    /// Moves and time by phase, in the order of a game.
    pub phases: [PhaseUse; 4],
    /// Name of the phase of the last move.
    pub phase: &'static str,
    /// Name of the class of the time control: the manager's, or the default where the manager has no classes.
    pub control: Cow<'static, str>,
    /// Whether the last move was an emergency to its manager.
    pub emergency: bool,
}

impl Statistics {
    /// The statistics before the first move.
    pub(super) fn new(classes: &Classes) -> Self {
        Self {
            moves: 0,
            successes: 0,
            losses: 0,
            used_ms: 0.0,
            phases: classes.phases.map(|phase| PhaseUse { phase, ..PhaseUse::default() }),
            phase: classes.phases[0],
            control: Cow::Borrowed((classes.control)(0.0)),
            emergency: false,
        }
    }

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
        let by_phase = |PhaseUse { phase, moves, used_ms }: &PhaseUse| format!(", {phase}={used_ms:.0}ms/{moves}");
        format!("Time Use: Losses={}{}", self.losses, self.phases.iter().map(by_phase).collect::<String>())
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
struct ByPhase<'a>(&'a [PhaseUse]);

impl Serialize for ByPhase<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|used| (used.phase, used)))
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
    use crate::managers::guests::CLASSES;

    // docs/documents.md, 3.6: the line.
    #[test]
    fn sharp_rustic_example_output() {
        let statistics = Statistics {
            moves: 15,
            successes: 14,
            used_ms: 15.0 * 1_250.0,
            phase: "EarlyMiddlegame",
            control: "Blitz".into(),
            ..Statistics::new(&CLASSES)
        };
        assert_eq!(
            format!("info string {statistics}"),
            "info string Time Stats: Total=15, Success=14, Rate=93.3%, Avg=1250ms, Phase=EarlyMiddlegame, \
             Control=Blitz, Emergency=false"
        );
        assert!(
            Statistics::new(&CLASSES).to_string().starts_with("Time Stats: Total=0, Success=0, Rate=100.0%, Avg=0ms")
        );
    }

    // docs/documents.md, 3.6: losses on time and the time of each phase, which the line leaves out.
    #[test]
    fn sharp_rustic_time_losses_and_time_of_phases_are_shown() {
        let mut statistics = Statistics {
            moves: 3,
            successes: 2,
            losses: 1,
            used_ms: 6_000.0,
            phase: "Endgame",
            control: "Rapid".into(),
            emergency: true,
            ..Statistics::new(&CLASSES)
        };
        statistics.phases[0] = PhaseUse { moves: 2, used_ms: 4_000.4, ..statistics.phases[0] };
        statistics.phases[3] = PhaseUse { moves: 1, used_ms: 1_999.6, ..statistics.phases[3] };
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
