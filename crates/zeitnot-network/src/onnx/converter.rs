//! Converts the layers of a network to an ONNX model, with the operators that all architectures use.

use super::encode::Floats;
use super::graph::{Attribute, GraphBuilder, Value};
use super::{Conversion, MishForm, ModelInput, OnnxModel, Precision, ValueOutput, names};
use crate::NetworkError;
use crate::format::{InputFormat, ValueKind};
use crate::onnx_proto::data_type;
use crate::planes::PLANES;
use crate::policy::MOVES;
use crate::weights::SQUARES;
use crate::weights::layers::{FeedForward, Layers, Norm, Policy, SquareFeatures};
use crate::weights::tensor::Tensor;
use crate::weights::{Convolution, Dense};
use zeitnot_kernels::Activation;

/// Side of the board.
pub(super) const SIDE: i64 = 8;
/// The 64 squares as a dimension of a tensor.
pub(super) const TOKENS: i64 = SQUARES as i64;
/// Number of sets that the eight squares of a rank have: the rows of the table that unpacks planes.
const RANKS: i64 = 1 << SIDE;
/// The size -1 of a reshaped dimension, whose true size ONNX derives from the others.
pub(super) const REST: i64 = -1;
/// The parameter alpha of ONNX's operator `Selu`; the next is its gamma.
const SELU_ALPHA: f32 = 1.673_263_2;
const SELU_SCALE: f32 = 1.050_701;
/// The first operator set in which convolutions take bfloat16.
const BFLOAT16_OPSET: i64 = 22;
/// The first operator set in which `ReduceMean` takes its axes as an input.
const AXES_INPUT_OPSET: i64 = 18;

/// Converts a network with these options. The graph and errors call it `name`; the model's metadata states its `input`
/// format.
pub fn convert(
    layers: &Layers,
    input: InputFormat,
    conversion: &Conversion,
    name: &str,
) -> Result<OnnxModel, NetworkError> {
    let unsupported = |what: String| NetworkError::Unsupported { name: name.to_owned(), what };
    if !Conversion::OPSETS.contains(&conversion.opset) {
        let [first, last] = [Conversion::OPSETS.start(), Conversion::OPSETS.end()];
        return Err(unsupported(format!("as ONNX of opset {} ({first} to {last} are known) it is", conversion.opset)));
    }
    if conversion.precision == Precision::Bfloat16 && conversion.opset < BFLOAT16_OPSET && layers.tower.is_some() {
        return Err(unsupported(format!("its convolutions as bfloat16 before opset {BFLOAT16_OPSET} are")));
    }
    if conversion.batch == Some(0) {
        return Err(unsupported("a batch of 0 positions is".to_owned()));
    }
    let policy = layers.policy(conversion.policy_head.as_deref(), name)?;
    let value = layers.value(conversion.value_head.as_deref(), name)?;

    let mut converter = Converter {
        graph: GraphBuilder::new(conversion),
        activation: layers.activation,
        mish: conversion.mish,
        fused: conversion.fused,
        smolgen: None,
    };
    let (mut flow, ends) = match conversion.packed {
        true => (
            converter.packed_planes(),
            ModelInput::Packed { boards: names::BOARDS.into(), values: names::VALUES.into() },
        ),
        false => {
            let planes = converter.graph.input(names::INPUT, &[PLANES as i64, SIDE, SIDE]);
            (planes, ModelInput::Dense(names::INPUT.to_owned()))
        }
    };
    if let Some(tower) = &layers.tower {
        flow = converter.tower(tower, &flow);
    }
    if let Some(body) = &layers.body {
        flow = converter.attention_body(body, layers.tower.as_ref().map(|tower| tower.input.outputs), &flow);
    }

    let policy = match policy {
        Policy::Planes(head) => converter.policy(head, &flow),
        Policy::Attention(head) => {
            let filters = layers.body.is_none().then_some(head.embedding.inputs);
            converter.attention_policy(head, filters, &flow)
        }
    };
    let policy_type = if conversion.packed { conversion.precision } else { Precision::Float32 };
    converter.graph.output_as(policy_type, names::POLICY, "Identity", &[], &policy, &[MOVES as i64]);

    let logits = converter.head("/value", value, &flow);
    let value = match value.value_kind() {
        ValueKind::Wdl => {
            converter.graph.output(names::WDL, "Softmax", &[Attribute::Int("axis", 1)], &logits, &[3]);
            ValueOutput::Wdl(names::WDL.to_owned())
        }
        ValueKind::Scalar => {
            converter.graph.output(names::VALUE, "Tanh", &[], &logits, &[1]);
            ValueOutput::Scalar(names::VALUE.to_owned())
        }
    };

    let moves_left = layers.moves_left.as_ref().map(|head| {
        let plies = converter.head("/moves_left", head, &flow);
        converter.graph.output(names::MOVES_LEFT, "Relu", &[], &plies, &[1]);
        names::MOVES_LEFT.to_owned()
    });

    Ok(OnnxModel {
        bytes: converter.graph.finish(name, &[(names::INPUT_FORMAT, input.id().to_string())])?,
        input: ends,
        policy: names::POLICY.to_owned(),
        value,
        moves_left,
        types: super::EndTypes { policy: policy_type, ..super::EndTypes::default() },
        folder: None,
    })
}

