//! Chooses the operators that run in integers, and rewrites the graph for them.

use std::collections::{HashMap, HashSet};

use super::ActivationRange;
use super::numbers::{Scale, floats, weights};
use crate::network::onnx_proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TensorType, TypeProto, ValueInfoProto,
    attribute_type,
    data_type::{FLOAT, INT8, INT32, UINT8},
};

/// Number of weights below which a dense layer stays in float32: in squeeze and excitation, 8 bits would cost more time
/// in conversions than they save.
const SMALLEST_DENSE: usize = 1 << 14;

/// The part of a graph that runs in integers.
#[derive(Default)]
pub(super) struct QuantisationPlan {
    /// Indices of the nodes that run in integers: convolutions and dense layers.
    operators: HashSet<usize>,
    /// Values that these nodes read in 8 bits; other nodes read them as they were.
    read: HashSet<String>,
    /// Values that convolutions write in 8 bits: every node reads them so.
    written: HashSet<String>,
    /// ReLUs that storing a convolution's output in 8 bits makes needless: index of the ReLU, and of the convolution.
    absorbed: HashMap<usize, usize>,
}

impl QuantisationPlan {
    /// The plan for a graph: convolutions between other layers run in integers, and dense layers with constant weights.
    pub(super) fn of(graph: &GraphProto) -> QuantisationPlan {
        let lookup = Lookup::of(graph);
        let mut plan = QuantisationPlan::default();
        for (place, node) in graph.node.iter().enumerate() {
            let weights = node.input.get(1).and_then(|name| lookup.floats.get(name.as_str()));
            let (Some(weights), [output]) = (weights, node.output.as_slice()) else { continue };
            let input = node.input[0].as_str();
            match op(node) {
                "Conv" => {
                    if lookup.inputs.contains(input) || !lookup.leads_on(graph, output) {
                        continue;
                    }
                    // The result is stored in 8 bits, after the ReLU where there is one.
                    let relu = lookup.only_consumer(output).filter(|&next| op(&graph.node[next]) == "Relu");
                    let written = relu.map_or(output, |relu| &graph.node[relu].output[0]);
                    if lookup.outputs.contains(written.as_str()) {
                        continue;
                    }
                    plan.written.insert(written.clone());
                    plan.absorbed.extend(relu.map(|relu| (relu, place)));
                }
                "Gemm" | "MatMul" => {
                    let size: i64 = weights.dims.iter().product();
                    if weights.dims.len() != 2 || size < SMALLEST_DENSE as i64 || is_true(node, "transA") {
                        continue;
                    }
                }
                _ => continue,
            }
            plan.operators.insert(place);
            plan.read.insert(input.to_owned());
        }
        plan
    }

    pub(super) fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Names of the values whose range must be known, in alphabetical order.
    pub(super) fn observed(&self) -> Vec<String> {
        let mut names: Vec<String> = self.read.union(&self.written).cloned().collect();
        names.sort();
        names
    }

    /// The model with these operators in integers; `ranges` holds what [`QuantisationPlan::observed`] names.
    pub(super) fn apply(&self, mut model: ModelProto, ranges: &HashMap<String, ActivationRange>) -> ModelProto {
        let Some(graph) = model.graph.take() else { return model };
        let scales = (self.observed().into_iter())
            .filter_map(|name| ranges.get(&name).map(|range| Scale::of(*range)).map(|scale| (name, scale)))
            .collect();
        let constants = graph.initializer.iter().filter_map(|tensor| Some((tensor.name.as_deref()?, tensor))).collect();
        let mut writer =
            Writer { scales, constants, nodes: Vec::new(), initializers: Vec::new(), stored: HashSet::new() };
        for input in graph.input.iter().filter_map(|input| input.name.as_deref()) {
            writer.store(input);
        }
        let renamed: HashMap<&str, &str> = (self.absorbed.iter())
            .map(|(&relu, &conv)| (graph.node[conv].output[0].as_str(), graph.node[relu].output[0].as_str()))
            .collect();
        for (place, node) in graph.node.iter().enumerate() {
            if self.absorbed.contains_key(&place) {
                continue;
            }
            let mut node = node.clone();
            if self.operators.contains(&place) {
                writer.weigh(&mut node);
                node.input[0] = dequantised(&node.input[0]);
            }
            for name in node.input.iter_mut().filter(|name| self.written.contains(*name)) {
                *name = dequantised(name);
            }
            for name in &mut node.output {
                if let Some(new) = renamed.get(name.as_str()) {
                    *name = (*new).to_owned();
                }
            }
            let outputs = node.output.clone();
            writer.nodes.push(node);
            outputs.iter().for_each(|name| writer.store(name));
        }
        let Writer { nodes, mut initializers, .. } = writer;
        let used: HashSet<&str> = nodes.iter().flat_map(|node| &node.input).map(String::as_str).collect();
        let is_used = |tensor: &&TensorProto| tensor.name.as_deref().is_some_and(|name| used.contains(name));
        initializers.extend(graph.initializer.iter().filter(is_used).cloned());
        model.graph = Some(GraphProto { node: nodes, initializer: initializers, ..graph });
        model
    }
}

