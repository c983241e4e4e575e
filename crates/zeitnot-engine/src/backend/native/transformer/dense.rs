//! Packs dense layers and layer normalisations for the kernels, and runs dense layers.

use super::layout::Layout;
use super::magnitudes::{Moments, smoothing};
use crate::backend::Arithmetic;
use crate::network::layers::Norm;
use crate::network::tensor::Tensor;
use crate::network::{Activation, Dense};
use zeitnot_kernels::{Buffer, ByteMatrix, Kernels, Matrix, NormPlan, QuantisedRows, RowShape, RowStart};

/// The kernels that weights are packed for, and the arithmetic that the weights take part in.
#[derive(Clone, Copy)]
pub(super) struct Packing {
    pub kernels: Kernels,
    pub arithmetic: Arithmetic,
}

impl Packing {
    /// Packing for layers that stay in float32.
    pub(super) fn float32(self) -> Packing {
        Packing { arithmetic: Arithmetic::Float32, ..self }
    }

    /// The moments of a normalisation's output, which only quantised layers need; `None` in float32.
    pub(super) fn moments(self, norm: Option<&Norm>) -> Option<Moments> {
        norm.filter(|_| self.arithmetic == Arithmetic::Int8).map(Moments::of_norm)
    }
}

/// A worker's kernels, and its room for rows that are quantised.
pub(super) struct Work {
    pub kernels: Kernels,
    quantised: QuantisedRows,
}

impl Work {
    /// The kernels, with no room yet: room is made when rows are quantised.
    pub(super) fn new(kernels: Kernels) -> Work {
        Work { kernels, quantised: QuantisedRows::default() }
    }
}

/// A dense layer as a file has it, on its way into a [`DensePlan`].
pub(super) struct Part<'a> {
    pub dense: &'a Dense<Tensor>,
    /// The factor of weights and biases.
    pub factor: f32,
    /// Places of the layer's outputs.
    pub outputs: &'a Layout,
}

/// A dense layer, or several with the same input side by side.
pub(super) struct DensePlan {
    /// Inputs, in vectors; the field `columns` has the outputs, in vectors.
    pub inner: usize,
    pub columns: usize,
    weights: Weights,
    bias: Buffer,
}

/// Weights in the order of the kernels.
enum Weights {
    Float32(Buffer),
    Int8 {
        words: Buffer<u32>,
        scales: Buffer,
        sums: Buffer,
        /// Factors by which the input is multiplied first; see `smoothing`.
        factors: Option<Buffer>,
    },
}

/// Weights that are being packed, one column after another.
enum Packer {
    Float32 { weights: Buffer },
    Int8 { bytes: Vec<i8>, scales: Buffer, sums: Buffer },
}

impl Packer {
    fn new(packing: Packing, rows: usize, columns: usize) -> Packer {
        let lanes = packing.kernels.lanes();
        match packing.arithmetic {
            Arithmetic::Int8 => Packer::Int8 {
                bytes: vec![0; byte_rows(rows, lanes) * columns * lanes],
                scales: Buffer::new(columns * lanes),
                sums: Buffer::new(columns * lanes),
            },
            _ => Packer::Float32 { weights: Buffer::new(rows * columns * lanes) },
        }
    }

    /// Puts the weights of a column into their places.
    fn put(&mut self, kernels: &Kernels, columns: usize, column: usize, weights: &[f32]) {
        let (lanes, rows) = (kernels.lanes(), weights.len());
        let (vector, lane) = (column / lanes, column % lanes);
        let panel = vector / kernels.panel() * kernels.panel();
        let width = kernels.panel().min(columns - panel);
        match self {
            Packer::Float32 { weights: to } => {
                let first = panel * rows * lanes + (vector - panel) * lanes + lane;
                for (row, &weight) in weights.iter().enumerate() {
                    to[first + row * width * lanes] = weight;
                }
            }
            Packer::Int8 { bytes, scales, sums } => {
                let scale = kernels.byte_scale(weights);
                let first = panel * byte_rows(rows, lanes) * lanes + ((vector - panel) * lanes + lane) * 4;
                let mut sum = 0;
                for (row, &weight) in weights.iter().enumerate() {
                    let byte = (weight / scale).round_ties_even() as i8;
                    bytes[first + row / 4 * width * lanes * 4 + row % 4] = byte;
                    sum += i32::from(byte);
                }
                (scales[column], sums[column]) = (scale, sum as f32);
            }
        }
    }

