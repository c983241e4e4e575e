//! From the message tree of a file to [`Weights`]: sizes follow from the tensors and must agree with one another.

use super::tensor::Decoder;
use super::{Block, Convolution, Dense, DenseHead, PolicyHead, SQUARES, SqueezeExcitation, Weights};
use crate::network::NetworkError;
use crate::network::format::{Header, PolicyKind, ValueKind};
use crate::network::planes::PLANES;
use crate::network::policy::{CONVOLUTION_PLANES, MOVES};
use crate::network::proto;

/// Added to the variance in a batch normalisation (lc0.md D.6).
const BATCH_NORM_EPSILON: f32 = 1e-5;

impl Weights {
    /// Decodes the tensors of a residual network as its header describes it.
    pub(crate) fn decode(
        net: &proto::Weights,
        header: &Header,
        decoder: &Decoder<'_>,
    ) -> Result<Weights, NetworkError> {
        let input = convolution(decoder, "input", net.input.as_ref(), PLANES, 3)?;
        let filters = input.outputs;
        let blocks = (net.residual.iter().enumerate())
            .map(|(index, residual)| block(decoder, &format!("residual[{index}]"), residual, filters))
            .collect::<Result<Vec<_>, _>>()?;
        let policy = match header.policy {
            PolicyKind::Classical => {
                let convolution = convolution(decoder, "policy", net.policy.as_ref(), filters, 1)?;
                let layers = ["ip_pol_w", "ip_pol_b"];
                let inputs = convolution.outputs * SQUARES;
                let dense = dense(decoder, layers, [net.ip_pol_w.as_ref(), net.ip_pol_b.as_ref()], inputs)?;
                expect_outputs(decoder, layers[1], dense.outputs, MOVES)?;
                PolicyHead::Classical { convolution, dense }
            }
            PolicyKind::Convolution => {
                let hidden = convolution(decoder, "policy1", net.policy1.as_ref(), filters, 3)?;
                let output = convolution(decoder, "policy", net.policy.as_ref(), hidden.outputs, 3)?;
                expect_outputs(decoder, "policy.weights", output.outputs, CONVOLUTION_PLANES)?;
                PolicyHead::Convolution { hidden, output }
            }
            PolicyKind::Attention => return Err(decoder.error("ip2_pol_w", "belongs to an attention policy")),
        };
        let value = head(
            decoder,
            ["ip1_val_w", "ip1_val_b", "ip2_val_w", "ip2_val_b"],
            [&net.ip1_val_w, &net.ip1_val_b, &net.ip2_val_w, &net.ip2_val_b],
            convolution(decoder, "value", net.value.as_ref(), filters, 1)?,
        )?;
        let outputs = match header.value {
            ValueKind::Scalar => 1,
            ValueKind::Wdl => 3,
        };
        expect_outputs(decoder, "ip2_val_b", value.output.outputs, outputs)?;
        let moves_left = if header.moves_left {
            let head = head(
                decoder,
                ["ip1_mov_w", "ip1_mov_b", "ip2_mov_w", "ip2_mov_b"],
                [&net.ip1_mov_w, &net.ip1_mov_b, &net.ip2_mov_w, &net.ip2_mov_b],
                convolution(decoder, "moves_left", net.moves_left.as_ref(), filters, 1)?,
            )?;
            expect_outputs(decoder, "ip2_mov_b", head.output.outputs, 1)?;
            Some(head)
        } else {
            None
        };
        Ok(Weights { input, blocks, policy, value, moves_left, activation: header.activation })
    }
}

fn block(decoder: &Decoder<'_>, path: &str, residual: &proto::Residual, filters: usize) -> Result<Block, NetworkError> {
    let convolution = |field: &str, block: Option<&proto::ConvBlock>| {
        let path = format!("{path}.{field}");
        let convolution = convolution(decoder, &path, block, filters, 3)?;
        expect_outputs(decoder, &format!("{path}.weights"), convolution.outputs, filters)?;
        Ok::<_, NetworkError>(convolution)
    };
    let squeeze_excitation = match &residual.se {
        None => None,
        Some(se) => {
            let paths = ["w1", "b1", "w2", "b2"].map(|field| format!("{path}.se.{field}"));
            let [w1, b1, w2, b2] = paths.each_ref().map(String::as_str);
            let squeeze = dense(decoder, [w1, b1], [se.w1.as_ref(), se.b1.as_ref()], filters)?;
            let excite = dense(decoder, [w2, b2], [se.w2.as_ref(), se.b2.as_ref()], squeeze.outputs)?;
            expect_outputs(decoder, b2, excite.outputs, 2 * filters)?;
            Some(SqueezeExcitation { squeeze, excite })
        }
    };
    Ok(Block {
        first: convolution("conv1", residual.conv1.as_ref())?,
        second: convolution("conv2", residual.conv2.as_ref())?,
        squeeze_excitation,
    })
}

