//! Estimates how large the inputs of a layer become from the weights alone, so that 8 bits need no data to calibrate
//! on, and moves what is too large from the inputs to the weights (Xiao et al., "SmoothQuant", arXiv:2211.10438).
//!
//! A normalised feature has a mean of beta and a deviation of gamma; means and deviations after a dense layer follow as
//! if features were independent.

use super::dense::Part;
use crate::network::layers::Norm;
use crate::network::tensor::Tensor;
use crate::network::{Activation, Dense};

/// Assumed distance of the largest value from the mean, in deviations.
const DEVIATIONS: f32 = 3.0;
/// Assumed distance, in deviations, of the largest of means over squares, such as attention's outputs.
const MEAN_DEVIATIONS: f32 = 2.0;
/// The least magnitude after an activation: mish and swish go as low as -0.31 and -0.28.
const LEAST: f32 = 0.31;

/// Means and deviations of features.
pub(super) struct Moments {
    means: Vec<f32>,
    deviations: Vec<f32>,
}

impl Moments {
    /// Moments of the output of a normalisation.
    pub(super) fn of_norm(norm: &Norm) -> Moments {
        Moments { means: norm.betas.clone(), deviations: norm.gammas.iter().map(|gamma| gamma.abs()).collect() }
    }

    /// Moments of the output of a dense layer.
    pub(super) fn behind(&self, dense: &Dense<Tensor>) -> Moments {
        let values = dense.weights.values();
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for (weights, bias) in values.chunks_exact(dense.inputs).zip(&dense.biases) {
            means.push(bias + weights.iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum::<f32>());
            let squares = weights.iter().zip(&self.deviations).map(|(weight, deviation)| (weight * deviation).powi(2));
            deviations.push(squares.sum::<f32>().sqrt());
        }
        Moments { means, deviations }
    }

    /// Magnitudes that the features reach.
    pub(super) fn magnitudes(&self) -> Vec<f32> {
        self.with(|mean, deviation| mean.abs() + DEVIATIONS * deviation)
    }

    /// Magnitudes that the features' means over squares reach.
    pub(super) fn mean_magnitudes(&self) -> Vec<f32> {
        self.with(|mean, deviation| mean.abs() + MEAN_DEVIATIONS * deviation)
    }

    /// Magnitudes that the features reach after an activation.
    pub(super) fn activated_magnitudes(&self, activation: Activation) -> Vec<f32> {
        let largest = |mean: f32, deviation: f32| (mean + DEVIATIONS * deviation).max(LEAST);
        match activation {
            Activation::Relu | Activation::Mish | Activation::Swish => self.with(largest),
            Activation::ReluSquared => self.with(|mean, deviation| largest(mean, deviation).powi(2)),
            Activation::None | Activation::Selu => self.magnitudes(),
            Activation::Tanh | Activation::Sigmoid => vec![1.0; self.means.len()],
        }
    }

    fn with(&self, magnitude: impl Fn(f32, f32) -> f32) -> Vec<f32> {
        self.means.iter().zip(&self.deviations).map(|(&mean, &deviation)| magnitude(mean, deviation)).collect()
    }
}

/// The factor for each input's weights, by which the input is divided: the root of the input's magnitude over its
/// weights', so that inputs and weights of all features become about as large.
pub(super) fn smoothing(magnitudes: &[f32], parts: &[Part<'_>]) -> Vec<f32> {
    let mut weights = vec![0.0f32; magnitudes.len()];
    for part in parts {
        for row in part.dense.weights.values().chunks_exact(part.dense.inputs) {
            for (largest, weight) in weights.iter_mut().zip(row) {
                *largest = largest.max((weight * part.factor).abs());
            }
        }
    }
    let factor = |(&magnitude, &weight): (&f32, &f32)| (magnitude / weight).sqrt();
    let factors = magnitudes.iter().zip(&weights).map(factor);
    factors.map(|factor| if factor.is_normal() { factor } else { 1.0 }).collect()
}
