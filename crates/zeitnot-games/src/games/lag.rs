//! Draws the time between a player's answer and the stop of its clock that the GUI and the system take, for games on a
//! virtual clock.

use std::str::FromStr;
use thiserror::Error;
use zeitnot_engine::splitmix::{SplitMix64, mix};

/// One move in so many has a long lag, which lies anywhere between the average and the worst.
const ONE_IN: usize = 200;
/// Least multiple of the average that the worst lag has to be. Lags are cut off at the worst, which lowers their mean.
/// At a multiple of 4 it is 1 % below the average: 0.995 (1 - e^-4) for most moves and 0.005 · 2.5 for the long lags.
const LEAST_WORST: f64 = 4.0;
/// Longest lag, in milliseconds.
const LONGEST_MS: f64 = 60_000.0;

/// A model of the lag of each move, in milliseconds. Most lags are exponentially distributed about an average; one in
/// 200 lies anywhere between the average and the worst, as where another process holds the machine. A lag depends on
/// seed, game and ply alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagModel {
    average_ms: f64,
    worst_ms: f64,
}

/// Error for a text that is no lag.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "\"{0}\" is no lag such as 2 (of every move) or 2,50 (average and worst, at least 4 times as long): milliseconds, to 60000"
)]
pub struct LagError(String);

impl LagModel {
    /// Whether the lags of two moves can differ.
    pub fn varies(&self) -> bool {
        self.worst_ms > self.average_ms
    }

    /// The lag of the move at `ply` of a game, in milliseconds.
    pub fn lag_ms(&self, seed: u64, game: u64, ply: usize) -> f64 {
        let mut random = SplitMix64(mix(seed ^ mix(game ^ mix(ply as u64))));
        let is_held_up = random.below(ONE_IN) == 0;
        // 53 bits: from 0 to below 1.
        let share = random.unit();
        if self.worst_ms <= self.average_ms {
            return self.average_ms;
        }
        let lag_ms = match is_held_up {
            true => self.average_ms + share * (self.worst_ms - self.average_ms),
            false => -self.average_ms * (1.0 - share).ln(),
        };
        lag_ms.min(self.worst_ms)
    }
}

impl FromStr for LagModel {
    type Err = LagError;

    /// Reads `LAG`, the same for every move, or `AVERAGE,WORST`.
    fn from_str(text: &str) -> Result<LagModel, LagError> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|ms| (0.0..=LONGEST_MS).contains(ms));
        let error = || LagError(text.to_owned());
        let Some((average, worst)) = text.split_once(',') else {
            let lag_ms = number(text).ok_or_else(error)?;
            return Ok(LagModel { average_ms: lag_ms, worst_ms: lag_ms });
        };
        match (number(average), number(worst)) {
            (Some(average_ms), Some(worst_ms)) if worst_ms >= LEAST_WORST * average_ms => {
                Ok(LagModel { average_ms, worst_ms })
            }
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_have_their_average_and_their_worst_and_depend_on_seed_game_and_ply_alone() {
        let model: LagModel = "3,120".parse().unwrap();
        let lags: Vec<f64> = (0..400).flat_map(|game| (0..100).map(move |ply| model.lag_ms(7, game, ply))).collect();
        let held_up = lags.iter().filter(|lag| **lag > 30.0).count();
        let usual: Vec<f64> = lags.iter().copied().filter(|lag| *lag <= 30.0).collect();
        let mean = usual.iter().sum::<f64>() / usual.len() as f64;
        assert!((mean - 3.0).abs() < 0.2, "{mean}");
        // Three quarters of one in 200 lie beyond 30 ms.
        assert!((100..220).contains(&held_up), "{held_up} of {}", lags.len());
        assert!(lags.iter().all(|lag| (0.0..=120.0).contains(lag)));
        assert_eq!(lags[101], model.lag_ms(7, 1, 1));
        assert_ne!(lags[101], model.lag_ms(8, 1, 1));
    }

    #[test]
    fn the_least_worst_lag_leaves_the_average() {
        let model: LagModel = "5,20".parse().unwrap();
        let mean = (0..100_000).map(|ply| model.lag_ms(1, 1, ply)).sum::<f64>() / 1e5;
        assert!((mean / 5.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn bad_lags_are_refused() {
        for text in ["", "x", "-1", "5,2", "5,5", "5,19.9", "1,2,3", "nan", "1e9"] {
            assert_eq!(text.parse::<LagModel>(), Err(LagError(text.to_owned())));
        }
        let constant: LagModel = "2".parse().unwrap();
        assert!((0..1000).all(|ply| constant.lag_ms(1, 1, ply) == 2.0));
    }
}
