//! Makes random transformers, attention policies and several heads.

use super::{Random, RandomNetwork};
use crate::{Activation, PLANES, PolicyKind, PositionKind, SQUARES, proto};

/// Pieces of a square in the dense position encoding.
const PIECES: usize = 12;
/// Features that the dense position encoding gives each square.
const POSITION_FEATURES: usize = 3;
/// Features of a square in smolgen's first layer, its hidden units, and its numbers for each head.
const SMOLGEN: [usize; 3] = [2, 12, 8];
/// Attention heads of policy encoders.
const POLICY_HEADS: usize = 2;

/// The shape of a random transformer.
#[derive(Clone, Copy, Debug)]
pub struct RandomBody {
    /// Encoders.
    pub encoders: usize,
    /// Features of a square.
    pub width: usize,
    /// Attention heads; they divide the width.
    pub heads: usize,
    /// Whether attention biases are generated.
    pub smolgen: bool,
    /// Whether the embedding is gated.
    pub gates: bool,
    /// Encoding of the squares, or a tower.
    pub position: PositionKind,
    /// Activation in the feed-forward networks; the default where it is that of the whole network.
    pub ffn_activation: Activation,
}

impl Default for RandomBody {
    /// A small network of the kind of T1: 2x16, 4 heads, smolgen, gates, positional map.
    fn default() -> RandomBody {
        RandomBody {
            encoders: 2,
            width: 16,
            heads: 4,
            smolgen: true,
            gates: true,
            position: PositionKind::Map,
            ffn_activation: Activation::ReluSquared,
        }
    }
}

impl RandomBody {
    /// Fields of the header.
    pub(super) fn header(&self, format: &mut proto::NetworkFormat) {
        format.ffn_activation = Some(match self.ffn_activation {
            Activation::Mish => 1,
            Activation::Relu => 2,
            Activation::None => 3,
            Activation::Tanh => 4,
            Activation::Sigmoid => 5,
            Activation::Selu => 6,
            Activation::Swish => 7,
            Activation::ReluSquared => 8,
        });
        format.smolgen_activation = Some(7);
        format.input_embedding = Some(match self.position {
            PositionKind::Tower => 0,
            PositionKind::Map => 1,
            PositionKind::Dense => 2,
        });
    }

    /// Adds its tensors; `filters` are those of the tower.
    pub(super) fn add_to(&self, weights: &mut proto::Weights, random: &mut Random, filters: usize) {
        let width = self.width;
        let features = match self.position {
            PositionKind::Tower => filters,
            PositionKind::Map => PLANES + SQUARES,
            PositionKind::Dense => PLANES + POSITION_FEATURES,
        };
        [weights.ip_emb_w, weights.ip_emb_b] = random.dense(features, width);
        if self.position == PositionKind::Dense {
            let [inputs, outputs] = [PIECES, POSITION_FEATURES].map(|features| features * SQUARES);
            [weights.ip_emb_preproc_w, weights.ip_emb_preproc_b] = random.dense(inputs, outputs);
            [weights.ip_emb_ln_gammas, weights.ip_emb_ln_betas] = random.norm(width);
            weights.ip_emb_ffn = Some(random.feed_forward(width));
            [weights.ip_emb_ffn_ln_gammas, weights.ip_emb_ffn_ln_betas] = random.norm(width);
        }
        if self.gates {
            weights.ip_mult_gate = random.layer(width * SQUARES, 0.5, 1.5);
            weights.ip_add_gate = random.layer(width * SQUARES, -0.2, 0.2);
        }
        weights.headcount = Some(self.heads as u32);
        if self.smolgen {
            weights.smolgen_w = random.weights(SMOLGEN[2], SMOLGEN[2] * SQUARES * SQUARES);
        }
        weights.encoder =
            (0..self.encoders).map(|_| random.encoder(width, self.smolgen.then_some(self.heads))).collect();
    }
}

impl RandomNetwork {
    /// Adds attention policies and the heads of a transformer to `weights`, one or several of each; `inputs` are the
    /// features of a square.
    pub(super) fn add_attention_heads(&self, weights: &mut proto::Weights, random: &mut Random, inputs: usize) {
        let (planes, hidden, outputs) = (self.head_planes, self.head_hidden, self.value_outputs());
        let transformer = self.body.is_some();
        if self.policy == PolicyKind::Attention {
            let count = if self.several_heads { 3 } else { 1 };
            let mut heads: Vec<proto::PolicyHead> = (0..count).map(|_| self.policy_head(random, inputs)).collect();
            let [ip_pol_w, ip_pol_b] = random.dense(inputs, inputs);
            if self.several_heads {
                // The last brings an embedding of its own, the first two share one.
                [heads[2].ip_pol_w, heads[2].ip_pol_b] = random.dense(inputs, inputs);
                let mut heads = heads.into_iter();
                weights.policy_heads = Some(proto::PolicyHeads {
                    ip_pol_w,
                    ip_pol_b,
                    vanilla: heads.next(),
                    soft: heads.next(),
                    policy_head_map: heads
                        .map(|value| proto::PolicyHeadMap { key: "extra".to_owned(), value })
                        .collect(),
                    ..proto::PolicyHeads::default()
                });
            } else if let Some(head) = heads.pop() {
                (weights.ip_pol_w, weights.ip_pol_b) = (ip_pol_w, ip_pol_b);
                (weights.ip2_pol_w, weights.ip2_pol_b) = (head.ip2_pol_w, head.ip2_pol_b);
                (weights.ip3_pol_w, weights.ip3_pol_b) = (head.ip3_pol_w, head.ip3_pol_b);
                weights.ip4_pol_w = head.ip4_pol_w;
                (weights.pol_encoder, weights.pol_headcount) = (head.pol_encoder, head.pol_headcount);
            }
        }
        if transformer {
            let mut value = || {
                let mut head = proto::ValueHead::default();
                [head.ip_val_w, head.ip_val_b] = random.dense(inputs, planes);
                [head.ip1_val_w, head.ip1_val_b] = random.dense(planes * SQUARES, hidden);
                [head.ip2_val_w, head.ip2_val_b] = random.dense(hidden, outputs);
                head
            };
            if self.several_heads {
                let (winner, q) = (Some(value()), Some(value()));
                weights.value_heads = Some(proto::ValueHeads { winner, q, ..proto::ValueHeads::default() });
            } else {
                let head = value();
                (weights.ip_val_w, weights.ip_val_b) = (head.ip_val_w, head.ip_val_b);
                (weights.ip1_val_w, weights.ip1_val_b) = (head.ip1_val_w, head.ip1_val_b);
                (weights.ip2_val_w, weights.ip2_val_b) = (head.ip2_val_w, head.ip2_val_b);
            }
            if self.moves_left {
                [weights.ip_mov_w, weights.ip_mov_b] = random.dense(inputs, planes);
                [weights.ip1_mov_w, weights.ip1_mov_b] = random.dense(planes * SQUARES, hidden);
                [weights.ip2_mov_w, weights.ip2_mov_b] = random.dense(hidden, 1);
            }
        }
    }

