//! A network as the kernels want it: sizes rounded up to whole vectors, weights transformed, and in the order in which they
//! are read.
//!
//! Padding is harmless: the weights of planes that are not there are zeros, relu, mish and the gates keep zeros, and
//! what is made of them meets weights of zero again.

use super::buffer::Buffer;
use super::isa::Isa;
use super::kernels::{Kernels, Nonlinearity, TAPS, Tiling};
use crate::network::{
    Activation, Block, CONVOLUTION_PLANES, Convolution, Dense, DenseHead, MOVES, PLANES, PolicyHead, SQUARES,
    SqueezeExcitation, Weights,
};

/// Boards of the history in the input, and planes of each: the same plane of all boards has a set of weights of its own,
/// because a piece that has not moved is on all eight.
pub(super) const HISTORY: usize = 8;
/// Planes of one board of the history.
pub(super) const HISTORY_PLANES: usize = 13;

/// Bytes of transformed weights of the tower beyond which a single position is limited by the memory they come from, so
/// that F(2x2) is kept as well: what processors of today share as their last cache, less room for everything else. On
/// 10x128 (47 MB) it does 1.7 times as many single positions, on 20x256 (377 MB) 1.8 times; AVX2 gains nothing, being
/// slower than the memory.
const LARGE: usize = 24 << 20;

/// A network made ready for one instruction set.
pub(super) struct Plan {
    /// Vectors of the tower's planes.
    pub columns: usize,
    /// `[plane][vector][tap][lane]`: the 112 planes, then the sums of the [`HISTORY_PLANES`] over the history.
    pub input: Buffer,
    pub input_bias: Buffer,
    pub blocks: Vec<BlockPlan>,
    pub policy: PolicyPlan,
    pub value: HeadPlan,
    pub moves_left: Option<HeadPlan>,
    pub activation: Nonlinearity,
    /// Outputs of the value head: 3 or 1.
    pub value_outputs: usize,
    /// Whether 3x3 convolutions have weights for F(2x2) as well.
    pub has_two: bool,
}

/// A 3x3 convolution.
pub(super) struct WinogradPlan {
    pub inner: usize,
    pub columns: usize,
    pub four: Buffer,
    /// Empty unless [`Plan::has_two`].
    pub two: Buffer,
    pub bias: Buffer,
}

/// A residual block.
pub(super) struct BlockPlan {
    pub first: WinogradPlan,
    pub second: WinogradPlan,
    pub squeeze_excitation: Option<SqueezeExcitationPlan>,
}

/// Squeeze and excitation.
pub(super) struct SqueezeExcitationPlan {
    pub hidden: usize,
    pub squeeze: Buffer,
    pub squeeze_bias: Buffer,
    pub excite: Buffer,
    pub excite_bias: Buffer,
}

/// A dense layer or 1x1 convolution.
pub(super) struct MatrixPlan {
    pub inner: usize,
    pub columns: usize,
    pub weights: Buffer,
    pub bias: Buffer,
}

/// A head of a 1x1 convolution and two dense layers.
pub(super) struct HeadPlan {
    pub convolution: MatrixPlan,
    pub hidden: MatrixPlan,
    pub output: MatrixPlan,
}

/// A policy head, its last layer ready for one move at a time.
pub(super) enum PolicyPlan {
    /// Moves are rows of a dense layer.
    Classical {
        convolution: MatrixPlan,
        /// `[move][input]`
        rows: Buffer,
        bias: Vec<f32>,
    },
    /// Moves are squares of planes.
    Convolution {
        hidden: WinogradPlan,
        /// `[plane][vector][tap][lane]`
        taps: Buffer,
        bias: Vec<f32>,
    },
}

impl Plan {
    /// Prepares a network for these kernels; `None` if they do not have its activation.
    pub(super) fn new(weights: &Weights, kernels: &Kernels) -> Option<Plan> {
        let activation = nonlinearity(weights.activation)?;
        let has_two = kernels.isa() == Isa::Avx512 && is_large(weights);
        let packer = Packer { lanes: kernels.lanes(), panel: kernels.panel(), has_two };
        let columns = packer.vectors(weights.filters());
        let (input, input_bias) = packer.input(&weights.input);
        let policy = match &weights.policy {
            PolicyHead::Classical { convolution, dense } => {
                let (convolution, rows) = (packer.matrix_1x1(convolution), packer.rows(convolution, dense));
                PolicyPlan::Classical { convolution, rows, bias: dense.biases.clone() }
            }
            PolicyHead::Convolution { hidden, output } => PolicyPlan::Convolution {
                hidden: packer.winograd(hidden),
                taps: packer.taps(output),
                bias: output.biases.clone(),
            },
        };
        Some(Plan {
            columns,
            input,
            input_bias,
            blocks: packer.blocks(&weights.blocks),
            policy,
            value: packer.head(&weights.value),
            moves_left: weights.moves_left.as_ref().map(|head| packer.head(head)),
            activation,
            value_outputs: weights.value.output.outputs,
            has_two: packer.has_two,
        })
    }

