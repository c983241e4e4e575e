//! Declares the JSON that other commands print, as far as a report reads it. Times are in milliseconds.

use crate::audit::{LostOnTime, PlayerClock, TmgrMove};
use crate::comparison::PlayerTimes;
use crate::time_use::Quantiles;
use crate::tune::Iteration;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A manager's replay, as `time replay --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ReplayRecord {
    /// The identity of the recordings, and of the part of them that was replayed; older files do not tell it.
    #[serde(default)]
    pub traces: Option<String>,
    /// The time control; older files do not tell it.
    #[serde(default)]
    pub tc: Option<String>,
    /// Playouts of a batch; older files do not tell them.
    #[serde(default)]
    pub batch: Option<u64>,
    /// The manager.
    pub manager: String,
    /// Moves that used more than their clock.
    #[serde(default)]
    pub forfeits: u64,
    /// Moves that were replayed.
    pub moves: u64,
    /// Mean playouts of a move.
    pub mean_nodes: f64,
    /// Mean loss of a move in value, -1 to 1.
    pub regret: f64,
    /// Its 95 % interval.
    pub regret_interval: Option<[f64; 2]>,
    /// The share of moves that the long search would have played, too.
    pub agreement: f64,
    /// The share of the way from the first manager to the oracle.
    pub oracle_share: Option<f64>,
    /// How often each reason stopped a search.
    pub stops: BTreeMap<String, u64>,
    /// The regret of the best stops in hindsight with as many playouts.
    pub oracle_regret: f64,
}

/// A tuning, as the journal of `time tune` keeps it: the settings, then a line for each iteration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TuningRecord {
    /// The names of the parameters, in the order of the values of an iteration.
    pub order: Vec<String>,
    /// What declares each of them.
    pub parameters: BTreeMap<String, TunedParameter>,
    /// Iterations of the schedule.
    pub iterations: u64,
    /// The iterations that ended, in their order; those behind the last of the schedule compare the result with the start.
    #[serde(skip)]
    pub course: Vec<Iteration>,
}

/// What declares a parameter of a tuning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct TunedParameter {
    /// The value at the start.
    pub start: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The perturbation of the last iteration.
    pub c_end: f64,
}

impl TuningRecord {
    /// What declares a parameter.
    pub fn parameter(&self, name: &str) -> TunedParameter {
        self.parameters.get(name).copied().unwrap_or_default()
    }
}

/// A comparison, as `time compare --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ComparisonRecord {
    /// The matches.
    pub cells: Vec<CellRecord>,
    /// How each player used its clock at each time control.
    pub times: Vec<PlayerTimes>,
    /// The ratings, the best first.
    #[serde(default)]
    pub ranking: Vec<RankRecord>,
}

/// The match of two players at a time control.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CellRecord {
    /// The time control.
    pub tc: String,
    /// The player whose results these are.
    pub first: String,
    /// The other one.
    pub second: String,
    /// Its results.
    #[serde(flatten)]
    pub results: ResultsRecord,
}

/// The results of a match from the first player's view.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ResultsRecord {
    /// Games.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs of games with 0, 1/2, 1, 3/2 and 2 points.
    pub pentanomial: [u64; 5],
    /// The Elo difference; `None` where it is infinite.
    pub elo: Option<f64>,
    /// Its 95 % error.
    pub elo_error: Option<f64>,
    /// Games that each lost on time.
    pub forfeits: [u64; 2],
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RankRecord {
    /// The player.
    pub manager: String,
    /// Its rating; the first player's is 0.
    pub elo: Option<f64>,
    /// Its 95 % error.
    pub elo_error: Option<f64>,
}

/// A manager's simulated games, as `time simulate --json` prints them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SimulationRecord {
    /// The manager.
    pub manager: String,
    /// The time control.
    pub tc: String,
    /// The identity of the recordings; older files tell neither it nor the other conditions below.
    #[serde(default)]
    pub traces: Option<String>,
    /// The identity of the journals that the games were fitted to, if any.
    #[serde(default)]
    pub fit: Option<String>,
    /// Playouts a second, where they were given.
    #[serde(default)]
    pub nps: Option<f64>,
    /// Playouts of a batch.
    #[serde(default)]
    pub batch: Option<u64>,
    /// The lag, if any.
    #[serde(default)]
    pub lag: Option<String>,
    /// The seed.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Games.
    pub games: u64,
    /// The clock by move.
    pub clock_ms: Vec<ClockRecord>,
    /// The clock at the end of a game.
    pub left_ms: Quantiles,
    /// The share of games that were lost on time.
    pub flag_rate: f64,
    /// Shares of all time used in the three phases.
    pub share_by_phase: [f64; 3],
}

/// The clock at a move.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ClockRecord {
    /// The number of the move.
    #[serde(rename = "move")]
    pub number: f64,
    /// The quantiles of the games that came so far.
    #[serde(flatten)]
    pub clock_ms: Quantiles,
}

/// A game of a match, as `match --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct GameRecord {
    /// Its number; the first player has White in those that are odd.
    pub game: u64,
    /// White.
    pub white: String,
    /// Black.
    pub black: String,
    /// How it ended.
    pub termination: String,
}

/// A match: its games, and its results where it came to an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchRecord {
    /// The games.
    pub games: Vec<GameRecord>,
    /// The results.
    pub summary: Option<ResultsRecord>,
}

/// A move, as `time audit --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AuditRecord {
    /// The file of its game.
    pub file: String,
    /// The number of its game in it.
    pub game: u64,
    /// `white` or `black`.
    pub side: String,
    /// Time used.
    pub used_ms: f64,
    /// The budget of the player's own manager.
    pub budget_ms: Option<f64>,
    /// Moves of this side that followed, this one among them.
    pub moves_left_true: f64,
    /// The budget of each manager that was asked.
    pub managers: BTreeMap<String, f64>,
}

/// The sums of an audit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct AuditSummary {
    /// How each player used its clock.
    pub players: Vec<PlayerClock>,
}

/// A loss on time, as `time audit --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LostRecord {
    /// The number of its game in its file.
    pub game: usize,
    /// What is known of it.
    pub lost_on_time: LostOnTime,
}

/// An audit: its moves, and its sums where it came to an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// The moves.
    pub moves: Vec<AuditRecord>,
    /// The games that were lost on time.
    pub lost: Vec<LostRecord>,
    /// The sums.
    pub summary: AuditSummary,
}

/// A line about a move of Lc0's log, as `time audit --json` prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TmgrRecord {
    /// The move.
    pub tmgr: TmgrMove,
}
