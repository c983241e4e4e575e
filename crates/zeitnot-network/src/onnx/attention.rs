//! The operators of transformers: the embedding of the squares, encoders, and the attention policy (docs/lc0.md, 4.4
//! and 4.8).
//!
//! Squares are rows, `[batch * 64, features]`, except within attention.

use super::converter::{Converter, REST, TOKENS};
use super::encode::{Floats, transposed};
use super::graph::{Attribute, Value};
use crate::planes::PLANES;
use crate::policy::{self, FIRST_PROMOTION, PROMOTIONS};
use crate::weights::SQUARES;
use crate::weights::body::PIECE_PLANES;
use crate::weights::layers::{AttentionBody, AttentionPolicy, DensePosition, Encoder, Position, Smolgen};

/// Factor on the residual branches of policy encoders, where the body's encoders have [`AttentionBody::alpha`].
const POLICY_ALPHA: f32 = 1.0;
/// The first square of the last rank.
const LAST_RANK: usize = 56;
/// Files of the board.
const FILES: usize = 8;

impl<'a> Converter<'a> {
    /// The output of the transformer, a row for each square. `filters`: the number of planes of `input` if that is a
    /// tower's output; `None` if it is the network's input planes.
    pub(super) fn attention_body(&mut self, body: &'a AttentionBody, filters: Option<usize>, input: &Value) -> Value {
        let features = filters.unwrap_or(PLANES) as i64;
        let mut flow = self.squares_as_rows("/body/input", features, input);
        let width = body.embedding.outputs as i64;
        flow = match &body.position {
            Position::Tower => self.dense("/body/embedding", &body.embedding, &flow),
            Position::Map => self.embedding_with_map(body, &flow),
            Position::Dense(position) => {
                let features = self.dense_position(position, &flow);
                self.dense("/body/embedding", &body.embedding, &features)
            }
        };
        flow = self.activate("/body/embedding", self.activation, &flow);
        if let Position::Dense(position) = &body.position {
            flow = self.norm("/body/norm", &position.norm, &flow);
        }
        for (name, op, gate) in [("multiply", "Mul", &body.multiply_gate), ("add", "Add", &body.add_gate)] {
            if let Some(gate) = gate {
                flow = self.per_square(&format!("/body/{name}"), op, transposed(gate, SQUARES), width, &flow);
            }
        }
        if let Position::Dense(position) = &body.position {
            let names = ["/body/ffn", "/body/ffn/sum", "/body/ffn/norm"];
            flow = self.feed_forward(names, &position.ffn, body.alpha, &position.ffn_norm, &flow);
        }
        for (index, encoder) in body.encoders.iter().enumerate() {
            flow = self.encoder(&format!("/encoder{index}"), encoder, body.alpha, &flow);
        }
        flow
    }

    /// Rows of squares `[batch * 64, features]` from planes `[batch, features, 8, 8]`.
    fn squares_as_rows(&mut self, path: &str, features: i64, planes: &Value) -> Value {
        let mut flow = self.reshape(&format!("{path}/squares"), planes, &[REST, features, TOKENS]);
        flow = self.transpose(&format!("{path}/transposed"), &flow, &[0, 2, 1]);
        self.reshape(&format!("{path}/rows"), &flow, &[REST, features])
    }

    /// Applies the operator `op` to the rows of every board and a `constant` `[64, width]`, which is the same for all.
    fn per_square(&mut self, path: &str, op: &str, constant: Vec<f32>, width: i64, rows: &Value) -> Value {
        let constant = self.graph.floats(&format!("{path}/w"), &[TOKENS, width], vec![Floats::Values(constant)]);
        let mut flow = self.reshape(&format!("{path}/boards"), rows, &[REST, TOKENS, width]);
        flow = self.graph.node(path, op, &[&flow, &constant], &[]);
        self.reshape(&format!("{path}/rows"), &flow, &[REST, width])
    }

    /// The embedding of the planes and the positional map: the map is the same in every position, and so is its part of
    /// the embedding, which becomes a bias of each square.
    fn embedding_with_map(&mut self, body: &'a AttentionBody, rows: &Value) -> Value {
        let (width, inputs) = (body.embedding.outputs, body.embedding.inputs);
        let weights = body.embedding.weights.values();
        let map = policy::positional_map();
        let of_planes: Vec<f32> = weights.chunks_exact(inputs).flat_map(|row| &row[..PLANES]).copied().collect();
        let mut biases = Vec::with_capacity(SQUARES * width);
        for square in map.chunks_exact(SQUARES) {
            biases.extend(weights.chunks_exact(inputs).zip(&body.embedding.biases).map(|(row, &bias)| {
                let products =
                    square.iter().zip(&row[PLANES..]).map(|(&constant, &weight)| f64::from(constant * weight));
                (f64::from(bias) + products.sum::<f64>()) as f32
            }));
        }
        let shape = [width as i64, PLANES as i64];
        let weights = self.graph.floats("/body/embedding/w", &shape, vec![Floats::Values(of_planes)]);
        let flow = self.graph.node("/body/embedding", "Gemm", &[rows, &weights], &[Attribute::Int("transB", 1)]);
        self.per_square("/body/position", "Add", biases, width as i64, &flow)
    }