    /// The widest 3x3 convolution, in vectors.
    pub(super) fn widest(&self) -> usize {
        match &self.policy {
            PolicyPlan::Convolution { hidden, .. } => hidden.columns.max(self.columns),
            PolicyPlan::Classical { .. } => self.columns,
        }
    }
}

/// The kernels' name of an activation, if they have it.
pub(super) fn nonlinearity(activation: Activation) -> Option<Nonlinearity> {
    match activation {
        Activation::Relu => Some(Nonlinearity::Relu),
        Activation::Mish => Some(Nonlinearity::Mish),
        _ => None,
    }
}

/// Whether the transformed weights of the tower are too many for a cache.
fn is_large(weights: &Weights) -> bool {
    let numbers = |convolution: &Convolution| convolution.inputs * convolution.outputs * Tiling::Four.numbers();
    let tower: usize = weights.blocks.iter().map(|block| numbers(&block.first) + numbers(&block.second)).sum();
    tower * size_of::<f32>() > LARGE
}

/// Puts weights in order for vectors of `lanes` and panels of `panel` vectors.
struct Packer {
    lanes: usize,
    panel: usize,
    has_two: bool,
}

impl Packer {
    fn vectors(&self, numbers: usize) -> usize {
        numbers.div_ceil(self.lanes)
    }

    fn padded(&self, numbers: &[f32]) -> Buffer {
        let mut buffer = Buffer::new(self.vectors(numbers.len()) * self.lanes);
        buffer[..numbers.len()].copy_from_slice(numbers);
        buffer
    }

    /// Where the weight of `row` and `column` of a matrix of so many (padded) rows and vectors of columns lies.
    fn place(&self, rows: usize, columns: usize, row: usize, column: usize) -> usize {
        let (vector, lane) = (column / self.lanes, column % self.lanes);
        let first = vector / self.panel * self.panel;
        let width = self.panel.min(columns - first);
        first * rows * self.lanes + (row * width + vector - first) * self.lanes + lane
    }

    fn matrix(&self, inner: usize, outputs: usize, bias: &[f32], weight: impl Fn(usize, usize) -> f32) -> MatrixPlan {
        let columns = self.vectors(outputs);
        let rows = inner * self.lanes;
        let mut weights = Buffer::new(rows * columns * self.lanes);
        for row in 0..rows {
            for column in 0..outputs {
                weights[self.place(rows, columns, row, column)] = weight(row, column);
            }
        }
        MatrixPlan { inner, columns, weights, bias: self.padded(bias) }
    }

    fn matrix_1x1(&self, convolution: &Convolution) -> MatrixPlan {
        let Convolution { inputs, outputs, ref weights, ref biases, .. } = *convolution;
        self.matrix(self.vectors(inputs), outputs, biases, |row, column| {
            if row < inputs { weights[column * inputs + row] } else { 0.0 }
        })
    }

    /// The input of a flattened board of `planes` planes that lies at `index` of the kernels' layout
    /// `[vector][square][lane]`, in the file's order `[plane][square]`.
    fn flattened(&self, planes: usize, index: usize) -> Option<usize> {
        let (vector, square, lane) = (index / (SQUARES * self.lanes), index / self.lanes % SQUARES, index % self.lanes);
        let plane = vector * self.lanes + lane;
        (plane < planes).then_some(plane * SQUARES + square)
    }

    fn head(&self, head: &DenseHead) -> HeadPlan {
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

    /// The rows of a classical policy.
    fn rows(&self, convolution: &Convolution, dense: &Dense) -> Buffer {
        let inner = self.vectors(convolution.outputs) * SQUARES * self.lanes;
        let mut rows = Buffer::new(MOVES * inner);
        for (row, weights) in rows.chunks_exact_mut(inner).zip(dense.weights.chunks_exact(dense.inputs)) {
            for (index, number) in row.iter_mut().enumerate() {
                *number = self.flattened(convolution.outputs, index).map_or(0.0, |index| weights[index]);
            }
        }
        rows
    }

    /// The kernels of each output of a convolution over its inputs, for one output at a time.
    fn taps(&self, convolution: &Convolution) -> Buffer {
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

    /// The kernels of each input plane of the first convolution over the outputs, and their sums over the history.
    fn input(&self, convolution: &Convolution) -> (Buffer, Buffer) {
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

    fn winograd(&self, convolution: &Convolution) -> WinogradPlan {
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
                let place = self.place(rows, columns, input, output);
                for (index, &weight) in filter[..tiling.numbers()].iter().enumerate() {
                    weights[index * numbers + place] = weight;
                }
            }
        }
        weights
    }

    /// The blocks, on as many threads as there are cores: the weights of a large tower take seconds to transform.
    fn blocks(&self, blocks: &[Block]) -> Vec<BlockPlan> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let part = blocks.len().div_ceil(threads).max(1);
        let convert = |part: &[Block]| part.iter().map(|block| self.block(block)).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let workers: Vec<_> = blocks.chunks(part).map(|part| scope.spawn(move || convert(part))).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
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
