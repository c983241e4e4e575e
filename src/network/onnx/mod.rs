//! Networks as ONNX models: the graph of a network in Lc0's format, and the inputs and outputs of a model that came as
//! ONNX.

mod attention;
mod conversion;
mod converter;
mod encode;
mod graph;
mod interface;
mod model;
mod quantise;
mod residual;

use std::path::PathBuf;

pub use conversion::{Conversion, Precision};
pub(crate) use converter::convert;
pub use interface::OnnxInterface;
pub(crate) use model::inspect;
pub use quantise::{ActivationRange, Quantiser};

/// Names of the ends in the models that Lc0 and this crate write (docs/lc0.md, 4.8).
pub(crate) mod names {
    pub(crate) const INPUT: &str = "/input/planes";
    pub(crate) const POLICY: &str = "/output/policy";
    pub(crate) const WDL: &str = "/output/wdl";
    pub(crate) const VALUE: &str = "/output/value";
    pub(crate) const MOVES_LEFT: &str = "/output/mlh";
    /// The note of the models that this crate writes which says the number of their input format.
    pub(crate) const INPUT_FORMAT: &str = "lc0_input_format";
}

/// The fields of an Lc0 network that name the ends of the model inside it; keys of `BackendOptions` are called the same.
pub(crate) mod keys {
    pub(crate) const INPUT: &str = "input_planes";
    pub(crate) const POLICY: &str = "output_policy";
    pub(crate) const WDL: &str = "output_wdl";
    pub(crate) const VALUE: &str = "output_value";
    pub(crate) const MOVES_LEFT: &str = "output_mlh";
}

/// A network as an ONNX model.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxModel {
    /// The model file.
    pub bytes: Vec<u8>,
    /// Name of the input: `[batch, 112, 8, 8]`.
    pub input: String,
    /// Name of the policy output: `[batch, 1858]`, logits.
    pub policy: String,
    /// The value output.
    pub value: ValueOutput,
    /// Name of the moves-left output: `[batch, 1]`, plies.
    pub moves_left: Option<String>,
    /// The types of them all.
    pub types: EndTypes,
    /// The folder of the file that the model came in: external data lie there. `None` for a model that was made here.
    pub folder: Option<PathBuf>,
}

/// The types of the ends of an ONNX model: float32 unless it came with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndTypes {
    /// Of the input.
    pub input: Precision,
    /// Of the policy output.
    pub policy: Precision,
    /// Of the value output.
    pub value: Precision,
    /// Of the moves-left output, if there is one.
    pub moves_left: Precision,
}

/// The value output of an ONNX model, for the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOutput {
    /// Name of an output `[batch, 3]`: probabilities of win, draw and loss.
    Wdl(String),
    /// Name of an output `[batch, 1]`: the expected score, -1 to 1.
    Scalar(String),
}
