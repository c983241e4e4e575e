//! Dirichlet noise on the priors of the root (docs/lc0.md, 3.6), so that training games and analysis meet moves that
//! the policy thinks little of: `P = (1 - epsilon) P + epsilon * eta`, where `eta` is drawn from a symmetric Dirichlet
//! distribution (Silver et al., "Mastering the game of Go without human knowledge", 2017).
//!
//! Lc0 mixes it in when the network's answer for the root comes in, and so a root found in the reused tree has none, or
//! what was drawn for an earlier search. Here every search draws its own. The tree keeps the priors as they are.

use super::edges::EdgeView;
use super::node::Node;
use rand::Rng;
use rand_distr::{Distribution as _, Gamma};

/// The amount of noise on the root's priors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// Share of the noise in the priors, 0 to 1; 0: no noise.
    pub epsilon: f32,
    /// Parameter of the distribution: the smaller, the fewer moves get nearly all of it.
    pub alpha: f32,
}

impl Noise {
    /// No noise; `alpha` is Lc0's.
    pub(crate) const NONE: Noise = Noise { epsilon: 0.0, alpha: 0.3 };

    /// Draws the noise of a root with `moves` moves. `None` without noise, or where `alpha` is so small that all
    /// numbers drawn are next to 0.
    pub(crate) fn draw(&self, moves: usize, random: &mut impl Rng) -> Option<RootNoise> {
        if self.epsilon <= 0.0 {
            return None;
        }
        let gamma = Gamma::new(self.alpha, 1.0).ok()?;
        let mut eta: Vec<f32> = (0..moves).map(|_| gamma.sample(random)).collect();
        let sum: f32 = eta.iter().sum();
        if !(sum >= f32::MIN_POSITIVE && sum.is_finite()) {
            return None;
        }
        eta.iter_mut().for_each(|eta| *eta /= sum);
        Some(RootNoise { epsilon: self.epsilon, eta })
    }
}

/// The noise of one search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RootNoise {
    epsilon: f32,
    /// Noise of each move, by its index.
    eta: Vec<f32>,
}

impl RootNoise {
    /// The prior of a root move. A move that is proven lost keeps none.
    pub(crate) fn prior(&self, view: &EdgeView, index: usize, child: Option<&Node>) -> f32 {
        let eta = self.eta.get(index).copied().unwrap_or(0.0);
        match child {
            Some(child) if child.bounds().is_loss() => 0.0,
            _ => (1.0 - self.epsilon) * view.p(index) + self.epsilon * eta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand::rngs::Xoshiro256PlusPlus;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    #[test]
    fn noise_is_a_distribution() {
        for alpha in [0.03, 0.3, 1.0, 10.0, 1e6] {
            let noise = Noise { epsilon: 0.25, alpha }.draw(30, &mut random()).unwrap();
            assert!((noise.eta.iter().sum::<f32>() - 1.0).abs() < 1e-5 && noise.eta.iter().all(|eta| *eta >= 0.0));
        }
        assert_eq!(Noise::NONE.draw(30, &mut random()), None);
        assert_eq!(Noise { epsilon: 0.25, alpha: 0.0 }.draw(30, &mut random()), None);
        assert_eq!(Noise { epsilon: 0.25, alpha: 1e-30 }.draw(30, &mut random()), None);
    }

    #[test]
    fn small_alpha_is_sharp() {
        // The sum of squares of a symmetric Dirichlet distribution of k is (1 + alpha) / (1 + k alpha) on average.
        for (alpha, expected) in [(0.1, 1.1 / 3.0), (1.0, 2.0 / 21.0)] {
            let (mut random, mut sum) = (random(), 0.0);
            for _ in 0..2000 {
                let noise = Noise { epsilon: 1.0, alpha }.draw(20, &mut random).unwrap();
                sum += noise.eta.iter().map(|eta| eta * eta).sum::<f32>();
            }
            assert!((sum / 2000.0 - expected).abs() < 0.03 * expected, "{alpha}: {}", sum / 2000.0);
        }
    }
}
