//! The results that the commands of the laboratory print with `--json`: each a type with a `kind`, written and read by
//! one declaration. Times are in milliseconds.
//!
//! | file | the result of |
//! |---|---|
//! | `matches` | `match`: a game, the score at the end, the rating |
//! | `comparison` | `time compare` |
//! | `recording` | `time record` |
//! | `replay` | `time replay`, a manager |
//! | `simulation` | `time simulate`, a manager |
//! | `audit` | `time audit`: a move, a loss on time, a move of Lc0's log, and the sums |
//! | `batch_speed` | `backendbench`, a batch size |
//!
//! That of `time verify` is [`Verified`], which the check itself gives.

mod audit;
mod batch_speed;
mod comparison;
mod matches;
mod recording;
mod replay;
mod simulation;

pub use audit::{AuditMove, AuditSums, ErrorMeans, LostGame, ManagerTotals};
pub use batch_speed::BatchSpeed;
pub use comparison::{ComparisonResult, Elo, RankResult};
pub use matches::{MatchGame, MatchScore, RatingResult};
pub use recording::RecordingSize;
pub use replay::ReplayResult;
pub use simulation::SimulationResult;

use serde::{Deserialize, Serialize};
use zeitnot_games::decisions::Verified;

/// A result as an object of JSON. Outputs are streams or arrays of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LabResult {
    Game(MatchGame),
    /// The end of a match.
    Match {
        /// The score.
        summary: Box<MatchScore>,
    },
    /// The rating of the first player of a match.
    Rating {
        /// The rating, by opponents whose ratings are known.
        rating: RatingResult,
    },
    /// A comparison of players at several time controls.
    Comparison(ComparisonResult),
    /// A recording that was made.
    Recording(RecordingSize),
    /// A manager replayed over recorded searches.
    Replay(Box<ReplayResult>),
    /// The decisions of a match that a replay repeated.
    Verification(Verified),
    /// A manager's simulated games.
    Simulation(Box<SimulationResult>),
    /// A move of an audited game.
    Move(AuditMove),
    LostOnTime(Box<LostGame>),
    /// The sums of an audit.
    Audit {
        /// The sums.
        summary: AuditSums,
    },
    /// The speed of an evaluator at a batch size.
    BatchSpeed(Box<BatchSpeed>),
}

/// The interval if both ends are finite, else `None`, which is null in JSON.
pub fn known([low, high]: [f64; 2]) -> Option<[f64; 2]> {
    (low.is_finite() && high.is_finite()).then_some([low, high])
}

#[cfg(test)]
mod tests;
