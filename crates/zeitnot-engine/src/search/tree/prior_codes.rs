//! Encodes priors in one byte each.
//!
//! A node that was visited once is most of the tree, and its priors are most of the node. They are kept as
//! `255 (p / p_max)^(1/3)`, rounded: the largest is exact, and so is a flat policy; others are off by half a step,
//! which is 0.6 % of a prior close to the largest, 0.8 % of one a third as large and 2.7 % at a hundredth. Of all ways
//! to space 256 steps this one makes the squared relative error, weighted by the prior as visits are, the least for
//! evenly spread logits (Panter and Dite, "Quantization distortion in pulse-count modulation with nonuniform spacing of
//! levels", 1951: the density of levels goes with the cube root of the weight). Lc0 keeps 16 bits.

/// The largest code.
const TOP: f32 = 255.0;

/// `p / p_max` by code.
static SHARES: [f32; 256] = shares();

const fn shares() -> [f32; 256] {
    let mut shares = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        let root = code as f64 / TOP as f64;
        shares[code] = (root * root * root) as f32;
        code += 1;
    }
    shares
}

/// The prior that a code stands for, as a share of the node's largest.
#[inline]
pub(crate) fn share(code: u8) -> f32 {
    SHARES[usize::from(code)]
}

/// The factor that makes the shares of these codes sum to 1.
pub(crate) fn scale(codes: &[u8]) -> f32 {
    1.0 / codes.iter().map(|code| share(*code)).sum::<f32>()
}

/// Appends the codes of the softmax of `logits` over the policy temperature.
pub(crate) fn encode(logits: &[f32], temperature: f32, codes: &mut Vec<u8>) {
    let largest = largest(logits);
    // Logarithm to base 2 of the cube root of the share.
    let factor = std::f32::consts::LOG2_E / (3.0 * temperature);
    codes.extend(logits.iter().map(|logit| (TOP * exp2((logit - largest) * factor) + 0.5) as u8));
}

/// The largest logit, found in four chains: a single chain would wait for each comparison.
fn largest(logits: &[f32]) -> f32 {
    let (fours, rest) = logits.as_chunks::<4>();
    let mut lanes = [f32::NEG_INFINITY; 4];
    for four in fours {
        for (lane, logit) in lanes.iter_mut().zip(four) {
            *lane = if *logit > *lane { *logit } else { *lane };
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// 2 to the power of `x`, which is 0 or less, with a relative error of 2e-4 at most, a twentieth of a step. The
/// compiler makes vector code of it, unlike of the standard library's function, and a batch has thousands of powers.
#[inline]
fn exp2(x: f32) -> f32 {
    /// Exponent below which the power rounds to 0 of 255 steps.
    const LEAST: f32 = -16.0;
    let x = x.max(LEAST);
    let whole = (x - 1.0) as i32 + i32::from(x >= 0.0);
    let fraction = x - whole as f32;
    // The cubic through 2^x at 0 and 1 whose largest relative error between them is least.
    let power = 1.0 + fraction * (0.696_065_64 + fraction * (0.224_494_34 + fraction * 0.079_440_24));
    power * f32::from_bits(((whole + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn priors(logits: &[f32], temperature: f32) -> Vec<f32> {
        let mut codes = Vec::new();
        encode(logits, temperature, &mut codes);
        let scale = scale(&codes);
        codes.iter().map(|code| scale * share(*code)).collect()
    }

    #[test]
    fn a_flat_policy_is_exact() {
        for moves in [1, 3, 20, 218] {
            let priors = priors(&vec![-3.5; moves], 1.359);
            assert!(priors.iter().all(|p| (p - 1.0 / moves as f32).abs() < 1e-7), "{priors:?}");
        }
    }

    #[test]
    fn logits_far_apart_leave_nothing() {
        assert_eq!(priors(&[0.0, -1e30, 50.0], 0.1), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_power_of_two_is_close() {
        for step in 0..=1600 {
            let x = -(step as f32) / 100.0;
            assert!((exp2(x) - x.exp2()).abs() <= 2e-4 * x.exp2(), "{x}: {} for {}", exp2(x), x.exp2());
        }
    }

    proptest! {
        #[test]
        fn priors_are_off_by_half_a_step(logits in prop::collection::vec(-10.0f32..10.0, 1..60), temperature in 0.5f32..3.0) {
            let priors = priors(&logits, temperature);
            let largest = logits.iter().copied().fold(f32::MIN, f32::max);
            let exact: Vec<f32> = logits.iter().map(|logit| ((logit - largest) / temperature).exp()).collect();
            let (sum, top) = (exact.iter().sum::<f32>(), priors.iter().copied().fold(0.0, f32::max));
            for (p, exact) in priors.iter().zip(&exact) {
                // Half a step of the cube root is 1/510, and a little for the power of two.
                let (root, exact_root) = ((p / top).cbrt(), exact.cbrt());
                prop_assert!((root - exact_root).abs() < 1.05 / 510.0 + 1e-4, "{} {}", root, exact_root);
            }
            prop_assert!((top - 1.0 / sum).abs() < 0.02 * top);
        }
    }
}
