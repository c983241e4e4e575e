//! Draws moves from a network's policy.

/// The probabilities of moves with these logits, at a temperature above 0.
pub fn softmax(logits: &[f32], temperature: f32) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut weights: Vec<f32> = logits.iter().map(|logit| ((logit - largest) / temperature).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// An index drawn in proportion to `probabilities`, by a random number `uniform` from 0 to 1.
pub fn sample(probabilities: &[f32], uniform: f32) -> usize {
    let mut left = uniform * probabilities.iter().sum::<f32>();
    let drawn = probabilities.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    drawn.unwrap_or(probabilities.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_by_hand() {
        let p = softmax(&[0.0, 2f32.ln()], 1.0);
        assert!((p[0] - 1.0 / 3.0).abs() < 1e-6 && (p[1] - 2.0 / 3.0).abs() < 1e-6);
        // The square root of the odds.
        let p = softmax(&[1000.0, 1000.0 + 4f32.ln()], 2.0);
        assert!((p[1] / p[0] - 2.0).abs() < 1e-3, "{p:?}");
    }

    #[test]
    fn sample_gives_each_index_its_probability() {
        for (uniform, index) in [(0.0, 0), (0.69, 0), (0.71, 2), (0.999, 2), (1.0, 2)] {
            assert_eq!(sample(&[0.7, 0.0, 0.3], uniform), index, "{uniform}");
        }
        assert_eq!(sample(&[0.0, 0.0], 0.5), 1);
    }
}
