//! The options of a conversion to ONNX.

use std::fmt;

/// Options for converting a network to an ONNX model.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// The operator set of the model, one of [`Conversion::OPSETS`].
    pub opset: i64,
    /// The type of weights and arithmetic. Inputs and outputs are float32, but see [`Conversion::packed`].
    pub precision: Precision,
    /// The policy head of a network with several, by name; by default its first one.
    pub policy_head: Option<String>,
    /// The value head of a network with several, by name; by default its first one.
    pub value_head: Option<String>,
    /// The batch size, where the model is to have a fixed one.
    pub batch: Option<usize>,
    /// Whether the planes are packed ([`ModelInput::Packed`](super::ModelInput::Packed)) and the policy output has the
    /// type of the arithmetic: a card then reads a twentieth of the bytes, and in half precision writes half of them.
    pub packed: bool,
    /// The operators that make up Mish.
    pub mish: MishForm,
    /// Whether operators of ONNX Runtime's own domain stand for several of ONNX's, so that a card starts fewer kernels.
    /// Other programs than ONNX Runtime do not read such a model.
    pub fused: bool,
}

/// The operators that make up Mish, `x tanh(ln(1 + e^x))`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MishForm {
    /// Six element-wise operators around `Exp`, which ONNX Runtime vectorises: on a CPU 14 times as fast as `Softplus`.
    #[default]
    Exponential,
    /// `Softplus`, `Tanh` and a product: half as many passes through the memory of a card.
    Softplus,
}

impl Conversion {
    /// The operator sets that a conversion can have.
    pub const OPSETS: std::ops::RangeInclusive<i64> = 17..=22;

    /// The first option that differs from its default, in words for an error; `None` if all are defaults.
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
            .or_else(|| self.fused.then(|| "fused operators".to_owned()))
    }
}

impl Default for Conversion {
    /// Opset 17, float32, the first heads, any batch size, dense planes, no fused operators.
    fn default() -> Conversion {
        Conversion {
            opset: *Conversion::OPSETS.start(),
            precision: Precision::Float32,
            policy_head: None,
            value_head: None,
            batch: None,
            packed: false,
            mish: MishForm::default(),
            fused: false,
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
    /// The upper half of a float32: 8 bits of mantissa, the full range. Convolutions of this type need opset 22.
    Bfloat16,
}

impl Precision {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
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
