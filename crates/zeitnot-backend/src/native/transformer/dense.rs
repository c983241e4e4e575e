//! Packs dense layers and layer normalisations for the kernels, and runs dense layers.

use super::layout::Layout;
use super::quantise::Moments;
use zeitnot_kernels::{Buffer, ByteMatrix, Kernels, Matrix, NormPlan, QuantisedRows, RowShape, RowStart};
use zeitnot_network::layers::Norm;
use zeitnot_network::tensor::Tensor;
use zeitnot_network::{Activation, Dense};

/// A worker's kernels, and its buffers for inputs that are quantised to 8 bits.
pub(super) struct Work {
    pub kernels: Kernels,
    quantised: QuantisedRows,
    /// Moments of the inputs of layers, by [`DensePlan::number`]; empty unless the network is being quantised.
    pub moments: Vec<Moments>,
}

impl Work {
    /// A worker's kernels with empty buffers, which grow when rows are quantised.
    pub(super) fn new(kernels: Kernels) -> Work {
        Work { kernels, quantised: QuantisedRows::default(), moments: Vec::new() }
    }
}

/// A dense layer as a file has it, on its way into a [`DensePlan`].
pub(super) struct Part<'a> {
    pub dense: &'a Dense<Tensor>,
    /// Factor by which weights and biases are multiplied.
    pub factor: f32,
    /// Places of the layer's outputs.
    pub outputs: &'a Layout,
}

/// A dense layer, or several with the same input side by side.
pub(super) struct DensePlan {
    /// Width of the input, in vectors; the field `columns` is that of the output.
    pub inner: usize,
    pub columns: usize,
    weights: Weights,
    bias: Buffer,
    /// Index among the layers to quantise, in [`Work::moments`]; `None` for any other layer.
    pub number: Option<usize>,
}

/// Weights in the order of the kernels.
enum Weights {
    Float32(Buffer),
    Int8 {
        words: Buffer<u32>,
        scales: Buffer,
        sums: Buffer,
        /// Factors by which the input is multiplied first; see [`Moments::smoothing`].
        factors: Buffer,
    },
}