/// The state of one conversion of a network's layers to an ONNX graph.
pub(super) struct Converter<'a> {
    pub graph: GraphBuilder<'a>,
    /// The nonlinearity of all layers without one of their own.
    pub activation: Activation,
    /// The ONNX operators that stand for Mish.
    pub mish: MishForm,
    /// Whether operators of ONNX Runtime's own are used.
    pub fused: bool,
    /// The matrix of smolgen that all encoders share; `None` until the first encoder with smolgen is converted.
    pub smolgen: Option<Value>,
}

impl<'a> Converter<'a> {
    /// The planes, `[batch, 112, 8, 8]`, from packed ones: each byte of a board picks the eight squares of its rank
    /// from a table of all 256 ranks, and its plane's value multiplies them. Indices must be int32. Bytes become so by
    /// way of float32: TensorRT converts them to floating point alone (`DataType::kUINT8` in its header).
    fn packed_planes(&mut self) -> Value {
        let boards = self.graph.raw_input(names::BOARDS, data_type::UINT8, &[PLANES as i64, SIDE]);
        let values = self.graph.input(names::VALUES, &[PLANES as i64, 1, 1]);
        let wide = self.graph.cast("/input/wide", &boards, Precision::Float32);
        let ranks = self.graph.node("/input/ranks", "Cast", &[&wide], &[Attribute::Int("to", data_type::INT32.into())]);
        let table = (0..RANKS).flat_map(|rank| (0..SIDE).map(move |file| (rank >> file & 1) as f32)).collect();
        let table = self.graph.floats("/input/table", &[RANKS, SIDE], vec![Floats::Values(table)]);
        let squares = self.graph.node("/input/squares", "Gather", &[&table, &ranks], &[Attribute::Int("axis", 0)]);
        self.graph.node("/input/expanded", "Mul", &[&squares, &values], &[])
    }

    pub(super) fn convolution(&mut self, path: &str, convolution: &'a Convolution<Tensor>, input: &Value) -> Value {
        let Convolution { inputs, outputs, kernel, weights, biases } = convolution;
        let [inputs, outputs, kernel] = [*inputs, *outputs, *kernel].map(|size| size as i64);
        let shape = [outputs, inputs, kernel, kernel];
        let weights = self.graph.floats(&format!("{path}/w"), &shape, vec![Floats::Tensor(weights, 1.0)]);
        let biases = self.graph.floats(&format!("{path}/b"), &[outputs], vec![Floats::Values(biases.clone())]);
        let padding = [kernel / 2; 4];
        let attributes = [Attribute::Ints("kernel_shape", &[kernel, kernel]), Attribute::Ints("pads", &padding)];
        self.graph.node(path, "Conv", &[input, &weights, &biases], &attributes)
    }

    /// A dense layer applied to each row.
    pub(super) fn dense(&mut self, path: &str, dense: &'a Dense<Tensor>, input: &Value) -> Value {
        self.scaled_dense(path, &[(dense, 1.0)], input)
    }

