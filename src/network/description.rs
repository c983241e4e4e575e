//! What a network is, in one line.

use std::fmt;

use super::{Activation, InputFormat, PLANES, PolicyKind, ValueKind, Weights};

/// Bytes of a megabyte, as file sizes are told.
const MEGABYTE: f64 = 1e6;
/// A million parameters.
const MILLION: f64 = 1e6;

/// What a network is. Its text is one line:
/// `SE 6x64, relu, policy convolution, value WDL, no moves left, input classical 112 planes, 0.87 M parameters`.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The body.
    pub architecture: Architecture,
    /// The nonlinearity, when it is known.
    pub activation: Option<Activation>,
    /// The kind of policy head, when it is known.
    pub policy: Option<PolicyKind>,
    /// The kind of value head.
    pub value: ValueKind,
    /// Whether there is a moves-left head.
    pub moves_left: bool,
    /// The layout of the input planes.
    pub input: InputFormat,
    /// The number of parameters, when it is known.
    pub parameters: Option<usize>,
}

/// The body of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// A tower of residual blocks.
    Residual {
        /// Blocks.
        blocks: usize,
        /// Planes of each.
        filters: usize,
        /// Whether the blocks squeeze and excite.
        squeeze_excitation: bool,
    },
    /// An ONNX model, whatever is in it.
    Onnx {
        /// Size of the content, bytes.
        bytes: usize,
    },
}

impl Description {
    pub(crate) fn of_residual(weights: &Weights, input: InputFormat) -> Description {
        Description {
            architecture: Architecture::Residual {
                blocks: weights.blocks.len(),
                filters: weights.filters(),
                squeeze_excitation: weights.has_squeeze_excitation(),
            },
            activation: Some(weights.activation),
            policy: Some(weights.policy_kind()),
            value: weights.value_kind(),
            moves_left: weights.moves_left.is_some(),
            input,
            parameters: Some(weights.parameters()),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Architecture::Residual { blocks, filters, squeeze_excitation } => {
                write!(f, "{} {blocks}x{filters}", if squeeze_excitation { "SE" } else { "classical" })
            }
            Architecture::Onnx { bytes } => write!(f, "ONNX model of {:.1} MB", bytes as f64 / MEGABYTE),
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.architecture)?;
        if let Some(activation) = self.activation {
            write!(f, ", {activation}")?;
        }
        if let Some(policy) = self.policy {
            write!(f, ", policy {policy}")?;
        }
        write!(f, ", value {}", self.value)?;
        f.write_str(if self.moves_left { ", moves left" } else { ", no moves left" })?;
        write!(f, ", input {} {PLANES} planes", self.input)?;
        if let Some(parameters) = self.parameters {
            write!(f, ", {:.2} M parameters", parameters as f64 / MILLION)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line() {
        let mut description = Description {
            architecture: Architecture::Residual { blocks: 6, filters: 64, squeeze_excitation: true },
            activation: Some(Activation::Relu),
            policy: Some(PolicyKind::Convolution),
            value: ValueKind::Wdl,
            moves_left: false,
            input: InputFormat::Classical,
            parameters: Some(868_000),
        };
        assert_eq!(
            description.to_string(),
            "SE 6x64, relu, policy convolution, value WDL, no moves left, input classical 112 planes, 0.87 M parameters"
        );
        description.architecture = Architecture::Onnx { bytes: 3_456_789 };
        description.activation = None;
        description.policy = None;
        description.parameters = None;
        description.moves_left = true;
        assert_eq!(description.to_string(), "ONNX model of 3.5 MB, value WDL, moves left, input classical 112 planes");
    }
}
