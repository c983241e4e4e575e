//! The options of a conversion to ONNX.

use std::fmt;

/// The options by which a network becomes an ONNX model.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// The operator set of the model, [`Conversion::OPSETS`].
    pub opset: i64,
    /// The type of the weights and of the arithmetic between the ends, which are float32 unless [`Conversion::packed`].
    pub precision: Precision,
    /// The policy head of a network with several, by name; by default its first one.
    pub policy_head: Option<String>,
    /// The value head of a network with several, by name; by default its first one.
    pub value_head: Option<String>,
    /// The batch size, where the model is to have a fixed one.
    pub batch: Option<usize>,
    /// Whether the planes come packed ([`ModelInput::Packed`](super::ModelInput::Packed)) and the policy leaves in the
    /// type of the arithmetic: a twentieth of the bytes for a card to read, and in half precision half of those to
    /// write.
    pub packed: bool,
    /// The operators of Mish.
    pub mish: MishForm,
}

/// The operators that make up Mish, `x tanh(ln(1 + e^x))`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MishForm {
    /// Six element-wise ones around `Exp`, which ONNX Runtime vectorises on a CPU: 14 times as fast there as the other.
    #[default]
    Exponential,
    /// `Softplus`, `Tanh` and a product: half as many passes through the memory of a card.
    Softplus,
}

impl Conversion {
    /// The operator sets that can be asked for.
    pub const OPSETS: std::ops::RangeInclusive<i64> = 17..=22;

    /// The first difference from the default, in words.
    pub(crate) fn first_wish(&self) -> Option<String> {
        let usual = Conversion::default();
        let head = |kind: &str, head: &Option<String>| head.as_ref().map(|head| format!("the {kind} head {head}"));
        (self.precision != usual.precision)
            .then(|| format!("the type {}", self.precision))
            .or_else(|| (self.opset != usual.opset).then(|| format!("opset {}", self.opset)))
            .or_else(|| head("policy", &self.policy_head))
            .or_else(|| head("value", &self.value_head))
            .or_else(|| self.batch.map(|batch| format!("the fixed batch size {batch}")))
            .or_else(|| self.packed.then(|| "packed planes".to_owned()))
            .or_else(|| (self.mish != usual.mish).then(|| "another form of Mish".to_owned()))
    }
}

impl Default for Conversion {
    /// Opset 17, float32, the first heads, any batch size, dense planes.
    fn default() -> Conversion {
        Conversion {
            opset: *Conversion::OPSETS.start(),
            precision: Precision::Float32,
            policy_head: None,
            value_head: None,
            batch: None,
            packed: false,
            mish: MishForm::default(),
        }
    }
}

/// A type of floating-point numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// IEEE single precision.
    #[default]
    Float32,
    /// IEEE half precision: 11 bits of mantissa, up to 65504.
    Float16,
    /// The upper half of a float32: 8 bits of mantissa and its whole range. Convolutions of it need opset 22.
    Bfloat16,
}

impl Precision {
    /// Bytes of a number.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Precision::Float32 => 4,
            Precision::Float16 | Precision::Bfloat16 => 2,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Float32 => "float32",
            Precision::Float16 => "float16",
            Precision::Bfloat16 => "bfloat16",
        })
    }
}
