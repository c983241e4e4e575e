//! Estimates the Elo difference of two players from their results, with the error margin and the likelihood of
//! superiority.
//!
//! The formulas are those of fastchess (`app/src/matchmaking/elo/elo_pentanomial.cpp`, `elo_wdl.cpp` and `elo.hpp`), so
//! that the figures of both can be compared. An observation is a pair of games where all games are in pairs, else a
//! game. With `n` observations of `k` games each (2 or 1), their mean score `s` and the variance `v` of one
//! observation:
//!
//! - Logistic Elo is `400 log10(s / (1 - s))`. Its margin is half the distance between the Elo of the two ends of the
//!   interval `s ± z sqrt(v / n)`, where `z = 1.96` makes that 95 %.
//! - Normalised Elo (Van den Bergh, "Normalized Elo", <https://www.cantate.be/Fishtest/normalized_elo.pdf>) measures
//!   the difference in standard deviations of a game: `(s - 1/2) / sqrt(k v) · 800 / ln 10`. Its margin is that of `s`.
//! - The likelihood of superiority is the probability that a normal distribution around `s` with variance `v / n` gives
//!   to scores above one half.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::sample::Sample;
use super::{Results, Z_95};

/// Elo for a factor of ten in the odds.
pub(super) const ELO_PER_DECADE: f64 = 400.0;

/// Normalised Elo for one standard deviation of a game: near an even score and without draws both kinds of Elo are the
/// same (fastchess's `800 / std::log(10)`).
pub(super) const NORMALISED_ELO_PER_DEVIATION: f64 = 2.0 * ELO_PER_DECADE / std::f64::consts::LN_10;

/// An estimate and its error, in Elo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The difference of the players; `None` where it is infinite, or nothing is known.
    pub elo: Option<f64>,
    /// Half the width of the 95 % interval; `None` where an end of the interval is infinite, or no observation differs
    /// from another.
    pub margin: Option<f64>,
}

impl fmt::Display for Estimate {
    /// Writes `+12.3 +- 4.5`; `beyond measure` where only one side scored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.elo, self.margin) {
            (Some(elo), Some(margin)) => write!(f, "{elo:+.1} +- {margin:.1}"),
            (Some(elo), None) => write!(f, "{elo:+.1}, its error beyond measure"),
            (None, _) => f.write_str("beyond measure"),
        }
    }
}

/// The strength of the first player compared with the second's.
///
/// A value that the formulas do not make finite is `None`. Without games that is all of them. Where every observation
/// has the same score the variance is 0: normalised Elo, the margin and the likelihood of superiority are `None`
/// (fastchess prints a margin of 0 and a likelihood of 0, 50 or 100 % there); logistic Elo is `None` with only wins or
/// only losses, as it is infinite ([`Results::score`] shows which way). Few games with a score near 0 or 1 leave the
/// margin of logistic Elo `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EloDifference {
    /// Logistic Elo.
    pub logistic: Estimate,
    /// Normalised Elo.
    pub normalised: Estimate,
    /// Likelihood of superiority: the probability, from 0 to 1, that the first player is the stronger.
    pub los: Option<f64>,
    /// Share of the games that were drawn, from 0 to 1.
    pub draw_rate: Option<f64>,
    /// Share of the pairs that gave both players a point; `None` where not all games are in pairs. fastchess prints
    /// this as the draw rate of games in pairs, and [`EloDifference::draw_rate`] as the draw rate of other games.
    pub even_pair_rate: Option<f64>,
}

impl EloDifference {
    /// Estimates the difference from pairs where every game belongs to a pair, else from games.
    pub fn new(results: &Results) -> EloDifference {
        let sample = Sample::new(results);
        let (score, variance) = sample.mean_and_variance();
        let error = (variance / sample.total()).sqrt();
        let estimate = |elo: &dyn Fn(f64) -> f64| Estimate {
            elo: finite(elo(score)),
            margin: finite((elo(score + Z_95 * error) - elo(score - Z_95 * error)) / 2.0).filter(|_| variance > 0.0),
        };
        let deviation = (sample.games * variance).sqrt();
        EloDifference {
            logistic: estimate(&logistic_elo),
            normalised: estimate(&|score| (score - 0.5) / deviation * NORMALISED_ELO_PER_DEVIATION),
            los: finite(libm::erfc(-(score - 0.5) / (2.0_f64.sqrt() * error)) / 2.0).filter(|_| variance > 0.0),
            draw_rate: finite(results.draws as f64 / results.games() as f64),
            even_pair_rate: finite(results.pentanomial[2] as f64 / results.pairs() as f64)
                .filter(|_| results.is_paired()),
        }
    }
}

/// The Elo difference at which `score` is expected: infinite at 0 and 1, not a number beyond.
fn logistic_elo(score: f64) -> f64 {
    ELO_PER_DECADE * (score / (1.0 - score)).log10()
}

pub(super) fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10.0_f64.powf(-elo / ELO_PER_DECADE))
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

#[cfg(test)]
#[path = "elo_tests.rs"]
mod tests;
