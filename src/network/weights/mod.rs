//! The decoded tensors of a residual network, as plain `f32` vectors.
//!
//! Layouts are those of the file and of NCHW frameworks: a convolution is `[outputs, inputs, kernel, kernel]`, a dense
//! layer `[outputs, inputs]`, both row-major. Batch normalisation is already folded into the convolutions. Planes are
//! 8x8 with the square index `rank * 8 + file`, from the mover's side; a head flattens its planes as
//! `channel * 64 + square`.

mod decode;
pub(crate) mod tensor;

use super::format::{Activation, PolicyKind, ValueKind};

/// Squares of the board: the area of a plane.
pub const SQUARES: usize = 64;

/// A decoded residual network (lc0.md D.5 and D.7).
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
pub struct Convolution {
    /// Input planes.
    pub inputs: usize,
    /// Output planes.
    pub outputs: usize,
    /// Side of the kernel: 1 or 3.
    pub kernel: usize,
    /// `[outputs, inputs, kernel, kernel]`.
    pub weights: Vec<f32>,
    /// `[outputs]`.
    pub biases: Vec<f32>,
}

/// A dense layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Numbers in.
    pub inputs: usize,
    /// Numbers out.
    pub outputs: usize,
    /// `[outputs, inputs]`.
    pub weights: Vec<f32>,
    /// `[outputs]`.
    pub biases: Vec<f32>,
}

/// A residual block: `act(x + se(second(act(first(x)))))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The first 3x3 convolution, followed by the activation.
    pub first: Convolution,
    /// The second 3x3 convolution.
    pub second: Convolution,
    /// Squeeze and excitation, where the network has it.
    pub squeeze_excitation: Option<SqueezeExcitation>,
}

/// Squeeze and excitation (Hu et al., arXiv:1709.01507) in Lc0's form: the mean of each plane goes through `squeeze`, the
/// activation and `excite`, whose first half gates the planes (sigmoid) and whose second half is added to them.
#[derive(Clone, Debug, PartialEq)]
pub struct SqueezeExcitation {
    /// From the filters to a few numbers.
    pub squeeze: Dense,
    /// Back to twice the filters.
    pub excite: Dense,
}

/// The policy head.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyHead {
    /// A 1x1 convolution, the activation, and a dense layer to the 1858 moves.
    Classical {
        /// To a few planes.
        convolution: Convolution,
        /// From the flattened planes to the 1858 moves.
        dense: Dense,
    },
    /// A 3x3 convolution, the activation, and a 3x3 convolution to 80 planes; the moves are gathered from them.
    Convolution {
        /// Within the filters of the tower, usually.
        hidden: Convolution,
        /// To the 80 planes of lc0.md D.3, of which 73 are used.
        output: Convolution,
    },
}

/// A head of a 1x1 convolution and two dense layers, the activation after the first two of the three.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseHead {
    /// To a few planes.
    pub convolution: Convolution,
    /// From the flattened planes to the hidden layer.
    pub hidden: Dense,
    /// From the hidden layer to the outputs.
    pub output: Dense,
}

impl Weights {
    /// Planes of the tower.
    pub fn filters(&self) -> usize {
        self.input.outputs
    }

    /// Whether the blocks squeeze and excite.
    pub fn has_squeeze_excitation(&self) -> bool {
        self.blocks.iter().any(|block| block.squeeze_excitation.is_some())
    }

    /// The kind of the policy head.
    pub fn policy_kind(&self) -> PolicyKind {
        match self.policy {
            PolicyHead::Classical { .. } => PolicyKind::Classical,
            PolicyHead::Convolution { .. } => PolicyKind::Convolution,
        }
    }

    /// The kind of the value head.
    pub fn value_kind(&self) -> ValueKind {
        if self.value.output.outputs == 1 { ValueKind::Scalar } else { ValueKind::Wdl }
    }

    /// The number of parameters, batch normalisation folded.
    pub fn parameters(&self) -> usize {
        let mut sum = self.input.parameters();
        for block in &self.blocks {
            sum += block.first.parameters() + block.second.parameters();
            if let Some(se) = &block.squeeze_excitation {
                sum += se.squeeze.parameters() + se.excite.parameters();
            }
        }
        sum += match &self.policy {
            PolicyHead::Classical { convolution, dense } => convolution.parameters() + dense.parameters(),
            PolicyHead::Convolution { hidden, output } => hidden.parameters() + output.parameters(),
        };
        sum + self.value.parameters() + self.moves_left.as_ref().map_or(0, DenseHead::parameters)
    }
}

impl Convolution {
    fn parameters(&self) -> usize {
        self.weights.len() + self.biases.len()
    }
}

impl Dense {
    fn parameters(&self) -> usize {
        self.weights.len() + self.biases.len()
    }
}

impl DenseHead {
    fn parameters(&self) -> usize {
        self.convolution.parameters() + self.hidden.parameters() + self.output.parameters()
    }
}
