//! The recipe of a labelled game: how moves are drawn, which positions get labels, and when it ends.

use rand::{Rng, RngExt as _};
use serde::Serialize;

/// The recipe of a game. [`Sampling::default`] made some of the games that our networks learn from; `models/README.md`
/// has the other recipes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampling {
    /// Bounds of the temperature `t` that a game draws: moves are drawn by their priors to the power of `1 / t`.
    pub temperature: (f32, f32),
    /// Share of the moves that are drawn from all legal moves alike: mistakes that no policy thinks of.
    pub deviations: f32,
    /// Share of the positions that get a label. Neighbours in a game teach nearly the same; the position after a
    /// deviation or a blunder always gets one.
    pub labelled: f32,
    /// Loss in the player's own value, W - L, from which a move counts as a blunder.
    pub blunder: f32,
    /// Plies after which a game ends.
    pub most_plies: usize,
    /// The teacher's probability of one side's win from which a position counts as decided.
    pub sure: f32,
    /// Decided positions, among the labelled ones and in a row, after which a game is resigned.
    pub sure_labels: usize,
    /// Share of the games that may be resigned. The others are played to their end, mates included.
    pub resigned: f32,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            temperature: (0.8, 1.5),
            deviations: 0.03,
            labelled: 0.3,
            blunder: 0.2,
            most_plies: 200,
            sure: 0.97,
            sure_labels: 5,
            resigned: 0.5,
        }
    }
}

impl Sampling {
    /// Draws the temperature of a game.
    pub fn draw_temperature(&self, random: &mut impl Rng) -> f32 {
        let (low, high) = self.temperature;
        low + (high - low) * random.random::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand::rngs::Xoshiro256PlusPlus;

    #[test]
    fn temperatures_lie_between_their_bounds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let sampling = Sampling { temperature: (0.5, 0.75), ..Sampling::default() };
        let drawn: Vec<f32> = (0..100).map(|_| sampling.draw_temperature(&mut random)).collect();
        assert!(drawn.iter().all(|t| (0.5..0.75).contains(t)) && drawn.iter().any(|t| *t > 0.7));
    }
}
