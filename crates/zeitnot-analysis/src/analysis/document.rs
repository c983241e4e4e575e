//! The result of an analysis as JSON: what `zeitnot analyse --json` writes (docs/analyse.md has a line on each field).
//! Evaluations are from White's side; percentages 0 to 100.

use super::clock_sums::ClockSums;
use super::evaluation::Eval;
use super::judgement::Judgement;
use super::phase::Phase;
use crate::audit::GameSpeed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The analysis of some games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    pub kind: String,
    /// The version of the program.
    pub version: String,
    /// The network; `None` where evaluations were taken from comments.
    pub network: Option<AnalysedNetwork>,
    /// The effort in words.
    pub limit: String,
    pub games: Vec<AnalysedGame>,
    /// The players, those of the most games first.
    pub players: Vec<AnalysedPlayer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysedNetwork {
    /// The name of its file.
    pub name: String,
    /// The digest of the file.
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysedGame {
    pub file: String,
    /// The number of the game in the file, from 1.
    pub game: usize,
    pub tags: BTreeMap<String, String>,
    /// The position before the first move.
    pub start: AnalysedStart,
    pub white: AnalysedSide,
    pub black: AnalysedSide,
    pub moves: Vec<AnalysedMove>,
    /// The moments to look at first, the weightiest first; at most five of each side.
    pub moments: Vec<Moment>,
    /// The speed of the time control, the slower one of two; `None` where it is not known.
    #[serde(default)]
    pub speed: Option<GameSpeed>,
    /// The game's own comments and variations behind each ply, 0 for those before the first move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<usize, OwnNotes>,
    /// What the sums over many games need beside it; not written.
    #[serde(skip)]
    pub(super) parts: GameParts,
}

/// The parts of a game that sums over many games need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GameParts {
    /// The clocks of White and of Black.
    pub clocks: [ClockSums; 2],
    /// The phase of each move.
    pub phases: Vec<Phase>,
}

/// The comments, without commands and sentences of an analysis, and the variations behind a move of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnNotes {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// The variations as they are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<String>,
}

/// The position before the first move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysedStart {
    /// The position.
    pub fen: String,
    pub eval: Option<ShownEvaluation>,
    /// Win, draw and loss of White in permille.
    pub wdl: Option<[u32; 3]>,
    /// White's chance to win.
    pub win: Option<f64>,
}

/// An evaluation: `{"cp": 20}`, or `{"mate": -3}` where Black mates; a mate on the board is `{"mate": 0}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownEvaluation {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate.
    Mate(i32),
}

impl From<Eval> for ShownEvaluation {
    fn from(eval: Eval) -> ShownEvaluation {
        match eval {
            Eval::Cp(cp) => ShownEvaluation::Cp(cp),
            Eval::Mate(moves) => ShownEvaluation::Mate(moves),
            Eval::Checkmate(_) => ShownEvaluation::Mate(0),
        }
    }
}

/// A side of a game.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnalysedSide {
    /// The player.
    pub name: String,
    /// The player's rating, by the tags.
    pub elo: Option<u32>,
    /// Accuracy by lichess' formula.
    pub accuracy: Option<f64>,
    /// Centipawns lost by a move on average.
    pub average_loss_cp: Option<f64>,
    /// Expected score that all moves have lost.
    pub expected_loss: f64,
    /// The number of inaccuracies.
    pub inaccuracies: u32,
    /// The number of mistakes.
    pub mistakes: u32,
    /// The number of blunders.
    pub blunders: u32,
    /// The use of the clock; `None` without times.
    pub clock: Option<ClockUse>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockUse {
    pub score: f64,
    /// Thoughts that bought nothing.
    pub long_thoughts: LongThoughts,
    /// Moves played at once that needed a thought.
    pub instant: Instant,
    pub phases: Vec<PhaseTime>,
    /// Time trouble.
    pub trouble: Trouble,
}

/// Thoughts that bought nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LongThoughts {
    /// Their number.
    pub count: u32,
    /// Their time beyond the usual, in milliseconds.
    pub ms: f64,
}

/// Moves played at once that needed a thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instant {
    /// Their number.
    pub count: u32,
    /// The expected score that they lost.
    pub cost: f64,
}

/// Moves in time trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    /// Their number.
    pub moves: u32,
    /// The expected score that they lost.
    pub loss: f64,
    /// The part of it beyond what as many of the player's other moves lost.
    pub cost: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    pub name: Phase,
    /// Time used, in milliseconds.
    pub ms: f64,
    /// Its share of all the time used, 0 to 1.
    pub share: f64,
    /// The share that is usual over these moves.
    pub usual_share: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysedMove {
    /// Plies of the game with this move, from 1.
    pub ply: usize,
    pub number: u32,
    /// `white` or `black`.
    pub color: String,
    /// The move in PGN.
    pub san: String,
    pub uci: String,
    /// The position after the move.
    pub fen: String,
    /// The evaluation after the move.
    pub eval: Option<ShownEvaluation>,
    /// Win, draw and loss of White after the move, in permille.
    pub wdl: Option<[u32; 3]>,
    /// White's chance to win after the move.
    pub win: Option<f64>,
    pub accuracy: Option<f64>,
    pub judgement: Option<Judgement>,
    /// The judgement as signs.
    pub glyph: Option<String>,
    /// The expected score that the move loses.
    pub expected_loss: Option<f64>,
    pub best: Option<BetterMove>,
    /// The mover's clock after the move, in milliseconds.
    pub clock_ms: Option<f64>,
    pub used_ms: Option<f64>,
    /// The use of that time.
    pub time: Option<MoveTime>,
}

/// A better move than the one that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetterMove {
    /// The move in PGN.
    pub san: String,
    pub uci: String,
    /// The line that begins with it, in PGN.
    pub line: Vec<String>,
    pub eval: Option<ShownEvaluation>,
}

/// The use of the time of a move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MoveTime {
    /// The usual time, in milliseconds; `None` where nothing tells.
    pub usual_ms: Option<f64>,
    pub verdict: Option<TimeVerdict>,
    /// The expected score that the move lost.
    pub cost: f64,
    /// Whether little time was left before the move.
    pub in_trouble: bool,
    /// A sentence.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeVerdict {
    /// A long thought that could find nothing.
    BoughtNothing,
    /// A long thought that missed a better move.
    WentWrong,
    /// A move played at once that more time would have bettered.
    NeededOne,
}

/// A moment to look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The ply of the move.
    pub ply: usize,
    pub kind: MomentKind,
    /// A sentence.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentKind {
    /// A move that lost much.
    Blunder,
    /// A long thought that could find nothing.
    BoughtNothing,
    /// A long thought that missed a better move.
    WentWrong,
    /// A move played at once that more time would have bettered.
    NeededOne,
    /// Long thoughts in a row that led into time trouble.
    RanDown,
    /// A loss in time trouble.
    Trouble,
}

/// A player over all games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysedPlayer {
    pub name: String,
    pub games: usize,
    /// The mean accuracy of the games.
    pub accuracy: Option<f64>,
    /// The use of the clock over all games with one; costs and times are sums.
    pub clock: Option<ClockUse>,
    /// The play by phases.
    pub by_phase: Vec<PhaseOfPlayer>,
}

/// The play of a phase, over all games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseOfPlayer {
    pub name: Phase,
    pub moves: u32,
    /// The mean accuracy of the moves.
    pub accuracy: Option<f64>,
    /// Expected score lost by a move on average.
    pub expected_loss: f64,
}
