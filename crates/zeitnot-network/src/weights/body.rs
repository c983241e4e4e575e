//! Reads transformers: the body of a network, and its encoders.

use super::layers::{AttentionBody, DensePosition, Encoder, Position, Smolgen};
use super::read::{Field, Reader, field};
use super::tensor::Tensor;
use super::{Dense, SQUARES};
use crate::header::PositionEncoding;
use crate::planes::PLANES;
use crate::{NetworkError, proto};
use zeitnot_kernels::Activation;

/// Planes of the current position's pieces, which the dense position encoding looks at.
pub const PIECE_PLANES: usize = 12;
/// Number added to the variance by smolgen's layer normalisations; with dense position encoding, by all of a network's.
const DENSE_EPSILON: f32 = 1e-3;
/// Number added to the variance by other layer normalisations (docs/lc0.md, 4.8).
const USUAL_EPSILON: f32 = 1e-6;

impl Reader<'_> {
    /// Reads the transformer; `filters` are those of the tower below it, if there is one.
    pub(super) fn body(&self, net: &proto::Weights, filters: Option<usize>) -> Result<AttentionBody, NetworkError> {
        if net.encoder.is_empty() {
            return Err(self.decoder.error("encoder[0]", "is missing"));
        }
        let heads = net.headcount.unwrap_or(0) as usize;
        let alpha = (2.0 * net.encoder.len() as f32).powf(-0.25);
        let embedding = |features| self.dense([field!("", net, ip_emb_w), field!("", net, ip_emb_b)], features);
        let (position, embedding) = match (filters, self.header.position_encoding) {
            (Some(filters), _) => (Position::Tower, embedding(filters)?),
            (None, PositionEncoding::Map) => (Position::Map, embedding(PLANES + SQUARES)?),
            (None, PositionEncoding::Dense) => {
                let layers = [field!("", net, ip_emb_preproc_w), field!("", net, ip_emb_preproc_b)];
                let layer = self.dense(layers, SQUARES * PIECE_PLANES)?;
                if !layer.outputs.is_multiple_of(SQUARES) {
                    let problem = format!("has {} values, not a multiple of {SQUARES}", layer.outputs);
                    return Err(self.decoder.error("ip_emb_preproc_b", problem));
                }
                let embedding = embedding(PLANES + layer.outputs / SQUARES)?;
                let width = embedding.outputs;
                let norm = [field!("", net, ip_emb_ln_gammas), field!("", net, ip_emb_ln_betas)];
                let ffn_norm = [field!("", net, ip_emb_ffn_ln_gammas), field!("", net, ip_emb_ffn_ln_betas)];
                let position = DensePosition {
                    layer,
                    norm: self.norm(norm, width, DENSE_EPSILON)?,
                    ffn: self.feed_forward("ip_emb_ffn.", net.ip_emb_ffn.as_ref(), width, self.header.activation)?,
                    ffn_norm: self.norm(ffn_norm, width, DENSE_EPSILON)?,
                };
                (Position::Dense(Box::new(position)), embedding)
            }
        };
        let width = embedding.outputs;
        let shared = self.shared_smolgen(net)?;
        let encoders = (net.encoder.iter().enumerate())
            .map(|(index, encoder)| {
                let path = format!("encoder[{index}].");
                self.encoder(&path, encoder, width, ("headcount", heads), shared.as_ref(), self.header.ffn_activation)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(AttentionBody {
            position,
            embedding,
            multiply_gate: self.optional_vector(&field!("", net, ip_mult_gate), width * SQUARES)?,
            add_gate: self.optional_vector(&field!("", net, ip_add_gate), width * SQUARES)?,
            encoders,
            alpha,
        })
    }

    /// The last matrix of smolgen, which all encoders share, as `[4096, numbers of a head]`; `None` without smolgen.
    pub(super) fn shared_smolgen(&self, net: &proto::Weights) -> Result<Option<Dense<Tensor>>, NetworkError> {
        let shared = field!("", net, smolgen_w);
        let Some(tensor) = self.decoder.optional(&shared.path, shared.layer)? else { return Ok(None) };
        let outputs = SQUARES * SQUARES;
        if !tensor.len().is_multiple_of(outputs) {
            let problem = format!("has {} values, not a multiple of {outputs}", tensor.len());
            return Err(self.decoder.error(&shared.path, problem));
        }
        self.count(tensor.len());
        let inputs = tensor.len() / outputs;
        Ok(Some(Dense { inputs, outputs, weights: tensor, biases: Vec::new() }))
    }

    /// Reads the encoder at `path`, for squares of `width` features; the number of heads comes with its field's name.
    pub(super) fn encoder(
        &self,
        path: &str,
        encoder: &proto::EncoderLayer,
        width: usize,
        (heads_field, heads): (&str, usize),
        shared: Option<&Dense<Tensor>>,
        ffn_activation: Activation,
    ) -> Result<Encoder, NetworkError> {
        let mha_path = format!("{path}mha.");
        let mha = encoder.mha.as_ref();
        let mha = mha.ok_or_else(|| self.decoder.error(&format!("{mha_path}q_w"), "is missing"))?;
        for rpe in [field!(mha_path, mha, rpe_q), field!(mha_path, mha, rpe_k), field!(mha_path, mha, rpe_v)] {
            if rpe.layer.is_some_and(|layer| layer.params.as_ref().is_some_and(|params| !params.is_empty())) {
                return Err(self.decoder.unsupported(format!("its relative position encoding ({}) is", rpe.path)));
            }
        }
        let dense = |[weights, biases]: [Field<'_>; 2], inputs, outputs: Option<usize>| {
            let path = biases.path.clone();
            let layer = self.dense([weights, biases], inputs)?;
            outputs.map_or(Ok(()), |outputs| self.expect_outputs(&path, layer.outputs, outputs))?;
            Ok::<_, NetworkError>(layer)
        };
        let query = dense([field!(mha_path, mha, q_w), field!(mha_path, mha, q_b)], width, None)?;
        let model = query.outputs;
        if heads == 0 || !model.is_multiple_of(heads) {
            let problem = format!("is {heads}, which does not divide the {model} queries of {path}mha");
            return Err(self.decoder.error(heads_field, problem));
        }
        let key = dense([field!(mha_path, mha, k_w), field!(mha_path, mha, k_b)], width, Some(model))?;
        let value = dense([field!(mha_path, mha, v_w), field!(mha_path, mha, v_b)], width, Some(model))?;
        let output = dense([field!(mha_path, mha, dense_w), field!(mha_path, mha, dense_b)], model, Some(width))?;
        let smolgen = match &mha.smolgen {
            Some(smolgen) => Some(self.smolgen(&format!("{mha_path}smolgen."), smolgen, width, heads, shared)?),
            None => None,
        };
        let epsilon = match self.header.position_encoding {
            PositionEncoding::Dense => DENSE_EPSILON,
            PositionEncoding::Map => USUAL_EPSILON,
        };
        let norm1 = [field!(path, encoder, ln1_gammas), field!(path, encoder, ln1_betas)];
        let norm2 = [field!(path, encoder, ln2_gammas), field!(path, encoder, ln2_betas)];
        Ok(Encoder {
            heads,
            query,
            key,
            value,
            output,
            smolgen,
            norm1: self.norm(norm1, width, epsilon)?,
            ffn: self.feed_forward(&format!("{path}ffn."), encoder.ffn.as_ref(), width, ffn_activation)?,
            norm2: self.norm(norm2, width, epsilon)?,
        })
    }

    fn smolgen(
        &self,
        path: &str,
        smolgen: &proto::Smolgen,
        width: usize,
        heads: usize,
        shared: Option<&Dense<Tensor>>,
    ) -> Result<Smolgen, NetworkError> {
        let shared = shared.ok_or_else(|| self.decoder.error("smolgen_w", "is missing"))?;
        let compress = self.unbiased(&field!(path, smolgen, compress), width)?;
        let hidden = [field!(path, smolgen, dense1_w), field!(path, smolgen, dense1_b)];
        let hidden = self.dense(hidden, SQUARES * compress.outputs)?;
        let norm1 = [field!(path, smolgen, ln1_gammas), field!(path, smolgen, ln1_betas)];
        let norm1 = self.norm(norm1, hidden.outputs, DENSE_EPSILON)?;
        let output = [field!(path, smolgen, dense2_w), field!(path, smolgen, dense2_b)];
        let output = self.dense(output, hidden.outputs)?;
        self.expect_outputs(&format!("{path}dense2_b"), output.outputs, heads * shared.inputs)?;
        let norm2 = [field!(path, smolgen, ln2_gammas), field!(path, smolgen, ln2_betas)];
        let norm2 = self.norm(norm2, output.outputs, DENSE_EPSILON)?;
        let activation = self.header.smolgen_activation;
        Ok(Smolgen { compress, hidden, norm1, output, norm2, shared: shared.clone(), activation })
    }
}
