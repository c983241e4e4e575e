//! Makes random networks for tests and benchmarks: valid files of any shape, the same bytes for the same seed
//! everywhere.
//!
//! It is compiled for tests alone, and with the feature `testing`, which the tests, benchmarks and examples of this
//! package ask for: the shipped library has none of it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

mod attention;
mod maia3;
mod onnx_models;

pub use attention::{RandomBody, attention_networks};
pub use maia3::RandomMaia3;
pub use onnx_models::{with_external_data, with_listed_initializers, with_narrow_ends, with_renamed_ends};

use super::file::MAGIC;
use super::weights::tensor::encoding;
use super::{
    Activation, CONVOLUTION_PLANES, InputFormat, MOVES, PLANES, PolicyKind, PositionKind, SQUARES, ValueKind, proto,
};
use zeitnot_base::splitmix::SplitMix64;

/// The shape of a random network.
#[derive(Clone, Copy, Debug)]
pub struct RandomNetwork {
    /// Blocks of the tower.
    pub blocks: usize,
    /// Filters of the tower.
    pub filters: usize,
    /// Hidden units of squeeze and excitation, if the blocks have it.
    pub squeeze: Option<usize>,
    /// The policy head.
    pub policy: PolicyKind,
    /// The value head.
    pub value: ValueKind,
    /// Planes of the value and moves-left heads after their 1x1 convolution.
    pub head_planes: usize,
    /// Hidden units of the value and moves-left heads.
    pub head_hidden: usize,
    /// Whether there is a moves-left head.
    pub moves_left: bool,
    /// The nonlinearity.
    pub activation: Activation,
    /// The input format.
    pub input: InputFormat,
    /// Whether convolutions carry a batch normalisation instead of biases.
    pub batch_norm: bool,
    /// The transformer above the tower or in its place, which takes an attention policy.
    pub body: Option<RandomBody>,
    /// Encoders of an attention policy.
    pub policy_encoders: usize,
    /// Whether a transformer has three policy heads (vanilla, soft, extra) and two value heads (winner, q).
    pub several_heads: bool,
}

impl Default for RandomNetwork {
    /// The smallest modern network: SE 1x8, relu, convolution policy, WDL, moves left.
    fn default() -> RandomNetwork {
        RandomNetwork {
            blocks: 1,
            filters: 8,
            squeeze: Some(4),
            policy: PolicyKind::Convolution,
            value: ValueKind::Wdl,
            head_planes: 4,
            head_hidden: 16,
            moves_left: true,
            activation: Activation::Relu,
            input: InputFormat::Classical,
            batch_norm: true,
            body: None,
            policy_encoders: 0,
            several_heads: false,
        }
    }
}

/// A random network of `blocks` x `filters`, otherwise of the default shape, as the content of a `.pb.gz` file.
pub fn random_network(seed: u64, blocks: usize, filters: usize) -> Vec<u8> {
    RandomNetwork { blocks, filters, ..RandomNetwork::default() }.gzip(seed)
}

