//! The layers of a network of any architecture, with their weights as they lie in the file.

#![allow(missing_docs, reason = "fields are named for the layers that they hold")]

use super::tensor::Tensor;
use super::{Block, Convolution, Dense, DenseHead, PolicyHead, SqueezeExcitation, Weights};
use crate::NetworkError;
use crate::format::{PolicyKind, ValueKind};
use zeitnot_kernels::Activation;

/// The layers of a network: a tower, a transformer or a transformer on a tower, and the heads on top.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// The tower of convolutions; a transformer may have one below it.
    pub tower: Option<Tower>,
    /// The transformer.
    pub body: Option<AttentionBody>,
    /// The policy heads by name, at least one; the first is the default.
    pub policies: Vec<(String, Policy)>,
    /// The value heads by name, at least one; the first is the default.
    pub values: Vec<(String, Head)>,
    /// The moves-left head.
    pub moves_left: Option<Head>,
    /// The nonlinearity of the tower and the heads.
    pub activation: Activation,
    /// The number of parameters, batch normalisation folded.
    pub parameters: usize,
}

/// An input convolution and residual blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tower {
    pub input: Convolution<Tensor>,
    pub blocks: Vec<Block<Tensor>>,
}

/// A transformer over the 64 squares (docs/lc0.md, 4.8).
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionBody {
    /// The position encoding: further inputs of the embedding, beside the planes or the tower's filters.
    pub position: Position,
    /// Layer from the features of a square to the width of the transformer.
    pub embedding: Dense<Tensor>,
    /// Factors of the embedding, `[width, 64]`.
    pub multiply_gate: Option<Vec<f32>>,
    /// Numbers added to the embedding after that, `[width, 64]`.
    pub add_gate: Option<Vec<f32>>,
    pub encoders: Vec<Encoder>,
    /// The factor of both branches of each encoder: the inverse of DeepNorm's factor for the input (arXiv:2203.00555).
    pub alpha: f32,
}

/// Encoding of the squares, with its weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    /// No encoding, as the tower below has seen the board.
    Tower,
    /// 64 constants for each square, of [`positional_map`](crate::policy::positional_map).
    Map,
    /// More features for each square, from a dense layer over the pieces of all squares.
    Dense(Box<DensePosition>),
}

/// The dense position encoding, and the layers that only networks with this encoding have.
#[derive(Clone, Debug, PartialEq)]
pub struct DensePosition {
    /// Layer from the first 12 planes, `square * 12 + plane`, to `square * k + feature`.
    pub layer: Dense<Tensor>,
    /// Normalisation of the embedding.
    pub norm: Norm,
    /// Feed-forward network after the gates, with its normalisation.
    pub ffn: FeedForward,
    pub ffn_norm: Norm,
}

/// One encoder: `y = norm1(x + alpha attention(x))`, `norm2(y + alpha ffn(y))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    pub heads: usize,
    pub query: Dense<Tensor>,
    pub key: Dense<Tensor>,
    pub value: Dense<Tensor>,
    pub output: Dense<Tensor>,
    pub smolgen: Option<Smolgen>,
    pub norm1: Norm,
    pub ffn: FeedForward,
    pub norm2: Norm,
}

/// The generator of an encoder's attention biases from the whole board.
#[derive(Clone, Debug, PartialEq)]
pub struct Smolgen {
    /// Layer from the width to a few features of each square; no biases.
    pub compress: Dense<Tensor>,
    pub hidden: Dense<Tensor>,
    pub norm1: Norm,
    /// Layer to some numbers for each head.
    pub output: Dense<Tensor>,
    pub norm2: Norm,
    /// Layer from the numbers of a head to 64 x 64 biases; no biases of its own. All encoders share its bytes.
    pub shared: Dense<Tensor>,
    pub activation: Activation,
}

/// Two dense layers with an activation between them.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedForward {
    pub first: Dense<Tensor>,
    pub second: Dense<Tensor>,
    pub activation: Activation,
}

/// A layer normalisation over the features of a square.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    pub gammas: Vec<f32>,
    pub betas: Vec<f32>,
    /// Number that is added to the variance.
    pub epsilon: f32,
}

/// A policy head.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Head of convolutions.
    Planes(Box<PolicyHead<Tensor>>),
    /// Head of queries and keys (docs/lc0.md, 4.4).
    Attention(Box<AttentionPolicy>),
}

/// A policy of queries of the from-squares times keys of the to-squares.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionPolicy {
    pub embedding: Dense<Tensor>,
    pub activation: Activation,
    pub encoders: Vec<Encoder>,
    pub query: Dense<Tensor>,
    pub key: Dense<Tensor>,
    /// `[4, width of the keys]`: offsets of promotions to queen, rook and bishop, and one for all three.
    pub promotion: Tensor,
}

/// A value or moves-left head: features of each square and two dense layers, the activation after all but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    pub features: SquareFeatures,
    pub hidden: Dense<Tensor>,
    pub output: Dense<Tensor>,
}

