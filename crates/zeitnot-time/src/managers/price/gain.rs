//! Predicts from the statistics of the root how much the chosen move improves when the tree of a search grows.

use super::gain_weights::{HIDDEN_BIASES, HIDDEN_WEIGHTS, OUTPUT_BIAS, OUTPUT_WEIGHTS};
use super::root_history::INPUTS;

/// Growth of the tree for which the gain is predicted, as a factor.
pub const GROWTH: f64 = 8.0;
/// Number of neurons between the inputs and the gain.
pub const HIDDEN: usize = 16;
/// Bounds of the logarithm of a gain: from a millionth to more than a win.
const LOG_RANGE: std::ops::RangeInclusive<f64> = -14.0..=0.5;

/// A network of one hidden layer: the gain is the exponential of its output.
#[derive(Clone, Debug, PartialEq)]
pub struct GainNetwork {
    /// The weights of the inputs for each neuron.
    pub hidden: [[f64; INPUTS]; HIDDEN],
    /// The bias of each neuron.
    pub hidden_biases: [f64; HIDDEN],
    /// The weight of each neuron in the output.
    pub output: [f64; HIDDEN],
    /// The bias of the output.
    pub output_bias: f64,
}

/// The network of the program, trained by `train_gain`, an example of zeitnot-lab.
pub static GAIN: GainNetwork = GainNetwork {
    hidden: HIDDEN_WEIGHTS,
    hidden_biases: HIDDEN_BIASES,
    output: OUTPUT_WEIGHTS,
    output_bias: OUTPUT_BIAS,
};

impl GainNetwork {
    /// The activations of the neurons.
    pub fn neurons(&self, inputs: &[f64; INPUTS]) -> [f64; HIDDEN] {
        std::array::from_fn(|neuron| {
            let weighted = self.hidden[neuron].iter().zip(inputs).map(|(weight, input)| weight * input);
            libm::tanh(self.hidden_biases[neuron] + weighted.sum::<f64>())
        })
    }

    /// The gain predicted from the activations of the neurons.
    pub fn output(&self, neurons: &[f64; HIDDEN]) -> f64 {
        let sum: f64 = self.output.iter().zip(neurons).map(|(weight, neuron)| weight * neuron).sum();
        libm::exp((self.output_bias + sum).clamp(*LOG_RANGE.start(), *LOG_RANGE.end()))
    }

    /// The expected rise of the chosen move's value, from 0 to 2, when the tree grows to [`GROWTH`] times its size.
    pub fn gain(&self, inputs: &[f64; INPUTS]) -> f64 {
        self.output(&self.neurons(inputs))
    }
}
