//! Which operators run in integers, and the graph that says so.

use std::collections::{HashMap, HashSet};

use prost::bytes::Bytes;

use super::ActivationRange;
use crate::network::onnx_proto::{
    AttributeProto, FLOAT, GraphProto, INT8, INT32, ModelProto, NodeProto, TensorProto, TensorType, TypeProto, UINT8,
    ValueInfoProto, attribute_type,
};

pub(super) struct Plan {
    /// Nodes that run in integers, by their place.
    nodes: HashSet<usize>,
    /// Values that are stored in 8 bits.
    values: HashSet<String>,
    /// Relu nodes that the range of their output makes superfluous: the place of the node, and of its producer.
    absorbed: HashMap<usize, usize>,
}

fn knob(name: &str, default: bool) -> bool {
    std::env::var(name).map_or(default, |value| value == "1")
}

impl Plan {
    pub(super) fn of(graph: &GraphProto) -> Plan {
        let constants: HashSet<&str> = graph.initializer.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
        let floats: HashMap<&str, &TensorProto> = (graph.initializer.iter())
            .filter(|tensor| tensor.data_type == Some(FLOAT))
            .filter_map(|tensor| Some((tensor.name.as_deref()?, tensor)))
            .collect();
        let outputs: HashSet<&str> = graph.output.iter().filter_map(|end| end.name.as_deref()).collect();
        let inputs: HashSet<&str> = graph.input.iter().filter_map(|end| end.name.as_deref()).collect();
        let mut consumers: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut producers: HashMap<&str, usize> = HashMap::new();
        for (place, node) in graph.node.iter().enumerate() {
            node.input.iter().for_each(|name| consumers.entry(name).or_default().push(place));
            producers.extend(node.output.iter().map(|name| (name.as_str(), place)));
        }
        let op = |place: usize| graph.node[place].op_type.as_deref().unwrap_or_default();
        let name_of = |place: usize| graph.node[place].name.as_deref().unwrap_or_default();
        let mut nodes = HashSet::new();
        let mut values = HashSet::new();
        let mut absorbed = HashMap::new();
        for (place, node) in graph.node.iter().enumerate() {
            let weighted = node.input.len() > 1 && floats.contains_key(node.input[1].as_str());
            let chosen = match op(place) {
                "Conv" => {
                    weighted
                        && (knob("Q_FIRST", true) || !inputs.contains(node.input[0].as_str()))
                        && (knob("Q_LAST", true) || name_of(place) != "/policy/conv2")
                        && (knob("Q_HEADS", true) || !["/policy", "/value", "/moves"].iter().any(|h| name_of(place).starts_with(h)))
                }
                "Gemm" => weighted && knob("Q_DENSE", true)
                        && (knob("Q_SE", true) || !name_of(place).contains("/se/")),
                "MatMul" => weighted,
                "Add" | "Mul" => {
                    knob("Q_ELEMENTWISE", true)
                        && node.input.iter().all(|name| !constants.contains(name.as_str()))
                        && node.input.iter().any(|name| producers.get(name.as_str()).is_some_and(|p| nodes.contains(p)))
                }
                _ => false,
            };
            if !chosen {
                continue;
            }
            nodes.insert(place);
            for name in node.input.iter().filter(|name| !constants.contains(name.as_str())) {
                values.insert(name.clone());
            }
            if matches!(op(place), "Gemm" | "MatMul") {
                continue;
            }
            let output = &node.output[0];
            if outputs.contains(output.as_str()) {
                continue;
            }
            let next = consumers.get(output.as_str()).map(Vec::as_slice).unwrap_or_default();
            if let &[relu] = next
                && op(relu) == "Relu"
            {
                absorbed.insert(relu, place);
                values.insert(graph.node[relu].output[0].clone());
            } else {
                values.insert(output.clone());
            }
        }
        Plan { nodes, values, absorbed }
    }

    pub(super) fn observed(&self) -> Vec<String> {
        let mut names: Vec<String> = self.values.iter().cloned().collect();
        names.sort();
        names
    }

