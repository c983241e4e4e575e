//! Writes the operators of ONNX Runtime's own that stand for several of ONNX's in a transformer.
//!
//! On NVIDIA's cards they save kernels, each of which takes its time to be started (the CUDA provider's `attention.cc`,
//! `skip_layer_norm.cc` and `gemm.cc`: a `Gemm` with biases is two products). ONNX Runtime finds neither by itself: it
//! looks for the attention of BERT, and for sums of three dimensions.
//!
//! | operator | kernels | kernels in its place |
//! |---|---|---|
//! | `Attention` | 3: product, biases with order, attention | 14 of `Gemm`, `Transpose`, `MatMul`, `Add`, `Softmax` |
//! | `SkipLayerNormalization` | 1 | 3 of `Gemm` (its biases), `Add`, `LayerNormalization` |

use super::converter::{Converter, REST, TOKENS};
use super::encode::Floats;
use super::graph::{Attribute, Value};
use crate::weights::Dense;
use crate::weights::layers::{Encoder, Norm};
use crate::weights::tensor::Tensor;

impl<'a> Converter<'a> {
    /// The attended values of all heads, rows `[batch * 64, values]`, by one operator that multiplies by the weights of
    /// queries, keys and values at once and scales the scores by the root of a head's width.
    ///
    /// `MultiHeadAttention` would take one kernel more: its input is the three apart, which a `Split` would make, or in
    /// one tensor, which ONNX Runtime's CPU does not take.
    pub(super) fn fused_attention(&mut self, path: &str, encoder: &'a Encoder, input: &Value) -> Value {
        let (heads, width, model) = (encoder.heads as i64, encoder.query.inputs, encoder.query.outputs as i64);
        let layers = [&encoder.query, &encoder.key, &encoder.value];
        let weights = vec![Floats::Columns(layers.map(|layer| &layer.weights).to_vec(), width)];
        let weights = self.graph.floats(&format!("{path}/w"), &[width as i64, 3 * model], weights);
        let biases = layers.iter().flat_map(|layer| &layer.biases).copied().collect();
        let biases = self.graph.floats(&format!("{path}/b"), &[3 * model], vec![Floats::Values(biases)]);
        let boards = self.reshape(&format!("{path}/boards"), input, &[REST, TOKENS, width as i64]);
        let mut inputs = vec![boards, weights, biases];
        if let Some(smolgen) = &encoder.smolgen {
            // Before the biases of the scores come a mask and earlier keys.
            let scores = self.smolgen(&format!("{path}/smolgen"), smolgen, heads, input);
            inputs.extend([Value::left_out(), Value::left_out(), scores]);
        }
        let inputs: Vec<&Value> = inputs.iter().collect();
        let flow = self.graph.microsoft(path, "Attention", &inputs, &[Attribute::Int("num_heads", heads)]);
        self.reshape(&format!("{path}/rows"), &flow, &[REST, model])
    }

    /// [`Converter::add_and_norm`] by a product and one operator that adds the layer's biases as well, under the names of
    /// the layer and of the normalisation.
    pub(super) fn fused_add_and_norm(
        &mut self,
        [path, norm_path]: [&str; 2],
        last: &'a Dense<Tensor>,
        factor: f32,
        norm: &Norm,
        input: &Value,
        flow: &Value,
    ) -> Value {
        let [outputs, inputs] = [last.outputs, last.inputs].map(|size| size as i64);
        let weights = vec![Floats::Tensor(&last.weights, factor)];
        let weights = self.graph.floats(&format!("{path}/w"), &[outputs, inputs], weights);
        let branch = self.graph.node(path, "Gemm", &[flow, &weights], &[Attribute::Int("transB", 1)]);
        let biases = vec![Floats::Values(last.biases.iter().map(|bias| bias * factor).collect())];
        let biases = self.graph.floats(&format!("{path}/b"), &[outputs], biases);
        let [gammas, betas] = self.gammas_and_betas(norm_path, norm);
        let epsilon = [Attribute::Float("epsilon", norm.epsilon)];
        let inputs = [input, &branch, &gammas, &betas, &biases];
        self.graph.microsoft(norm_path, "SkipLayerNormalization", &inputs, &epsilon)
    }
}
