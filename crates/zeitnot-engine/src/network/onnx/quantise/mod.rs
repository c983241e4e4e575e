//! Static quantisation to 8 bits: a pass over a model in float32, in the form that runtimes fuse (QDQ).
//!
//! Activations are unsigned, weights signed with a scale for each output: with U8S8 a 6x64 network runs 2.5 times as
//! fast as in float32 on a processor with VNNI, with signed activations 0.6 times (measured with ONNX Runtime 1.31). A
//! number `x` is stored as `x / scale + zero point` (Jacob et al., arXiv:1712.05877). Around each operator that shall
//! run in integers stand a `QuantizeLinear` and a `DequantizeLinear`, which ONNX Runtime folds into it; a runtime that
//! does not fold them computes the same in floats.
//!
//! Some operators stay in float32: in 8 bits they would save little time and lose most of the agreement (maia-1900;
//! first choices that agree, KL divergence of the policy, mean error of the value, speed; `benches/agreement.rs`):
//!
//! | in 8 bits | first choice | KL | value | speed |
//! |---|---|---|---|---|
//! | everything | 92.1 % | .0188 | .0188 | 2.53 |
//! | without the last convolution of the policy | 93.4 % | .0133 | .0188 | 2.23 |
//! | and without sums, products and squeeze and excitation | 94.8 % | .0053 | .0128 | 2.14 |
//! | and without the first convolution: this pass | 95.2 % | .0041 | .0085 | 1.88 |
//!
//! Measured and left out: ranges that clip (least squared error) gain the first choice less than they cost in KL;
//! equalising channels across layers (arXiv:1906.04721) helps one network and harms another; `ConvInteger`, which
//! would give exact sums, runs at a tenth of the speed of a convolution in floats.

mod numbers;
mod pass;

use std::collections::HashMap;

use prost::Message;

use super::{ModelInput, OnnxModel, without_default_inputs};
use crate::network::NetworkError;
use crate::network::onnx_proto::ModelProto;

/// The first operator set in which the weights of each output have a scale of their own (`axis` of `DequantizeLinear`).
const LEAST_OPSET: i64 = 13;

/// The least and the largest number that a value of the graph takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActivationRange {
    /// The least.
    pub minimum: f32,
    /// The largest.
    pub maximum: f32,
}

/// A float32 model about to be quantised.
pub(crate) struct Quantiser {
    name: String,
    original: OnnxModel,
    model: ModelProto,
    plan: pass::QuantisationPlan,
}

impl Quantiser {
    /// Finds the operators that can run in 8 bits in a model of the network `name`.
    ///
    /// # Errors
    /// When the model cannot be read or rewritten, or none of its operators can run in 8 bits.
    pub(crate) fn new(mut original: OnnxModel, name: &str) -> Result<Quantiser, NetworkError> {
        let error = |problem: &str| NetworkError::Onnx { name: name.to_owned(), problem: problem.to_owned() };
        if let Some(bytes) = without_default_inputs(&original.bytes) {
            original.bytes = bytes;
        }
        if matches!(original.input, ModelInput::Maia3(_)) {
            return Err(error("it is a Maia-3, which the conversion to int8 does not know"));
        }
        let model = ModelProto::decode(&*original.bytes).map_err(|problem| error(&problem.to_string()))?;
        // Rewriting the model would lose fields that the messages of this crate do not have.
        if model.encoded_len() != original.bytes.len() {
            return Err(error("it uses parts of ONNX that the conversion to int8 does not know"));
        }
        if model.opset().is_some_and(|opset| opset < LEAST_OPSET) {
            return Err(error(&format!(
                "its operator set is older than {LEAST_OPSET}, the first that has int8 by channel"
            )));
        }
        let plan = model.graph.as_ref().map(pass::QuantisationPlan::of).unwrap_or_default();
        if plan.is_empty() {
            return Err(error("nothing in it can run in int8"));
        }
        Ok(Quantiser { name: name.to_owned(), original, model, plan })
    }

    /// Name of the model's input, which is dense.
    pub(crate) fn input(&self) -> &str {
        let tensors = self.original.input.tensors();
        tensors[0].0
    }

    /// Names of the values whose ranges must be known.
    pub(crate) fn observed(&self) -> Vec<String> {
        self.plan.observed()
    }

    /// The model file with the values of [`Quantiser::observed`] as outputs.
    pub(crate) fn observable(&self) -> Vec<u8> {
        pass::observable(&self.model, &self.plan.observed()).encode_to_vec()
    }

    /// The model in 8 bits; `ranges` are those of [`Quantiser::observed`].
    ///
    /// # Errors
    /// When a range is missing or not finite.
    pub(crate) fn quantise(self, ranges: &HashMap<String, ActivationRange>) -> Result<OnnxModel, NetworkError> {
        let known = |name: &String| {
            ranges.get(name).is_some_and(|range| range.minimum.is_finite() && range.maximum.is_finite())
        };
        if let Some(name) = self.plan.observed().into_iter().find(|name| !known(name)) {
            return Err(NetworkError::Onnx { name: self.name, problem: format!("{name} has no finite range") });
        }
        let bytes = self.plan.apply(self.model, ranges).encode_to_vec();
        Ok(OnnxModel { bytes, ..self.original })
    }
}

#[cfg(test)]
mod tests;
