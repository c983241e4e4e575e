//! Fits ratings to results by Newton's method, so that the results are as likely as possible.
//!
//! The likelihood is that of the logistic model: with `E` the expected score of the first of two players, their games
//! add `points · ln E + (games - points) · ln(1 - E)` to its logarithm. That is concave in the ratings, so there is one
//! maximum.

use std::f64::consts::LN_10;

use super::elo::{ELO_PER_DECADE, expected_score};

/// Growth of the logarithm of the odds with a difference of one Elo.
const LOG_ODDS_PER_ELO: f64 = LN_10 / ELO_PER_DECADE;
/// Longest step of a rating, in Elo. Where no difference of two ratings changes its odds by more than a factor of e, a
/// step in Newton's direction always raises the likelihood (Bach, "Self-concordant analysis for logistic regression",
/// 2010).
const LONGEST_STEP: f64 = 0.5 / LOG_ODDS_PER_ELO;
/// Length in Elo below which a step is the last: so near the maximum each step squares the error.
const LAST_STEP: f64 = 1e-6;
/// Most steps: enough for ratings to move 43,000 Elo.
const STEPS: usize = 500;

/// The games of two players.
#[derive(Clone, Debug)]
pub struct Games {
    /// Indices of the players.
    pub players: [usize; 2],
    pub count: f64,
    /// Points of the first player.
    pub points: f64,
}

/// Moves the ratings of the `free` players to the maximum of the likelihood and returns the standard errors of these
/// ratings, all in Elo; `None` where the maximum is not found.
///
/// Standard errors are the square roots of the diagonal of the inverse of the Fisher information.
pub fn fit(ratings: &mut [f64], free: &[usize], games: &[Games]) -> Option<Vec<f64>> {
    let mut rows = vec![None; ratings.len()];
    free.iter().enumerate().for_each(|(row, &player)| rows[player] = Some(row));
    for _ in 0..STEPS {
        let (gradient, information) = derivatives(ratings, &rows, free.len(), games);
        let factor = Cholesky::new(information)?;
        let step = factor.solve(gradient);
        let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
        let scale = (LONGEST_STEP / longest).min(1.0);
        free.iter().zip(&step).for_each(|(&player, step)| ratings[player] += scale * step);
        if longest < LAST_STEP {
            let variance = |row: usize| {
                let mut unit = vec![0.0; free.len()];
                unit[row] = 1.0;
                factor.solve(unit)[row]
            };
            return Some((0..free.len()).map(|row| variance(row).sqrt()).collect());
        }
    }
    None
}

/// The gradient of the log-likelihood, and its negative second derivative, which is the Fisher information.
fn derivatives(ratings: &[f64], rows: &[Option<usize>], free: usize, games: &[Games]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (mut gradient, mut information) = (vec![0.0; free], vec![vec![0.0; free]; free]);
    for &Games { players: [first, second], count, points } in games {
        let difference = ratings[first] - ratings[second];
        let expected = expected_score(difference);
        let slope = (points - count * expected) * LOG_ODDS_PER_ELO;
        let curvature = count * expected * expected_score(-difference) * LOG_ODDS_PER_ELO.powi(2);
        for (row, slope) in [(rows[first], slope), (rows[second], -slope)] {
            if let Some(row) = row {
                gradient[row] += slope;
                information[row][row] += curvature;
            }
        }
        if let (Some(first), Some(second)) = (rows[first], rows[second]) {
            information[first][second] -= curvature;
            information[second][first] -= curvature;
        }
    }
    (gradient, information)
}

/// The lower triangular factor `L` of a symmetric positive definite matrix `L Lᵀ`.
struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// Factors a matrix; `None` where it is not positive definite.
    fn new(mut matrix: Vec<Vec<f64>>) -> Option<Cholesky> {
        for row in 0..matrix.len() {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| matrix[row][k] * matrix[column][k]).sum();
                let rest = matrix[row][column] - known;
                matrix[row][column] = match row == column {
                    true if rest > 0.0 => rest.sqrt(),
                    true => return None,
                    false => rest / matrix[column][column],
                };
            }
        }
        Some(Cholesky(matrix))
    }

    /// Solves `L Lᵀ x = right` for `x`.
    fn solve(&self, right: Vec<f64>) -> Vec<f64> {
        let (lower, mut x) = (&self.0, right);
        for row in 0..x.len() {
            let known: f64 = (0..row).map(|k| lower[row][k] * x[k]).sum();
            x[row] = (x[row] - known) / lower[row][row];
        }
        for row in (0..x.len()).rev() {
            let known: f64 = (row + 1..x.len()).map(|k| lower[k][row] * x[k]).sum();
            x[row] = (x[row] - known) / lower[row][row];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: L is [[2], [1, 3], [-1, 2, 1]].
    #[test]
    fn a_matrix_is_factored_and_solved() {
        let matrix = vec![vec![4.0, 2.0, -2.0], vec![2.0, 10.0, 5.0], vec![-2.0, 5.0, 6.0]];
        let factor = Cholesky::new(matrix).unwrap();
        assert_eq!([&factor.0[0][..1], &factor.0[1][..2], &factor.0[2]], [&[2.0][..], &[1.0, 3.0], &[-1.0, 2.0, 1.0]]);
        // The matrix times (1, 2, 3).
        assert_eq!(factor.solve(vec![2.0, 37.0, 26.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::new(vec![vec![1.0, 2.0], vec![2.0, 4.0]]).is_none(), "singular");
        assert!(Cholesky::new(vec![vec![1.0, 2.0], vec![2.0, 1.0]]).is_none(), "indefinite");
    }

    // The derivatives against differences of the log-likelihood itself.
    #[test]
    fn derivatives_are_those_of_the_likelihood() {
        let games = [
            Games { players: [0, 1], count: 30.0, points: 21.5 },
            Games { players: [1, 2], count: 8.0, points: 3.0 },
            Games { players: [2, 0], count: 12.0, points: 2.0 },
        ];
        let likelihood = |ratings: [f64; 3]| -> f64 {
            let term = |games: &Games| {
                let [first, second] = games.players.map(|player| ratings[player]);
                let expected = 1.0 / (1.0 + 10.0_f64.powf((second - first) / 400.0));
                games.points * expected.ln() + (games.count - games.points) * (1.0 - expected).ln()
            };
            games.iter().map(term).sum()
        };
        let at = [100.0, -30.0, 10.0];
        let (gradient, information) = derivatives(&at, &[None, Some(0), Some(1)], 2, &games);
        let moved = |steps: [f64; 2]| likelihood([at[0], at[1] + steps[0], at[2] + steps[1]]);
        let h = 0.5;
        let close = |value: f64, expected: f64| {
            assert!((value - expected).abs() < 1e-5 * expected.abs(), "{value} is not {expected}");
        };
        close(gradient[0], (moved([h, 0.0]) - moved([-h, 0.0])) / (2.0 * h));
        close(gradient[1], (moved([0.0, h]) - moved([0.0, -h])) / (2.0 * h));
        close(-information[0][0], (moved([h, 0.0]) - 2.0 * moved([0.0, 0.0]) + moved([-h, 0.0])) / (h * h));
        let mixed = (moved([h, h]) - moved([h, -h]) - moved([-h, h]) + moved([-h, -h])) / (4.0 * h * h);
        close(-information[0][1], mixed);
        assert_eq!(information[0][1], information[1][0]);
    }
}
