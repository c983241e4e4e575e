//! The input formats, heads and activations that the header of a network file can name (docs/lc0.md, 4).

use std::fmt;

use zeitnot_kernels::Activation;

/// Layout of a position over the 112 input planes (docs/lc0.md, 4.1); the discriminant is the number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum InputFormat {
    /// Four planes of castling rights, a plane of the side to move, the fifty-move counter in plies.
    Classical = 1,
    /// `Classical` with castling rights as the squares of the rooks.
    WithCastlingPlane = 2,
    /// En passant instead of the side to move, no history across irreversible changes, symmetries factored out.
    Canonical = 3,
    /// `Canonical` with the fifty-move counter divided by 100.
    CanonicalHectoplies = 4,
    /// `CanonicalHectoplies` with the side to move in the plane of the move counter.
    CanonicalHectopliesArmageddon = 132,
    /// `CanonicalHectoplies` with only those positions of the history that were repetitions.
    CanonicalV2 = 5,
    /// `CanonicalV2` with the side to move in the plane of the move counter.
    CanonicalV2Armageddon = 133,
    /// The tokens of Maia-3 and the ratings of both players: none of Lc0's formats, and no number in a file.
    Maia3 = -3,
}

impl InputFormat {
    /// Every format of Lc0's, in the order of the file format's documentation.
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
    pub(crate) fn id(self) -> i32 {
        self as i32
    }

    /// The format with this number in a network file, if there is one.
    pub(crate) fn from_id(id: i32) -> Option<InputFormat> {
        InputFormat::ALL.into_iter().find(|format| format.id() == id)
    }

    /// The format with this name, such as `canonical-v2` (its text, the words joined by `-`), if there is one.
    pub fn from_name(name: &str) -> Option<InputFormat> {
        let words = name.to_ascii_lowercase().replace(['-', '_'], " ");
        InputFormat::ALL.into_iter().find(|format| format.to_string() == words)
    }

    /// Whether the history ends at irreversible changes and the board is brought to a canonical orientation.
    pub(crate) fn is_canonical(self) -> bool {
        !matches!(self, InputFormat::Classical | InputFormat::WithCastlingPlane | InputFormat::Maia3)
    }

    /// Whether the fifty-move counter is divided by 100.
    pub(crate) fn is_hectoplies(self) -> bool {
        self.is_canonical() && self != InputFormat::Canonical
    }

    /// Whether plane 110 holds the side to move, for games in which a draw is worth more to one side.
    pub(crate) fn is_armageddon(self) -> bool {
        matches!(self, InputFormat::CanonicalHectopliesArmageddon | InputFormat::CanonicalV2Armageddon)
    }

    /// Whether only repeated positions of the history are shown.
    pub(crate) fn is_v2(self) -> bool {
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
            InputFormat::Maia3 => "Maia-3",
        })
    }
}

/// The activation that the number `id` in the header means: `default` for 0; `None` for an unknown number and for
/// softmax (9), which is no elementwise function.
pub(crate) fn activation_from_id(id: i32, default: Activation) -> Option<Activation> {
    Some(match id {
        0 => default,
        1 => Activation::Mish,
        2 => Activation::Relu,
        3 => Activation::None,
        4 => Activation::Tanh,
        5 => Activation::Sigmoid,
        6 => Activation::Selu,
        7 => Activation::Swish,
        8 => Activation::ReluSquared,
        _ => return None,
    })
}

/// The kind of the policy head (docs/lc0.md, 4.3 to 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// A 1x1 convolution and a dense layer with 1858 outputs.
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

/// Implements `Serialize` for types: as the text that they display.
macro_rules! serialise_as_text {
    ($($name:ident),*) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*
    };
}
serialise_as_text!(InputFormat, PolicyKind, ValueKind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_formats_round_trip() {
        for format in InputFormat::ALL {
            assert_eq!(InputFormat::from_id(format.id()), Some(format));
        }
        assert_eq!(InputFormat::from_id(0), None);
        assert_eq!(InputFormat::from_name("Canonical-V2_armageddon"), Some(InputFormat::CanonicalV2Armageddon));
        assert_eq!(InputFormat::from_name("canonical-v3"), None);
    }

    #[test]
    fn activations_by_number() {
        let named: Vec<String> =
            (0..9).map(|id| activation_from_id(id, Activation::Mish).unwrap().to_string()).collect();
        let wanted = ["mish", "mish", "relu", "none", "tanh", "sigmoid", "selu", "swish", "relu squared"];
        assert_eq!(named, wanted);
        assert_eq!([-1, 9].map(|id| activation_from_id(id, Activation::Relu)), [None, None]);
    }
}
