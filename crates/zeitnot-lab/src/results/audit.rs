//! The results of `time audit`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeitnot_analysis::audit::{LostOnTime, ManagerSums, PlayerClock};

/// A move of an audited game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditMove {
    /// The file of the game.
    pub file: String,
    /// The number of the game in the file.
    pub game: usize,
    /// Plies before the move.
    pub ply: usize,
    /// `white` or `black`.
    pub side: String,
    /// The clock before the move, where it is known.
    pub clock_ms: Option<f64>,
    pub used_ms: f64,
    /// The budget of the player's own manager, where it is known.
    pub budget_ms: Option<f64>,
    /// Moves of this side from this one to the end of the game.
    pub moves_left_true: u32,
    /// The budget of each manager that was asked.
    pub managers: BTreeMap<String, f64>,
}

/// A game that was lost on time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostGame {
    pub file: String,
    /// The number of the game in the file.
    pub game: usize,
    pub lost_on_time: LostOnTime,
}

/// The sums of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditSums {
    /// How each player used its clock.
    pub players: Vec<PlayerClock>,
    /// Games that were lost on time.
    pub lost_on_time: usize,
    /// The managers that were asked.
    pub managers: Vec<ManagerTotals>,
}

/// The totals of a manager over all moves that it was asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManagerTotals {
    pub manager: String,
    pub moves: usize,
    /// The errors of the manager's estimates of the moves left, in moves; null for a manager that makes none.
    pub moves_left_error: Option<ErrorMeans>,
    /// The sum of the manager's budgets, as a share of the time that the same moves used.
    pub budget_to_used: f64,
}

/// The median and the mean of errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorMeans {
    pub median: f64,
    pub mean: f64,
}

impl ManagerTotals {
    /// The totals of manager `manager` by its sums over all moves that it was asked about.
    pub fn new(manager: &str, sums: &ManagerSums) -> ManagerTotals {
        ManagerTotals {
            manager: manager.to_owned(),
            moves: sums.budgets.count,
            moves_left_error: sums.moves_left_errors().map(|[median, mean]| ErrorMeans { median, mean }),
            budget_to_used: sums.budget_to_used(),
        }
    }
}
