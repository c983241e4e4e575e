//! Runs the heads: an attention policy for the legal moves, value and moves left (docs/lc0.md, 4.4 and 4.8).

use super::dense::{DensePlan, Part, Work};
use super::encoder::{EncoderBuffers, EncoderPlan};
use super::layout::Layout;
use zeitnot_kernels::{Buffer, Kernels, RowShape};
use zeitnot_network::layers::{AttentionPolicy, Head, SquareFeatures};
use zeitnot_network::{Activation, FIRST_PROMOTION, PROMOTIONS, SQUARES, move_squares};

/// The `alpha` of [`EncoderPlan::new`] for the encoders of a policy head.
const POLICY_ALPHA: f32 = 1.0;

/// An attention policy.
pub(super) struct PolicyPlan {
    embedding: DensePlan,
    activation: Activation,
    pub encoders: Vec<EncoderPlan>,
    query: DensePlan,
    key: DensePlan,
    /// Weights of what a promotion adds to a logit, a row for each kind of promotion.
    promotions: Buffer,
    /// The squares from and to which each move goes, by policy index.
    squares: Vec<(usize, usize)>,
}

/// A worker's buffers for a policy: the rows of some boards.
pub(super) struct PolicyBuffers {
    embedded: Buffer,
    queries: Buffer,
    keys: Buffer,
}

impl PolicyPlan {
    pub(super) fn new(kernels: Kernels, head: &AttentionPolicy) -> PolicyPlan {
        let width = head.query.outputs;
        let layout = Layout::plain(width, kernels.lanes());
        // The offset of all kinds is part of that of each.
        let values = head.promotion.values();
        let (kinds, all) = values.split_at(PROMOTIONS * width);
        let numbers = layout.places().len();
        let mut promotions = Buffer::new(PROMOTIONS * numbers);
        for (kind, to) in kinds.chunks_exact(width).zip(promotions.chunks_exact_mut(numbers)) {
            let sums: Vec<f32> = kind.iter().zip(all).map(|(kind, all)| kind + all).collect();
            layout.spread(&sums, to);
        }
        let encoder = |encoder| EncoderPlan::new(kernels, encoder, POLICY_ALPHA);
        PolicyPlan {
            embedding: DensePlan::plain(kernels, &head.embedding, 1.0),
            activation: head.activation,
            encoders: head.encoders.iter().map(encoder).collect(),
            query: DensePlan::plain(kernels, &head.query, (width as f32).sqrt().recip()),
            key: DensePlan::plain(kernels, &head.key, 1.0),
            promotions,
            squares: move_squares().collect(),
        }
    }

    /// The layers that may be quantised.
    pub(super) fn layers(&mut self) -> impl Iterator<Item = &mut DensePlan> {
        let encoders = self.encoders.iter_mut().flat_map(EncoderPlan::layers);
        [&mut self.embedding, &mut self.query, &mut self.key].into_iter().chain(encoders)
    }

    /// Makes queries and keys of some boards from the rows of their squares.
    pub(super) fn run(
        &self,
        work: &mut Work,
        shared: Option<&DensePlan>,
        boards: usize,
        rows: &[f32],
        (buffers, encoders): (&mut PolicyBuffers, &mut EncoderBuffers),
    ) {
        let PolicyBuffers { embedded, queries, keys } = buffers;
        self.embedding.boards(work, boards, rows, self.activation, embedded);
        for encoder in &self.encoders {
            encoder.run(work, shared, boards, embedded, encoders);
        }
        self.query.boards(work, boards, embedded, Activation::None, queries);
        self.key.boards(work, boards, embedded, Activation::None, keys);
    }

    /// The logit of a move of one of the boards; `None` where no move has this index.
    pub(super) fn logit(&self, kernels: &Kernels, buffers: &PolicyBuffers, board: usize, index: usize) -> Option<f32> {
        let (from, to) = *self.squares.get(index)?;
        let (columns, lanes) = (self.query.columns, kernels.lanes());
        let next = RowShape::BOARD * lanes;
        let first = board * columns * next;
        let query = &buffers.queries[first + from * lanes..];
        let key = &buffers.keys[first + to * lanes..];
        let mut logit = kernels.dot_rows(columns, (query, next), (key, next));
        if index >= FIRST_PROMOTION {
            let kind = (index - FIRST_PROMOTION) % PROMOTIONS;
            logit += kernels.dot_rows(columns, (key, next), (&self.promotions[kind * columns * lanes..], lanes));
        }
        Some(logit)
    }
}

impl PolicyBuffers {
    pub(super) fn new(plan: &PolicyPlan, boards: usize, lanes: usize) -> PolicyBuffers {
        let rows = |columns: usize| Buffer::new(boards * columns * RowShape::BOARD * lanes);
        PolicyBuffers {
            embedded: rows(plan.embedding.columns),
            queries: rows(plan.query.columns),
            keys: rows(plan.key.columns),
        }
    }
}

/// A value or moves-left head.
pub(super) struct HeadPlan {
    features: DensePlan,
    hidden: DensePlan,
    output: DensePlan,
    activation: Activation,
    /// Number of outputs.
    pub outputs: usize,
}

/// A worker's buffers for a head, for some boards.
pub(super) struct HeadBuffers {
    features: Buffer,
    hidden: Buffer,
    output: Buffer,
}

impl HeadPlan {
    pub(super) fn new(kernels: Kernels, head: &Head, activation: Activation) -> HeadPlan {
        let lanes = kernels.lanes();
        let outputs = head.features.outputs();
        let (features, flat) = match &head.features {
            SquareFeatures::Tokens(dense) => (
                DensePlan::plain(kernels, dense, 1.0),
                Layout::board(outputs, lanes, |square, feature| square * outputs + feature),
            ),
            // A 1x1 convolution is a dense layer of each square.
            SquareFeatures::Planes(convolution) => (
                DensePlan::plain(kernels, &convolution.of_squares(), 1.0),
                Layout::board(outputs, lanes, |square, feature| feature * SQUARES + square),
            ),
        };
        let hidden = Layout::plain(head.hidden.outputs, lanes);
        let part = Part { dense: &head.hidden, factor: 1.0, outputs: &hidden };
        HeadPlan {
            features,
            hidden: DensePlan::new(kernels, &flat, &[part]),
            output: DensePlan::plain(kernels, &head.output, 1.0),
            activation,
            outputs: head.output.outputs,
        }
    }

    /// Runs the head on the rows of some boards.
    pub(super) fn run(&self, work: &mut Work, boards: usize, rows: &[f32], buffers: &mut HeadBuffers) {
        let HeadBuffers { features, hidden, output } = buffers;
        self.features.boards(work, boards, rows, self.activation, features);
        self.hidden.single(work, boards, features, self.activation, hidden);
        self.output.single(work, boards, hidden, Activation::None, output);
    }

    /// The outputs of one of the boards.
    pub(super) fn outputs<'a>(&self, kernels: &Kernels, buffers: &'a HeadBuffers, board: usize) -> &'a [f32] {
        &buffers.output[board * self.output.columns * kernels.lanes()..][..self.outputs]
    }
}

impl HeadBuffers {
    /// Buffers for a head, if there is one.
    pub(super) fn new(plan: Option<&HeadPlan>, boards: usize, lanes: usize) -> HeadBuffers {
        let rows = |vectors: fn(&HeadPlan) -> usize| Buffer::new(boards * plan.map_or(0, vectors) * lanes);
        HeadBuffers {
            features: rows(|plan| plan.features.columns * RowShape::BOARD),
            hidden: rows(|plan| plan.hidden.columns),
            output: rows(|plan| plan.output.columns),
        }
    }
}
