//! The result of an analysis as JSON: what `zeitnot analyse --json` writes (docs/analyse.md has a line on each field).
//! Evaluations are from White's side; percentages 0 to 100.

use super::clock_sums::ClockSums;
use super::evaluation::Eval;
use super::judgement::Judgement;
use super::phase::Phase;
use super::players::players;
use crate::audit::GameSpeed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The analysis of some games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    pub(crate) kind: String,
    pub(crate) version: String,
    /// The network; `None` where evaluations were taken from comments.
    pub(crate) network: Option<AnalysedNetwork>,
    pub(crate) limit: String,
    pub(crate) games: Vec<AnalysedGame>,
    /// The players, those of the most games first.
    pub(crate) players: Vec<AnalysedPlayer>,
}

impl Analysis {
    /// Builds the document. `version` is that of the program, `limit` the effort for the searches in words.
    pub fn new(version: &str, network: Option<AnalysedNetwork>, limit: &str, games: Vec<AnalysedGame>) -> Analysis {
        let (kind, version, limit) = ("analysis".to_owned(), version.to_owned(), limit.to_owned());
        Analysis { kind, version, network, limit, players: players(&games), games }
    }

    /// The games.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Whether a move is judged: it has an evaluation, and so has the position before it.
    pub fn is_judged(&self) -> bool {
        self.games.iter().flat_map(|game| &game.moves).any(|mv| mv.expected_loss.is_some())
    }

    /// The inaccuracies, mistakes and blunders of all games.
    pub fn judgements(&self) -> [usize; 3] {
        self.games.iter().flat_map(|game| [&game.white, &game.black]).fold([0; 3], |sums, side| {
            let counts = [side.inaccuracies, side.mistakes, side.blunders];
            std::array::from_fn(|at| sums[at] + counts[at] as usize)
        })
    }
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
    pub(crate) file: String,
    /// The number of the game in the file, from 1.
    pub(crate) game: usize,
    pub(crate) tags: BTreeMap<String, String>,
    /// The position before the first move.
    pub(crate) start: AnalysedStart,
    pub(crate) white: AnalysedSide,
    pub(crate) black: AnalysedSide,
    pub(crate) moves: Vec<AnalysedMove>,
    /// The moments to look at first, the weightiest first; at most five of each side.
    pub(crate) moments: Vec<Moment>,
    /// The speed of the time control; where the sides differ, that of the slower one; `None` where it is not known.
    #[serde(default)]
    pub(crate) speed: Option<GameSpeed>,
    /// The game's own comments and variations behind each ply, 0 for those before the first move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) notes: BTreeMap<usize, OwnNotes>,
    /// Facts for the sums over many games; not part of the JSON.
    #[serde(skip)]
    pub(super) parts: GameParts,
}

/// The facts about a game that go into the sums over many games.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GameParts {
    /// The sums of White's and of Black's use of the clock.
    pub(crate) clocks: [ClockSums; 2],
    /// The phase of each move.
    pub(crate) phases: Vec<Phase>,
}

/// A game's own comments and variations behind a move; without `[%...]` commands and the sentences of earlier analyses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnNotes {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) comments: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variations: Vec<String>,
}

/// The position before the first move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnalysedStart {
    pub(crate) fen: String,
    pub(crate) eval: Option<ShownEvaluation>,
    /// Win, draw and loss of White in permille.
    pub(crate) wdl: Option<[u32; 3]>,
    pub(crate) win: Option<f64>,
}

