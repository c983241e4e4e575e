//! Embeds the squares of a board: from its planes and a position encoding, or from the output of a tower (docs/lc0.md,
//! 4.8).
//!
//! Nearly all numbers of the planes are zeros, so that the weights of set squares are added up instead of multiplied.

use super::dense::{DensePlan, Part, Work, norm_plan};
use super::encoder::{BOARD, EncoderBuffers, FeedForwardPlan};
use super::layout::Layout;
use zeitnot_kernels::{Buffer, Kernels, NormPlan, RowShape};
use zeitnot_network::layers::{AttentionBody, DensePosition, Position};
use zeitnot_network::tensor::Tensor;
use zeitnot_network::{Activation, Dense, PIECE_PLANES, PLANES, Planes, SQUARES, positional_map};

/// Every square of a plane.
const ALL: u64 = u64::MAX;

/// The embedding of a transformer.
pub(super) struct EmbeddingPlan {
    /// Features of a square, in vectors.
    pub columns: usize,
    input: InputPlan,
    activation: Activation,
    multiply_gate: Option<Buffer>,
    add_gate: Option<Buffer>,
    /// The layers that only networks with dense position encoding have.
    pub dense: Option<Box<DensePositionPlan>>,
}

/// The input that the squares are embedded from.
enum InputPlan {
    /// The filters of a tower, through a dense layer.
    Tower(DensePlan),
    /// The planes: the weights of each plane, and the rows that they are added to.
    Planes { weights: Buffer, start: Buffer },
}

/// The dense position encoding.
pub(super) struct DensePositionPlan {
    /// Features that the encoding gives each square, in vectors.
    columns: usize,
    /// Features that one set square adds to those of all squares, `[square][piece plane][place]`; the field `bias` has
    /// the features of an empty board.
    pieces: Buffer,
    bias: Buffer,
    /// Layer from the features to the embedding; its bias is in `start` of [`InputPlan::Planes`].
    layer: DensePlan,
    norm: NormPlan,
    pub feed_forward: FeedForwardPlan,
    feed_forward_norm: NormPlan,
}

impl EmbeddingPlan {
    pub(super) fn new(kernels: Kernels, body: &AttentionBody, activation: Activation) -> EmbeddingPlan {
        let (width, lanes) = (body.embedding.outputs, kernels.lanes());
        let layout = Layout::plain(width, lanes);
        let gate = |gate: &Option<Vec<f32>>| {
            let gate = gate.as_ref()?;
            Some(of_squares(&layout, |square, feature| gate[feature * SQUARES + square]))
        };
        let input = match &body.position {
            Position::Tower => InputPlan::Tower(DensePlan::plain(kernels, &body.embedding, 1.0)),
            Position::Map => {
                let (values, inputs) = (body.embedding.weights.values(), body.embedding.inputs);
                let map = positional_map();
                // The map is the same in every position, and so is its part of the embedding.
                let start = of_squares(&layout, |square, feature| {
                    let weights = &values[feature * inputs + PLANES..][..SQUARES];
                    let map = &map[square * SQUARES..][..SQUARES];
                    let products = map.iter().zip(weights).map(|(&a, &b)| f64::from(a) * f64::from(b));
                    (f64::from(body.embedding.biases[feature]) + products.sum::<f64>()) as f32
                });
                InputPlan::Planes { weights: of_planes(&body.embedding, &layout), start }
            }
            Position::Dense(_) => InputPlan::Planes {
                weights: of_planes(&body.embedding, &layout),
                start: of_squares(&layout, |_, feature| body.embedding.biases[feature]),
            },
        };
        let dense = match &body.position {
            Position::Dense(position) => {
                Some(Box::new(DensePositionPlan::new(kernels, position, &body.embedding, body.alpha)))
            }
            _ => None,
        };
        EmbeddingPlan {
            columns: layout.vectors(),
            input,
            activation,
            multiply_gate: gate(&body.multiply_gate),
            add_gate: gate(&body.add_gate),
            dense,
        }
    }

    /// Number of features that the dense position encoding gives to a board, padding included; 0 without it.
    pub(super) fn features(&self, lanes: usize) -> usize {
        self.dense.as_ref().map_or(0, |dense| dense.columns * RowShape::BOARD * lanes)
    }

