//! The wire format of an Lc0 network file: the `Net` message tree (docs/lc0.md, 4.7), hand-written for `prost`.
//!
//! Field names are those of the format. Enumerations are kept as the integers of the file, because a file may hold a
//! value that is newer than this code; [`super::format`] gives them meaning. Tensors are [`Bytes`], so that decoding
//! shares the buffer of the file.

use prost::bytes::Bytes;

messages! {
    /// A version of Lc0: the oldest one able to use a network.
    EngineVersion {
        optional uint32 major: u32 = 1;
        optional uint32 minor: u32 = 2;
        optional uint32 patch: u32 = 3;
    }

    /// Every tensor of a network; which fields are set depends on the architecture.
    Weights {
        optional message input: ConvBlock = 1;
        repeated message residual: Residual = 2;
        optional message ip_emb_preproc_w: Layer = 37;
        optional message ip_emb_preproc_b: Layer = 38;
        optional message ip_emb_w: Layer = 25;
        optional message ip_emb_b: Layer = 26;
        optional message ip_emb_ln_gammas: Layer = 39;
        optional message ip_emb_ln_betas: Layer = 40;
        optional message ip_mult_gate: Layer = 33;
        optional message ip_add_gate: Layer = 34;
        optional message ip_emb_ffn: Ffn = 41;
        optional message ip_emb_ffn_ln_gammas: Layer = 42;
        optional message ip_emb_ffn_ln_betas: Layer = 43;
        repeated message encoder: EncoderLayer = 27;
        optional uint32 headcount: u32 = 28;
        repeated message pol_encoder: EncoderLayer = 21;
        optional uint32 pol_headcount: u32 = 24;
        optional message policy1: ConvBlock = 11;
        optional message policy: ConvBlock = 3;
        optional message ip_pol_w: Layer = 4;
        optional message ip_pol_b: Layer = 5;
        optional message ip2_pol_w: Layer = 17;
        optional message ip2_pol_b: Layer = 18;
        optional message ip3_pol_w: Layer = 19;
        optional message ip3_pol_b: Layer = 20;
        optional message ip4_pol_w: Layer = 22;
        optional message value: ConvBlock = 6;
        optional message ip_val_w: Layer = 29;
        optional message ip_val_b: Layer = 30;
        optional message ip1_val_w: Layer = 7;
        optional message ip1_val_b: Layer = 8;
        optional message ip2_val_w: Layer = 9;
        optional message ip2_val_b: Layer = 10;
        optional message value_heads: ValueHeads = 44;
        optional message policy_heads: PolicyHeads = 45;
        optional message moves_left: ConvBlock = 12;
        optional message ip_mov_w: Layer = 31;
        optional message ip_mov_b: Layer = 32;
        optional message ip1_mov_w: Layer = 13;
        optional message ip1_mov_b: Layer = 14;
        optional message ip2_mov_w: Layer = 15;
        optional message ip2_mov_b: Layer = 16;
        optional message smolgen_w: Layer = 35;
        optional message smolgen_b: Layer = 36;
    }

    /// One tensor, quantised or as floats.
    Layer {
        optional float min_val: f32 = 1;
        optional float max_val: f32 = 2;
        optional bytes("bytes") params: Bytes = 3;
        optional int32 encoding: i32 = 4;
        repeated uint32 dims: u32 = 5, packed = "false";
    }

    /// A convolution with a bias or a batch normalisation.
    ConvBlock {
        optional message weights: Layer = 1;
        optional message biases: Layer = 2;
        optional message bn_means: Layer = 3;
        optional message bn_stddivs: Layer = 4;
        optional message bn_gammas: Layer = 5;
        optional message bn_betas: Layer = 6;
    }

    /// A squeeze-and-excitation unit: two dense layers.
    SeUnit {
        optional message w1: Layer = 1;
        optional message b1: Layer = 2;
        optional message w2: Layer = 3;
        optional message b2: Layer = 4;
    }

    /// Two convolutions and the optional squeeze-and-excitation unit of one residual block.
    Residual {
        optional message conv1: ConvBlock = 1;
        optional message conv2: ConvBlock = 2;
        optional message se: SeUnit = 3;
    }

    /// Generator of attention biases.
    Smolgen {
        optional message compress: Layer = 1;
        optional message dense1_w: Layer = 2;
        optional message dense1_b: Layer = 3;
        optional message ln1_gammas: Layer = 4;
        optional message ln1_betas: Layer = 5;
        optional message dense2_w: Layer = 6;
        optional message dense2_b: Layer = 7;
        optional message ln2_gammas: Layer = 8;
        optional message ln2_betas: Layer = 9;
    }

    /// Multi-head attention.
    Mha {
        optional message q_w: Layer = 1;
        optional message q_b: Layer = 2;
        optional message k_w: Layer = 3;
        optional message k_b: Layer = 4;
        optional message v_w: Layer = 5;
        optional message v_b: Layer = 6;
        optional message dense_w: Layer = 7;
        optional message dense_b: Layer = 8;
        optional message smolgen: Smolgen = 9;
        optional message rpe_q: Layer = 10;
        optional message rpe_k: Layer = 11;
        optional message rpe_v: Layer = 12;
    }

    /// Feed-forward network of an encoder.
    Ffn {
        optional message dense1_w: Layer = 1;
        optional message dense1_b: Layer = 2;
        optional message dense2_w: Layer = 3;
        optional message dense2_b: Layer = 4;
    }

    /// One encoder of a transformer.
    EncoderLayer {
        optional message mha: Mha = 1;
        optional message ln1_gammas: Layer = 2;
        optional message ln1_betas: Layer = 3;
        optional message ffn: Ffn = 4;
        optional message ln2_gammas: Layer = 5;
        optional message ln2_betas: Layer = 6;
    }

    /// One policy head of a network with several.
    PolicyHead {
        optional message ip_pol_w: Layer = 1;
        optional message ip_pol_b: Layer = 2;
        optional message ip2_pol_w: Layer = 3;
        optional message ip2_pol_b: Layer = 4;
        optional message ip3_pol_w: Layer = 5;
        optional message ip3_pol_b: Layer = 6;
        optional message ip4_pol_w: Layer = 7;
        repeated message pol_encoder: EncoderLayer = 8;
        optional uint32 pol_headcount: u32 = 9;
        optional message policy1: ConvBlock = 10;
        optional message policy: ConvBlock = 11;
    }

    /// One value head of a network with several.
    ValueHead {
        optional message ip_val_w: Layer = 1;
        optional message ip_val_b: Layer = 2;
        optional message ip1_val_w: Layer = 3;
        optional message ip1_val_b: Layer = 4;
        optional message ip2_val_w: Layer = 5;
        optional message ip2_val_b: Layer = 6;
        optional message ip_val_err_w: Layer = 7;
        optional message ip_val_err_b: Layer = 8;
        optional message ip_val_cat_w: Layer = 9;
        optional message ip_val_cat_b: Layer = 10;
        optional message value: ConvBlock = 11;
    }

    /// A policy head under a name of its own.
    PolicyHeadMap {
        required string key: String = 1;
        required message value: PolicyHead = 2;
    }

    /// The policy heads by name.
    PolicyHeads {
        optional message ip_pol_w: Layer = 1;
        optional message ip_pol_b: Layer = 2;
        optional message vanilla: PolicyHead = 3;
        optional message optimistic_st: PolicyHead = 4;
        optional message soft: PolicyHead = 5;
        optional message opponent: PolicyHead = 6;
        repeated message policy_head_map: PolicyHeadMap = 7;
    }

    /// A value head under a name of its own.
    ValueHeadMap {
        required string key: String = 1;
        required message value: ValueHead = 2;
    }

    /// The value heads by name.
    ValueHeads {
        optional message winner: ValueHead = 1;
        optional message q: ValueHead = 2;
        optional message st: ValueHead = 3;
        repeated message value_head_map: ValueHeadMap = 4;
    }

    /// Parameters of a network's training.
    TrainingParams {
        optional uint32 training_steps: u32 = 1;
        optional float learning_rate: f32 = 2;
        optional float mse_loss: f32 = 3;
        optional float policy_loss: f32 = 4;
        optional float accuracy: f32 = 5;
        optional string lc0_params: String = 6;
    }

    /// Architecture, heads and input format.
    NetworkFormat {
        optional int32 input: i32 = 1;
        optional int32 output: i32 = 2;
        optional int32 network: i32 = 3;
        optional int32 policy: i32 = 4;
        optional int32 value: i32 = 5;
        optional int32 moves_left: i32 = 6;
        optional int32 default_activation: i32 = 7;
        optional int32 smolgen_activation: i32 = 8;
        optional int32 ffn_activation: i32 = 9;
        optional int32 input_embedding: i32 = 10;
    }

    /// Encoding of the weights and the shape of the network.
    Format {
        optional int32 weights_encoding: i32 = 1;
        optional message network_format: NetworkFormat = 2;
    }

    /// A network stored as an ONNX model, with the names of the model's inputs and outputs.
    OnnxModel {
        optional bytes("bytes") model: Bytes = 1;
        optional int32 data_type: i32 = 2;
        optional string input_planes: String = 3;
        optional string output_value: String = 4;
        optional string output_wdl: String = 5;
        optional string output_policy: String = 6;
        optional string output_mlh: String = 7;
    }

    /// The whole file.
    Net {
        optional fixed32 magic: u32 = 1;
        optional string license: String = 2;
        optional message min_version: EngineVersion = 3;
        optional message format: Format = 4;
        optional message training_params: TrainingParams = 5;
        optional message weights: Weights = 10;
        optional message onnx_model: OnnxModel = 11;
    }
}
