//! Runs an encoder: attention between the squares of a board, and a feed-forward network (docs/lc0.md, 4.8).

use super::dense::{DensePlan, Part, Work, norm_plan};
use super::layout::Layout;
use super::smolgen::{SmolgenBuffers, SmolgenPlan, scores};
use zeitnot_kernels::{Buffer, Kernels, Matrix, NormPlan, RowShape, RowStart};
use zeitnot_network::layers::{Encoder, FeedForward};
use zeitnot_network::{Activation, SQUARES};

/// Arguments of [`Kernels::normalise`] for one board: one group, a row for each square, places for [`RowShape::BOARD`]
/// rows.
pub(super) const BOARD: (usize, usize, usize) = (1, SQUARES, RowShape::BOARD);

/// An encoder.
pub(super) struct EncoderPlan {
    heads: usize,
    /// Features of a head, in vectors.
    depth: usize,
    /// The layer that makes queries, keys and values; the features of each head begin at a whole vector.
    queries_keys_values: DensePlan,
    output: DensePlan,
    pub smolgen: Option<SmolgenPlan>,
    norm1: NormPlan,
    feed_forward: FeedForwardPlan,
    norm2: NormPlan,
}

/// A feed-forward network of two dense layers.
pub(super) struct FeedForwardPlan {
    first: DensePlan,
    activation: Activation,
    second: DensePlan,
}

/// A worker's buffers for encoders: each for one board, but those of smolgen for several.
pub(super) struct EncoderBuffers {
    queries_keys_values: Buffer,
    /// The keys of a head, transposed.
    keys: Buffer,
    scores: Buffer,
    attended: Buffer,
    hidden: Buffer,
    branch: Buffer,
    smolgen: SmolgenBuffers,
}

impl EncoderBuffers {
    /// Buffers that suffice for each of these encoders and feed-forward networks.
    pub(super) fn new<'a>(
        plans: impl Iterator<Item = &'a EncoderPlan> + Clone,
        other: Option<&FeedForwardPlan>,
        boards: usize,
        lanes: usize,
    ) -> EncoderBuffers {
        let numbers = |vectors: usize| Buffer::new(vectors * RowShape::BOARD * lanes);
        let most = |vectors: fn(&EncoderPlan) -> usize| plans.clone().map(vectors).max().unwrap_or(0);
        let networks = || plans.clone().map(|plan| &plan.feed_forward).chain(other);
        let hidden = networks().map(|network| network.first.columns).max().unwrap_or(0);
        let width = networks().map(|network| network.second.columns).max().unwrap_or(0);
        EncoderBuffers {
            queries_keys_values: numbers(most(|plan| plan.queries_keys_values.columns)),
            keys: Buffer::new(most(|plan| plan.depth) * SQUARES * lanes),
            scores: Buffer::new(scores(lanes)),
            attended: numbers(most(|plan| plan.heads * plan.depth)),
            hidden: numbers(hidden),
            branch: numbers(width),
            smolgen: SmolgenBuffers::new(plans.filter_map(|plan| plan.smolgen.as_ref()), boards, lanes),
        }
    }
}

impl EncoderPlan {
    /// Packs an encoder. `alpha` multiplies the outputs of attention and feed-forward network before they are added to
    /// the rows.
    pub(super) fn new(kernels: Kernels, encoder: &Encoder, alpha: f32) -> EncoderPlan {
        let lanes = kernels.lanes();
        let depth = encoder.query.outputs / encoder.heads;
        let width = Layout::plain(encoder.query.inputs, lanes);
        let model = Layout::heads(encoder.heads, depth, lanes);
        let scale = (depth as f32).sqrt().recip();
        let parts = [(&encoder.query, scale), (&encoder.key, 1.0), (&encoder.value, 1.0)];
        let parts = parts.map(|(dense, factor)| Part { dense, factor, outputs: &model });
        let output = Part { dense: &encoder.output, factor: alpha, outputs: &width };
        EncoderPlan {
            heads: encoder.heads,
            depth: depth.div_ceil(lanes),
            queries_keys_values: DensePlan::new(kernels, &width, &parts),
            output: DensePlan::new(kernels, &model, &[output]),
            smolgen: encoder.smolgen.as_ref().map(|smolgen| SmolgenPlan::new(kernels, smolgen, encoder.heads)),
            norm1: norm_plan(&encoder.norm1, &width),
            feed_forward: FeedForwardPlan::new(kernels, &encoder.ffn, alpha),
            norm2: norm_plan(&encoder.norm2, &width),
        }
    }