    /// Computes the rows of one board; `tower` are its rows from a tower, empty where the network has none.
    pub(super) fn run(
        &self,
        work: &mut Work,
        planes: &Planes,
        tower: &[f32],
        rows: &mut [f32],
        (features, buffers): (&mut [f32], &mut EncoderBuffers),
    ) {
        match &self.input {
            InputPlan::Tower(layer) => layer.boards(work, 1, tower, self.activation, rows),
            InputPlan::Planes { weights, start } => {
                rows.copy_from_slice(start);
                self.add_planes(&work.kernels, planes, weights, rows);
                match &self.dense {
                    None => work.kernels.activate(rows, self.activation),
                    Some(dense) => {
                        dense.encode(&work.kernels, planes, features);
                        dense.layer.add_board(work, features, self.activation, rows);
                        work.kernels.normalise(&dense.norm, BOARD, rows, None);
                    }
                }
            }
        }
        if self.multiply_gate.is_some() || self.add_gate.is_some() {
            work.kernels.gate(rows, self.multiply_gate.as_deref(), self.add_gate.as_deref());
        }
        if let Some(dense) = &self.dense {
            dense.feed_forward.run_normalised(work, &dense.feed_forward_norm, rows, buffers);
        }
    }

    /// Adds the weights of the set squares of all planes.
    fn add_planes(&self, kernels: &Kernels, planes: &Planes, weights: &[f32], rows: &mut [f32]) {
        let lanes = kernels.lanes();
        let (next, numbers) = (RowShape::BOARD * lanes, self.columns * lanes);
        for (weights, (&mask, &value)) in weights.chunks_exact(numbers).zip(planes.masks.iter().zip(&planes.values)) {
            // Zeros would change nothing, but what is no number must be seen.
            if mask == ALL && value == 0.0 {
                continue;
            }
            let mut rest = mask;
            while rest != 0 {
                let square = rest.trailing_zeros() as usize;
                kernels.add_scaled(&mut rows[square * lanes..], next, weights, value);
                rest &= rest - 1;
            }
        }
    }
}

impl DensePositionPlan {
    fn new(kernels: Kernels, position: &DensePosition, embedding: &Dense<Tensor>, alpha: f32) -> DensePositionPlan {
        let lanes = kernels.lanes();
        let width = Layout::plain(embedding.outputs, lanes);
        let features = position.layer.outputs / SQUARES;
        let board = Layout::board(features, lanes, |square, feature| square * features + feature);
        let mut bias = Buffer::new(board.places().len());
        board.spread(&position.layer.biases, &mut bias);
        let values = position.layer.weights.values();
        let mut pieces = Buffer::new(position.layer.inputs * board.places().len());
        for (input, to) in pieces.chunks_exact_mut(board.places().len()).enumerate() {
            for (to, output) in to.iter_mut().zip(board.places()) {
                *to = output.map_or(0.0, |output| values[output * position.layer.inputs + input]);
            }
        }
        // The inputs behind the planes.
        let inputs = Layout::plain(features, lanes).shifted(PLANES);
        let layer = Part { dense: embedding, factor: 1.0, outputs: &width };
        DensePositionPlan {
            columns: features.div_ceil(lanes),
            pieces,
            bias,
            layer: DensePlan::new(kernels, &inputs, &[layer]),
            norm: norm_plan(&position.norm, &width),
            feed_forward: FeedForwardPlan::new(kernels, &position.ffn, alpha),
            feed_forward_norm: norm_plan(&position.ffn_norm, &width),
        }
    }

    /// Computes the features of all squares from the pieces on all squares.
    fn encode(&self, kernels: &Kernels, planes: &Planes, features: &mut [f32]) {
        let numbers = self.bias.len();
        let features = &mut features[..numbers];
        features.copy_from_slice(&self.bias);
        for plane in 0..PIECE_PLANES {
            let mut rest = planes.masks[plane];
            while rest != 0 {
                let input = rest.trailing_zeros() as usize * PIECE_PLANES + plane;
                let from = &self.pieces[input * numbers..][..numbers];
                kernels.add_scaled(features, kernels.lanes(), from, planes.values[plane]);
                rest &= rest - 1;
            }
        }
    }
}

/// The rows of a board that hold `number(square, feature)` for each square and feature.
fn of_squares(layout: &Layout, number: impl Fn(usize, usize) -> f32) -> Buffer {
    let lanes = layout.places().len() / layout.vectors();
    let mut rows = Buffer::new(layout.vectors() * RowShape::BOARD * lanes);
    for (place, feature) in layout.places().iter().enumerate() {
        let Some(feature) = *feature else { continue };
        for square in 0..SQUARES {
            rows[(place / lanes * RowShape::BOARD + square) * lanes + place % lanes] = number(square, feature);
        }
    }
    rows
}

/// The weights of each plane, one row for each.
fn of_planes(embedding: &Dense<Tensor>, layout: &Layout) -> Buffer {
    let values = embedding.weights.values();
    let mut weights = Buffer::new(PLANES * layout.places().len());
    for (plane, to) in weights.chunks_exact_mut(layout.places().len()).enumerate() {
        for (to, feature) in to.iter_mut().zip(layout.places()) {
            *to = feature.map_or(0.0, |feature| values[feature * embedding.inputs + plane]);
        }
    }
    weights
}
