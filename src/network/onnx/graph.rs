//! A builder of ONNX graphs: values are handles, operators are methods, every node gets a name of its own.

use prost::Message;
use prost::bytes::Bytes;

use crate::network::onnx_proto::{
    AttributeProto, Dimension, FLOAT, GraphProto, INT64, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TensorType, TypeProto, ValueInfoProto, attribute_type,
};

/// The operator set of the models (lc0.md D.7): the newest that every runtime in use understands.
const OPSET: i64 = 17;
/// The version of the file format that goes with it.
const IR_VERSION: i64 = 8;
/// Name of the batch dimension.
const BATCH: &str = "batch";

/// The result of an operator, an input or a constant.
#[derive(Clone, Debug)]
pub(crate) struct Value(String);

/// A constant argument of an operator.
pub(crate) enum Attribute<'a> {
    Int(&'a str, i64),
    Ints(&'a str, &'a [i64]),
}

/// A graph under construction.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    graph: GraphProto,
}

impl GraphBuilder {
    /// An input `[batch, shape...]` of float32.
    pub(crate) fn input(&mut self, name: &str, shape: &[i64]) -> Value {
        self.graph.input.push(end(name, shape));
        Value(name.to_owned())
    }

    /// A constant of float32.
    pub(crate) fn floats(&mut self, name: &str, shape: &[i64], values: &[f32]) -> Value {
        debug_assert_eq!(shape.iter().product::<i64>(), values.len() as i64, "{name}");
        self.constant(name, shape, FLOAT, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// A constant vector of int64.
    pub(crate) fn integers(&mut self, name: &str, values: &[i64]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, &[values.len() as i64], INT64, bytes)
    }

    fn constant(&mut self, name: &str, shape: &[i64], data_type: i32, bytes: Vec<u8>) -> Value {
        self.graph.initializer.push(TensorProto {
            dims: shape.to_vec(),
            data_type: Some(data_type),
            name: Some(name.to_owned()),
            raw_data: Some(Bytes::from(bytes)),
        });
        Value(name.to_owned())
    }

    /// An operator with one result, which takes the name of the node.
    pub(crate) fn node(&mut self, name: &str, op: &str, inputs: &[&Value], attributes: &[Attribute<'_>]) -> Value {
        self.push(name, op, inputs, vec![name.to_owned()], attributes);
        Value(name.to_owned())
    }

    /// An operator with two results.
    pub(crate) fn node2(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&Value],
        attributes: &[Attribute<'_>],
    ) -> [Value; 2] {
        let outputs = [format!("{name}/0"), format!("{name}/1")];
        self.push(name, op, inputs, outputs.to_vec(), attributes);
        outputs.map(Value)
    }

    fn push(&mut self, name: &str, op: &str, inputs: &[&Value], output: Vec<String>, attributes: &[Attribute<'_>]) {
        debug_assert!(self.graph.node.iter().all(|node| node.name.as_deref() != Some(name)), "two nodes {name}");
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output,
            name: Some(name.to_owned()),
            op_type: Some(op.to_owned()),
            attribute: attributes.iter().map(attribute).collect(),
        });
    }

    /// Makes a value, named as the output shall be, an output `[batch, shape...]` of the graph.
    pub(crate) fn output(&mut self, value: &Value, shape: &[i64]) {
        self.graph.output.push(end(&value.0, shape));
    }

    /// The finished model file.
    pub(crate) fn finish(mut self, name: &str) -> Vec<u8> {
        self.graph.name = Some(name.to_owned());
        ModelProto {
            ir_version: Some(IR_VERSION),
            producer_name: Some(env!("CARGO_PKG_NAME").to_owned()),
            producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            graph: Some(self.graph),
            opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: Some(OPSET) }],
        }
        .encode_to_vec()
    }
}

fn attribute(attribute: &Attribute<'_>) -> AttributeProto {
    match *attribute {
        Attribute::Int(name, value) => AttributeProto {
            name: Some(name.to_owned()),
            i: Some(value),
            r#type: Some(attribute_type::INT),
            ..AttributeProto::default()
        },
        Attribute::Ints(name, values) => AttributeProto {
            name: Some(name.to_owned()),
            ints: values.to_vec(),
            r#type: Some(attribute_type::INTS),
            ..AttributeProto::default()
        },
    }
}

fn end(name: &str, shape: &[i64]) -> ValueInfoProto {
    let batch = Dimension { dim_value: None, dim_param: Some(BATCH.to_owned()) };
    let rest = shape.iter().map(|&size| Dimension { dim_value: Some(size), dim_param: None });
    let shape = TensorShapeProto { dim: std::iter::once(batch).chain(rest).collect() };
    let tensor_type = TensorType { elem_type: Some(FLOAT), shape: Some(shape) };
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(TypeProto { tensor_type: Some(tensor_type) }) }
}