impl RandomNetwork {
    /// The content of a `.pb.gz` file.
    pub fn gzip(&self, seed: u64) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.protobuf(seed)).expect("a vector takes every byte");
        encoder.finish().expect("a vector takes every byte")
    }

    /// The content of a `.pb` file.
    pub fn protobuf(&self, seed: u64) -> Vec<u8> {
        self.net(seed).encode_to_vec()
    }

    /// The message of the file.
    pub fn net(&self, seed: u64) -> proto::Net {
        let mut format = proto::NetworkFormat {
            input: Some(self.input.id()),
            output: Some(match self.value {
                ValueKind::Scalar => 1,
                ValueKind::Wdl => 2,
            }),
            network: Some(match self.body {
                Some(_) if self.several_heads => 7,
                Some(_) => 6,
                None if self.squeeze.is_some() => 4,
                None => 3,
            }),
            policy: Some(match self.policy {
                PolicyKind::Classical => 1,
                PolicyKind::Convolution => 2,
                PolicyKind::Attention => 3,
            }),
            value: Some(match self.value {
                ValueKind::Scalar => 1,
                ValueKind::Wdl => 2,
            }),
            moves_left: Some(i32::from(self.moves_left)),
            default_activation: Some(i32::from(self.activation == Activation::Mish)),
            ..proto::NetworkFormat::default()
        };
        if let Some(body) = &self.body {
            body.header(&mut format);
        }
        proto::Net {
            magic: Some(MAGIC),
            license: Some("CC0-1.0".to_owned()),
            format: Some(proto::Format { weights_encoding: Some(encoding::LINEAR16), network_format: Some(format) }),
            weights: Some(self.weights(&mut Random(SplitMix64(seed)))),
            ..proto::Net::default()
        }
    }

    fn weights(&self, random: &mut Random) -> proto::Weights {
        let filters = self.filters;
        let mut weights = proto::Weights::default();
        if self.body.is_none_or(|body| body.position == PositionKind::Tower) {
            weights.input = Some(self.convolution(random, PLANES, filters, 3));
            weights.residual = (0..self.blocks).map(|_| self.residual(random)).collect();
        }
        match self.policy {
            PolicyKind::Convolution => {
                weights.policy1 = Some(self.convolution(random, filters, filters, 3));
                weights.policy = Some(random.biased_convolution(filters, CONVOLUTION_PLANES, 3));
            }
            PolicyKind::Classical => {
                weights.policy = Some(self.convolution(random, filters, self.head_planes, 1));
                [weights.ip_pol_w, weights.ip_pol_b] = random.dense(self.head_planes * SQUARES, MOVES);
            }
            PolicyKind::Attention => {}
        }
        if let Some(body) = &self.body {
            body.add_to(&mut weights, random, filters);
            self.add_attention_heads(&mut weights, random, body.width);
            return weights;
        }
        self.add_attention_heads(&mut weights, random, filters);
        let (planes, hidden) = (self.head_planes, self.head_hidden);
        weights.value = Some(self.convolution(random, filters, planes, 1));
        [weights.ip1_val_w, weights.ip1_val_b] = random.dense(planes * SQUARES, hidden);
        [weights.ip2_val_w, weights.ip2_val_b] = random.dense(hidden, self.value_outputs());
        if self.moves_left {
            weights.moves_left = Some(self.convolution(random, filters, planes, 1));
            [weights.ip1_mov_w, weights.ip1_mov_b] = random.dense(planes * SQUARES, hidden);
            [weights.ip2_mov_w, weights.ip2_mov_b] = random.dense(hidden, 1);
        }
        weights
    }

    fn value_outputs(&self) -> usize {
        match self.value {
            ValueKind::Scalar => 1,
            ValueKind::Wdl => 3,
        }
    }

    fn residual(&self, random: &mut Random) -> proto::Residual {
        let filters = self.filters;
        proto::Residual {
            conv1: Some(self.convolution(random, filters, filters, 3)),
            conv2: Some(self.convolution(random, filters, filters, 3)),
            se: self.squeeze.map(|squeeze| {
                let [w1, b1] = random.dense(filters, squeeze);
                let [w2, b2] = random.dense(squeeze, 2 * filters);
                proto::SeUnit { w1, b1, w2, b2 }
            }),
        }
    }

    fn convolution(&self, random: &mut Random, inputs: usize, outputs: usize, kernel: usize) -> proto::ConvBlock {
        let block = random.biased_convolution(inputs, outputs, kernel);
        if !self.batch_norm {
            return block;
        }
        proto::ConvBlock {
            biases: None,
            bn_means: random.layer(outputs, -0.1, 0.1),
            bn_stddivs: random.layer(outputs, 0.5, 1.5),
            bn_gammas: random.layer(outputs, 0.5, 1.5),
            bn_betas: random.layer(outputs, -0.1, 0.1),
            ..block
        }
    }
}

/// The source of a network's numbers.
struct Random(SplitMix64);

impl Random {
    /// A tensor of LINEAR16 numbers between two bounds.
    fn layer(&mut self, length: usize, minimum: f32, maximum: f32) -> Option<proto::Layer> {
        let mut params = Vec::with_capacity(length.div_ceil(4) * 8);
        while params.len() < 2 * length {
            params.extend_from_slice(&self.0.next_u64().to_le_bytes());
        }
        params.truncate(2 * length);
        Some(proto::Layer {
            min_val: Some(minimum),
            max_val: Some(maximum),
            params: Some(params.into()),
            ..proto::Layer::default()
        })
    }

    /// Weights that keep the size of the activations: uniform with the variance 2 / inputs (He et al.,
    /// arXiv:1502.01852).
    fn weights(&mut self, inputs: usize, length: usize) -> Option<proto::Layer> {
        let bound = (6.0 / inputs as f32).sqrt();
        self.layer(length, -bound, bound)
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> [Option<proto::Layer>; 2] {
        [self.weights(inputs, inputs * outputs), self.layer(outputs, -0.1, 0.1)]
    }

    fn biased_convolution(&mut self, inputs: usize, outputs: usize, kernel: usize) -> proto::ConvBlock {
        let area = kernel * kernel;
        proto::ConvBlock {
            weights: self.weights(inputs * area, inputs * outputs * area),
            biases: self.layer(outputs, -0.1, 0.1),
            ..proto::ConvBlock::default()
        }
    }
}
