//! The nonlinearities of networks.

use std::fmt;

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x * tanh(ln(1 + e^x))` (Misra, arXiv:1908.08681).
    Mish,
    /// `x`.
    None,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `1.0507 x`, and `1.7581 (e^x - 1)` below 0 (Klambauer et al., arXiv:1706.02515).
    Selu,
    /// `x * sigmoid(x)` (Ramachandran et al., arXiv:1710.05941).
    Swish,
    /// `max(x, 0)^2` (So et al., arXiv:2109.08668).
    ReluSquared,
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::Relu => "relu",
            Activation::Mish => "mish",
            Activation::None => "none",
            Activation::Tanh => "tanh",
            Activation::Sigmoid => "sigmoid",
            Activation::Selu => "selu",
            Activation::Swish => "swish",
            Activation::ReluSquared => "relu squared",
        })
    }
}

/// Serialises as the text that people read.
impl serde::Serialize for Activation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_what_people_read() {
        for activation in [Activation::Relu, Activation::None, Activation::ReluSquared] {
            assert_eq!(serde_json::to_string(&activation).unwrap(), format!("\"{activation}\""));
        }
    }
}
