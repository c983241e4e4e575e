//! Sums up what a time manager would have granted the moves of games, and how far its estimates of the moves left were off.

use super::advice::Advice;
use super::timed_move::TimedMove;
use crate::sample::Sample;

/// Estimates that are kept for their median.
const MOST_ERRORS: usize = 200_000;

/// The sums of a manager over the moves of games.
#[derive(Clone, Debug)]
pub struct ManagerSums {
    moves: usize,
    used_ms: f64,
    budgets_ms: f64,
    /// The errors of its estimates of the moves left, and their sum.
    errors: Sample,
    errors_sum: f64,
}

impl Default for ManagerSums {
    fn default() -> ManagerSums {
        ManagerSums { moves: 0, used_ms: 0.0, budgets_ms: 0.0, errors: Sample::new(MOST_ERRORS), errors_sum: 0.0 }
    }
}

impl ManagerSums {
    /// Adds a game: its moves, each with what the manager says of it.
    pub fn add(&mut self, moves: &[TimedMove], advice: &[Option<Advice>]) {
        for (mv, advice) in moves.iter().zip(advice) {
            let Some(advice) = advice else { continue };
            self.moves += 1;
            self.used_ms += mv.used_ms;
            self.budgets_ms += advice.budget_ms;
            // Not all managers estimate the length of the game.
            if let Some(estimate) = advice.moves_left {
                let error = (estimate - f64::from(mv.moves_left)).abs();
                self.errors.add(error as f32);
                self.errors_sum += error;
            }
        }
    }

    /// Moves that it was asked about.
    pub fn moves(&self) -> usize {
        self.moves
    }

    /// Its budgets, all together, as a share of the time that the moves used.
    pub fn budget_to_used(&self) -> f64 {
        if self.used_ms > 0.0 { self.budgets_ms / self.used_ms } else { 0.0 }
    }

    /// The median and the mean of the errors of its estimates of the moves left; `None` of a manager that makes none.
    pub fn moves_left_errors(&self) -> Option<[f64; 2]> {
        Some([self.errors.median()?, self.errors_sum / self.errors.seen() as f64])
    }
}
