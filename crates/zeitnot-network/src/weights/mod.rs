//! The tensors of a network: of a residual network decoded to plain `f32` vectors, of every architecture (`layers`) as
//! stored in the file.
//!
//! Layouts are those of the file and of NCHW frameworks: a convolution is `[outputs, inputs, kernel, kernel]`, a dense
//! layer `[outputs, inputs]`, both row-major. Batch normalisation is already folded into the convolutions. Planes are
//! 8x8 with the square index `rank * 8 + file`, from the mover's side; a head flattens its planes as
//! `channel * 64 + square`.

pub(crate) mod body;
mod heads;
pub mod layers;
mod read;
pub mod tensor;

use zeitnot_kernels::Activation;

/// Squares of the board: the area of a plane.
pub const SQUARES: usize = 64;

/// A decoded residual network without attention (docs/lc0.md, 4.5 and 4.8).
///
/// Its parts are generic over the form of the weights, `W`; here they are decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The convolution from the 112 input planes to the filters of the tower.
    pub input: Convolution,
    /// The tower.
    pub blocks: Vec<Block>,
    /// The policy head.
    pub policy: PolicyHead,
    /// The value head: one output (before tanh) or three (win, draw and loss for the side to move, before softmax).
    pub value: DenseHead,
    /// The moves-left head: one output, before ReLU, in plies.
    pub moves_left: Option<DenseHead>,
    /// The nonlinearity of the tower and the heads.
    pub activation: Activation,
}

/// A convolution with stride 1 whose padding keeps the board's size.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution<W = Vec<f32>> {
    /// Input planes.
    pub inputs: usize,
    /// Output planes.
    pub outputs: usize,
    /// Side of the kernel: 1 or 3.
    pub kernel: usize,
    /// `[outputs, inputs, kernel, kernel]`.
    pub weights: W,
    /// `[outputs]`.
    pub biases: Vec<f32>,
}

/// A dense layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<W = Vec<f32>> {
    /// Numbers in.
    pub inputs: usize,
    /// Numbers out.
    pub outputs: usize,
    /// `[outputs, inputs]`.
    pub weights: W,
    /// `[outputs]`.
    pub biases: Vec<f32>,
}

/// A residual block: `act(x + se(second(act(first(x)))))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<W = Vec<f32>> {
    /// The first 3x3 convolution, followed by the activation.
    pub first: Convolution<W>,
    /// The second 3x3 convolution.
    pub second: Convolution<W>,
    /// Squeeze and excitation, where the network has it.
    pub squeeze_excitation: Option<SqueezeExcitation<W>>,
}

/// Squeeze and excitation (Hu et al., arXiv:1709.01507) in Lc0's form: the mean of each plane goes through `squeeze`,
/// the activation and `excite`, whose first half gates the planes (sigmoid) and whose second half is added to them.
#[derive(Clone, Debug, PartialEq)]
pub struct SqueezeExcitation<W = Vec<f32>> {
    /// Layer from the filters to a few numbers.
    pub squeeze: Dense<W>,
    /// Layer from the few numbers to twice the filters.
    pub excite: Dense<W>,
}

/// The policy head.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyHead<W = Vec<f32>> {
    /// A 1x1 convolution, the activation, and a dense layer to the 1858 moves.
    Classical {
        /// Convolution to a few planes.
        convolution: Convolution<W>,
        /// Layer from the flattened planes to the 1858 moves.
        dense: Dense<W>,
    },
    /// A 3x3 convolution, the activation, and a 3x3 convolution to 80 planes; the moves are gathered from them.
    Convolution {
        /// The first convolution, usually with the tower's number of filters.
        hidden: Convolution<W>,
        /// Convolution to the 80 planes of docs/lc0.md, 4.3, of which 73 are used.
        output: Convolution<W>,
    },
}

/// A head: a 1x1 convolution and two dense layers, the activation after all but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseHead<W = Vec<f32>> {
    /// Convolution to a few planes.
    pub convolution: Convolution<W>,
    /// Layer from the flattened planes to the hidden layer.
    pub hidden: Dense<W>,
    /// Layer from the hidden layer to the outputs.
    pub output: Dense<W>,
}
