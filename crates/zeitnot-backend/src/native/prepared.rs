//! Prepares a residual network for the kernels: sizes are rounded up to whole vectors, and weights are transformed and
//! put into the order in which they are read.
//!
//! Padding is harmless: the weights of padding planes are zeros, relu, mish and the gates keep zeros, and what comes
//! out of padding is multiplied by weights of zero again.

use super::packer::Packer;
use zeitnot_kernels::{Buffer, Kernels, Tiling};
use zeitnot_network::{Activation, Block, Convolution, PolicyHead, Weights};

/// Boards of the history in the input. Each plane of a board has a further set of weights, summed over all boards, for
/// a piece that stands on the same square in all of them, as one that has not moved does.
pub(super) const HISTORY: usize = 8;
/// Planes of one board of the history.
pub(super) const HISTORY_PLANES: usize = 13;

/// Bytes of a tower's transformed weights from which smaller ones for F(2x2) ([`Tiling::Two`]) are kept too, to
/// evaluate single positions: somewhat less than the last-level cache of today's processors. Larger weights come from
/// memory, which then limits the speed. With F(2x2), 1.7 times as many single positions are evaluated on 10x128 (47
/// MB), 1.8 times on 20x256 (377 MB); AVX2 gains nothing, being slower than the memory.
const LARGE: usize = 24 << 20;

/// A prepared network and the kernels that run it, shared by all workers.
pub(super) struct ResidualNetwork {
    /// The network's name.
    pub network: String,
    pub plan: ResidualPlan,
    pub kernels: Kernels,
}

/// A residual network made ready for one instruction set.
pub(super) struct ResidualPlan {
    pub tower: TowerPlan,
    pub policy: PolicyPlan,
    pub value: HeadPlan,
    pub moves_left: Option<HeadPlan>,
    /// Number of outputs of the value head: 3 or 1.
    pub value_outputs: usize,
}

/// A tower of residual blocks.
pub(super) struct TowerPlan {
    /// Planes of the tower, in vectors.
    pub columns: usize,
    /// The widest 3x3 convolution of the network, in vectors.
    pub widest: usize,
    /// Weights of the first convolution, `[plane][vector][tap][lane]`: for the 112 input planes, then for each of the
    /// [`HISTORY_PLANES`] the sum over the boards of the history.
    pub input: Buffer,
    pub input_bias: Buffer,
    pub blocks: Vec<BlockPlan>,
    pub activation: Activation,
    /// Whether 3x3 convolutions have weights for F(2x2) ([`Tiling::Two`]) besides those for F(4x4).
    pub has_two: bool,
}

/// A 3x3 convolution, its weights transformed for each [`Tiling`].
pub(super) struct WinogradPlan {
    pub inner: usize,
    pub columns: usize,
    pub four: Buffer,
    /// Weights for [`Tiling::Two`], F(2x2); empty unless [`TowerPlan::has_two`].
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
    /// A head whose moves are rows of a dense layer.
    Classical {
        convolution: MatrixPlan,
        /// `[move][input]`
        rows: Buffer,
        bias: Vec<f32>,
    },
    /// A head whose moves are squares of planes.
    Convolution {
        hidden: WinogradPlan,
        /// `[plane][vector][tap][lane]`
        taps: Buffer,
        bias: Vec<f32>,
    },
}

impl PolicyPlan {
    /// Planes before the last layer, in vectors.
    pub(super) fn columns(&self) -> usize {
        match self {
            PolicyPlan::Classical { convolution, .. } => convolution.columns,
            PolicyPlan::Convolution { hidden, .. } => hidden.columns,
        }
    }
}

impl ResidualPlan {
    /// Prepares a network for these kernels.
    pub(super) fn new(weights: &Weights, kernels: &Kernels) -> ResidualPlan {
        let packer = Packer::new(kernels, &weights.blocks);
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
        let mut tower = TowerPlan::new(&packer, &weights.input, &weights.blocks, weights.activation);
        if let PolicyPlan::Convolution { hidden, .. } = &policy {
            tower.widest = tower.widest.max(hidden.columns);
        }
        ResidualPlan {
            tower,
            policy,
            value: packer.head(&weights.value),
            moves_left: weights.moves_left.as_ref().map(|head| packer.head(head)),
            value_outputs: weights.value.output.outputs,
        }
    }
}

impl TowerPlan {
    /// Prepares a tower without heads.
    pub(super) fn new(packer: &Packer, input: &Convolution, blocks: &[Block], activation: Activation) -> TowerPlan {
        let columns = packer.vectors(input.outputs);
        let (input, input_bias) = packer.input(input);
        TowerPlan {
            columns,
            widest: columns,
            input,
            input_bias,
            blocks: packer.blocks(blocks),
            activation,
            has_two: packer.has_two,
        }
    }
}

/// Whether the transformed weights of a tower take more than [`LARGE`] bytes, too many for a cache.
pub(super) fn is_large(blocks: &[Block]) -> bool {
    let numbers = |convolution: &Convolution| convolution.inputs * convolution.outputs * Tiling::Four.numbers();
    let tower: usize = blocks.iter().map(|block| numbers(&block.first) + numbers(&block.second)).sum();
    tower * size_of::<f32>() > LARGE
}
