//! Builds ONNX graphs: values are handles, operators are methods, every node gets a name of its own.

use super::encode::{self, Constant, Floats, Numbers};
use super::{Conversion, Precision};
use crate::NetworkError;
use crate::onnx_proto::{
    AttributeProto, Dimension, GraphProto, NodeProto, TensorShapeProto, TensorType, TypeProto, ValueInfoProto,
    attribute_type, data_type,
};

/// Name of the batch dimension.
const BATCH: &str = "batch";
/// Domain of ONNX Runtime's own operators.
pub(super) const MICROSOFT: &str = "com.microsoft";

/// The result of an operator, an input or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value(String);

impl Value {
    /// The place of an optional argument that is left out before another.
    pub(crate) fn left_out() -> Value {
        Value(String::new())
    }
}

/// A constant argument of an operator.
pub(crate) enum Attribute<'a> {
    Int(&'a str, i64),
    Float(&'a str, f32),
    Ints(&'a str, &'a [i64]),
}

/// A graph under construction; constants are not copied before the graph is written.
pub(crate) struct GraphBuilder<'a> {
    graph: GraphProto,
    constants: Vec<Constant<'a>>,
    conversion: &'a Conversion,
}

impl<'a> GraphBuilder<'a> {
    pub fn new(conversion: &'a Conversion) -> GraphBuilder<'a> {
        GraphBuilder { graph: GraphProto::default(), constants: Vec::new(), conversion }
    }

    pub(crate) fn opset(&self) -> i64 {
        self.conversion.opset
    }

    /// Adds an input `[batch, shape...]` of float32; the result is the input in the graph's precision.
    pub fn input(&mut self, name: &str, shape: &[i64]) -> Value {
        let input = self.raw_input(name, data_type::FLOAT, shape);
        match self.conversion.precision {
            Precision::Float32 => input,
            precision => self.cast("/input/cast", &input, precision),
        }
    }

    /// Adds an input `[batch, shape...]` of this element type of ONNX; the result is the input as it is.
    pub(crate) fn raw_input(&mut self, name: &str, elem_type: i32, shape: &[i64]) -> Value {
        let end = self.end(name, elem_type, shape);
        self.graph.input.push(end);
        Value(name.to_owned())
    }

    /// Adds an output `name` `[batch, shape...]`, which is float32 in any precision: the operator `last` with these
    /// attributes computes it from `value`.
    pub fn output(&mut self, name: &str, last: &str, attributes: &[Attribute<'_>], value: &Value, shape: &[i64]) {
        self.output_as(Precision::Float32, name, last, attributes, value, shape);
    }

    /// Adds an output as [`GraphBuilder::output`] does, but of this precision.
    pub(crate) fn output_as(
        &mut self,
        precision: Precision,
        name: &str,
        last: &str,
        attributes: &[Attribute<'_>],
        value: &Value,
        shape: &[i64],
    ) {
        // The values before a last operator are wide enough; the operator itself profits from float32.
        let value = if self.conversion.precision == precision {
            value.clone()
        } else {
            self.cast(&format!("{name}/cast"), value, precision)
        };
        self.node(name, last, &[&value], attributes);
        let end = self.end(name, data_type::of(precision), shape);
        self.graph.output.push(end);
    }

    /// A node that converts a value to this precision.
    pub(crate) fn cast(&mut self, name: &str, value: &Value, to: Precision) -> Value {
        self.node(name, "Cast", &[value], &[Attribute::Int("to", data_type::of(to).into())])
    }

    /// A constant of floats in the graph's precision, `parts` one after the other.
    pub(crate) fn floats(&mut self, name: &str, shape: &[i64], parts: Vec<Floats<'a>>) -> Value {
        let length: usize = parts.iter().map(Floats::len).sum();
        debug_assert_eq!(shape.iter().product::<i64>(), length as i64, "{name}");
        self.constant(name, shape, Numbers::Floats(parts))
    }

    /// A constant vector of int64.
    pub(crate) fn integers(&mut self, name: &str, values: Vec<i64>) -> Value {
        self.constant(name, &[values.len() as i64], Numbers::Integers(values))
    }

    fn constant(&mut self, name: &str, shape: &[i64], numbers: Numbers<'a>) -> Value {
        debug_assert!(self.constants.iter().all(|constant| constant.name != name), "two constants {name}");
        self.constants.push(Constant { name: name.to_owned(), shape: shape.to_vec(), numbers });
        Value(name.to_owned())
    }

    /// An operator with one result, which takes the name of the node.
    pub(crate) fn node(&mut self, name: &str, op: &str, inputs: &[&Value], attributes: &[Attribute<'_>]) -> Value {
        self.push(name, op, inputs, vec![name.to_owned()], attributes);
        Value(name.to_owned())
    }

    /// An operator of ONNX Runtime's own with one result (its page of contrib operators describes them).
    pub(crate) fn microsoft(&mut self, name: &str, op: &str, inputs: &[&Value], attributes: &[Attribute<'_>]) -> Value {
        let result = self.node(name, op, inputs, attributes);
        self.graph.node.last_mut().expect("a node was added").domain = Some(MICROSOFT.to_owned());
        result
    }

    /// An operator with several results.
    pub fn nodes<const N: usize>(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&Value],
        attributes: &[Attribute<'_>],
    ) -> [Value; N] {
        let outputs: [String; N] = std::array::from_fn(|index| format!("{name}/{index}"));
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
            domain: None,
        });
    }

    /// The finished model file of the network `name`, with `notes` (key and value) as its metadata.
    pub fn finish(mut self, name: &str, notes: &[(&str, String)]) -> Result<Vec<u8>, NetworkError> {
        self.graph.name = Some(name.to_owned());
        encode::model(&self.graph, &self.constants, notes, self.conversion, name)
    }

    fn end(&self, name: &str, elem_type: i32, shape: &[i64]) -> ValueInfoProto {
        let batch = match self.conversion.batch {
            Some(batch) => Dimension { dim_value: Some(batch as i64), dim_param: None },
            None => Dimension { dim_value: None, dim_param: Some(BATCH.to_owned()) },
        };
        let rest = shape.iter().map(|&size| Dimension { dim_value: Some(size), dim_param: None });
        let shape = TensorShapeProto { dim: std::iter::once(batch).chain(rest).collect() };
        let tensor_type = TensorType { elem_type: Some(elem_type), shape: Some(shape) };
        ValueInfoProto { name: Some(name.to_owned()), r#type: Some(TypeProto { tensor_type: Some(tensor_type) }) }
    }
}

fn attribute(attribute: &Attribute<'_>) -> AttributeProto {
    let (name, proto) = match *attribute {
        Attribute::Int(name, value) => {
            (name, AttributeProto { i: Some(value), r#type: Some(attribute_type::INT), ..Default::default() })
        }
        Attribute::Float(name, value) => {
            (name, AttributeProto { f: Some(value), r#type: Some(attribute_type::FLOAT), ..Default::default() })
        }
        Attribute::Ints(name, values) => {
            (name, AttributeProto { ints: values.to_vec(), r#type: Some(attribute_type::INTS), ..Default::default() })
        }
    };
    AttributeProto { name: Some(name.to_owned()), ..proto }
}