    /// An attention policy head without its embedding, which keeps the width of its inputs.
    fn policy_head(&self, random: &mut Random, width: usize) -> proto::PolicyHead {
        let [ip2_pol_w, ip2_pol_b] = random.dense(width, width);
        let [ip3_pol_w, ip3_pol_b] = random.dense(width, width);
        let smolgen = self.body.is_some_and(|body| body.smolgen).then_some(POLICY_HEADS);
        proto::PolicyHead {
            ip2_pol_w,
            ip2_pol_b,
            ip3_pol_w,
            ip3_pol_b,
            ip4_pol_w: random.weights(width, 4 * width),
            pol_encoder: (0..self.policy_encoders).map(|_| random.encoder(width, smolgen)).collect(),
            pol_headcount: Some(POLICY_HEADS as u32),
            ..proto::PolicyHead::default()
        }
    }
}

impl Random {
    fn norm(&mut self, width: usize) -> [Option<proto::Layer>; 2] {
        [self.layer(width, 0.5, 1.5), self.layer(width, -0.2, 0.2)]
    }

    fn feed_forward(&mut self, width: usize) -> proto::Ffn {
        let [dense1_w, dense1_b] = self.dense(width, 2 * width);
        let [dense2_w, dense2_b] = self.dense(2 * width, width);
        proto::Ffn { dense1_w, dense1_b, dense2_w, dense2_b }
    }

    /// An encoder, with smolgen for `smolgen` heads, if any.
    fn encoder(&mut self, width: usize, smolgen: Option<usize>) -> proto::EncoderLayer {
        let [q_w, q_b] = self.dense(width, width);
        let [k_w, k_b] = self.dense(width, width);
        let [v_w, v_b] = self.dense(width, width);
        let [dense_w, dense_b] = self.dense(width, width);
        let smolgen = smolgen.map(|heads| {
            let [features, hidden, numbers] = SMOLGEN;
            let compress = self.weights(width, width * features);
            let [dense1_w, dense1_b] = self.dense(features * SQUARES, hidden);
            let [ln1_gammas, ln1_betas] = self.norm(hidden);
            let [dense2_w, dense2_b] = self.dense(hidden, heads * numbers);
            let [ln2_gammas, ln2_betas] = self.norm(heads * numbers);
            proto::Smolgen {
                compress,
                dense1_w,
                dense1_b,
                ln1_gammas,
                ln1_betas,
                dense2_w,
                dense2_b,
                ln2_gammas,
                ln2_betas,
            }
        });
        let mha = proto::Mha { q_w, q_b, k_w, k_b, v_w, v_b, dense_w, dense_b, smolgen, ..proto::Mha::default() };
        let [ln1_gammas, ln1_betas] = self.norm(width);
        let ffn = Some(self.feed_forward(width));
        let [ln2_gammas, ln2_betas] = self.norm(width);
        proto::EncoderLayer { mha: Some(mha), ln1_gammas, ln1_betas, ffn, ln2_gammas, ln2_betas }
    }
}

/// Random transformers and attention policies, small, with every feature in one at least.
pub fn attention_networks() -> Vec<(&'static str, RandomNetwork)> {
    let network = RandomNetwork { policy: PolicyKind::Attention, squeeze: None, ..RandomNetwork::default() };
    let body = |body: RandomBody| RandomNetwork { body: Some(body), ..network };
    let usual = RandomBody::default();
    vec![
        ("tower with an attention policy", RandomNetwork { squeeze: Some(4), ..network }),
        ("tower with policy encoders", RandomNetwork { policy_encoders: 2, activation: Activation::Mish, ..network }),
        ("map, smolgen, gates", RandomNetwork { activation: Activation::Mish, ..body(usual) }),
        ("map, plain", body(RandomBody { smolgen: false, gates: false, ffn_activation: Activation::Selu, ..usual })),
        ("on a tower", body(RandomBody { position: PositionKind::Tower, ffn_activation: Activation::Swish, ..usual })),
        (
            "dense, several heads, policy encoders",
            RandomNetwork {
                several_heads: true,
                policy_encoders: 1,
                ..body(RandomBody { position: PositionKind::Dense, ffn_activation: Activation::Mish, ..usual })
            },
        ),
    ]
}