    /// Dense layers that read the same rows, each multiplied by a factor, with their outputs side by side.
    ///
    /// `Gemm` of rows takes the weights as the file has them (`transB`), and ONNX Runtime adds the biases and applies a
    /// ReLU within `Gemm`; `tests/reference/versus_lc0_export.py` measures this and other forms.
    pub(super) fn scaled_dense(&mut self, path: &str, layers: &[(&'a Dense<Tensor>, f32)], input: &Value) -> Value {
        let inputs = layers.first().map_or(0, |(dense, _)| dense.inputs);
        let outputs: usize = layers.iter().map(|(dense, _)| dense.outputs).sum();
        let weights = layers.iter().map(|&(dense, factor)| Floats::Tensor(&dense.weights, factor)).collect();
        let weights = self.graph.floats(&format!("{path}/w"), &[outputs as i64, inputs as i64], weights);
        let biases: Vec<f32> =
            (layers.iter()).flat_map(|(dense, factor)| dense.biases.iter().map(move |bias| bias * factor)).collect();
        let transposed = [Attribute::Int("transB", 1)];
        if biases.is_empty() {
            return self.graph.node(path, "Gemm", &[input, &weights], &transposed);
        }
        let biases = self.graph.floats(&format!("{path}/b"), &[outputs as i64], vec![Floats::Values(biases)]);
        self.graph.node(path, "Gemm", &[input, &weights, &biases], &transposed)
    }

    /// Two dense layers with the activation between them, their result times `factor` added to the input, and the
    /// normalisation of the sum. `names` are those of the layers, the sum and the normalisation.
    pub(super) fn feed_forward(
        &mut self,
        [path, sum, norm_path]: [&str; 3],
        ffn: &'a FeedForward,
        factor: f32,
        norm: &Norm,
        input: &Value,
    ) -> Value {
        let mut flow = self.dense(&format!("{path}/dense1"), &ffn.first, input);
        flow = self.activate(&format!("{path}/dense1"), ffn.activation, &flow);
        self.add_and_norm([&format!("{path}/dense2"), sum, norm_path], &ffn.second, factor, norm, input, &flow)
    }

    /// The features of the squares, flattened for the dense layers of a head.
    pub(super) fn flat_features(&mut self, path: &str, features: &'a SquareFeatures, input: &Value) -> Value {
        let mut flow = match features {
            SquareFeatures::Planes(convolution) => self.convolution(&format!("{path}/convolution"), convolution, input),
            SquareFeatures::Tokens(dense) => self.dense(&format!("{path}/embedding"), dense, input),
        };
        flow = self.activate(&format!("{path}/features"), self.activation, &flow);
        self.reshape(&format!("{path}/flat"), &flow, &[REST, (features.outputs() * SQUARES) as i64])
    }

    pub(super) fn mean_of_planes(&mut self, path: &str, planes: &Value) -> Value {
        let keep = Attribute::Int("keepdims", 0);
        if self.graph.opset() < AXES_INPUT_OPSET {
            return self.graph.node(path, "ReduceMean", &[planes], &[Attribute::Ints("axes", &[2, 3]), keep]);
        }
        let axes = self.graph.integers(&format!("{path}/axes"), vec![2, 3]);
        self.graph.node(path, "ReduceMean", &[planes, &axes], &[keep])
    }

    pub(super) fn reshape(&mut self, path: &str, value: &Value, shape: &[i64]) -> Value {
        let shape = self.graph.integers(&format!("{path}/shape"), shape.to_vec());
        self.graph.node(path, "Reshape", &[value, &shape], &[])
    }

    pub(super) fn transpose(&mut self, path: &str, value: &Value, order: &[i64]) -> Value {
        self.graph.node(path, "Transpose", &[value], &[Attribute::Ints("perm", order)])
    }

    pub(super) fn activate(&mut self, path: &str, activation: Activation, x: &Value) -> Value {
        let simple = |converter: &mut Self, op: &str| {
            converter.graph.node(&format!("{path}/{}", op.to_lowercase()), op, &[x], &[])
        };
        match activation {
            Activation::None => x.clone(),
            Activation::Relu => simple(self, "Relu"),
            Activation::Tanh => simple(self, "Tanh"),
            Activation::Sigmoid => simple(self, "Sigmoid"),
            // As `Elu` and a product: ONNX Runtime's WebGPU has no `Selu`.
            Activation::Selu => {
                let elu =
                    self.graph.node(&format!("{path}/elu"), "Elu", &[x], &[Attribute::Float("alpha", SELU_ALPHA)]);
                let scale = self.graph.floats(&format!("{path}/scale"), &[], vec![Floats::Values(vec![SELU_SCALE])]);
                self.graph.node(&format!("{path}/selu"), "Mul", &[&elu, &scale], &[])
            }
            Activation::Mish => self.mish(&format!("{path}/mish"), x),
            Activation::Swish => {
                let sigmoid = simple(self, "Sigmoid");
                self.graph.node(&format!("{path}/swish"), "Mul", &[x, &sigmoid], &[])
            }
            Activation::ReluSquared => {
                let relu = simple(self, "Relu");
                self.graph.node(&format!("{path}/square"), "Mul", &[&relu, &relu], &[])
            }
        }
    }

    /// Mish in the chosen form.
    ///
    /// The form for a CPU avoids Softplus, which ONNX Runtime computes there one number at a time: with `e = e^x`,
    /// `mish(x) = x / (1 + 2 / (e (e + 2)))`, which is right to the last digits also where `e` overflows or vanishes.
    ///
    /// 131072 numbers take 93 us by this on one core of a Zen 5, 110 us by a sigmoid, and 1300 us by Softplus and Tanh.
    fn mish(&mut self, path: &str, x: &Value) -> Value {
        if self.mish == MishForm::Softplus {
            let softplus = self.graph.node(&format!("{path}/softplus"), "Softplus", &[x], &[]);
            let tanh = self.graph.node(&format!("{path}/tanh"), "Tanh", &[&softplus], &[]);
            return self.graph.node(&format!("{path}/product"), "Mul", &[x, &tanh], &[]);
        }
        let [one, two] = [("one", 1.0), ("two", 2.0)]
            .map(|(name, value)| self.graph.floats(&format!("{path}/{name}"), &[], vec![Floats::Values(vec![value])]));
        let mut node =
            |name: &str, op: &str, inputs: &[&Value]| self.graph.node(&format!("{path}/{name}"), op, inputs, &[]);
        let e = node("exp", "Exp", &[x]);
        let more = node("more", "Add", &[&e, &two]);
        let product = node("product", "Mul", &[&e, &more]);
        let inverse = node("inverse", "Div", &[&two, &product]);
        let denominator = node("denominator", "Add", &[&one, &inverse]);
        node("ratio", "Div", &[x, &denominator])
    }
}
