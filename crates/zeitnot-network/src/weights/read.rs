//! Reads the layers of every architecture from the messages of a file, and checks that their sizes fit each other.

use std::cell::Cell;

use super::layers::{FeedForward, Layers, Norm, Tower};
use super::tensor::{Decoder, Tensor};
use super::{Block, Convolution, Dense, SqueezeExcitation};
use crate::header::{Header, Structure};
use crate::planes::PLANES;
use crate::{NetworkError, proto};
use zeitnot_kernels::Activation;

/// Number added to the variance in a batch normalisation (docs/lc0.md, 4.6).
const BATCH_NORM_EPSILON: f32 = 1e-5;

/// A tensor of a message, with its path in the file for errors.
pub(super) struct Field<'a> {
    pub path: String,
    pub layer: Option<&'a proto::Layer>,
}

/// The [`Field`] `$name` of a message whose own path, with a dot behind it, is `$path`.
macro_rules! field {
    ($path:expr, $message:expr, $name:ident) => {
        $crate::weights::read::Field { path: format!("{}{}", $path, stringify!($name)), layer: $message.$name.as_ref() }
    };
}
pub(super) use field;

/// Reads the layers of one file.
pub(super) struct Reader<'a> {
    pub decoder: Decoder<'a>,
    pub header: &'a Header,
    /// Number of parameters of the layers read so far.
    pub parameters: Cell<usize>,
}

impl Layers {
    /// Reads the layers of a network as its header describes them; every tensor that is used is checked.
    pub fn read(net: &proto::Weights, header: &Header, decoder: Decoder<'_>) -> Result<Layers, NetworkError> {
        let reader = Reader { decoder, header, parameters: Cell::new(0) };
        // A transformer has a tower below it where it has residual blocks.
        let tower = match header.structure {
            Structure::AttentionBody if net.residual.is_empty() => None,
            _ => Some(reader.tower(net)?),
        };
        let filters = tower.as_ref().map(|tower| tower.input.outputs);
        let body = match header.structure {
            Structure::AttentionBody => Some(reader.body(net, filters)?),
            _ => None,
        };
        let policies = reader.policies(net, filters, body.as_ref())?;
        let values = reader.values(net, filters, body.as_ref())?;
        let moves_left = reader.moves_left(net, filters, body.as_ref())?;
        let parameters = reader.parameters.get();
        Ok(Layers { tower, body, policies, values, moves_left, activation: header.activation, parameters })
    }
}

