//! Describes results as a sample: how often an observation, a game or a pair of games, gave each score.

use super::Results;

/// Scores of a game: lost, drawn, won.
const GAME_SCORES: [f64; 3] = [0.0, 0.5, 1.0];
/// Points a game of a pair, in the order of [`Results::pentanomial`].
const PAIR_SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Count that stands for a score that was never observed, so that no probability is 0 (fastchess, `regularize` in
/// `app/src/matchmaking/sprt/sprt.cpp`).
const NEVER_OBSERVED: f64 = 1e-3;

/// Observations counted by score.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The scores that an observation can have, rising from 0 to 1.
    pub scores: &'static [f64],
    /// Observations with each of the scores.
    pub counts: Vec<f64>,
    /// Games in one observation.
    pub games: f64,
}

impl Sample {
    /// Counts pairs where every game belongs to a pair, else games.
    pub fn new(results: &Results) -> Sample {
        if results.is_paired() { Sample::of_pairs(results) } else { Sample::of_games(results) }
    }

    /// Counts games.
    pub fn of_games(results: &Results) -> Sample {
        let counts = [results.losses, results.draws, results.wins];
        Sample { scores: &GAME_SCORES, counts: counts.map(|count| count as f64).to_vec(), games: 1.0 }
    }

    /// Counts pairs; games without a partner are left out.
    fn of_pairs(results: &Results) -> Sample {
        Sample { scores: &PAIR_SCORES, counts: results.pentanomial.map(|count| count as f64).to_vec(), games: 2.0 }
    }

    /// Replaces counts of 0 by a thousandth of an observation.
    pub(crate) fn without_zeros(mut self) -> Sample {
        self.counts.iter_mut().filter(|count| **count == 0.0).for_each(|count| *count = NEVER_OBSERVED);
        self
    }

    /// Observations.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The share of the observations that each score has, in the order of the scores.
    pub fn shares(&self) -> Vec<f64> {
        let total = self.total();
        self.counts.iter().map(|count| count / total).collect()
    }

    /// The mean score and the variance of one observation around it; not a number where there is no observation.
    pub(crate) fn mean_and_variance(&self) -> (f64, f64) {
        mean_and_variance(self.scores, &self.shares())
    }
}

/// The mean and the variance of `scores` that have these probabilities.
pub(crate) fn mean_and_variance(scores: &[f64], probabilities: &[f64]) -> (f64, f64) {
    let expectation = |value: &dyn Fn(f64) -> f64| -> f64 {
        scores.iter().zip(probabilities).map(|(&score, probability)| probability * value(score)).sum()
    };
    let mean = expectation(&|score| score);
    (mean, expectation(&|score| (score - mean).powi(2)))
}