/// An evaluation: `{"cp": 20}`, or `{"mate": -3}` where Black mates; a mate on the board is `{"mate": 0}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ShownEvaluation {
    Cp(i32),
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
pub(crate) struct AnalysedSide {
    pub(crate) name: String,
    pub(crate) elo: Option<u32>,
    pub(crate) accuracy: Option<f64>,
    pub(crate) average_loss_cp: Option<f64>,
    pub(crate) expected_loss: f64,
    pub(crate) inaccuracies: u32,
    pub(crate) mistakes: u32,
    pub(crate) blunders: u32,
    /// The use of the clock; `None` without times.
    pub(crate) clock: Option<ClockScore>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClockScore {
    pub(crate) score: f64,
    pub(crate) long_thoughts: LongThoughts,
    pub(crate) instant: Instant,
    pub(crate) phases: Vec<PhaseTime>,
    pub(crate) trouble: Trouble,
}

/// Long thoughts about moves where there was nothing to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LongThoughts {
    pub(crate) count: u32,
    /// Their time beyond the usual, in milliseconds.
    pub(crate) ms: f64,
}

/// Moves played at once that needed a thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Instant {
    pub(crate) count: u32,
    /// The expected score that they lost.
    pub(crate) cost: f64,
}

/// Moves in time trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trouble {
    pub(crate) moves: u32,
    /// The expected score that the moves in time trouble lost.
    pub(crate) loss: f64,
    /// The part of `loss` in excess of what as many of the player's other moves lose.
    pub(crate) cost: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseTime {
    pub(crate) name: Phase,
    /// Time used, in milliseconds.
    pub(crate) ms: f64,
    /// The share of all the time used that went to this phase, 0 to 1.
    pub(crate) share: f64,
    /// The share that this phase has of the usual times of the same moves; `None` where they are not known.
    pub(crate) usual_share: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnalysedMove {
    /// Plies of the game with this move, from 1.
    pub(crate) ply: usize,
    pub(crate) number: u32,
    /// `white` or `black`.
    pub(crate) color: String,
    pub(crate) san: String,
    pub(crate) uci: String,
    /// The position after the move.
    pub(crate) fen: String,
    /// The evaluation after the move.
    pub(crate) eval: Option<ShownEvaluation>,
    /// Win, draw and loss of White after the move, in permille.
    pub(crate) wdl: Option<[u32; 3]>,
    /// White's chance to win after the move.
    pub(crate) win: Option<f64>,
    pub(crate) accuracy: Option<f64>,
    pub(crate) judgement: Option<Judgement>,
    pub(crate) glyph: Option<String>,
    /// The expected score that the move loses.
    pub(crate) expected_loss: Option<f64>,
    pub(crate) best: Option<BetterMove>,
    /// The mover's clock after the move, in milliseconds.
    pub(crate) clock_ms: Option<f64>,
    pub(crate) used_ms: Option<f64>,
    pub(crate) time: Option<SpentTime>,
}

/// A better move than the one that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BetterMove {
    pub(crate) san: String,
    pub(crate) uci: String,
    pub(crate) line: Vec<String>,
    pub(crate) eval: Option<ShownEvaluation>,
}

/// The use of the time of a move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpentTime {
    /// The usual time, in milliseconds; `None` where nothing tells.
    pub(crate) usual_ms: Option<f64>,
    pub(crate) verdict: Option<TimeVerdict>,
    /// The expected score that the move lost.
    pub(crate) cost: f64,
    /// Whether little time was left before the move.
    pub(crate) in_trouble: bool,
    pub(crate) words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeVerdict {
    BoughtNothing,
    WentWrong,
    NeededOne,
}

/// A moment of the game that is worth looking at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moment {
    pub(crate) ply: usize,
    pub(crate) kind: MomentKind,
    pub(crate) words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MomentKind {
    Blunder,
    BoughtNothing,
    WentWrong,
    NeededOne,
    RanDown,
    Trouble,
}

/// A player's results over all games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnalysedPlayer {
    pub(crate) name: String,
    pub(crate) games: usize,
    pub(crate) accuracy: Option<f64>,
    pub(crate) clock: Option<ClockScore>,
    pub(crate) by_phase: Vec<PhaseOfPlayer>,
}

/// A player's moves in one phase of the game, over all games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseOfPlayer {
    pub(crate) name: Phase,
    pub(crate) moves: u32,
    pub(crate) accuracy: Option<f64>,
    pub(crate) expected_loss: f64,
}
