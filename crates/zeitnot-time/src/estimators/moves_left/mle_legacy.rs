//! Estimates moves left from the number of moves played.

use super::choice::WEIGHT;
use crate::params::{GroupSpec, ParamValues, param_specs};

param_specs! {
    MIDPOINT "midpoint" 50.0 1.0 1000.0 Moves
        "Median length of a game: before the first move, half of all games are expected to end within this number of moves.";
    STEEPNESS "steepness" 7.0 0.1 100.0 Ratio "How narrowly game lengths gather around the midpoint.";
}

/// The estimator `mle-legacy`: the median residual life of a log-logistic distribution of game lengths
/// (docs/lc0.md, 1.3).
///
/// Its defaults are near Lc0's numbers (51.5 and 7.0 in its legacy, 45.2 and 5.93 in its smooth). 70 and 4.5, the defaults
/// before, have the least mean deviation from the lengths of 209 TCEC games, but leave a fifth of the clock unused, and
/// more regret at 1,500 and 15,000 nodes a move (docs/results/2026-11-scales.md).
#[derive(Clone, Debug)]
pub(crate) struct MleLegacy {
    midpoint: f64,
    steepness: f64,
}

/// The group under which [`MleLegacy`] is configured.
pub(crate) const MLE_LEGACY: GroupSpec = GroupSpec {
    name: "mle-legacy",
    help: "Moves left from the move number: the median residual life of a log-logistic distribution of game lengths.",
    params: &[MIDPOINT, STEEPNESS, WEIGHT],
};

/// The group for managers that know no other estimator of moves left, with the numbers of the design page of `smooth`
/// (docs/documents.md, 1.3).
///
/// The page does not state the numbers (it shows 50 and 12 in an example). It says that the estimator is the earlier
/// manager's: 51.5 and 7.0 are the defaults of that manager, Lc0's legacy, and of the first merged smooth (docs/lc0.md,
/// 1.12).
pub(crate) const MLE_LEGACY_ALONE: GroupSpec =
    GroupSpec { params: &[MIDPOINT.defaulting_to(51.5), STEEPNESS.defaulting_to(7.0)], ..MLE_LEGACY };

impl MleLegacy {
    /// The estimator with the values of `group`, whose first two parameters are the midpoint and the steepness.
    pub(crate) fn new(values: &ParamValues, group: &GroupSpec) -> Self {
        let value = |index: usize| values.get_in(group.name, &group.params[index]);
        Self::of(value(0), value(1))
    }

    /// The estimator with this median length of a game, in moves, and this steepness.
    pub(crate) fn of(midpoint: f64, steepness: f64) -> Self {
        Self { midpoint, steepness }
    }

    /// Expected moves left at game ply `ply` (0 before the first move of the game): with m = ply/2,
    /// midpoint·(1 + 2·(m/midpoint)^steepness)^(1/steepness) − m.
    pub(crate) fn estimate(&self, ply: u32) -> f64 {
        let moves_played = f64::from(ply) / 2.0;
        // In logarithms, because the power overflows for absurd plies: ln(1 + e^z) with z = ln 2 +
        // steepness·ln(m/midpoint).
        let z = std::f64::consts::LN_2 + self.steepness * (moves_played / self.midpoint).ln();
        let softplus = z.max(0.0) + (-z.abs()).exp().ln_1p();
        self.midpoint * (softplus / self.steepness).exp() - moves_played
    }
}

#[cfg(test)]
mod tests {
    use super::MleLegacy;

    // docs/lc0.md, 1.3: (ply, midpoint 45.2 and steepness 5.93, midpoint 51.5 and steepness 7.0), observed by running
    // Lc0.
    const OBSERVED: [(u32, f64, f64); 14] = [
        (0, 45.20000, 51.50000),
        (1, 44.70000, 51.00000),
        (10, 40.20003, 46.50000),
        (20, 35.20199, 41.50015),
        (40, 25.32034, 31.51958),
        (60, 16.45242, 21.82856),
        (80, 10.67039, 13.70478),
        (90, 9.23992, 10.91196),
        (100, 8.54856, 9.11678),
        (120, 8.46088, 7.76136),
        (160, 10.17442, 8.61343),
        (200, 12.48466, 10.48458),
        (300, 18.61064, 15.62009),
        (400, 24.80154, 20.81909),
    ];

    // docs/documents.md, 1.3.
    #[test]
    fn seed_estimating_moves_left_gives_the_values_of_lc0() {
        let now = MleLegacy { midpoint: 45.2, steepness: 5.93 };
        let then = MleLegacy { midpoint: 51.5, steepness: 7.0 };
        for (ply, expected_now, expected_then) in OBSERVED {
            // Lc0 computes in single precision: seven digits of a number near 200 leave five after the point.
            assert!((now.estimate(ply) - expected_now).abs() < 5e-5, "{ply}: {}", now.estimate(ply));
            assert!((then.estimate(ply) - expected_then).abs() < 5e-5, "{ply}: {}", then.estimate(ply));
        }
    }

    #[test]
    fn mle_legacy_stays_finite_for_extreme_parameters() {
        for (midpoint, steepness) in [(1.0, 0.1), (1.0, 100.0), (1000.0, 0.1), (1000.0, 100.0)] {
            for ply in [0, 1, 2, 500, u32::MAX] {
                let moves_left = MleLegacy { midpoint, steepness }.estimate(ply);
                assert!(moves_left.is_finite() && moves_left >= 0.0, "{midpoint} {steepness} {ply}: {moves_left}");
            }
        }
    }
}