    pub(super) fn apply(&self, mut model: ModelProto, ranges: &HashMap<String, ActivationRange>) -> ModelProto {
        let Some(graph) = model.graph.take() else { return model };
        let constants: HashMap<String, TensorProto> =
            graph.initializer.iter().filter_map(|tensor| Some((tensor.name.clone()?, tensor.clone()))).collect();
        let scales: HashMap<&String, Scale> =
            self.values.iter().filter_map(|name| Some((name, Scale::of(ranges.get(name)?)))).collect();
        let mut rewriter = Rewriter { scales, constants, result: GraphProto { name: graph.name.clone(), ..Default::default() } };
        rewriter.result.input = graph.input;
        rewriter.result.output = graph.output;
        for input in rewriter.result.input.clone() {
            rewriter.quantise(&input.name.unwrap_or_default());
        }
        let renamed: HashMap<&str, &str> = (self.absorbed.iter())
            .map(|(&relu, &producer)| {
                (graph.node[producer].output[0].as_str(), graph.node[relu].output[0].as_str())
            })
            .collect();
        for (place, node) in graph.node.iter().enumerate() {
            if self.absorbed.contains_key(&place) {
                continue;
            }
            let mut node = node.clone();
            for name in &mut node.output {
                if let Some(new) = renamed.get(name.as_str()) {
                    *name = (*new).to_owned();
                }
            }
            if self.nodes.contains(&place) {
                rewriter.weights(&mut node);
            }
            let outputs = node.output.clone();
            rewriter.push(node);
            for name in outputs {
                rewriter.quantise(&name);
            }
        }
        let Rewriter { mut result, constants, .. } = rewriter;
        let used: HashSet<&str> = result.node.iter().flat_map(|node| &node.input).map(String::as_str).collect();
        let kept = graph.initializer.into_iter().filter(|tensor| tensor.name.as_deref().is_some_and(|name| used.contains(name)));
        let kept: Vec<TensorProto> = kept.collect();
        drop(constants);
        result.initializer.extend(kept);
        model.graph = Some(result);
        model
    }
}

/// How a value is stored in 8 bits.
#[derive(Clone, Copy)]
struct Scale {
    scale: f32,
    zero: u8,
}

impl Scale {
    fn of(range: &ActivationRange) -> Scale {
        // Zero must be exact: it pads the convolutions, and is what Relu clips to.
        let minimum = range.minimum.min(0.0);
        let maximum = range.maximum.max(0.0);
        let scale = ((maximum - minimum) / 255.0).max(1e-10);
        Scale { scale, zero: (-minimum / scale).round().clamp(0.0, 255.0) as u8 }
    }
}

struct Rewriter<'a> {
    scales: HashMap<&'a String, Scale>,
    constants: HashMap<String, TensorProto>,
    result: GraphProto,
}

