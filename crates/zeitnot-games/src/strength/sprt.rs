//! Decides a match by Wald's sequential probability ratio test: play goes on until the results favour one of two
//! hypotheses about the Elo difference strongly enough.
//!
//! The formulas are those of fastchess (`app/src/matchmaking/sprt/sprt.cpp`). H0 says that the difference is `elo0`, H1
//! that it is `elo1`. With the log-likelihood ratio of H1 to H0, H0 is accepted at or below `ln(beta / (1 - alpha))`
//! and H1 at or above `ln((1 - beta) / alpha)`. Pairs of games are observations where every game belongs to one, else
//! games.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Results;
use super::elo::{NORMALISED_ELO_PER_DEVIATION, expected_score};
use super::likelihood::{log_ratio_of_distances, log_ratio_of_means};
use super::sample::Sample;

/// The error rates where they are not given, as in most tests of engines.
const DEFAULT_ERROR_RATE: f64 = 0.05;

/// Largest distance of a hypothesis from 0, in Elo. Beyond 230 normalised Elo the iteration for pairs has no first
/// step, as no score is that far above the mean of equal probabilities; tests of that size need no more than a look at
/// the score.
const LARGEST_ELO: f64 = 200.0;

/// The unit of the hypotheses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SprtModel {
    /// Normalised Elo: how long the test takes hardly depends on draws and openings.
    #[default]
    Normalized,
    /// Logistic Elo.
    Logistic,
}

impl FromStr for SprtModel {
    type Err = SprtError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "normalized" => Ok(SprtModel::Normalized),
            "logistic" => Ok(SprtModel::Logistic),
            _ => Err(SprtError::NoModel(name.to_owned())),
        }
    }
}

/// A sequential test of two hypotheses.
///
/// ```
/// use zeitnot_games::strength::{Results, sprt::{Decision, Sprt}};
/// let sprt: Sprt = "0,5".parse()?;
/// let results = Results { wins: 4000, draws: 9000, losses: 3600, pentanomial: [0; 5] };
/// assert_eq!(sprt.decision(&results), Some(Decision::AcceptH1));
/// # Ok::<(), zeitnot_games::strength::sprt::SprtError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The difference under H0, in Elo of the model.
    pub elo0: f64,
    /// The difference under H1, in Elo of the model.
    pub elo1: f64,
    /// Probability of accepting H1 where H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 where H1 is true.
    pub beta: f64,
    /// The unit of the differences.
    pub model: SprtModel,
}

/// The end of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// The difference is rather `elo0`.
    AcceptH0,
    /// The difference is rather `elo1`.
    AcceptH1,
}

/// A test that cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SprtError {
    /// A text that is not two numbers.
    #[error("\"{0}\" is not two Elo differences E0,E1 such as 0,5 (or E0,E1,logistic)")]
    NotTwoNumbers(String),
    /// A hypothesis too far from 0, or not a number.
    #[error("SPRT: {0} Elo is not between -{LARGEST_ELO} and {LARGEST_ELO}")]
    EloOutOfRange(f64),
    /// H1 is not above H0.
    #[error("SPRT: E0 = {0} Elo is not below E1 = {1} Elo")]
    NotAscending(f64, f64),
    /// Error rates outside their range.
    #[error("SPRT: alpha = {0} and beta = {1} are not above 0 with a sum below 1")]
    ErrorRates(f64, f64),
    /// A name of no model.
    #[error("\"{0}\" is not an SPRT model: normalized or logistic")]
    NoModel(String),
}

impl FromStr for Sprt {
    type Err = SprtError;

    /// Reads `E0,E1` or `E0,E1,MODEL`, two differences in Elo, normalised unless MODEL is given: a test with error
    /// rates of 5 %.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fields: Vec<&str> = text.splitn(3, ',').collect();
        let numbers = || Some((number(fields.first()?)?, number(fields.get(1)?)?));
        let (elo0, elo1) = numbers().ok_or_else(|| SprtError::NotTwoNumbers(text.to_owned()))?;
        let model = fields.get(2).map(|model| model.trim().parse()).transpose()?.unwrap_or_default();
        let sprt = Sprt { elo0, elo1, alpha: DEFAULT_ERROR_RATE, beta: DEFAULT_ERROR_RATE, model };
        sprt.validate().map(|()| sprt)
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

impl Sprt {
    /// Checks the hypotheses and the error rates; the other methods promise nothing for a test that fails.
    ///
    /// # Errors
    /// When a hypothesis is more than 200 Elo from 0, `elo0` is not below `elo1`, or an error rate is not above 0 or
    /// both together are not below 1.
    pub(crate) fn validate(&self) -> Result<(), SprtError> {
        let &Sprt { elo0, elo1, alpha, beta, .. } = self;
        if let Some(elo) = [elo0, elo1].into_iter().find(|elo| !(-LARGEST_ELO..=LARGEST_ELO).contains(elo)) {
            return Err(SprtError::EloOutOfRange(elo));
        }
        if elo0 >= elo1 {
            return Err(SprtError::NotAscending(elo0, elo1));
        }
        let are_rates = alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0;
        if are_rates { Ok(()) } else { Err(SprtError::ErrorRates(alpha, beta)) }
    }

    /// The log-likelihood ratio at or below which H0 is accepted; natural logarithm.
    pub fn lower_bound(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// The log-likelihood ratio at or above which H1 is accepted; natural logarithm.
    pub fn upper_bound(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    /// The log-likelihood ratio of H1 to H0; natural logarithm.
    pub fn llr(&self, results: &Results) -> f64 {
        let elos = [self.elo0, self.elo1];
        match self.model {
            SprtModel::Normalized => {
                let sample = Sample::new(results).without_zeros();
                let per_observation = sample.games.sqrt() / NORMALISED_ELO_PER_DEVIATION;
                log_ratio_of_distances(&sample, elos.map(|elo| elo * per_observation))
            }
            SprtModel::Logistic => log_ratio_of_means(&Sample::new(results).without_zeros(), elos.map(expected_score)),
        }
    }

    /// The hypothesis that the results accept; `None` while the match goes on.
    pub fn decision(&self, results: &Results) -> Option<Decision> {
        match self.llr(results) {
            llr if llr >= self.upper_bound() => Some(Decision::AcceptH1),
            llr if llr <= self.lower_bound() => Some(Decision::AcceptH0),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "sprt_tests.rs"]
mod tests;
