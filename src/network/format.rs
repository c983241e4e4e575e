//! What the header of a network file says: input format, architecture, heads and activation, after the fix-ups that
//! older files need (lc0.md D.6).

use std::fmt;

use super::NetworkError;
use super::proto;

/// How a position is laid out over the 112 input planes (lc0.md D.1); the discriminant is the number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum InputFormat {
    /// Four planes of castling rights, a plane of the side to move, the fifty-move counter in plies.
    Classical = 1,
    /// The castling rights as the squares of their rooks.
    WithCastlingPlane = 2,
    /// En passant instead of the side to move, no history across irreversible changes, symmetries factored out.
    Canonical = 3,
    /// As `Canonical`, with the fifty-move counter divided by 100.
    CanonicalHectoplies = 4,
    /// As `CanonicalHectoplies`, with the side to move in the plane of the move counter.
    CanonicalHectopliesArmageddon = 132,
    /// As `CanonicalHectoplies`, with only those positions of the history that were repetitions.
    CanonicalV2 = 5,
    /// As `CanonicalV2`, with the side to move in the plane of the move counter.
    CanonicalV2Armageddon = 133,
}

impl InputFormat {
    /// Every format, in the order of the file format's documentation.
    pub const ALL: [InputFormat; 7] = [
        InputFormat::Classical,
        InputFormat::WithCastlingPlane,
        InputFormat::Canonical,
        InputFormat::CanonicalHectoplies,
        InputFormat::CanonicalHectopliesArmageddon,
        InputFormat::CanonicalV2,
        InputFormat::CanonicalV2Armageddon,
    ];

    /// The number in a network file.
    pub fn id(self) -> i32 {
        self as i32
    }

    /// The format of a number in a network file.
    pub fn from_id(id: i32) -> Option<InputFormat> {
        InputFormat::ALL.into_iter().find(|format| format.id() == id)
    }

    /// Whether the history ends at irreversible changes and the board is brought to a canonical orientation.
    pub fn is_canonical(self) -> bool {
        !matches!(self, InputFormat::Classical | InputFormat::WithCastlingPlane)
    }

    /// Whether the fifty-move counter is divided by 100.
    pub fn is_hectoplies(self) -> bool {
        self.is_canonical() && self != InputFormat::Canonical
    }

    /// Whether plane 110 tells the side to move, for games in which a draw is not worth the same to both.
    pub fn is_armageddon(self) -> bool {
        matches!(self, InputFormat::CanonicalHectopliesArmageddon | InputFormat::CanonicalV2Armageddon)
    }

    /// Whether only repeated positions of the history are shown.
    pub fn is_v2(self) -> bool {
        matches!(self, InputFormat::CanonicalV2 | InputFormat::CanonicalV2Armageddon)
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputFormat::Classical => "classical",
            InputFormat::WithCastlingPlane => "with castling plane",
            InputFormat::Canonical => "canonical",
            InputFormat::CanonicalHectoplies => "canonical hectoplies",
            InputFormat::CanonicalHectopliesArmageddon => "canonical hectoplies armageddon",
            InputFormat::CanonicalV2 => "canonical v2",
            InputFormat::CanonicalV2Armageddon => "canonical v2 armageddon",
        })
    }
}

/// The nonlinearity after each layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x * tanh(ln(1 + e^x))` (Misra, arXiv:1908.08681).
    Mish,
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::Relu => "relu",
            Activation::Mish => "mish",
        })
    }
}

/// The kind of the policy head (lc0.md D.3 to D.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// A 1x1 convolution and a dense layer of 1858.
    Classical,
    /// Two 3x3 convolutions to 80 planes of 64 squares.
    Convolution,
    /// Queries of the from-squares times keys of the to-squares.
    Attention,
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PolicyKind::Classical => "classical",
            PolicyKind::Convolution => "convolution",
            PolicyKind::Attention => "attention",
        })
    }
}

/// The kind of the value head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One number in -1..1: the expected score.
    Scalar,
    /// Probabilities of win, draw and loss.
    Wdl,
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueKind::Scalar => "scalar",
            ValueKind::Wdl => "WDL",
        })
    }
}

/// The body of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structure {
    /// A tower of residual blocks; whether they squeeze and excite is seen from their tensors.
    Residual,
    /// A transformer, or a tower with one on top.
    AttentionBody,
    /// An ONNX model inside the file.
    Onnx,
}

/// The header of a network file with every gap filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub structure: Structure,
    pub input: InputFormat,
    pub policy: PolicyKind,
    pub value: ValueKind,
    pub moves_left: bool,
    pub activation: Activation,
}

