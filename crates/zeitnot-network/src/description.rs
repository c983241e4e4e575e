//! Describes a network, in one line or as data.

use std::fmt;

use serde::Serialize;

use super::weights::layers::{Layers, Policy, Position};
use super::{Activation, InputFormat, PLANES, PolicyKind, ValueKind, proto};

/// Bytes of a megabyte, as file sizes are printed.
const MEGABYTE: f64 = 1e6;
/// A million parameters.
const MILLION: f64 = 1e6;
/// Millions of parameters from which their number is printed with one decimal instead of two.
const MANY_MILLION: f64 = 10.0;

/// The latest version of Lc0 whose network files are known here (docs/lc0.md is about it).
const KNOWN_LC0: [u32; 2] = [0, 33];

/// The description of a network. Its text is one line:
/// `SE 6x64, relu, policy convolution, value WDL, no moves left, input classical 112 planes, 0.87 M parameters`;
/// serialised it is an object with these fields and those of the architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The body.
    #[serde(flatten)]
    pub architecture: Architecture,
    /// The nonlinearity, when it is known.
    pub activation: Option<Activation>,
    /// The kind of policy head, when it is known.
    pub policy: Option<PolicyKind>,
    /// Names of the policy heads, the default first; empty when they have no names.
    pub policy_heads: Vec<String>,
    /// The kind of value head.
    pub value: ValueKind,
    /// Names of the value heads, the default first; empty when they have no names.
    pub value_heads: Vec<String>,
    /// Whether there is a moves-left head.
    pub moves_left: bool,
    /// The layout of the input planes.
    pub input: InputFormat,
    /// Whether the input format is a guess: an ONNX model need not state it.
    pub input_is_assumed: bool,
    /// The number of parameters, when it is known.
    pub parameters: Option<usize>,
    /// Encoding of all tensors that do not state their own, if known: `linear16`, `float16`, `bfloat16` or `float32`.
    pub encoding: Option<&'static str>,
    /// The licence that the file states.
    pub license: Option<String>,
    /// The oldest version of Lc0 that can use the file, as the file states it.
    pub min_version: Option<String>,
    /// Number of training steps, if the file states it.
    pub training_steps: Option<u32>,
}

/// The body of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "architecture", rename_all = "snake_case")]
pub enum Architecture {
    /// A tower of residual blocks.
    Residual {
        /// Number of residual blocks.
        blocks: usize,
        /// Planes of each block.
        filters: usize,
        /// Whether the blocks have squeeze and excitation.
        squeeze_excitation: bool,
        /// Number of encoders in an attention policy; else 0.
        policy_encoders: usize,
    },
    /// A transformer over the squares.
    AttentionBody {
        /// Number of residual blocks below the transformer.
        blocks: usize,
        /// Planes of each residual block.
        filters: usize,
        /// Number of encoders.
        encoders: usize,
        /// Features of a square.
        embedding: usize,
        /// Attention heads of an encoder.
        heads: usize,
        /// Whether the encoders have smolgen, which generates attention biases.
        smolgen: bool,
        /// Activation between the two layers of an encoder's feed-forward network.
        ffn_activation: Activation,
        /// Activation in smolgen, if the encoders have it.
        smolgen_activation: Option<Activation>,
        /// The means by which squares are told apart.
        position_encoding: PositionKind,
        /// Number of encoders in the policy head.
        policy_encoders: usize,
    },
    /// An ONNX model of unknown content.
    Onnx {
        /// Size of the content, bytes.
        #[serde(rename = "content_bytes")]
        bytes: usize,
    },
}

/// The means by which a transformer tells its squares apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionKind {
    /// The output of the residual tower below.
    Tower,
    /// Constants for each square: the squares that a queen or a knight reaches from there (`PE_MAP`).
    Map,
    /// A dense layer over all pieces (`PE_DENSE`).
    Dense,
}

impl Description {
    /// The description of a network in Lc0's format; `net` may be without its tensors.
    pub fn of(layers: &Layers, input: InputFormat, net: &proto::Net) -> Description {
        let encoding = net.format.as_ref().and_then(|format| format.weights_encoding).unwrap_or(0);
        let value = layers.values.first().map_or(ValueKind::Wdl, |(_, head)| head.value_kind());
        Description {
            architecture: Architecture::of(layers),
            activation: Some(layers.activation),
            policy: Some(layers.policy_kind()),
            policy_heads: layers.policies.iter().map(|(name, _)| name.clone()).collect(),
            value,
            value_heads: layers.values.iter().map(|(name, _)| name.clone()).collect(),
            moves_left: layers.moves_left.is_some(),
            input,
            parameters: Some(layers.parameters),
            encoding: ["linear16", "linear16", "float16", "bfloat16", "float32"].get(encoding as usize).copied(),
            ..Description::of_file(net, value, input)
        }
    }

