//! The result of `time compare`.

use serde::{Deserialize, Serialize};
use zeitnot_games::strength::ratings::{Rating, RatingValue};
use zeitnot_games::{Cell, Comparison, PlayerTimes, Rank};

/// A comparison of players at several time controls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparisonResult {
    /// The matches.
    pub cells: Vec<Cell>,
    /// How each player used its clock at each time control.
    pub times: Vec<PlayerTimes>,
    /// The ratings, the best first; empty where the games give none.
    pub ranking: Vec<RankResult>,
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankResult {
    /// The player.
    pub manager: String,
    /// The player's rating at all time controls together.
    #[serde(flatten)]
    pub all: Elo,
    /// The player's rating at each time control.
    pub by_tc: Vec<Elo>,
}

/// A rating with its 95 % error; null where the results give none. The first player's rating is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elo {
    pub elo: Option<f64>,
    pub elo_error: Option<f64>,
}

impl Elo {
    fn new(rating: Option<&Rating>) -> Elo {
        let (elo, elo_error) = match rating.map(|rating| rating.value) {
            Some(RatingValue::Anchor { elo }) => (Some(elo), Some(0.0)),
            Some(RatingValue::Estimated { elo, margin }) => (Some(elo), Some(margin)),
            _ => (None, None),
        };
        Elo { elo, elo_error }
    }
}

impl ComparisonResult {
    /// The result of the games of a comparison, with the ranking that they give.
    pub fn new(comparison: &Comparison, ranking: &[Rank]) -> ComparisonResult {
        let ranking = ranking.iter().map(|rank| RankResult {
            manager: rank.player.clone(),
            all: Elo::new(rank.all.as_ref()),
            by_tc: rank.by_tc.iter().map(|rating| Elo::new(rating.as_ref())).collect(),
        });
        ComparisonResult {
            cells: comparison.cells.clone(),
            times: comparison.times.clone(),
            ranking: ranking.collect(),
        }
    }
}
