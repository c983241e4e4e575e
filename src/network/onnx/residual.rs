//! The ONNX graph of a residual network (lc0.md D.7).

use super::graph::{Attribute, GraphBuilder, Value};
use super::{OnnxModel, ValueOutput, names};
use crate::network::format::{Activation, ValueKind};
use crate::network::planes::PLANES;
use crate::network::policy::{CONVOLUTION_MAP, CONVOLUTION_PLANES, MOVES};
use crate::network::weights::{Block, Convolution, Dense, DenseHead, PolicyHead, SQUARES, SqueezeExcitation, Weights};

/// Side of the board.
const SIDE: i64 = 8;

/// The model of a residual network, whose graph is called `name`.
pub(crate) fn convert(weights: &Weights, name: &str) -> OnnxModel {
    let mut converter = Converter { graph: GraphBuilder::default(), activation: weights.activation };
    let input = converter.graph.input(names::INPUT, &[PLANES as i64, SIDE, SIDE]);
    let mut tower = converter.convolution("/input/convolution", &weights.input, &input);
    tower = converter.activate("/input", tower);
    for (index, block) in weights.blocks.iter().enumerate() {
        tower = converter.block(&format!("/block{index}"), block, &tower);
    }

    let policy = converter.policy(&weights.policy, &tower);
    converter.graph.output(&policy, &[MOVES as i64]);

    let value = converter.head("/value", &weights.value, &tower);
    let value = match weights.value_kind() {
        ValueKind::Wdl => {
            let wdl = converter.graph.node(names::WDL, "Softmax", &[&value], &[Attribute::Int("axis", 1)]);
            converter.graph.output(&wdl, &[3]);
            ValueOutput::Wdl(names::WDL.to_owned())
        }
        ValueKind::Scalar => {
            let scalar = converter.graph.node(names::VALUE, "Tanh", &[&value], &[]);
            converter.graph.output(&scalar, &[1]);
            ValueOutput::Scalar(names::VALUE.to_owned())
        }
    };

    let moves_left = weights.moves_left.as_ref().map(|head| {
        let plies = converter.head("/moves_left", head, &tower);
        let plies = converter.graph.node(names::MOVES_LEFT, "Relu", &[&plies], &[]);
        converter.graph.output(&plies, &[1]);
        names::MOVES_LEFT.to_owned()
    });

    OnnxModel {
        bytes: converter.graph.finish(name),
        input: names::INPUT.to_owned(),
        policy: names::POLICY.to_owned(),
        value,
        moves_left,
    }
}

struct Converter {
    graph: GraphBuilder,
    activation: Activation,
}

impl Converter {
    fn block(&mut self, path: &str, block: &Block, input: &Value) -> Value {
        let mut flow = self.convolution(&format!("{path}/conv1"), &block.first, input);
        flow = self.activate(&format!("{path}/conv1"), flow);
        flow = self.convolution(&format!("{path}/conv2"), &block.second, &flow);
        if let Some(se) = &block.squeeze_excitation {
            flow = self.squeeze_excitation(&format!("{path}/se"), se, &flow);
        }
        flow = self.graph.node(&format!("{path}/sum"), "Add", &[&flow, input], &[]);
        self.activate(path, flow)
    }

    fn squeeze_excitation(&mut self, path: &str, se: &SqueezeExcitation, input: &Value) -> Value {
        let filters = se.squeeze.inputs as i64;
        let axes = [Attribute::Ints("axes", &[2, 3]), Attribute::Int("keepdims", 0)];
        let mut flow = self.graph.node(&format!("{path}/mean"), "ReduceMean", &[input], &axes);
        flow = self.dense(&format!("{path}/squeeze"), &se.squeeze, &flow);
        flow = self.activate(&format!("{path}/squeeze"), flow);
        flow = self.dense(&format!("{path}/excite"), &se.excite, &flow);
        flow = self.reshape(&format!("{path}/planes"), &flow, &[-1, 2 * filters, 1, 1]);
        let sizes = self.graph.integers(&format!("{path}/sizes"), &[filters, filters]);
        let [gate, bias] =
            self.graph.node2(&format!("{path}/split"), "Split", &[&flow, &sizes], &[Attribute::Int("axis", 1)]);
        let gate = self.graph.node(&format!("{path}/sigmoid"), "Sigmoid", &[&gate], &[]);
        let gated = self.graph.node(&format!("{path}/gated"), "Mul", &[input, &gate], &[]);
        self.graph.node(&format!("{path}/biased"), "Add", &[&gated, &bias], &[])
    }

