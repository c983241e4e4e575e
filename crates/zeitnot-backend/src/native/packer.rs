//! Packs weights into the order of the kernels.

use super::prepared::{
    BlockPlan, HISTORY, HISTORY_PLANES, HeadPlan, MatrixPlan, SqueezeExcitationPlan, WinogradPlan, is_large,
};
use crate::side_by_side::in_parts;
use zeitnot_kernels::{Buffer, Isa, Kernels, TAPS, Tiling};
use zeitnot_network::{
    Block, CONVOLUTION_PLANES, Convolution, Dense, DenseHead, MOVES, PLANES, SQUARES, SqueezeExcitation,
};

/// Packs weights into the order in which `kernels` read them.
pub(super) struct Packer {
    kernels: Kernels,
    pub lanes: usize,
    /// Whether 3x3 convolutions are packed for F(2x2) ([`Tiling::Two`]) besides F(4x4).
    pub has_two: bool,
}

impl Packer {
    /// A packer for these kernels. From the size of `blocks` it decides whether to pack for F(2x2) as well.
    pub(super) fn new(kernels: &Kernels, blocks: &[Block]) -> Packer {
        let has_two = kernels.isa() == Isa::Avx512 && is_large(blocks);
        Packer { kernels: *kernels, lanes: kernels.lanes(), has_two }
    }

    pub(super) fn vectors(&self, numbers: usize) -> usize {
        numbers.div_ceil(self.lanes)
    }

    fn padded(&self, numbers: &[f32]) -> Buffer {
        let mut buffer = Buffer::new(self.vectors(numbers.len()) * self.lanes);
        buffer[..numbers.len()].copy_from_slice(numbers);
        buffer
    }

    fn matrix(&self, inner: usize, outputs: usize, bias: &[f32], weight: impl Fn(usize, usize) -> f32) -> MatrixPlan {
        let columns = self.vectors(outputs);
        let rows = inner * self.lanes;
        let mut weights = Buffer::new(rows * columns * self.lanes);
        for row in 0..rows {
            for column in 0..outputs {
                weights[self.kernels.place(rows, columns, row, column)] = weight(row, column);
            }
        }
        MatrixPlan { inner, columns, weights, bias: self.padded(bias) }
    }

    pub(super) fn matrix_1x1(&self, convolution: &Convolution) -> MatrixPlan {
        let Convolution { inputs, outputs, ref weights, ref biases, .. } = *convolution;
        self.matrix(self.vectors(inputs), outputs, biases, |row, column| {
            if row < inputs { weights[column * inputs + row] } else { 0.0 }
        })
    }

    /// The index in the file's order `[plane][square]` of the number at `index` in the kernels' order
    /// `[vector][square][lane]`, for a board of `planes` planes; `None` for padding.
    fn flattened(&self, planes: usize, index: usize) -> Option<usize> {
        let (vector, square, lane) = (index / (SQUARES * self.lanes), index / self.lanes % SQUARES, index % self.lanes);
        let plane = vector * self.lanes + lane;
        (plane < planes).then_some(plane * SQUARES + square)
    }

    pub(super) fn head(&self, head: &DenseHead) -> HeadPlan {
        let planes = head.convolution.outputs;
        let dense = &head.hidden;
        let hidden = self.matrix(self.vectors(planes) * SQUARES, dense.outputs, &dense.biases, |row, column| {
            self.flattened(planes, row).map_or(0.0, |row| dense.weights[column * dense.inputs + row])
        });
        let dense = &head.output;
        let output = self.matrix(self.vectors(dense.inputs), dense.outputs, &dense.biases, |row, column| {
            if row < dense.inputs { dense.weights[column * dense.inputs + row] } else { 0.0 }
        });
        HeadPlan { convolution: self.matrix_1x1(&head.convolution), hidden, output }
    }

    /// The weights of a classical policy's dense layer, a row for each move.
    pub(super) fn rows(&self, convolution: &Convolution, dense: &Dense) -> Buffer {
        let inner = self.vectors(convolution.outputs) * SQUARES * self.lanes;
        let mut rows = Buffer::new(MOVES * inner);
        for (row, weights) in rows.chunks_exact_mut(inner).zip(dense.weights.chunks_exact(dense.inputs)) {
            for (index, number) in row.iter_mut().enumerate() {
                *number = self.flattened(convolution.outputs, index).map_or(0.0, |index| weights[index]);
            }
        }
        rows
    }

