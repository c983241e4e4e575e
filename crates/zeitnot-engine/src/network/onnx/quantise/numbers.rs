//! Quantises ranges and weights to numbers of 8 bits.

use super::ActivationRange;
use crate::network::onnx_proto::TensorProto;

/// Steps between the least and the largest unsigned number of 8 bits.
const STEPS: f32 = 255.0;
/// The largest magnitude of a weight in 8 bits; -128 is left out, so that zero is in the middle.
const LARGEST_WEIGHT: f32 = 127.0;
/// The largest magnitude of a bias in 32 bits, with room for the sum that is added to it.
const LARGEST_BIAS: f32 = (1 << 30) as f32;

/// Scale for storing a number `x` in 8 bits, unsigned: as `x / scale + zero`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) scale: f32,
    pub(super) zero: u8,
}

impl Scale {
    /// The scale of a range. Zero is stored exactly: zeros pad convolutions, and a ReLU's range begins with zero.
    pub(super) fn of(range: ActivationRange) -> Scale {
        let (minimum, maximum) = (range.minimum.min(0.0), range.maximum.max(0.0));
        let scale = (maximum - minimum) / STEPS;
        // A value that is always zero, or as good as.
        if !scale.is_normal() {
            return Scale { scale: 1.0, zero: 0 };
        }
        Scale { scale, zero: (-minimum / scale).round() as u8 }
    }
}

/// The weights of an operator in 8 bits, signed: `weight * scale`, a scale for each output.
pub(super) struct QuantisedWeights {
    pub(super) weights: Vec<i8>,
    pub(super) scales: Vec<f32>,
    /// Biases in 32 bits, in steps of the output's scale times the input's.
    pub(super) biases: Option<Vec<i32>>,
}

/// Quantises weights whose outputs lie along `axis`.
pub(super) fn weights(tensor: &TensorProto, axis: usize, biases: Option<&[f32]>, input_scale: f32) -> QuantisedWeights {
    let values = floats(tensor);
    let outputs = tensor.dims[axis] as usize;
    let stride = tensor.dims[axis + 1..].iter().product::<i64>() as usize;
    let output = |index: usize| index / stride % outputs;
    let mut scales = vec![f32::MIN_POSITIVE / input_scale.min(1.0); outputs];
    for (index, value) in values.iter().enumerate() {
        let scale = &mut scales[output(index)];
        *scale = scale.max(value.abs() / LARGEST_WEIGHT);
    }
    // Where weights are next to nothing, the bias must still fit.
    for (scale, bias) in scales.iter_mut().zip(biases.unwrap_or_default()) {
        *scale = scale.max(bias.abs() / input_scale / LARGEST_BIAS);
    }
    let quantised = |(index, value): (usize, &f32)| (value / scales[output(index)]).round() as i8;
    let bias = |(bias, scale): (&f32, &f32)| (bias / (scale * input_scale)).round() as i32;
    QuantisedWeights {
        weights: values.iter().enumerate().map(quantised).collect(),
        biases: biases.map(|biases| biases.iter().zip(&scales).map(bias).collect()),
        scales,
    }
}

/// The numbers of a float32 tensor.
pub(super) fn floats(tensor: &TensorProto) -> Vec<f32> {
    let bytes = tensor.raw_data.as_deref().unwrap_or_default();
    bytes.as_chunks::<4>().0.iter().map(|&quad| f32::from_le_bytes(quad)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[i64], values: &[f32]) -> TensorProto {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        TensorProto { dims: dims.to_vec(), raw_data: Some(bytes.into()), ..TensorProto::default() }
    }

    #[test]
    fn zero_is_exact_and_the_ends_are_reached() {
        let scale = |minimum, maximum| Scale::of(ActivationRange { minimum, maximum });
        assert_eq!(scale(0.0, 255.0), Scale { scale: 1.0, zero: 0 });
        assert_eq!(scale(-51.0, 204.0), Scale { scale: 1.0, zero: 51 });
        assert_eq!(scale(3.0, 25.5), Scale { scale: 0.1, zero: 0 });
        assert_eq!(scale(-25.5, -3.0), Scale { scale: 0.1, zero: 255 });
        assert_eq!(scale(0.0, 0.0), Scale { scale: 1.0, zero: 0 });
    }

    #[test]
    fn every_output_has_its_scale_along_either_axis() {
        let rows = weights(&tensor(&[2, 3], &[1.0, -2.0, 0.5, 127.0, 0.0, -63.4]), 0, None, 1.0);
        assert_eq!(rows.scales, [2.0 / 127.0, 1.0]);
        assert_eq!(rows.weights, [64, -127, 32, 127, 0, -63]);
        let columns = weights(&tensor(&[3, 2], &[1.0, 127.0, -2.0, 0.0, 0.5, -63.4]), 1, None, 1.0);
        assert_eq!(columns.scales, rows.scales);
        assert_eq!(columns.weights, [64, 127, -127, 0, 32, -63]);
        let kernel = weights(&tensor(&[2, 1, 1, 2], &[0.0, 12.7, 1.27, 0.0]), 0, None, 1.0);
        assert_eq!(kernel.weights, [0, 127, 127, 0]);
    }

    #[test]
    fn biases_fit_where_weights_are_tiny() {
        let quantised = weights(&tensor(&[2, 1], &[0.0, 1.0]), 0, Some(&[5.0, -0.5]), 0.1);
        let biases = quantised.biases.unwrap();
        for (output, wanted) in [5.0, -0.5].into_iter().enumerate() {
            let found = biases[output] as f32 * quantised.scales[output] * 0.1;
            assert!((found - wanted).abs() < 1e-3, "{found}");
        }
    }
}