    /// The layers that may be quantised.
    pub(super) fn layers(&mut self) -> impl Iterator<Item = &mut DensePlan> {
        let smolgen = self.smolgen.as_mut().into_iter().flat_map(SmolgenPlan::layers);
        [&mut self.queries_keys_values, &mut self.output].into_iter().chain(self.feed_forward.layers()).chain(smolgen)
    }

    /// Runs the encoder on the rows of some boards, in place.
    pub(super) fn run(
        &self,
        work: &mut Work,
        shared: Option<&DensePlan>,
        boards: usize,
        rows: &mut [f32],
        buffers: &mut EncoderBuffers,
    ) {
        let smolgen = self.smolgen.as_ref().zip(shared);
        if let Some((smolgen, shared)) = smolgen {
            smolgen.run(work, shared, boards, rows, &mut buffers.smolgen);
        }
        let size = self.norm1.columns * RowShape::BOARD * work.kernels.lanes();
        for (board, rows) in rows.chunks_exact_mut(size).take(boards).enumerate() {
            self.attention(work, smolgen.is_some().then_some(board), rows, buffers);
            work.kernels.normalise(&self.norm1, BOARD, rows, Some(&buffers.branch));
            self.feed_forward.run(work, rows, buffers);
            work.kernels.normalise(&self.norm2, BOARD, rows, Some(&buffers.branch));
        }
    }

    /// Computes a board's attention and leaves it in `branch` of the buffers. `biases`: the board's index in smolgen's
    /// biases; `None` without smolgen.
    fn attention(&self, work: &mut Work, biases: Option<usize>, rows: &[f32], buffers: &mut EncoderBuffers) {
        let (heads, depth, lanes) = (self.heads, self.depth, work.kernels.lanes());
        let EncoderBuffers { queries_keys_values, keys, scores: weights, attended, branch, smolgen, .. } = buffers;
        self.queries_keys_values.boards(work, 1, rows, Activation::None, queries_keys_values);
        let vector = RowShape::BOARD * lanes;
        let (squares, size) = (SQUARES / lanes, scores(lanes));
        for head in 0..heads {
            let of = |part: usize| &queries_keys_values[(part * heads + head) * depth * vector..][..depth * vector];
            let [query, key, value] = [of(0), of(1), of(2)];
            work.kernels.transpose(key, depth, keys);
            let start = biases.map_or(RowStart::Nothing, |board| {
                RowStart::Numbers(&smolgen.biases[(board * heads + head) * size..][..size])
            });
            let key = Matrix::Plain { numbers: keys, row: lanes, column: depth * lanes * lanes };
            work.kernels.rows(RowShape::boards(1, depth, squares), query, key, start, Activation::None, weights);
            work.kernels.softmax(weights);
            let value = Matrix::Plain { numbers: value, row: lanes, column: vector };
            let output = &mut attended[head * depth * vector..][..depth * vector];
            let shape = RowShape::boards(1, squares, depth);
            work.kernels.rows(shape, weights, value, RowStart::Nothing, Activation::None, output);
        }
        self.output.boards(work, 1, attended, Activation::None, branch);
    }
}

impl FeedForwardPlan {
    /// Packs a network whose output is multiplied by `alpha`.
    pub(super) fn new(kernels: Kernels, ffn: &FeedForward, alpha: f32) -> FeedForwardPlan {
        FeedForwardPlan {
            first: DensePlan::plain(kernels, &ffn.first, 1.0),
            activation: ffn.activation,
            second: DensePlan::plain(kernels, &ffn.second, alpha),
        }
    }

    /// The layers that may be quantised.
    pub(super) fn layers(&mut self) -> [&mut DensePlan; 2] {
        [&mut self.first, &mut self.second]
    }

    /// Runs the network on the rows of a board, and leaves its output in `branch` of the buffers.
    fn run(&self, work: &mut Work, rows: &[f32], buffers: &mut EncoderBuffers) {
        self.first.boards(work, 1, rows, self.activation, &mut buffers.hidden);
        self.second.boards(work, 1, &buffers.hidden, Activation::None, &mut buffers.branch);
    }

    /// Runs the network, adds its input and normalises the sum.
    pub(super) fn run_normalised(
        &self,
        work: &mut Work,
        norm: &NormPlan,
        rows: &mut [f32],
        buffers: &mut EncoderBuffers,
    ) {
        self.run(work, rows, buffers);
        work.kernels.normalise(norm, BOARD, rows, Some(&buffers.branch));
    }
}