    /// The 3x3 kernels of a convolution in the order for computing one output at a time.
    pub(super) fn taps(&self, convolution: &Convolution) -> Buffer {
        let columns = self.vectors(convolution.inputs);
        let mut taps = Buffer::new(CONVOLUTION_PLANES * columns * TAPS * self.lanes);
        let kernels = convolution.weights.as_chunks::<TAPS>().0;
        for (output, kernels) in kernels.chunks_exact(convolution.inputs).enumerate() {
            for (input, kernel) in kernels.iter().enumerate() {
                let (vector, lane) = (input / self.lanes, input % self.lanes);
                for (tap, &weight) in kernel.iter().enumerate() {
                    taps[((output * columns + vector) * TAPS + tap) * self.lanes + lane] = weight;
                }
            }
        }
        taps
    }

    /// Packs the first convolution: a 3x3 kernel for each input plane, then for each plane of a board the sum of its
    /// kernels over the boards of the history. Returns these weights and the biases.
    pub(super) fn input(&self, convolution: &Convolution) -> (Buffer, Buffer) {
        let columns = self.vectors(convolution.outputs);
        let plane_numbers = columns * TAPS * self.lanes;
        let mut input = Buffer::new((PLANES + HISTORY_PLANES) * plane_numbers);
        let kernels = convolution.weights.as_chunks::<TAPS>().0;
        for (output, kernels) in kernels.chunks_exact(PLANES).enumerate() {
            let (vector, lane) = (output / self.lanes, output % self.lanes);
            for (plane, kernel) in kernels.iter().enumerate() {
                for (tap, &weight) in kernel.iter().enumerate() {
                    let at = (vector * TAPS + tap) * self.lanes + lane;
                    input[plane * plane_numbers + at] = weight;
                    if plane < HISTORY * HISTORY_PLANES {
                        input[(PLANES + plane % HISTORY_PLANES) * plane_numbers + at] += weight;
                    }
                }
            }
        }
        (input, self.padded(&convolution.biases))
    }

    pub(super) fn winograd(&self, convolution: &Convolution) -> WinogradPlan {
        let two = if self.has_two { self.transformed(Tiling::Two, convolution) } else { Buffer::new(0) };
        WinogradPlan {
            inner: self.vectors(convolution.inputs),
            columns: self.vectors(convolution.outputs),
            four: self.transformed(Tiling::Four, convolution),
            two,
            bias: self.padded(&convolution.biases),
        }
    }

    fn transformed(&self, tiling: Tiling, convolution: &Convolution) -> Buffer {
        let rows = self.vectors(convolution.inputs) * self.lanes;
        let columns = self.vectors(convolution.outputs);
        let numbers = rows * columns * self.lanes;
        let mut weights = Buffer::new(tiling.numbers() * numbers);
        let mut filter = [0.0; Tiling::Four.numbers()];
        let kernels = convolution.weights.as_chunks::<TAPS>().0;
        for (output, kernels) in kernels.chunks_exact(convolution.inputs).enumerate() {
            for (input, kernel) in kernels.iter().enumerate() {
                tiling.filter(kernel, &mut filter);
                let place = self.kernels.place(rows, columns, input, output);
                for (index, &weight) in filter[..tiling.numbers()].iter().enumerate() {
                    weights[index * numbers + place] = weight;
                }
            }
        }
        weights
    }

    /// Packs the blocks on as many threads as there are cores: the weights of a large tower take seconds to transform.
    pub(super) fn blocks(&self, blocks: &[Block]) -> Vec<BlockPlan> {
        in_parts(blocks, |_, part| part.iter().map(|block| self.block(block)).collect())
    }

    fn block(&self, block: &Block) -> BlockPlan {
        BlockPlan {
            first: self.winograd(&block.first),
            second: self.winograd(&block.second),
            squeeze_excitation: block.squeeze_excitation.as_ref().map(|se| self.squeeze_excitation(se)),
        }
    }

    fn squeeze_excitation(&self, se: &SqueezeExcitation) -> SqueezeExcitationPlan {
        let (planes, hidden) = (se.squeeze.inputs, se.squeeze.outputs);
        let (columns, width) = (self.vectors(planes) * self.lanes, self.vectors(hidden) * self.lanes);
        let mut squeeze = Buffer::new(columns * width);
        for input in 0..planes {
            for output in 0..hidden {
                squeeze[input * width + output] = se.squeeze.weights[output * planes + input];
            }
        }
        let mut excite = Buffer::new(width * 2 * columns);
        let mut excite_bias = Buffer::new(2 * columns);
        for output in 0..2 * planes {
            // The second half begins at a whole vector.
            let place = output / planes * columns + output % planes;
            excite_bias[place] = se.excite.biases[output];
            for input in 0..hidden {
                excite[input * 2 * columns + place] = se.excite.weights[output * hidden + input];
            }
        }
        SqueezeExcitationPlan {
            hidden: self.vectors(hidden),
            squeeze,
            squeeze_bias: self.padded(&se.squeeze.biases),
            excite,
            excite_bias,
        }
    }
}