impl Header {
    /// Reads the header of the file `name`.
    ///
    /// Fix-ups (lc0.md D.6): a file without a format is classical in everything; the two oldest structures mean
    /// classical heads; a squeeze-and-excitation network with encoders is an attention body.
    pub(crate) fn of(net: &proto::Net, name: &str) -> Result<Header, NetworkError> {
        let format = net.format.as_ref().and_then(|format| format.network_format.as_ref());
        let Some(format) = format else { return Ok(Header::classical(InputFormat::Classical)) };
        let unsupported = |field: &str, id: i32| NetworkError::Unsupported {
            name: name.to_owned(),
            what: format!("{field} {id} of its header is"),
        };
        let input = match format.input.unwrap_or(0) {
            0 => InputFormat::Classical,
            id => InputFormat::from_id(id).ok_or_else(|| unsupported("input format", id))?,
        };
        let encoders = net.weights.as_ref().is_some_and(|weights| !weights.encoder.is_empty());
        let structure = match format.network.unwrap_or(0) {
            0 if net.onnx_model.is_some() => Structure::Onnx,
            // A file without a structure, CLASSICAL, SE.
            0..=2 => Structure::Residual,
            4 if encoders => Structure::AttentionBody,
            3 | 4 => Structure::Residual,
            5 => Structure::Onnx,
            6 | 7 | 134 => Structure::AttentionBody,
            id => return Err(unsupported("network structure", id)),
        };
        // The two oldest structures know only classical heads, whatever the rest of the header says.
        let classical_heads = structure == Structure::Residual && matches!(format.network.unwrap_or(0), 0..=2);
        let policy = match format.policy.unwrap_or(0) {
            _ if classical_heads => PolicyKind::Classical,
            0 | 1 => PolicyKind::Classical,
            2 => PolicyKind::Convolution,
            3 => PolicyKind::Attention,
            id => return Err(unsupported("policy format", id)),
        };
        let value = match format.value.unwrap_or(0) {
            _ if classical_heads => ValueKind::Scalar,
            0 | 1 => ValueKind::Scalar,
            2 => ValueKind::Wdl,
            id => return Err(unsupported("value format", id)),
        };
        let moves_left = match format.moves_left.unwrap_or(0) {
            0 => false,
            1 => true,
            id => return Err(unsupported("moves left format", id)),
        };
        let activation = match format.default_activation.unwrap_or(0) {
            0 => Activation::Relu,
            1 => Activation::Mish,
            id => return Err(unsupported("default activation", id)),
        };
        Ok(Header { structure, input, policy, value, moves_left, activation })
    }

    /// What the oldest files mean.
    fn classical(input: InputFormat) -> Header {
        Header {
            structure: Structure::Residual,
            input,
            policy: PolicyKind::Classical,
            value: ValueKind::Scalar,
            moves_left: false,
            activation: Activation::Relu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(format: proto::NetworkFormat) -> proto::Net {
        proto::Net {
            format: Some(proto::Format { weights_encoding: None, network_format: Some(format) }),
            ..proto::Net::default()
        }
    }

    #[test]
    fn a_missing_format_is_classical() {
        let header = Header::of(&proto::Net::default(), "x").unwrap();
        assert_eq!(header, Header::classical(InputFormat::Classical));
        assert_eq!(Header::of(&net(proto::NetworkFormat::default()), "x").unwrap(), header);
    }

    #[test]
    fn the_oldest_structures_have_classical_heads() {
        for structure in [1, 2] {
            let format = proto::NetworkFormat {
                input: Some(1),
                network: Some(structure),
                policy: Some(2),
                value: Some(2),
                ..proto::NetworkFormat::default()
            };
            assert_eq!(Header::of(&net(format), "x").unwrap(), Header::classical(InputFormat::Classical));
        }
    }

    #[test]
    fn encoders_make_an_attention_body() {
        let mut net = net(proto::NetworkFormat { network: Some(4), ..proto::NetworkFormat::default() });
        assert_eq!(Header::of(&net, "x").unwrap().structure, Structure::Residual);
        net.weights = Some(proto::Weights { encoder: vec![proto::EncoderLayer::default()], ..Default::default() });
        assert_eq!(Header::of(&net, "x").unwrap().structure, Structure::AttentionBody);
    }

    #[test]
    fn unknown_numbers_are_named() {
        let cases = [
            (proto::NetworkFormat { input: Some(9), ..Default::default() }, "input format 9"),
            (proto::NetworkFormat { network: Some(99), ..Default::default() }, "network structure 99"),
            (proto::NetworkFormat { network: Some(4), value: Some(3), ..Default::default() }, "value format 3"),
            (proto::NetworkFormat { network: Some(4), policy: Some(7), ..Default::default() }, "policy format 7"),
        ];
        for (format, wanted) in cases {
            let error = Header::of(&net(format), "x.pb").unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("x.pb"), "{error}");
        }
    }

    #[test]
    fn input_formats_round_trip() {
        for format in InputFormat::ALL {
            assert_eq!(InputFormat::from_id(format.id()), Some(format));
        }
        assert_eq!(InputFormat::from_id(0), None);
    }
}
