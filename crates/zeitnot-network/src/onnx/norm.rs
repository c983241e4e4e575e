//! Writes the layer normalisations of a transformer, alone and of a sum.

use super::converter::Converter;
use super::encode::Floats;
use super::graph::{Attribute, Value};
use crate::weights::Dense;
use crate::weights::layers::Norm;
use crate::weights::tensor::Tensor;

impl<'a> Converter<'a> {
    /// The normalisation of `input` plus `factor` times the layer `last` of `flow`. `names` are those of the layer, the
    /// sum and the normalisation.
    pub(super) fn add_and_norm(
        &mut self,
        names: [&str; 3],
        last: &'a Dense<Tensor>,
        factor: f32,
        norm: &Norm,
        input: &Value,
        flow: &Value,
    ) -> Value {
        let [last_path, sum, norm_path] = names;
        if self.fused {
            return self.fused_add_and_norm([last_path, norm_path], last, factor, norm, input, flow);
        }
        let branch = self.scaled_dense(last_path, &[(last, factor)], flow);
        let sum = self.graph.node(sum, "Add", &[input, &branch], &[]);
        self.norm(norm_path, norm, &sum)
    }

    /// Layer normalisation of the last dimension.
    pub(super) fn norm(&mut self, path: &str, norm: &Norm, input: &Value) -> Value {
        let [gammas, betas] = self.gammas_and_betas(path, norm);
        let attributes = [Attribute::Int("axis", -1), Attribute::Float("epsilon", norm.epsilon)];
        self.graph.node(path, "LayerNormalization", &[input, &gammas, &betas], &attributes)
    }

    /// The factors and the biases of a layer normalisation.
    pub(super) fn gammas_and_betas(&mut self, path: &str, norm: &Norm) -> [Value; 2] {
        [("w", &norm.gammas), ("b", &norm.betas)].map(|(name, values)| {
            let shape = [values.len() as i64];
            self.graph.floats(&format!("{path}/{name}"), &shape, vec![Floats::Values(values.clone())])
        })
    }
}