impl Rewriter<'_> {
    fn push(&mut self, mut node: NodeProto) {
        for name in &mut node.input {
            if self.scales.contains_key(name) {
                name.push_str("/dequantised");
            }
        }
        self.result.node.push(node);
    }

    fn constant(&mut self, name: String, dims: Vec<i64>, data_type: i32, bytes: Vec<u8>) -> String {
        self.result.initializer.push(TensorProto {
            dims,
            data_type: Some(data_type),
            name: Some(name.clone()),
            raw_data: Some(Bytes::from(bytes)),
        });
        name
    }

    /// Puts the pair behind a value, if it is one that is stored in 8 bits.
    fn quantise(&mut self, name: &str) {
        let Some(&Scale { scale, zero }) = self.scales.get(&name.to_owned()) else { return };
        let scale = self.constant(format!("{name}/scale"), vec![], FLOAT, scale.to_le_bytes().to_vec());
        let zero = self.constant(format!("{name}/zero"), vec![], UINT8, vec![zero]);
        let (q, d) = (format!("{name}/quantised"), format!("{name}/dequantised"));
        self.result.node.push(plain("QuantizeLinear", &[name, &scale, &zero], &q));
        self.result.node.push(plain("DequantizeLinear", &[&q, &scale, &zero], &d));
    }

    /// Puts weights and biases of an operator into integers.
    fn weights(&mut self, node: &mut NodeProto) {
        let op = node.op_type.clone().unwrap_or_default();
        if !matches!(op.as_str(), "Conv" | "Gemm" | "MatMul") {
            return;
        }
        let Some(&Scale { scale: input_scale, .. }) = self.scales.get(&node.input[0]) else { return };
        let tensor = self.constants[&node.input[1]].clone();
        let trans = node.attribute.iter().any(|a| a.name.as_deref() == Some("transB") && a.i == Some(1));
        let axis = if op == "Conv" || trans { 0 } else { tensor.dims.len() - 1 };
        let name = node.input[1].clone();
        let values = floats(&tensor);
        let outputs = tensor.dims[axis] as usize;
        let stride: usize = tensor.dims[axis + 1..].iter().product::<i64>() as usize;
        let channel = |index: usize| index / stride % outputs;
        let mut largest = vec![0.0_f32; outputs];
        for (index, value) in values.iter().enumerate() {
            let c = channel(index);
            largest[c] = largest[c].max(value.abs());
        }
        let scales: Vec<f32> = largest.iter().map(|&largest| (largest / 127.0).max(1e-10)).collect();
        let integers: Vec<u8> = (values.iter().enumerate())
            .map(|(index, value)| (value / scales[channel(index)]).round().clamp(-127.0, 127.0) as i8 as u8)
            .collect();
        let q = self.constant(format!("{name}/quantised"), tensor.dims.clone(), INT8, integers);
        let s = self.constant(format!("{name}/scale"), vec![outputs as i64], FLOAT, le(&scales));
        let z = self.constant(format!("{name}/zero"), vec![outputs as i64], INT8, vec![0; outputs]);
        let d = format!("{name}/dequantised");
        self.result.node.push(along(axis as i64, plain("DequantizeLinear", &[&q, &s, &z], &d)));
        node.input[1] = d;
        if let Some(bias) = node.input.get(2).cloned() {
            let values = floats(&self.constants[&bias]);
            let scales: Vec<f32> = scales.iter().map(|scale| scale * input_scale).collect();
            let integers: Vec<u8> = (values.iter().zip(&scales))
                .flat_map(|(value, scale)| ((value / scale).round() as i32).to_le_bytes())
                .collect();
            let q = self.constant(format!("{bias}/quantised"), vec![outputs as i64], INT32, integers);
            let s = self.constant(format!("{bias}/scale"), vec![outputs as i64], FLOAT, le(&scales));
            let z = self.constant(format!("{bias}/zero"), vec![outputs as i64], INT32, vec![0; 4 * outputs]);
            let d = format!("{bias}/dequantised");
            self.result.node.push(along(0, plain("DequantizeLinear", &[&q, &s, &z], &d)));
            node.input[2] = d;
        }
    }
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(tensor: &TensorProto) -> Vec<f32> {
    let bytes = tensor.raw_data.as_deref().unwrap_or_default();
    bytes.as_chunks::<4>().0.iter().map(|&quad| f32::from_le_bytes(quad)).collect()
}

fn plain(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        name: Some(output.to_owned()),
        op_type: Some(op.to_owned()),
        attribute: Vec::new(),
    }
}

fn along(axis: i64, mut node: NodeProto) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: Some("axis".to_owned()),
        i: Some(axis),
        r#type: Some(attribute_type::INT),
        ..AttributeProto::default()
    });
    node
}

/// The model with these values as outputs too.
pub(super) fn observable(model: &ModelProto, names: &[String]) -> ModelProto {
    let mut model = model.clone();
    if let Some(graph) = &mut model.graph {
        let inputs: HashSet<Option<String>> = graph.input.iter().map(|end| end.name.clone()).collect();
        let float = TypeProto { tensor_type: Some(TensorType { elem_type: Some(FLOAT), shape: None }) };
        let ends = names.iter().map(|name| ValueInfoProto { name: Some(name.clone()), r#type: Some(float.clone()) });
        let known: HashSet<Option<String>> = graph.output.iter().map(|end| end.name.clone()).collect();
        let new: Vec<ValueInfoProto> =
            ends.filter(|end| !inputs.contains(&end.name) && !known.contains(&end.name)).collect();
        graph.output.extend(new);
    }
    model
}
