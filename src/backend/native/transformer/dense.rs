//! Packs dense layers and layer normalisations for the kernels, and runs the former.

use super::super::buffer::Buffer;
use super::super::kernels::{Kernels, Matrix, Nonlinearity, NormPlan, RowShape, RowStart};
use super::layout::Layout;
use crate::network::Dense;
use crate::network::layers::Norm;
use crate::network::tensor::Tensor;

/// A dense layer as a file has it, on its way into a [`DensePlan`].
pub(super) struct Part<'a> {
    pub dense: &'a Dense<Tensor>,
    /// The factor of weights and biases.
    pub factor: f32,
    /// Where its outputs go.
    pub outputs: &'a Layout,
}

/// A dense layer, or several with the same input side by side.
pub(super) struct DensePlan {
    /// Inputs and outputs, in vectors.
    pub inner: usize,
    pub columns: usize,
    weights: Buffer,
    bias: Buffer,
}

impl DensePlan {
    /// Packs layers whose inputs lie as `inputs` says.
    pub(super) fn new(kernels: &Kernels, inputs: &Layout, parts: &[Part<'_>]) -> DensePlan {
        let lanes = kernels.lanes();
        let (inner, columns) = (inputs.vectors(), parts.iter().map(|part| part.outputs.vectors()).sum());
        let rows = inner * lanes;
        let mut weights = Buffer::new(rows * columns * lanes);
        let mut bias = Buffer::new(columns * lanes);
        let mut first = 0;
        for part in parts {
            let values = part.dense.weights.values();
            for (place, output) in part.outputs.places().iter().enumerate() {
                let Some(output) = *output else { continue };
                let column = first + place;
                bias[column] = part.dense.biases.get(output).map_or(0.0, |bias| bias * part.factor);
                let (vector, lane) = (column / lanes, column % lanes);
                let panel = vector / kernels.panel() * kernels.panel();
                let width = kernels.panel().min(columns - panel);
                let start = panel * rows * lanes + (vector - panel) * lanes + lane;
                let of_output = &values[output * part.dense.inputs..][..part.dense.inputs];
                for (row, input) in inputs.places().iter().enumerate() {
                    if let Some(input) = *input {
                        weights[start + row * width * lanes] = of_output[input] * part.factor;
                    }
                }
            }
            first += part.outputs.places().len();
        }
        DensePlan { inner, columns, weights, bias }
    }

    /// Packs one layer with plain inputs and outputs.
    pub(super) fn plain(kernels: &Kernels, dense: &Dense<Tensor>, factor: f32) -> DensePlan {
        let [inputs, outputs] = [dense.inputs, dense.outputs].map(|features| Layout::plain(features, kernels.lanes()));
        DensePlan::new(kernels, &inputs, &[Part { dense, factor, outputs: &outputs }])
    }

    /// The layer for the squares of some boards.
    pub(super) fn boards(
        &self,
        kernels: &Kernels,
        boards: usize,
        input: &[f32],
        activation: Nonlinearity,
        output: &mut [f32],
    ) {
        self.run(kernels, RowShape::boards(boards, self.inner, self.columns), input, activation, output);
    }

    /// The layer for rows that follow each other.
    pub(super) fn single(
        &self,
        kernels: &Kernels,
        rows: usize,
        input: &[f32],
        activation: Nonlinearity,
        output: &mut [f32],
    ) {
        self.run(kernels, RowShape::single(rows, self.inner, self.columns), input, activation, output);
    }

    /// Adds the layer for the squares of some boards to the output, without its bias.
    pub(super) fn add_boards(
        &self,
        kernels: &Kernels,
        boards: usize,
        input: &[f32],
        activation: Nonlinearity,
        output: &mut [f32],
    ) {
        let shape = RowShape::boards(boards, self.inner, self.columns);
        kernels.rows(shape, input, Matrix::Packed(&self.weights), RowStart::Output, activation, output);
    }

    fn run(&self, kernels: &Kernels, shape: RowShape, input: &[f32], activation: Nonlinearity, output: &mut [f32]) {
        kernels.rows(shape, input, Matrix::Packed(&self.weights), RowStart::Bias(&self.bias), activation, output);
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
