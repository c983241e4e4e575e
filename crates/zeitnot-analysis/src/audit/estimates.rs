//! Sums up the budgets that a time manager would have granted the moves of games, and the errors of its estimates of
//! the moves left.

use super::advice::Advice;
use super::clocked_move::ClockedMove;
use zeitnot_games::sample::{Mean, Sample};

/// Errors of estimates that are kept to find their median.
const MOST_ERRORS: usize = 200_000;

/// Sums over the moves that one manager was asked about.
#[derive(Clone, Debug)]
pub struct ManagerSums {
    /// The manager's budgets, in milliseconds.
    pub budgets: Mean,
    /// The time that the moves used, in milliseconds.
    pub used: Mean,
    /// The errors of the manager's estimates of the moves left; `errors_sum` is their sum.
    errors: Sample,
    errors_sum: f64,
}

impl Default for ManagerSums {
    fn default() -> ManagerSums {
        let (budgets, used) = (Mean::default(), Mean::default());
        ManagerSums { budgets, used, errors: Sample::new(MOST_ERRORS), errors_sum: 0.0 }
    }
}

impl ManagerSums {
    /// Adds the moves of a game, each with the manager's advice.
    pub fn add_game(&mut self, moves: &[ClockedMove], advice: &[Option<Advice>]) {
        for (mv, advice) in moves.iter().zip(advice) {
            let Some(advice) = advice else { continue };
            self.add(mv.used_ms, advice.budget_ms);
            // Not all managers estimate the length of the game.
            if let Some(estimate) = advice.moves_left {
                self.add_estimate(estimate, f64::from(mv.moves_left));
            }
        }
    }

    /// Adds the budget of a move, and the time that the move used.
    pub fn add(&mut self, used_ms: f64, budget_ms: f64) {
        self.used.add(used_ms);
        self.budgets.add(budget_ms);
    }

    /// Adds the error of an estimate of the moves left.
    pub fn add_estimate(&mut self, estimate: f64, moves_left: f64) {
        let error = (estimate - moves_left).abs();
        self.errors.add(error as f32);
        self.errors_sum += error;
    }

    /// All budgets together as a share of the time that the moves used; 0 where no time was used.
    pub fn budget_to_used(&self) -> f64 {
        if self.used.sum > 0.0 { self.budgets.sum / self.used.sum } else { 0.0 }
    }

    /// Whether the manager estimated the moves left at every move.
    pub fn estimates_all(&self) -> bool {
        self.errors.seen() == self.budgets.count
    }

    /// The median and the mean error of the estimates of the moves left; `None` for a manager that makes none.
    pub fn moves_left_errors(&self) -> Option<[f64; 2]> {
        Some([self.errors.median()?, self.errors_sum / self.errors.seen() as f64])
    }
}