impl DensePlan {
    /// Packs layers whose inputs lie as `inputs` says.
    pub(super) fn new(kernels: Kernels, inputs: &Layout, parts: &[Part<'_>]) -> DensePlan {
        let lanes = kernels.lanes();
        let (inner, columns) = (inputs.vectors(), parts.iter().map(|part| part.outputs.vectors()).sum());
        let rows = inner * lanes;
        let mut packed = Buffer::new(rows * columns * lanes);
        let mut bias = Buffer::new(columns * lanes);
        let mut weights = vec![0.0; rows];
        let mut first = 0;
        for part in parts {
            let values = part.dense.weights.values();
            for (place, output) in part.outputs.places().iter().enumerate() {
                let Some(output) = *output else { continue };
                let column = first + place;
                bias[column] = part.dense.biases.get(output).map_or(0.0, |bias| bias * part.factor);
                inputs.spread(&values[output * part.dense.inputs..][..part.dense.inputs], &mut weights);
                for (row, weight) in weights.iter().enumerate() {
                    packed[kernels.place(rows, columns, row, column)] = weight * part.factor;
                }
            }
            first += part.outputs.places().len();
        }
        DensePlan { inner, columns, weights: Weights::Float32(packed), bias, number: None }
    }

    /// Packs one layer whose inputs and outputs lie one behind the other; weights and biases are multiplied by
    /// `factor`.
    pub(super) fn plain(kernels: Kernels, dense: &Dense<Tensor>, factor: f32) -> DensePlan {
        let lanes = kernels.lanes();
        let [inputs, outputs] = [dense.inputs, dense.outputs].map(|features| Layout::plain(features, lanes));
        DensePlan::new(kernels, &inputs, &[Part { dense, factor, outputs: &outputs }])
    }

    /// The layer in 8 bits, for inputs of these moments.
    ///
    /// What the rounding of the weights does to the mean input is taken from the bias (Nagel et al., "Data-Free
    /// Quantization", arXiv:1906.04721).
    pub(super) fn quantised(&self, kernels: Kernels, moments: &Moments) -> DensePlan {
        let Weights::Float32(weights) = &self.weights else { unreachable!("layers are quantised once") };
        let (lanes, columns) = (kernels.lanes(), self.columns);
        let rows = self.inner * lanes;
        let weight = |row: usize, column: usize| weights[kernels.place(rows, columns, row, column)];
        let smoothing = moments.smoothing(|row| {
            (0..columns * lanes).fold(0.0, |largest: f32, column| largest.max(weight(row, column).abs()))
        });
        // Four rows to a word, and whole vectors of words.
        let words_in_column = rows.next_multiple_of(4 * lanes) / 4;
        let mut words = Buffer::new(words_in_column * columns * lanes);
        let [mut scales, mut sums, mut bias] = [(); 3].map(|()| Buffer::new(columns * lanes));
        bias.copy_from_slice(&self.bias);
        for column in 0..columns * lanes {
            let smoothed: Vec<f32> = (0..rows).map(|row| weight(row, column) * smoothing[row]).collect();
            let scale = kernels.byte_scale(&smoothed);
            let bytes: Vec<i8> = smoothed.iter().map(|weight| (weight / scale).round_ties_even() as i8).collect();
            for (word, four) in bytes.chunks(4).enumerate() {
                let word = kernels.place(words_in_column, columns, word, column);
                words[word] = u32::from_ne_bytes(std::array::from_fn(|byte| {
                    four.get(byte).map_or(0, |byte| byte.cast_unsigned())
                }));
            }
            scales[column] = scale;
            sums[column] = bytes.iter().map(|&byte| f32::from(byte)).sum();
            for row in 0..rows {
                let error = scale * f32::from(bytes[row]) - smoothed[row];
                bias[column] -= error * moments.mean(row) / smoothing[row];
            }
        }
        let mut factors = Buffer::new(rows);
        factors.iter_mut().zip(smoothing).for_each(|(factor, smoothing)| *factor = smoothing.recip());
        let weights = Weights::Int8 { words, scales, sums, factors };
        DensePlan { inner: self.inner, columns, weights, bias, number: None }
    }

    /// Runs the layer on the squares of some boards.
    pub(super) fn boards(
        &self,
        work: &mut Work,
        boards: usize,
        input: &[f32],
        activation: Activation,
        output: &mut [f32],
    ) {
        let start = RowStart::Bias(&self.bias);
        self.run(work, RowShape::boards(boards, self.inner, self.columns), input, start, activation, output);
    }

    /// Runs the layer on single rows, one after another.
    pub(super) fn single(
        &self,
        work: &mut Work,
        rows: usize,
        input: &[f32],
        activation: Activation,
        output: &mut [f32],
    ) {
        let start = RowStart::Bias(&self.bias);
        self.run(work, RowShape::single(rows, self.inner, self.columns), input, start, activation, output);
    }

    /// Adds the layer's output for the squares of a board, without its bias, to `output`, and activates the sum.
    pub(super) fn add_board(&self, work: &mut Work, input: &[f32], activation: Activation, output: &mut [f32]) {
        let shape = RowShape::boards(1, self.inner, self.columns);
        self.run(work, shape, input, RowStart::Output, activation, output);
    }

    fn run(
        &self,
        work: &mut Work,
        shape: RowShape,
        input: &[f32],
        start: RowStart<'_>,
        activation: Activation,
        output: &mut [f32],
    ) {
        let Work { kernels, quantised, moments } = work;
        match &self.weights {
            Weights::Float32(weights) => {
                if let Some(moments) = self.number.and_then(|number| moments.get_mut(number)) {
                    moments.add(&shape, kernels.lanes(), input);
                }
                kernels.rows(shape, input, Matrix::Packed(weights), start, activation, output);
            }
            Weights::Int8 { words, scales, sums, factors } => {
                let rows = (shape.groups, shape.rows, shape.pitch);
                kernels.quantise(rows, self.inner, input, factors, quantised);
                let shape = RowShape { inner: self.inner.div_ceil(4), ..shape };
                let weights = ByteMatrix { words, scales, sums };
                kernels.rows_of_bytes(shape, quantised, weights, start, activation, output);
            }
        }
    }
}

/// Packs a normalisation of features that lie as `layout` says.
pub(super) fn norm_plan(norm: &Norm, layout: &Layout) -> NormPlan {
    let spread = |numbers: &[f32]| {
        let mut buffer = Buffer::new(layout.places().len());
        layout.spread(numbers, &mut buffer);
        buffer
    };
    NormPlan {
        columns: layout.vectors(),
        features: norm.gammas.len(),
        epsilon: norm.epsilon,
        mask: spread(&vec![1.0; norm.gammas.len()]),
        gammas: spread(&norm.gammas),
        betas: spread(&norm.betas),
    }
}
