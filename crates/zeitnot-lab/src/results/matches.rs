//! The results of `match`: a line for each game, the score at the end, and the rating by opponents whose ratings are
//! known.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeitnot_games::Score;
use zeitnot_games::record::{GameRecord, Termination};
use zeitnot_games::runner::MatchEnd;
use zeitnot_games::strength::elo::EloDifference;
use zeitnot_games::strength::ratings::Rating;
use zeitnot_games::strength::sprt::{Decision, Sprt};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchGame {
    /// The number of the game; the first player has White in games of odd numbers.
    pub game: u64,
    pub white: String,
    pub black: String,
    /// The result as PGN writes it.
    pub result: String,
    /// How the game ended, in words.
    pub termination: String,
    /// Plies played.
    pub plies: usize,
    /// The clocks of White and Black at the end.
    pub clocks_ms: [f64; 2],
    /// Whether the game ended by a clock that ran out.
    pub forfeit: bool,
    /// The error by which a player lost, if any.
    pub error: Option<String>,
}

impl MatchGame {
    /// The result of a game.
    pub fn new(record: &GameRecord) -> MatchGame {
        let [white, black] = record.players.clone();
        MatchGame {
            game: record.game,
            white,
            black,
            result: record.result().to_owned(),
            termination: record.termination.to_string(),
            plies: record.moves.len(),
            clocks_ms: record.clocks_ms,
            forfeit: record.termination == Termination::TimeForfeit,
            error: record.error.clone(),
        }
    }
}

/// The score of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchScore {
    /// The first player's score.
    #[serde(flatten)]
    pub score: Score,
    /// The probability that the first player is the stronger one.
    pub los: Option<f64>,
    /// The log-likelihood ratio of the SPRT, if there is one.
    pub llr: Option<f64>,
    /// The hypothesis that the SPRT accepted: `H0` or `H1`.
    pub sprt: Option<String>,
    /// Drawn games in which the first, and the second, player's clock ran out.
    pub drawn_forfeits: [u64; 2],
    /// Seconds that the match took.
    pub seconds: f64,
}

impl MatchScore {
    /// The score of a match that took these seconds.
    pub fn new(end: &MatchEnd, sprt: Option<&Sprt>, seconds: f64) -> MatchScore {
        let accepted = end.decision.map(|decision| match decision {
            Decision::AcceptH0 => "H0",
            Decision::AcceptH1 => "H1",
        });
        MatchScore {
            score: Score::new(&end.results, end.forfeits),
            los: EloDifference::new(&end.results).los,
            llr: sprt.map(|sprt| sprt.llr(&end.pairs)),
            sprt: accepted.map(str::to_owned),
            drawn_forfeits: end.drawn_forfeits,
            seconds,
        }
    }
}

/// The rating of a match's first player, by its games against opponents whose ratings are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatingResult {
    /// The rating; null where the results bound it on one side or not at all.
    pub elo: Option<f64>,
    pub elo_error: Option<f64>,
    /// The known ratings of the opponents.
    pub anchors: BTreeMap<String, f64>,
    /// The ratings of all players.
    pub all: Vec<Rating>,
}