    /// The description of an ONNX model of this many `bytes`; `net` is the Lc0 network file around the model, or empty.
    pub(crate) fn of_onnx(
        bytes: usize,
        value: ValueKind,
        moves_left: bool,
        input: InputFormat,
        net: &proto::Net,
    ) -> Description {
        let architecture = Architecture::Onnx { bytes };
        Description { architecture, moves_left, ..Description::of_file(net, value, input) }
    }

    fn of_file(net: &proto::Net, value: ValueKind, input: InputFormat) -> Description {
        let version = |version: &proto::EngineVersion| {
            let [major, minor, patch] = [version.major, version.minor, version.patch].map(Option::unwrap_or_default);
            format!("{major}.{minor}.{patch}")
        };
        Description {
            architecture: Architecture::Onnx { bytes: 0 },
            activation: None,
            policy: None,
            policy_heads: Vec::new(),
            value,
            value_heads: Vec::new(),
            moves_left: false,
            input,
            input_is_assumed: false,
            parameters: None,
            encoding: None,
            license: net.license.clone().filter(|license| !license.is_empty()),
            min_version: net.min_version.as_ref().map(version),
            training_steps: net.training_params.as_ref().and_then(|training| training.training_steps),
        }
    }
}

impl Architecture {
    fn of(layers: &Layers) -> Architecture {
        let (blocks, filters, squeeze_excitation) = layers.tower.as_ref().map_or((0, 0, false), |tower| {
            let squeezes = tower.blocks.iter().any(|block| block.squeeze_excitation.is_some());
            (tower.blocks.len(), tower.input.outputs, squeezes)
        });
        let policy_encoders = match layers.policies.first() {
            Some((_, Policy::Attention(policy))) => policy.encoders.len(),
            _ => 0,
        };
        let Some(body) = &layers.body else {
            return Architecture::Residual { blocks, filters, squeeze_excitation, policy_encoders };
        };
        let first = body.encoders.first();
        let smolgen = first.and_then(|encoder| encoder.smolgen.as_ref());
        Architecture::AttentionBody {
            blocks,
            filters,
            encoders: body.encoders.len(),
            embedding: body.embedding.outputs,
            heads: first.map_or(0, |encoder| encoder.heads),
            smolgen: smolgen.is_some(),
            ffn_activation: first.map_or(layers.activation, |encoder| encoder.ffn.activation),
            smolgen_activation: smolgen.map(|smolgen| smolgen.activation),
            position_encoding: match body.position {
                Position::Tower => PositionKind::Tower,
                Position::Map => PositionKind::Map,
                Position::Dense(_) => PositionKind::Dense,
            },
            policy_encoders,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Architecture::Residual { blocks, filters, squeeze_excitation, .. } => {
                write!(f, "{} {blocks}x{filters}", if squeeze_excitation { "SE" } else { "classical" })
            }
            Architecture::AttentionBody { blocks, filters, encoders, embedding, heads, smolgen, .. } => {
                write!(f, "attention body {encoders}x{embedding}, {heads} heads")?;
                f.write_str(if smolgen { ", smolgen" } else { "" })?;
                if blocks > 0 { write!(f, ", on a tower of {blocks}x{filters}") } else { Ok(()) }
            }
            Architecture::Onnx { bytes } => write!(f, "ONNX model of {:.1} MB", bytes as f64 / MEGABYTE),
        }
    }
}

/// Whether a version of Lc0 is later than [`KNOWN_LC0`].
fn is_newer(version: &str) -> bool {
    let numbers = version.split('.').map(|number| number.parse().unwrap_or(u32::MAX));
    numbers.take(KNOWN_LC0.len()).gt(KNOWN_LC0)
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = |heads: &[String]| match heads {
            [] | [_] => String::new(),
            heads => format!(" ({})", heads.join(", ")),
        };
        write!(f, "{}", self.architecture)?;
        if let Some(activation) = self.activation {
            write!(f, ", {activation}")?;
        }
        if let Some(policy) = self.policy {
            write!(f, ", policy {policy}{}", several(&self.policy_heads))?;
            match self.architecture {
                Architecture::Residual { policy_encoders: count @ 1.., .. }
                | Architecture::AttentionBody { policy_encoders: count @ 1.., .. } => {
                    write!(f, " after {count} encoder{}", if count == 1 { "" } else { "s" })?;
                }
                _ => {}
            }
        }
        write!(f, ", value {}{}", self.value, several(&self.value_heads))?;
        f.write_str(if self.moves_left { ", moves left" } else { ", no moves left" })?;
        write!(f, ", input {}", self.input)?;
        match self.input {
            InputFormat::Maia3 => f.write_str(" tokens and two ratings")?,
            _ => write!(f, " {PLANES} planes")?,
        }
        f.write_str(if self.input_is_assumed { " (assumed)" } else { "" })?;
        if let Some(parameters) = self.parameters {
            let millions = parameters as f64 / MILLION;
            write!(f, ", {millions:.*} M parameters", if millions < MANY_MILLION { 2 } else { 1 })?;
        }
        match self.min_version.as_deref().filter(|version| is_newer(version)) {
            Some(version) => write!(f, "; it asks for Lc0 {version} or later, which may read it otherwise"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
