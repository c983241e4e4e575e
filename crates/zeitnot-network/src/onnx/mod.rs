//! Networks as ONNX models: the graph of a network in Lc0's format, and the inputs and outputs of a model that came as
//! ONNX.

mod attention;
mod conversion;
mod converter;
mod default_inputs;
mod encode;
pub mod fields;
mod fused;
mod graph;
mod interface;
mod maia3_input;
mod model;
mod norm;
mod residual;

use std::path::PathBuf;

use super::maia3;
use super::onnx_proto::field::{GRAPH, NODE, OP_TYPE};
use super::planes::PLANES;
use super::policy::MOVES;
use fields::all;

pub use conversion::{Conversion, MishForm, Precision};
pub use converter::convert;
pub use default_inputs::without_default_inputs;
pub use interface::OnnxInterface;
pub use maia3_input::Maia3Input;
pub use model::inspect;

/// Names of the inputs and outputs in the models that Lc0 and this crate write (docs/lc0.md, 4.8).
pub(crate) mod names {
    pub(crate) const INPUT: &str = "/input/planes";
    /// Name of the first input of packed planes, which only this program's own sessions use; the next is the second's.
    pub(crate) const BOARDS: &str = "/input/boards";
    pub(crate) const VALUES: &str = "/input/values";
    pub(crate) const POLICY: &str = "/output/policy";
    pub(crate) const WDL: &str = "/output/wdl";
    pub(crate) const VALUE: &str = "/output/value";
    pub(crate) const MOVES_LEFT: &str = "/output/mlh";
    /// Key of the metadata entry with the number of the input format, in models that this crate writes.
    pub(crate) const INPUT_FORMAT: &str = "lc0_input_format";
}

/// Fields of an Lc0 network that name the inputs and outputs of the model inside it; `BackendOptions` has keys of the
/// same names.
#[allow(missing_docs, reason = "the names are those of the format")]
pub mod keys {
    pub const INPUT: &str = "input_planes";
    pub const POLICY: &str = "output_policy";
    pub const WDL: &str = "output_wdl";
    pub const VALUE: &str = "output_value";
    pub const MOVES_LEFT: &str = "output_mlh";
}

/// A network as an ONNX model.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxModel {
    /// The model file.
    pub bytes: Vec<u8>,
    /// The input planes.
    pub input: ModelInput,
    /// Name of the policy output: `[batch, 1858]` or with Maia-3 `[batch, 4352]`, logits.
    pub policy: String,
    /// The value output.
    pub value: ValueOutput,
    /// Name of the moves-left output, if there is one: `[batch, 1]`, plies.
    pub moves_left: Option<String>,
    /// The types of all inputs and outputs.
    pub types: EndTypes,
    /// The folder of the file that the model came in, with its external data. `None` for a model that was made here.
    pub folder: Option<PathBuf>,
}

impl OnnxModel {
    /// Number of logits in the policy output.
    pub fn policy_size(&self) -> usize {
        match self.input {
            ModelInput::Maia3(_) => maia3::MOVES,
            ModelInput::Dense(_) | ModelInput::Packed { .. } => MOVES,
        }
    }

    /// Whether any node is a convolution.
    pub fn has_convolutions(&self) -> bool {
        let nodes = all(&self.bytes, GRAPH).flat_map(|graph| all(graph, NODE));
        nodes.flat_map(|node| all(node, OP_TYPE)).any(|op| op == b"Conv")
    }
}

/// The input planes of an ONNX model, and their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelInput {
    /// Name of an input `[batch, 112, 8, 8]` of numbers.
    Dense(String),
    /// The set squares of each plane and the value that they share, which the graph expands: 1,344 bytes a position
    /// instead of 28,672. Lc0 sends the same to its kernel `expandPlanes`.
    Packed {
        /// Name of an input `[batch, 112, 8]` of bytes: one for each rank, the lowest bit being the file a.
        boards: String,
        /// Name of an input `[batch, 112, 1, 1]` of float32: the value of each plane.
        values: String,
    },
    /// Maia-3's board and ratings.
    Maia3(Maia3Input),
}

impl ModelInput {
    /// Name and shape of each input tensor, in the model's order; the shapes are without the batch.
    pub fn tensors(&self) -> Vec<(&str, Vec<usize>)> {
        match self {
            ModelInput::Dense(name) => vec![(name, vec![PLANES, 8, 8])],
            ModelInput::Packed { boards, values } => vec![(boards, vec![PLANES, 8]), (values, vec![PLANES, 1, 1])],
            ModelInput::Maia3(input) => input.tensors(),
        }
    }
}

/// The types of an ONNX model's inputs and outputs; float32 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndTypes {
    /// Precision of dense planes.
    pub input: Precision,
    /// Precision of the policy output.
    pub policy: Precision,
    /// Precision of the value output.
    pub value: Precision,
    /// Precision of the moves-left output, if there is one.
    pub moves_left: Precision,
}

/// The value output of an ONNX model, for the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOutput {
    /// Name of an output `[batch, 3]`: probabilities of win, draw and loss.
    Wdl(String),
    /// Name of an output `[batch, 1]`: the expected score, -1 to 1.
    Scalar(String),
    /// Name of an output `[batch, 3]` of Maia-3: logits of loss, draw and win.
    LossDrawWinLogits(String),
}

impl ValueOutput {
    /// The output's name, and how many numbers it has for a position.
    pub fn end(&self) -> (&str, usize) {
        match self {
            ValueOutput::Wdl(name) | ValueOutput::LossDrawWinLogits(name) => (name, 3),
            ValueOutput::Scalar(name) => (name, 1),
        }
    }
}
