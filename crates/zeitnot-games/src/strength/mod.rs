//! Estimates playing strength from the results of games: Elo differences, sequential tests, ratings of several players.
//!
//! Everything here is arithmetic on counts, without files and without a clock:
//!
//! - [`Results`] counts the games of a match, and the pairs of games that they were played in.
//! - [`elo`] estimates the difference of two players and its error.
//! - [`sprt`] decides a match as early as two error rates allow.
//! - [`ratings`] rates several players together, some of whose ratings are known.
//!
//! The two games of a pair have the same opening and the colours exchanged. Their results depend on each other: an
//! opening that is good for White gives both players a win. Counted as pairs (the pentanomial) these games say more
//! than counted one by one (the trinomial), so the pairs are used wherever every game belongs to one.

pub mod elo;
mod likelihood;
mod newton;
pub mod ratings;
mod sample;
pub mod sprt;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Standard deviations from the mean to either end of the middle 95 % of a normal distribution, fastchess's
/// `CI95ZSCORE` (`app/src/matchmaking/elo/elo.hpp`).
const Z_95: f64 = 1.959_963_984_540_054;

/// The result of one game from the first player's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GameResult {
    /// The first player won.
    Win,
    /// Nobody won.
    Draw,
    /// The second player won.
    Loss,
}

impl GameResult {
    /// Twice the points of the first player: 2, 1 or 0.
    fn half_points(self) -> usize {
        match self {
            GameResult::Win => 2,
            GameResult::Draw => 1,
            GameResult::Loss => 0,
        }
    }
}

/// The results of a match from the first player's view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs of games that gave 0, 1/2, 1, 3/2 and 2 points: two losses; a draw and a loss; two draws, or a win and a
    /// loss; a win and a draw; two wins. Their games are counted in `wins`, `draws` and `losses` as well.
    pub pentanomial: [u64; 5],
}

impl Results {
    /// Adds a game that belongs to no pair.
    pub fn add_game(&mut self, result: GameResult) {
        *match result {
            GameResult::Win => &mut self.wins,
            GameResult::Draw => &mut self.draws,
            GameResult::Loss => &mut self.losses,
        } += 1;
    }

    /// Adds two games with the same opening and exchanged colours, both results from the first player's view.
    pub(crate) fn add_pair(&mut self, results: [GameResult; 2]) {
        results.into_iter().for_each(|result| self.add_game(result));
        self.pentanomial[results.into_iter().map(GameResult::half_points).sum::<usize>()] += 1;
    }

    /// Games played.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Pairs of games.
    pub fn pairs(&self) -> u64 {
        self.pentanomial.iter().sum()
    }

    /// Whether every game belongs to a pair; true where there is no game.
    pub(crate) fn is_paired(&self) -> bool {
        self.games() == 2 * self.pairs()
    }

    /// Points of the first player: 1 for a win, 1/2 for a draw.
    pub fn points(&self) -> f64 {
        self.wins as f64 + 0.5 * self.draws as f64
    }

    /// Points a game, from 0 to 1; `None` where there is no game.
    pub fn score(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// The results from the second player's view.
    pub fn swapped(&self) -> Results {
        let mut pentanomial = self.pentanomial;
        pentanomial.reverse();
        Results { wins: self.losses, draws: self.draws, losses: self.wins, pentanomial }
    }
}

impl AddAssign<&Results> for Results {
    fn add_assign(&mut self, more: &Results) {
        self.wins += more.wins;
        self.draws += more.draws;
        self.losses += more.losses;
        self.pentanomial.iter_mut().zip(more.pentanomial).for_each(|(pairs, more)| *pairs += more);
    }
}

#[cfg(test)]
mod tests;