/// The dense layers of a value or moves-left head after its `convolution`.
fn head(
    decoder: &Decoder<'_>,
    [hidden_w, hidden_b, output_w, output_b]: [&str; 4],
    layers: [&Option<proto::Layer>; 4],
    convolution: Convolution,
) -> Result<DenseHead, NetworkError> {
    let [w1, b1, w2, b2] = layers.map(Option::as_ref);
    let hidden = dense(decoder, [hidden_w, hidden_b], [w1, b1], convolution.outputs * SQUARES)?;
    let output = dense(decoder, [output_w, output_b], [w2, b2], hidden.outputs)?;
    Ok(DenseHead { convolution, hidden, output })
}

/// A dense layer whose outputs are as many as its biases.
fn dense(
    decoder: &Decoder<'_>,
    [weights_path, biases_path]: [&str; 2],
    [weights, biases]: [Option<&proto::Layer>; 2],
    inputs: usize,
) -> Result<Dense, NetworkError> {
    let biases = decoder.required(biases_path, biases)?;
    let weights = decoder.sized(weights_path, weights, inputs * biases.len())?;
    Ok(Dense { inputs, outputs: biases.len(), weights, biases })
}

/// A convolution whose outputs follow from the number of its weights, with its batch normalisation folded in:
/// `w' = w g / sqrt(v + epsilon)` and `b' = (b - m) g / sqrt(v + epsilon) + beta` for mean `m`, variance `v`, gamma `g`.
fn convolution(
    decoder: &Decoder<'_>,
    path: &str,
    block: Option<&proto::ConvBlock>,
    inputs: usize,
    kernel: usize,
) -> Result<Convolution, NetworkError> {
    let weights_path = format!("{path}.weights");
    let block = block.ok_or_else(|| decoder.error(&weights_path, "is missing"))?;
    let mut weights = decoder.required(&weights_path, block.weights.as_ref())?;
    let per_output = inputs * kernel * kernel;
    if !weights.len().is_multiple_of(per_output) {
        let problem =
            format!("has {} values, not a multiple of {per_output} = {inputs}x{kernel}x{kernel}", weights.len());
        return Err(decoder.error(&weights_path, problem));
    }
    let outputs = weights.len() / per_output;
    let vector = |field: &str, layer: &Option<proto::Layer>| {
        decoder.optional_sized(&format!("{path}.{field}"), layer.as_ref(), outputs)
    };
    let mut biases = vector("biases", &block.biases)?.unwrap_or_else(|| vec![0.0; outputs]);
    // The field is called the standard deviation, but it holds the variance.
    let means = vector("bn_means", &block.bn_means)?;
    if let Some(variances) = vector("bn_stddivs", &block.bn_stddivs)? {
        let means = means.unwrap_or_else(|| vec![0.0; outputs]);
        let gammas = vector("bn_gammas", &block.bn_gammas)?.unwrap_or_else(|| vec![1.0; outputs]);
        let betas = vector("bn_betas", &block.bn_betas)?.unwrap_or_else(|| vec![0.0; outputs]);
        for output in 0..outputs {
            let variance = variances[output] + BATCH_NORM_EPSILON;
            if variance <= 0.0 {
                return Err(decoder.error(&format!("{path}.bn_stddivs"), "holds a negative variance"));
            }
            let scale = gammas[output] / variance.sqrt();
            weights[output * per_output..][..per_output].iter_mut().for_each(|weight| *weight *= scale);
            biases[output] = (biases[output] - means[output]) * scale + betas[output];
        }
    } else if means.is_some() {
        return Err(decoder.error(&format!("{path}.bn_stddivs"), "is missing"));
    }
    Ok(Convolution { inputs, outputs, kernel, weights, biases })
}

fn expect_outputs(decoder: &Decoder<'_>, path: &str, found: usize, wanted: usize) -> Result<(), NetworkError> {
    if found == wanted {
        Ok(())
    } else {
        Err(decoder.error(path, format!("gives {found} outputs where the network needs {wanted}")))
    }
}