    /// The planes of each square, followed by its features of the dense position encoding, which reads all pieces.
    fn dense_position(&mut self, position: &'a DensePosition, rows: &Value) -> Value {
        let features = (position.layer.outputs / SQUARES) as i64;
        let bounds = [("start", 0), ("end", PIECE_PLANES as i64), ("axis", 1)]
            .map(|(name, value)| self.graph.integers(&format!("/body/pieces/{name}"), vec![value]));
        let pieces = self.graph.node("/body/pieces", "Slice", &[rows, &bounds[0], &bounds[1], &bounds[2]], &[]);
        let mut flow = self.reshape("/body/pieces/flat", &pieces, &[REST, position.layer.inputs as i64]);
        flow = self.dense("/body/position", &position.layer, &flow);
        flow = self.reshape("/body/position/rows", &flow, &[REST, features]);
        self.graph.node("/body/features", "Concat", &[rows, &flow], &[Attribute::Int("axis", 1)])
    }

    /// An encoder. The factor `alpha` on its residual branches is multiplied into the last layer of each branch.
    fn encoder(&mut self, path: &str, encoder: &'a Encoder, alpha: f32, input: &Value) -> Value {
        let name = |part: &str| format!("{path}/{part}");
        let attended = self.attention(&name("attention"), encoder, input);
        let names = [&*name("attention/output"), &name("sum1"), &name("norm1")];
        let flow = self.add_and_norm(names, &encoder.output, alpha, &encoder.norm1, input, &attended);
        let names = [&*name("ffn"), &name("sum2"), &name("norm2")];
        self.feed_forward(names, &encoder.ffn, alpha, &encoder.norm2, &flow)
    }

    /// The attended values of all heads, before the output layer.
    fn attention(&mut self, path: &str, encoder: &'a Encoder, input: &Value) -> Value {
        if self.fused {
            return self.fused_attention(path, encoder, input);
        }
        let (heads, model) = (encoder.heads as i64, encoder.query.outputs as i64);
        let depth = model / heads;
        let scale = (depth as f32).sqrt().recip();
        let mut split = |name: &str, layer, factor, order: &[i64]| {
            let path = format!("{path}/{name}");
            let mut flow = self.scaled_dense(&path, &[(layer, factor)], input);
            flow = self.reshape(&format!("{path}/heads"), &flow, &[REST, TOKENS, heads, depth]);
            self.transpose(&format!("{path}/transposed"), &flow, order)
        };
        let query = split("query", &encoder.query, scale, &[0, 2, 1, 3]);
        let key = split("key", &encoder.key, 1.0, &[0, 2, 3, 1]);
        let value = split("value", &encoder.value, 1.0, &[0, 2, 1, 3]);
        let mut flow = self.graph.node(&format!("{path}/scores"), "MatMul", &[&query, &key], &[]);
        if let Some(smolgen) = &encoder.smolgen {
            let biases = self.smolgen(&format!("{path}/smolgen"), smolgen, heads, input);
            flow = self.graph.node(&format!("{path}/biased"), "Add", &[&flow, &biases], &[]);
        }
        flow = self.graph.node(&format!("{path}/softmax"), "Softmax", &[&flow], &[Attribute::Int("axis", -1)]);
        flow = self.graph.node(&format!("{path}/attended"), "MatMul", &[&flow, &value], &[]);
        flow = self.transpose(&format!("{path}/merged"), &flow, &[0, 2, 1, 3]);
        self.reshape(&format!("{path}/rows"), &flow, &[REST, model])
    }

    /// Biases to be added to the scores of the attention, `[batch, heads, 64, 64]`.
    pub(super) fn smolgen(&mut self, path: &str, smolgen: &'a Smolgen, heads: i64, input: &Value) -> Value {
        let mut flow = self.dense(&format!("{path}/compress"), &smolgen.compress, input);
        flow = self.reshape(&format!("{path}/flat"), &flow, &[REST, smolgen.hidden.inputs as i64]);
        for (name, layer, norm) in
            [("dense1", &smolgen.hidden, &smolgen.norm1), ("dense2", &smolgen.output, &smolgen.norm2)]
        {
            let path = format!("{path}/{name}");
            flow = self.dense(&path, layer, &flow);
            flow = self.activate(&path, smolgen.activation, &flow);
            flow = self.norm(&format!("{path}/norm"), norm, &flow);
        }
        flow = self.reshape(&format!("{path}/heads"), &flow, &[REST, smolgen.shared.inputs as i64]);
        let shared = match &self.smolgen {
            Some(shared) => shared.clone(),
            None => {
                let shape = [smolgen.shared.outputs as i64, smolgen.shared.inputs as i64];
                let weights = vec![Floats::Tensor(&smolgen.shared.weights, 1.0)];
                self.smolgen.insert(self.graph.floats("/smolgen/w", &shape, weights)).clone()
            }
        };
        let transposed = [Attribute::Int("transB", 1)];
        flow = self.graph.node(&format!("{path}/biases"), "Gemm", &[&flow, &shared], &transposed);
        self.reshape(&format!("{path}/squares"), &flow, &[REST, heads, TOKENS, TOKENS])
    }