impl Reader<'_> {
    pub(super) fn count(&self, numbers: usize) {
        self.parameters.set(self.parameters.get() + numbers);
    }

    /// A tensor that must be there.
    pub(super) fn tensor(&self, field: &Field<'_>) -> Result<Tensor, NetworkError> {
        self.decoder.required(&field.path, field.layer)
    }

    /// A small tensor of this length, decoded at once.
    pub(super) fn vector(&self, field: &Field<'_>, length: usize) -> Result<Vec<f32>, NetworkError> {
        let values = self.decoder.sized(&field.path, field.layer, length)?.values();
        self.count(values.len());
        Ok(values)
    }

    pub(super) fn optional_vector(&self, field: &Field<'_>, length: usize) -> Result<Option<Vec<f32>>, NetworkError> {
        let tensor = self.decoder.optional_sized(&field.path, field.layer, length)?;
        self.count(tensor.as_ref().map_or(0, Tensor::len));
        Ok(tensor.map(|tensor| tensor.values()))
    }

    /// A dense layer with as many outputs as biases.
    pub(super) fn dense(
        &self,
        [weights, biases]: [Field<'_>; 2],
        inputs: usize,
    ) -> Result<Dense<Tensor>, NetworkError> {
        let biases = self.tensor(&biases)?.values();
        let weights = self.decoder.sized(&weights.path, weights.layer, inputs * biases.len())?;
        self.count(weights.len() + biases.len());
        Ok(Dense { inputs, outputs: biases.len(), weights, biases })
    }

    /// A dense layer without biases, whose number of outputs follows from the number of its weights.
    pub(super) fn unbiased(&self, weights: &Field<'_>, inputs: usize) -> Result<Dense<Tensor>, NetworkError> {
        let tensor = self.tensor(weights)?;
        if !tensor.len().is_multiple_of(inputs) {
            let problem = format!("has {} values, not a multiple of {inputs}", tensor.len());
            return Err(self.decoder.error(&weights.path, problem));
        }
        self.count(tensor.len());
        Ok(Dense { inputs, outputs: tensor.len() / inputs, weights: tensor, biases: Vec::new() })
    }

    pub(super) fn norm(
        &self,
        [gammas, betas]: [Field<'_>; 2],
        width: usize,
        epsilon: f32,
    ) -> Result<Norm, NetworkError> {
        Ok(Norm { gammas: self.vector(&gammas, width)?, betas: self.vector(&betas, width)?, epsilon })
    }

    pub(super) fn feed_forward(
        &self,
        path: &str,
        ffn: Option<&proto::Ffn>,
        width: usize,
        activation: Activation,
    ) -> Result<FeedForward, NetworkError> {
        let ffn = ffn.ok_or_else(|| self.decoder.error(&format!("{path}dense1_w"), "is missing"))?;
        let first = self.dense([field!(path, ffn, dense1_w), field!(path, ffn, dense1_b)], width)?;
        let second = self.dense([field!(path, ffn, dense2_w), field!(path, ffn, dense2_b)], first.outputs)?;
        self.expect_outputs(&format!("{path}dense2_b"), second.outputs, width)?;
        Ok(FeedForward { first, second, activation })
    }

    fn tower(&self, net: &proto::Weights) -> Result<Tower, NetworkError> {
        let input = self.convolution("input", net.input.as_ref(), PLANES, 3)?;
        let blocks = (net.residual.iter().enumerate())
            .map(|(index, residual)| self.block(&format!("residual[{index}]"), residual, input.outputs))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Tower { input, blocks })
    }

    fn block(&self, path: &str, residual: &proto::Residual, filters: usize) -> Result<Block<Tensor>, NetworkError> {
        let convolution = |name: &str, block: Option<&proto::ConvBlock>| {
            let path = format!("{path}.{name}");
            let convolution = self.convolution(&path, block, filters, 3)?;
            self.expect_outputs(&format!("{path}.weights"), convolution.outputs, filters)?;
            Ok::<_, NetworkError>(convolution)
        };
        let squeeze_excitation = match &residual.se {
            None => None,
            Some(se) => {
                let path = format!("{path}.se.");
                let squeeze = self.dense([field!(path, se, w1), field!(path, se, b1)], filters)?;
                let excite = self.dense([field!(path, se, w2), field!(path, se, b2)], squeeze.outputs)?;
                self.expect_outputs(&format!("{path}b2"), excite.outputs, 2 * filters)?;
                Some(SqueezeExcitation { squeeze, excite })
            }
        };
        Ok(Block {
            first: convolution("conv1", residual.conv1.as_ref())?,
            second: convolution("conv2", residual.conv2.as_ref())?,
            squeeze_excitation,
        })
    }

    /// A convolution whose number of outputs follows from that of its weights, with its batch normalisation folded in:
    /// `w' = w g / sqrt(v + epsilon)` and `b' = (b - m) g / sqrt(v + epsilon) + beta` for mean `m`, variance `v`, gamma
    /// `g`.
    pub(super) fn convolution(
        &self,
        path: &str,
        block: Option<&proto::ConvBlock>,
        inputs: usize,
        kernel: usize,
    ) -> Result<Convolution<Tensor>, NetworkError> {
        let decoder = self.decoder;
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
            let tensor = decoder.optional_sized(&format!("{path}.{field}"), layer.as_ref(), outputs)?;
            Ok::<_, NetworkError>(tensor.map(|tensor| tensor.values()))
        };
        let mut biases = vector("biases", &block.biases)?.unwrap_or_else(|| vec![0.0; outputs]);
        // The field is called the standard deviation, but it holds the variance.
        let means = vector("bn_means", &block.bn_means)?;
        if let Some(variances) = vector("bn_stddivs", &block.bn_stddivs)? {
            let means = means.unwrap_or_else(|| vec![0.0; outputs]);
            let mut scales = vector("bn_gammas", &block.bn_gammas)?.unwrap_or_else(|| vec![1.0; outputs]);
            let betas = vector("bn_betas", &block.bn_betas)?.unwrap_or_else(|| vec![0.0; outputs]);
            for output in 0..outputs {
                let variance = variances[output] + BATCH_NORM_EPSILON;
                if variance <= 0.0 {
                    return Err(decoder.error(&format!("{path}.bn_stddivs"), "holds a negative variance"));
                }
                scales[output] /= variance.sqrt();
                biases[output] = (biases[output] - means[output]) * scales[output] + betas[output];
            }
            weights = weights.scaled_by_parts(scales);
        } else if means.is_some() {
            return Err(decoder.error(&format!("{path}.bn_stddivs"), "is missing"));
        }
        self.count(weights.len() + biases.len());
        Ok(Convolution { inputs, outputs, kernel, weights, biases })
    }

    pub(super) fn expect_outputs(&self, path: &str, found: usize, wanted: usize) -> Result<(), NetworkError> {
        if found == wanted {
            Ok(())
        } else {
            Err(self.decoder.error(path, format!("gives {found} outputs where the network needs {wanted}")))
        }
    }
}