    fn finish(self, factors: Option<Buffer>) -> Weights {
        match self {
            Packer::Float32 { weights } => Weights::Float32(weights),
            Packer::Int8 { bytes, scales, sums } => {
                let mut words = Buffer::new(bytes.len() / 4);
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *word = u32::from_ne_bytes(bytes.map(i8::cast_unsigned));
                }
                Weights::Int8 { words, scales, sums, factors }
            }
        }
    }
}

/// `rows` rounded up to the rows of bytes that whole vectors of words hold.
fn byte_rows(rows: usize, lanes: usize) -> usize {
    rows.next_multiple_of(4 * lanes)
}

impl DensePlan {
    /// Packs layers whose inputs lie as `inputs` says.
    pub(super) fn new(packing: Packing, inputs: &Layout, parts: &[Part<'_>]) -> DensePlan {
        DensePlan::smoothed(packing, inputs, parts, None)
    }

    /// Packs layers whose inputs have about these magnitudes, which count only where inputs are quantised.
    pub(super) fn smoothed(
        packing: Packing,
        inputs: &Layout,
        parts: &[Part<'_>],
        magnitudes: Option<&[f32]>,
    ) -> DensePlan {
        let kernels = &packing.kernels;
        let lanes = kernels.lanes();
        let (inner, columns) = (inputs.vectors(), parts.iter().map(|part| part.outputs.vectors()).sum());
        let rows = inner * lanes;
        let mut packer = Packer::new(packing, rows, columns);
        let magnitudes = magnitudes.filter(|_| packing.arithmetic == Arithmetic::Int8);
        let smoothing = magnitudes.map(|magnitudes| smoothing(magnitudes, parts));
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
                for (weight, input) in weights.iter_mut().zip(inputs.places()) {
                    let smoothing = smoothing.as_ref().zip(*input).map_or(1.0, |(smoothing, input)| smoothing[input]);
                    *weight *= part.factor * smoothing;
                }
                packer.put(kernels, columns, column, &weights);
            }
            first += part.outputs.places().len();
        }
        let factors = smoothing.map(|smoothing| {
            let inverse: Vec<f32> = smoothing.iter().map(|factor| factor.recip()).collect();
            let mut factors = Buffer::new(rows);
            inputs.spread(&inverse, &mut factors);
            factors
        });
        DensePlan { inner, columns, weights: packer.finish(factors), bias }
    }

    /// Packs one layer with plain inputs and outputs.
    pub(super) fn plain(packing: Packing, dense: &Dense<Tensor>, factor: f32) -> DensePlan {
        DensePlan::plain_smoothed(packing, dense, factor, None)
    }

    /// Packs one layer with plain inputs and outputs, whose inputs have about these magnitudes.
    pub(super) fn plain_smoothed(
        packing: Packing,
        dense: &Dense<Tensor>,
        factor: f32,
        magnitudes: Option<&[f32]>,
    ) -> DensePlan {
        let lanes = packing.kernels.lanes();
        let [inputs, outputs] = [dense.inputs, dense.outputs].map(|features| Layout::plain(features, lanes));
        DensePlan::smoothed(packing, &inputs, &[Part { dense, factor, outputs: &outputs }], magnitudes)
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
        let Work { kernels, quantised } = work;
        match &self.weights {
            Weights::Float32(weights) => {
                kernels.rows(shape, input, Matrix::Packed(weights), start, activation, output);
            }
            Weights::Int8 { words, scales, sums, factors } => {
                let rows = (shape.groups, shape.rows, shape.pitch);
                kernels.quantise(rows, self.inner, input, factors.as_deref(), quantised);
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