    /// The logits of the 1858 moves. `filters`: the number of planes of `body` if that is a tower's output; `None` if
    /// it is a transformer's, with a row for each square.
    pub(super) fn attention_policy(
        &mut self,
        head: &'a AttentionPolicy,
        filters: Option<usize>,
        body: &Value,
    ) -> Value {
        let rows = match filters {
            Some(filters) => self.squares_as_rows("/policy/input", filters as i64, body),
            None => body.clone(),
        };
        let mut flow = self.dense("/policy/embedding", &head.embedding, &rows);
        flow = self.activate("/policy/embedding", head.activation, &flow);
        for (index, encoder) in head.encoders.iter().enumerate() {
            flow = self.encoder(&format!("/policy/encoder{index}"), encoder, POLICY_ALPHA, &flow);
        }
        let width = head.query.outputs as i64;
        let scale = (width as f32).sqrt().recip();
        let query = self.scaled_dense("/policy/query", &[(&head.query, scale)], &flow);
        let query = self.reshape("/policy/query/boards", &query, &[REST, TOKENS, width]);
        let key = self.dense("/policy/key", &head.key, &flow);
        let key = self.reshape("/policy/key/boards", &key, &[REST, TOKENS, width]);
        let transposed = self.transpose("/policy/key/transposed", &key, &[0, 2, 1]);
        let scores = self.graph.node("/policy/scores", "MatMul", &[&query, &transposed], &[]);
        let scores = self.reshape("/policy/flat", &scores, &[REST, TOKENS * TOKENS]);

        // The moves that are no promotions, then the promotions with their offsets.
        let mut gather = |name: &str, from: &Value, places: Vec<i64>| {
            let places = self.graph.integers(&format!("{name}/places"), places);
            self.graph.node(name, "Gather", &[from, &places], &[Attribute::Int("axis", 1)])
        };
        let mut plain: Vec<i64> = policy::squares().map(|(from, to)| (from * SQUARES + to) as i64).collect();
        let promoting = plain.split_off(FIRST_PROMOTION);
        let plain = gather("/policy/plain", &scores, plain);
        let promoting = gather("/policy/promotion/scores", &scores, promoting);
        let offsets = self.promotion_offsets(head, &key);
        let promoted = self.graph.node("/policy/promotion", "Add", &[&promoting, &offsets], &[]);
        self.graph.node("/policy/moves", "Concat", &[&plain, &promoted], &[Attribute::Int("axis", 1)])
    }

    /// The number added to the logit of each promotion of the policy, by its piece and the square it goes to.
    fn promotion_offsets(&mut self, head: &'a AttentionPolicy, key: &Value) -> Value {
        let width = head.key.outputs;
        // The offset of all kinds is part of that of each.
        let weights = head.promotion.values();
        let (kinds, all) = weights.split_at(PROMOTIONS * width);
        let kinds: Vec<f32> =
            kinds.chunks_exact(width).flat_map(|kind| kind.iter().zip(all).map(|(a, b)| a + b)).collect();
        let kinds = transposed(&kinds, width);
        let shape = [width as i64, PROMOTIONS as i64];
        let kinds = self.graph.floats("/policy/promotion/w", &shape, vec![Floats::Values(kinds)]);
        let bounds = [("start", LAST_RANK), ("end", SQUARES), ("axis", 1)]
            .map(|(name, value)| self.graph.integers(&format!("/policy/last_rank/{name}"), vec![value as i64]));
        let last_rank = self.graph.node("/policy/last_rank", "Slice", &[key, &bounds[0], &bounds[1], &bounds[2]], &[]);
        let offsets = self.graph.node("/policy/promotion/kinds", "MatMul", &[&last_rank, &kinds], &[]);
        let offsets = self.reshape("/policy/promotion/flat", &offsets, &[REST, (FILES * PROMOTIONS) as i64]);
        let places = (policy::squares().enumerate().skip(FIRST_PROMOTION))
            .map(|(index, (_, to))| ((to - LAST_RANK) * PROMOTIONS + (index - FIRST_PROMOTION) % PROMOTIONS) as i64)
            .collect();
        let places = self.graph.integers("/policy/promotion/places", places);
        let axis = [Attribute::Int("axis", 1)];
        self.graph.node("/policy/promotion/offsets", "Gather", &[&offsets, &places], &axis)
    }
}