    fn policy(&mut self, head: &PolicyHead, tower: &Value) -> Value {
        match head {
            PolicyHead::Classical { convolution, dense } => {
                let mut flow = self.convolution("/policy/convolution", convolution, tower);
                flow = self.activate("/policy", flow);
                flow = self.flatten("/policy/flat", &flow, convolution);
                self.dense(names::POLICY, dense, &flow)
            }
            PolicyHead::Convolution { hidden, output } => {
                let mut flow = self.convolution("/policy/conv1", hidden, tower);
                flow = self.activate("/policy/conv1", flow);
                flow = self.convolution("/policy/conv2", output, &flow);
                flow = self.reshape("/policy/flat", &flow, &[-1, (CONVOLUTION_PLANES * SQUARES) as i64]);
                let map = self.graph.integers("/policy/map", &CONVOLUTION_MAP.map(i64::from));
                self.graph.node(names::POLICY, "Gather", &[&flow, &map], &[Attribute::Int("axis", 1)])
            }
        }
    }

    /// A value or moves-left head before its last nonlinearity.
    fn head(&mut self, path: &str, head: &DenseHead, tower: &Value) -> Value {
        let mut flow = self.convolution(&format!("{path}/convolution"), &head.convolution, tower);
        flow = self.activate(&format!("{path}/convolution"), flow);
        flow = self.flatten(&format!("{path}/flat"), &flow, &head.convolution);
        flow = self.dense(&format!("{path}/hidden"), &head.hidden, &flow);
        flow = self.activate(&format!("{path}/hidden"), flow);
        self.dense(&format!("{path}/out"), &head.output, &flow)
    }

    fn convolution(&mut self, path: &str, convolution: &Convolution, input: &Value) -> Value {
        let Convolution { inputs, outputs, kernel, weights, biases } = convolution;
        let [inputs, outputs, kernel] = [*inputs, *outputs, *kernel].map(|size| size as i64);
        let weights = self.graph.floats(&format!("{path}/w"), &[outputs, inputs, kernel, kernel], weights);
        let biases = self.graph.floats(&format!("{path}/b"), &[outputs], biases);
        let padding = [kernel / 2; 4];
        let attributes = [Attribute::Ints("kernel_shape", &[kernel, kernel]), Attribute::Ints("pads", &padding)];
        self.graph.node(path, "Conv", &[input, &weights, &biases], &attributes)
    }

    fn dense(&mut self, path: &str, dense: &Dense, input: &Value) -> Value {
        let shape = [dense.outputs as i64, dense.inputs as i64];
        let weights = self.graph.floats(&format!("{path}/w"), &shape, &dense.weights);
        let biases = self.graph.floats(&format!("{path}/b"), &shape[..1], &dense.biases);
        // Rows of the weights are outputs, as in the file.
        self.graph.node(path, "Gemm", &[input, &weights, &biases], &[Attribute::Int("transB", 1)])
    }

    fn flatten(&mut self, path: &str, planes: &Value, convolution: &Convolution) -> Value {
        self.reshape(path, planes, &[-1, (convolution.outputs * SQUARES) as i64])
    }

    fn reshape(&mut self, path: &str, value: &Value, shape: &[i64]) -> Value {
        let shape = self.graph.integers(&format!("{path}/shape"), shape);
        self.graph.node(path, "Reshape", &[value, &shape], &[])
    }

    fn activate(&mut self, path: &str, x: Value) -> Value {
        match self.activation {
            Activation::Relu => self.graph.node(&format!("{path}/relu"), "Relu", &[&x], &[]),
            Activation::Mish => self.mish(&format!("{path}/mish"), &x),
        }
    }

    /// Mish without Softplus, which ONNX Runtime computes one number at a time: with `s = sigmoid(-x)`,
    /// `mish(x) = x (1 - s^2) / (1 + s^2)`, at most 2e-6 off (onnxruntime.md). Softplus costs half of a transformer's
    /// time.
    fn mish(&mut self, path: &str, x: &Value) -> Value {
        let one = self.graph.floats(&format!("{path}/one"), &[], &[1.0]);
        let mut node =
            |name: &str, op: &str, inputs: &[&Value]| self.graph.node(&format!("{path}/{name}"), op, inputs, &[]);
        let negated = node("negated", "Neg", &[x]);
        let sigmoid = node("sigmoid", "Sigmoid", &[&negated]);
        let square = node("square", "Mul", &[&sigmoid, &sigmoid]);
        let numerator = node("numerator", "Sub", &[&one, &square]);
        let denominator = node("denominator", "Add", &[&one, &square]);
        let ratio = node("ratio", "Div", &[&numerator, &denominator]);
        node("product", "Mul", &[x, &ratio])
    }
}