/// A graph's inputs and outputs, its float32 constants, and the nodes that read each value.
struct Lookup<'a> {
    inputs: HashSet<&'a str>,
    outputs: HashSet<&'a str>,
    floats: HashMap<&'a str, &'a TensorProto>,
    consumers: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Lookup<'a> {
    fn of(graph: &'a GraphProto) -> Lookup<'a> {
        let names = |ends: &'a [ValueInfoProto]| ends.iter().filter_map(|end| end.name.as_deref()).collect();
        let floats = graph.initializer.iter().filter(|tensor| tensor.data_type == Some(FLOAT));
        let mut consumers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, node) in graph.node.iter().enumerate() {
            node.input.iter().for_each(|name| consumers.entry(name).or_default().push(place));
        }
        Lookup {
            inputs: names(&graph.input),
            outputs: names(&graph.output),
            floats: floats.filter_map(|tensor| Some((tensor.name.as_deref()?, tensor))).collect(),
            consumers,
        }
    }

    fn consumers(&self, value: &str) -> &[usize] {
        self.consumers.get(value).map_or(&[], Vec::as_slice)
    }

    fn only_consumer(&self, value: &str) -> Option<usize> {
        match self.consumers(value) {
            &[one] if !self.outputs.contains(value) => Some(one),
            _ => None,
        }
    }

    /// Whether an operator with weights follows a value: after the last such operator, every error shows in an output.
    fn leads_on(&self, graph: &GraphProto, value: &str) -> bool {
        let mut waiting = vec![value];
        let mut seen = HashSet::new();
        while let Some(value) = waiting.pop() {
            for &place in self.consumers(value).iter().filter(|&&place| seen.insert(place)) {
                let node = &graph.node[place];
                if matches!(op(node), "Conv" | "Gemm" | "MatMul") {
                    return true;
                }
                waiting.extend(node.output.iter().map(String::as_str));
            }
        }
        false
    }
}

/// The new graph, as it grows.
struct Writer<'a> {
    scales: HashMap<String, Scale>,
    constants: HashMap<&'a str, &'a TensorProto>,
    nodes: Vec<NodeProto>,
    initializers: Vec<TensorProto>,
    /// Names of the weights that are in 8 bits already.
    stored: HashSet<String>,
}

