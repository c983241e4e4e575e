//! The operators of ONNX Runtime's own that stand for several of ONNX's in a transformer.
//!
//! On NVIDIA's cards they save kernels, each of which takes its time to be started (the CUDA provider's `attention.cc`,
//! `skip_layer_norm.cc` and `gemm.cc`: a `Gemm` with biases is two products). ONNX Runtime finds neither by itself: it
//! looks for the attention of BERT, and for sums of three dimensions.
//!
//! | operator | kernels | kernels in its place |
//! |---|---|---|
//! | `Attention` | 3: product, biases and reordering, attention | 14: 3 `Gemm` (6), 4 `Transpose`, 2 `MatMul`, `Add`, `Softmax` |
//! | `SkipLayerNormalization` | 1 | 3: biases of the last `Gemm`, `Add`, `LayerNormalization` |

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
    /// `Attention` rather than `MultiHeadAttention`: this one takes queries, keys and values side by side in an order
    /// that ONNX Runtime's CPU does not take, or else apart, which costs a `Split` more.
    pub(super) fn fused_attention(&mut self, path: &str, encoder: &'a Encoder, input: &Value) -> Value {
        let (heads, width, model) = (encoder.heads as i64, encoder.query.inputs, encoder.query.outputs as i64);
        let layers = [&encoder.query, &encoder.key, &encoder.value];
        let weights = vec![Floats::Columns(layers.map(|layer| &layer.weights).to_vec(), width)];
        let weights = self.graph.floats(&format!("{path}/w"), &[width as i64, 3 * model], weights);
        let biases = layers.iter().flat_map(|layer| &layer.biases).copied().collect();
        let biases = self.graph.floats(&format!("{path}/b"), &[3 * model], vec![Floats::Values(biases)]);
        let boards = self.reshape(&format!("{path}/boards"), input, &[REST, TOKENS, width as i64]);
        let generated = encoder.smolgen.as_ref().map(|smolgen| {
            // Between the biases of the layers and those of the scores stand a mask and earlier keys.
            let path = format!("{path}/smolgen");
            [Value::left_out(), Value::left_out(), self.smolgen(&path, smolgen, heads, input)]
        });
        let inputs: Vec<&Value> = [&boards, &weights, &biases].into_iter().chain(generated.iter().flatten()).collect();
        let flow = self.graph.microsoft(path, "Attention", &inputs, &[Attribute::Int("num_heads", heads)]);
        self.reshape(&format!("{path}/rows"), &flow, &[REST, model])
    }

    /// [`Converter::add_and_norm`] by a product and one operator that adds the layer's biases as well. `names` are those
    /// of the layer and the normalisation.
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
