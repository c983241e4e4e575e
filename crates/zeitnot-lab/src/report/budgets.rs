//! Sums up the budgets of moves, one after another: the player's own, and those that our managers would have granted,
//! with their estimates of the moves left.

use super::means::Rows;
use zeitnot_analysis::audit::ManagerSums;
use zeitnot_games::sample::{Mean, Sample};

/// Most points that a chart shows; more make a blot, and a large file.
pub const MOST_POINTS: usize = 2_000;

/// A move of a game with the budgets and estimates of managers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetedMove {
    /// The number of the game in the report.
    pub game: usize,
    /// The index of the player among the players that are shown; `None` for another player.
    pub player: Option<usize>,
    /// The number of the move among the moves of this side that have times, from 1.
    pub number: usize,
    pub used_ms: f64,
    /// The budget of the player's own time manager, in milliseconds, where it is known.
    pub budget_ms: Option<f64>,
    /// Moves of this side from this one to the end of the game.
    pub moves_left: f64,
    /// The budget of each manager that was asked, in milliseconds; `None` where it is not known.
    pub budgets_ms: Vec<Option<f64>>,
    /// Each manager's estimate of the moves left, `None` where it makes none; empty where managers were not asked.
    pub estimates: Vec<Option<f64>>,
}

/// The budgets of a player's own time manager.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnBudgets {
    pub budget: Mean,
    pub used: Mean,
    /// Moves that took longer than their budget.
    pub above: usize,
}

/// Sums over the budgets of moves, which are added one after another.
#[derive(Clone, Debug)]
pub struct Budgets<'a> {
    pub(super) players: &'a [String],
    pub(super) specs: &'a [String],
    first_game: Option<usize>,
    pub(super) is_one_game: bool,
    pub(super) used: Mean,
    pub(super) own: Vec<OwnBudgets>,
    /// Points of the chart: the player, the budget and the time used, in milliseconds.
    pub(super) points: Sample<(usize, f32, f32)>,
    pub(super) by_number: Rows,
    pub(super) by_moves_left: Rows,
    pub(super) managers: Vec<ManagerSums>,
}

impl<'a> Budgets<'a> {
    /// Empty sums for these players and managers.
    pub fn new(players: &'a [String], specs: &'a [String]) -> Budgets<'a> {
        Budgets {
            players,
            specs,
            first_game: None,
            is_one_game: true,
            used: Mean::default(),
            own: vec![OwnBudgets::default(); players.len()],
            points: Sample::new(MOST_POINTS),
            by_number: Rows::default(),
            by_moves_left: Rows::default(),
            managers: vec![ManagerSums::default(); specs.len()],
        }
    }

    pub fn add(&mut self, mv: &BudgetedMove) {
        self.is_one_game &= *self.first_game.get_or_insert(mv.game) == mv.game;
        self.used.add(mv.used_ms);
        if let (Some(budget_ms), Some(player)) = (mv.budget_ms, mv.player)
            && let Some(own) = self.own.get_mut(player)
        {
            own.budget.add(budget_ms);
            own.used.add(mv.used_ms);
            own.above += usize::from(mv.used_ms > budget_ms);
            self.points.add((player, budget_ms as f32, mv.used_ms as f32));
        }
        if let Some(at) = mv.number.checked_sub(1) {
            self.by_number.add(at, mv.used_ms, &mv.budgets_ms);
        }
        for (manager, budget_ms) in self.managers.iter_mut().zip(&mv.budgets_ms) {
            if let Some(budget_ms) = budget_ms {
                manager.add(mv.used_ms, *budget_ms);
            }
        }
        if mv.estimates.is_empty() {
            return;
        }
        if let Some(at) = (mv.moves_left as usize).checked_sub(1) {
            self.by_moves_left.add(at, mv.moves_left, &mv.estimates);
        }
        for (manager, estimate) in self.managers.iter_mut().zip(&mv.estimates) {
            estimate.iter().for_each(|estimate| manager.add_estimate(*estimate, mv.moves_left));
        }
    }
}