impl Writer<'_> {
    fn constant(&mut self, name: String, dims: &[i64], data_type: i32, bytes: Vec<u8>) -> String {
        self.initializers.push(TensorProto {
            dims: dims.to_vec(),
            data_type: Some(data_type),
            name: Some(name.clone()),
            raw_data: Some(bytes.into()),
            ..TensorProto::default()
        });
        name
    }

    /// Stores a value in 8 bits, if it has a scale.
    fn store(&mut self, name: &str) {
        let Some(&Scale { scale, zero }) = self.scales.get(name) else { return };
        let scale = self.constant(format!("{name}/scale"), &[], FLOAT, scale.to_le_bytes().to_vec());
        let zero = self.constant(format!("{name}/zero"), &[], UINT8, vec![zero]);
        let integers = format!("{name}/quantised");
        self.nodes.push(node("QuantizeLinear", &[name, &scale, &zero], &integers, None));
        self.nodes.push(node("DequantizeLinear", &[&integers, &scale, &zero], &dequantised(name), None));
    }

    /// Puts the weights of an operator into 8 bits, and its biases into 32.
    fn weigh(&mut self, operator: &mut NodeProto) {
        let Some(&Scale { scale: input_scale, .. }) = self.scales.get(&operator.input[0]) else { return };
        let Some(&tensor) = self.constants.get(operator.input[1].as_str()) else { return };
        let biases =
            operator.input.get(2).and_then(|name| self.constants.get(name.as_str())).map(|&tensor| floats(tensor));
        // Operators without biases may share weights, which are then stored once.
        let name = match &biases {
            Some(_) => format!("{}/weights", operator.output[0]),
            None => operator.input[1].clone(),
        };
        if !self.stored.insert(name.clone()) {
            operator.input[1] = dequantised(&name);
            return;
        }
        let outputs_first = op(operator) == "Conv" || is_true(operator, "transB");
        let axis = if outputs_first { 0 } else { 1 };
        let quantised = weights(tensor, axis, biases.as_deref(), input_scale);
        let outputs = [quantised.scales.len() as i64];

        let mut stored = |of: &str, dims: &[i64], integer: i32, bytes: Vec<u8>, scales: &[f32], axis: i64| {
            // A zero point of the same type, all zeros.
            let width = bytes.len() / dims.iter().product::<i64>().max(1) as usize;
            let zeros = vec![0; width * scales.len()];
            let integers = self.constant(format!("{of}/quantised"), dims, integer, bytes);
            let scales = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
            let scales = self.constant(format!("{of}/scales"), &outputs, FLOAT, scales);
            let zeros = self.constant(format!("{of}/zeros"), &outputs, integer, zeros);
            let floats = dequantised(of);
            self.nodes.push(node("DequantizeLinear", &[&integers, &scales, &zeros], &floats, Some(axis)));
            floats
        };
        let bytes = quantised.weights.iter().map(|&weight| weight as u8).collect();
        operator.input[1] = stored(&name, &tensor.dims, INT8, bytes, &quantised.scales, axis as i64);
        if let Some(biases) = quantised.biases {
            let scales: Vec<f32> = quantised.scales.iter().map(|scale| scale * input_scale).collect();
            let bytes = biases.iter().flat_map(|bias| bias.to_le_bytes()).collect();
            operator.input[2] = stored(&format!("{}/biases", operator.output[0]), &outputs, INT32, bytes, &scales, 0);
        }
    }
}

/// The name of a value after its way through 8 bits.
fn dequantised(name: &str) -> String {
    format!("{name}/dequantised")
}

fn op(node: &NodeProto) -> &str {
    node.op_type.as_deref().unwrap_or_default()
}

fn is_true(node: &NodeProto, attribute: &str) -> bool {
    node.attribute.iter().any(|found| found.name.as_deref() == Some(attribute) && found.i == Some(1))
}

fn node(op: &str, inputs: &[&str], output: &str, axis: Option<i64>) -> NodeProto {
    let attribute = axis.map(|axis| AttributeProto {
        name: Some("axis".to_owned()),
        i: Some(axis),
        r#type: Some(attribute_type::INT),
        ..AttributeProto::default()
    });
    NodeProto {
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        name: Some(output.to_owned()),
        op_type: Some(op.to_owned()),
        attribute: attribute.into_iter().collect(),
    }
}

/// The model with these values as outputs too.
pub(super) fn observable(model: &ModelProto, names: &[String]) -> ModelProto {
    let mut model = model.clone();
    if let Some(graph) = &mut model.graph {
        let ends: HashSet<&str> =
            graph.input.iter().chain(&graph.output).filter_map(|end| end.name.as_deref()).collect();
        let float = TypeProto { tensor_type: Some(TensorType { elem_type: Some(FLOAT), shape: None }) };
        let end = |name: &String| ValueInfoProto { name: Some(name.clone()), r#type: Some(float.clone()) };
        let new: Vec<ValueInfoProto> = names.iter().filter(|name| !ends.contains(name.as_str())).map(end).collect();
        graph.output.extend(new);
    }
    model
}
