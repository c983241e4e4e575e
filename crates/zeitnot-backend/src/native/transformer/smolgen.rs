//! Generates the attention biases of an encoder from the whole board (docs/lc0.md, 4.8).

use super::dense::{DensePlan, Part, Work, norm_plan};
use super::layout::Layout;
use zeitnot_kernels::{Buffer, Kernels, NormPlan, RowShape};
use zeitnot_network::layers::Smolgen;
use zeitnot_network::{Activation, SQUARES};

/// Smolgen of one encoder, without the matrix that all encoders share.
pub(super) struct SmolgenPlan {
    heads: usize,
    compress: DensePlan,
    hidden: DensePlan,
    norm1: NormPlan,
    output: DensePlan,
    norm2: NormPlan,
    activation: Activation,
}

/// A worker's buffers for smolgen, for some boards.
pub(super) struct SmolgenBuffers {
    compressed: Buffer,
    hidden: Buffer,
    numbers: Buffer,
    /// The biases, `[board][head]`, each in the layout of the attention's scores.
    pub biases: Buffer,
}

impl SmolgenBuffers {
    /// Buffers that suffice for each of these plans.
    pub(super) fn new<'a>(
        plans: impl Iterator<Item = &'a SmolgenPlan> + Clone,
        boards: usize,
        lanes: usize,
    ) -> SmolgenBuffers {
        let most = |vectors: fn(&SmolgenPlan) -> usize| {
            Buffer::new(boards * plans.clone().map(vectors).max().unwrap_or(0) * lanes)
        };
        let heads = plans.clone().map(|plan| plan.heads).max().unwrap_or(0);
        SmolgenBuffers {
            compressed: most(|plan| plan.compress.columns * RowShape::BOARD),
            hidden: most(|plan| plan.hidden.columns),
            numbers: most(|plan| plan.output.columns),
            biases: Buffer::new(boards * heads * scores(lanes)),
        }
    }
}

/// Numbers in the scores of a head, padding included.
pub(super) fn scores(lanes: usize) -> usize {
    SQUARES / lanes * RowShape::BOARD * lanes
}

impl SmolgenPlan {
    pub(super) fn new(kernels: Kernels, smolgen: &Smolgen, heads: usize) -> SmolgenPlan {
        let lanes = kernels.lanes();
        let features = smolgen.compress.outputs;
        let flat = Layout::board(features, lanes, |square, feature| square * features + feature);
        let hidden = Layout::plain(smolgen.hidden.outputs, lanes);
        let numbers = Layout::heads(heads, smolgen.shared.inputs, lanes);
        let layer = |dense, inputs, outputs| DensePlan::new(kernels, inputs, &[Part { dense, factor: 1.0, outputs }]);
        SmolgenPlan {
            heads,
            compress: DensePlan::plain(kernels, &smolgen.compress, 1.0),
            hidden: layer(&smolgen.hidden, &flat, &hidden),
            norm1: norm_plan(&smolgen.norm1, &hidden),
            output: layer(&smolgen.output, &hidden, &numbers),
            norm2: norm_plan(&smolgen.norm2, &numbers),
            activation: smolgen.activation,
        }
    }

    /// Packs the last matrix, which all encoders share.
    pub(super) fn shared(kernels: Kernels, smolgen: &Smolgen) -> DensePlan {
        let lanes = kernels.lanes();
        let inputs = Layout::plain(smolgen.shared.inputs, lanes);
        let outputs = Layout::board(SQUARES, lanes, |from, to| from * SQUARES + to);
        DensePlan::new(kernels, &inputs, &[Part { dense: &smolgen.shared, factor: 1.0, outputs: &outputs }])
    }

    /// The layers that may be quantised.
    pub(super) fn layers(&mut self) -> [&mut DensePlan; 3] {
        [&mut self.compress, &mut self.hidden, &mut self.output]
    }

    /// Makes the biases of some boards from the rows of their squares.
    pub(super) fn run(
        &self,
        work: &mut Work,
        shared: &DensePlan,
        boards: usize,
        rows: &[f32],
        buffers: &mut SmolgenBuffers,
    ) {
        let SmolgenBuffers { compressed, hidden, numbers, biases } = buffers;
        self.compress.boards(work, boards, rows, Activation::None, compressed);
        self.hidden.single(work, boards, compressed, self.activation, hidden);
        work.kernels.normalise(&self.norm1, (boards, 1, 1), hidden, None);
        self.output.single(work, boards, hidden, self.activation, numbers);
        work.kernels.normalise(&self.norm2, (boards, 1, 1), numbers, None);
        shared.single(work, boards * self.heads, numbers, Activation::None, biases);
    }
}