/// The first layer of a head.
#[derive(Clone, Debug, PartialEq)]
pub enum SquareFeatures {
    /// A 1x1 convolution; flattened as `plane * 64 + square`.
    Planes(Convolution<Tensor>),
    /// A dense layer for each square; flattened as `square * features + feature`.
    Tokens(Dense<Tensor>),
}

impl Layers {
    /// The decoded tensors with the default heads; `None` for a network with attention.
    pub(crate) fn decode(&self) -> Option<Weights> {
        self.decode_with(&self.policies.first()?.1, &self.values.first()?.1)
    }

    /// The decoded tensors with these heads; `None` for a network with attention.
    pub fn decode_with(&self, policy: &Policy, value: &Head) -> Option<Weights> {
        let (None, Some(tower), Policy::Planes(policy)) = (&self.body, &self.tower, policy) else { return None };
        let moves_left = match &self.moves_left {
            Some(head) => Some(head.decode()?),
            None => None,
        };
        Some(Weights {
            input: tower.input.decode(),
            blocks: tower.blocks.iter().map(Block::decode).collect(),
            policy: policy.decode(),
            value: value.decode()?,
            moves_left,
            activation: self.activation,
        })
    }

    /// The policy head that was asked for, or the first; `name` is the network's, for the error.
    pub fn policy(&self, wanted: Option<&str>, name: &str) -> Result<&Policy, NetworkError> {
        choose(&self.policies, wanted, "policy", name)
    }

    /// The value head that was asked for, or the first.
    pub fn value(&self, wanted: Option<&str>, name: &str) -> Result<&Head, NetworkError> {
        choose(&self.values, wanted, "value", name)
    }

    /// The kind of the policy heads.
    pub(crate) fn policy_kind(&self) -> PolicyKind {
        match self.policies.first() {
            Some((_, Policy::Planes(head))) => match **head {
                PolicyHead::Classical { .. } => PolicyKind::Classical,
                PolicyHead::Convolution { .. } => PolicyKind::Convolution,
            },
            Some((_, Policy::Attention(_))) | None => PolicyKind::Attention,
        }
    }
}

/// The head that was asked for, or the first.
fn choose<'a, T>(
    heads: &'a [(String, T)],
    wanted: Option<&str>,
    kind: &'static str,
    name: &str,
) -> Result<&'a T, NetworkError> {
    let found = match wanted {
        None => heads.first(),
        Some(wanted) => heads.iter().find(|(head, _)| head == wanted),
    };
    found.map(|(_, head)| head).ok_or_else(|| NetworkError::Head {
        name: name.to_owned(),
        kind,
        wanted: wanted.unwrap_or_default().to_owned(),
        heads: heads.iter().map(|(head, _)| head.as_str()).collect::<Vec<_>>().join(", "),
    })
}

impl Head {
    /// The kind of a value head.
    pub(crate) fn value_kind(&self) -> ValueKind {
        if self.output.outputs == 1 { ValueKind::Scalar } else { ValueKind::Wdl }
    }

    fn decode(&self) -> Option<DenseHead> {
        let SquareFeatures::Planes(convolution) = &self.features else { return None };
        let convolution = convolution.decode();
        Some(DenseHead { convolution, hidden: self.hidden.decode(), output: self.output.decode() })
    }
}

impl Convolution<Tensor> {
    /// The 1x1 convolution as a dense layer for each square, with the same weights.
    pub fn of_squares(&self) -> Dense<Tensor> {
        let Convolution { inputs, outputs, ref weights, ref biases, .. } = *self;
        Dense { inputs, outputs, weights: weights.clone(), biases: biases.clone() }
    }

    pub fn decode(&self) -> Convolution {
        let Convolution { inputs, outputs, kernel, ref weights, ref biases } = *self;
        Convolution { inputs, outputs, kernel, weights: weights.values(), biases: biases.clone() }
    }
}

impl Dense<Tensor> {
    fn decode(&self) -> Dense {
        let Dense { inputs, outputs, ref weights, ref biases } = *self;
        Dense { inputs, outputs, weights: weights.values(), biases: biases.clone() }
    }
}

impl Block<Tensor> {
    pub fn decode(&self) -> Block {
        let decode = |se: &SqueezeExcitation<Tensor>| SqueezeExcitation {
            squeeze: se.squeeze.decode(),
            excite: se.excite.decode(),
        };
        Block {
            first: self.first.decode(),
            second: self.second.decode(),
            squeeze_excitation: self.squeeze_excitation.as_ref().map(decode),
        }
    }
}

impl PolicyHead<Tensor> {
    fn decode(&self) -> PolicyHead {
        match self {
            PolicyHead::Classical { convolution, dense } => {
                PolicyHead::Classical { convolution: convolution.decode(), dense: dense.decode() }
            }
            PolicyHead::Convolution { hidden, output } => {
                PolicyHead::Convolution { hidden: hidden.decode(), output: output.decode() }
            }
        }
    }
}
