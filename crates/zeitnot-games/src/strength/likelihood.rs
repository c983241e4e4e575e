//! Computes the log-likelihood ratio of two hypotheses about the mean of a sample, with every other property of its
//! distribution left free.
//!
//! Each hypothesis is given the probabilities that make the sample likeliest among those that it allows. For a fixed
//! mean these are known in closed form but for one number (Van den Bergh, "Comparing the approximations for the
//! generalized log likelihood ratio of a multinomial distribution",
//! <https://www.cantate.be/Fishtest/comparing_approximations.pdf>, proposition 1.1); for a mean that is fixed in
//! standard deviations that is iterated (the same author, "Comments on normalized Elo",
//! <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>, section 4.1).

use super::sample::{Sample, mean_and_variance};

/// Change of every probability below which the iteration of [`likeliest_at_distance`] ends; else it ends after
/// [`ROUNDS`] (both as in fastchess, `getLLR_normalized`).
const CONVERGED: f64 = 1e-4;
const ROUNDS: usize = 10;
/// The expected score of a game between equal players.
const EVEN_SCORE: f64 = 0.5;

/// The log-likelihood ratio of a mean score of `means[1]` to one of `means[0]`; natural logarithm.
///
/// Every count has to be positive.
pub(crate) fn log_ratio_of_means(sample: &Sample, means: [f64; 2]) -> f64 {
    let deviations = |mean: f64| -> Vec<f64> { sample.scores.iter().map(|score| score - mean).collect() };
    log_ratio(sample, |shares, hypothesis| likeliest(shares, &deviations(means[hypothesis])))
}

/// The log-likelihood ratio of a mean score that lies `distances[1]` above one half to one that lies `distances[0]`
/// above, in standard deviations of an observation; natural logarithm.
///
/// Every count has to be positive.
pub(crate) fn log_ratio_of_distances(sample: &Sample, distances: [f64; 2]) -> f64 {
    log_ratio(sample, |shares, hypothesis| likeliest_at_distance(sample.scores, shares, distances[hypothesis]))
}

/// The log-likelihood ratio of two hypotheses; `fit` gives the probabilities of hypothesis 0 or 1 for these shares of
/// the observations.
fn log_ratio(sample: &Sample, fit: impl Fn(&[f64], usize) -> Vec<f64>) -> f64 {
    let shares = sample.shares();
    let [low, high] = [0, 1].map(|hypothesis| fit(&shares, hypothesis));
    sample.counts.iter().zip(low.iter().zip(&high)).map(|(count, (low, high))| count * (high.ln() - low.ln())).sum()
}

/// The likeliest probabilities whose mean lies `distance` of their own standard deviations above one half.
///
/// The condition is linearised around the last probabilities, beginning with equal ones.
fn likeliest_at_distance(scores: &[f64], shares: &[f64], distance: f64) -> Vec<f64> {
    let mut probabilities = vec![1.0 / scores.len() as f64; scores.len()];
    for _ in 0..ROUNDS {
        let (mean, variance) = mean_and_variance(scores, &probabilities);
        let deviation = variance.sqrt();
        let linearised = |&score: &f64| {
            let standard = (score - mean) / deviation;
            score - EVEN_SCORE - 0.5 * distance * deviation * (1.0 + standard * standard)
        };
        let next = likeliest(shares, &scores.iter().map(linearised).collect::<Vec<_>>());
        let change = next.iter().zip(&probabilities).map(|(next, last)| (next - last).abs()).fold(0.0, f64::max);
        probabilities = next;
        if change < CONVERGED {
            break;
        }
    }
    probabilities
}

/// The probabilities that make the observed `shares` likeliest among those under which the expectation of `values` is
/// 0.
///
/// These are `share / (1 + t value)` with the multiplier `t` for which the expectation of `values` is 0. Some value has
/// to be positive and some negative. fastchess finds `t` to 1e-3 (1e-7 for normalised Elo), here it is found to the
/// last bit.
fn likeliest(shares: &[f64], values: &[f64]) -> Vec<f64> {
    let tilted =
        |multiplier: f64| shares.iter().zip(values).map(move |(share, value)| share / (1.0 + multiplier * value));
    let expectation = |multiplier: f64| tilted(multiplier).zip(values).map(|(share, value)| share * value).sum::<f64>();
    // Between the poles next to 0 the expectation falls from infinity to minus infinity.
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (-1.0 / largest, -1.0 / smallest);
    loop {
        let middle = low + (high - low) / 2.0;
        // Also ends where a value is not a number.
        if !(low < middle && middle < high) {
            return tilted(middle).collect();
        }
        if expectation(middle) > 0.0 { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
    const SHARES: [f64; 5] = [0.04, 0.2, 0.4, 0.26, 0.1];

    fn log_likelihood(probabilities: &[f64]) -> f64 {
        SHARES.iter().zip(probabilities).map(|(share, probability)| share * probability.ln()).sum()
    }

    /// Probabilities moved a little in a direction that keeps their sum and their mean.
    fn moved(probabilities: &[f64], first: usize, by: f64) -> Vec<f64> {
        let mut moved = probabilities.to_vec();
        for (index, weight) in [1.0, -2.0, 1.0].into_iter().enumerate() {
            moved[first + index] += weight * by;
        }
        moved
    }

    #[test]
    fn the_likeliest_probabilities_have_the_mean() {
        for mean in [0.1, 0.5, 0.54, 0.9] {
            let probabilities = likeliest(&SHARES, &SCORES.map(|score| score - mean));
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{mean}: {probabilities:?}");
            assert!((mean_and_variance(&SCORES, &probabilities).0 - mean).abs() < 1e-12, "{mean}: {probabilities:?}");
            for (first, by) in [(0, 1e-4), (0, -1e-4), (1, 1e-4), (1, -1e-4), (2, 1e-4), (2, -1e-4)] {
                let likelihoods = [&probabilities, &moved(&probabilities, first, by)].map(|p| log_likelihood(p));
                assert!(likelihoods[0] > likelihoods[1], "{mean}: {probabilities:?} {first} {by}");
            }
        }
    }

    #[test]
    fn the_observed_mean_leaves_the_shares_alone() {
        let (mean, variance) = mean_and_variance(&SCORES, &SHARES);
        for probabilities in [
            likeliest(&SHARES, &SCORES.map(|score| score - mean)),
            likeliest_at_distance(&SCORES, &SHARES, (mean - 0.5) / variance.sqrt()),
        ] {
            assert!(probabilities.iter().zip(&SHARES).all(|(p, share)| (p - share).abs() < 1e-4), "{probabilities:?}");
        }
    }

    #[test]
    fn the_likeliest_probabilities_have_the_distance() {
        for distance in [-0.8, -0.01, 0.0, 0.3, 0.8] {
            let probabilities = likeliest_at_distance(&SCORES, &SHARES, distance);
            let (mean, variance) = mean_and_variance(&SCORES, &probabilities);
            let found = (mean - 0.5) / variance.sqrt();
            assert!((found - distance).abs() < 1e-3, "{distance} {found}: {probabilities:?}");
        }
    }
}
