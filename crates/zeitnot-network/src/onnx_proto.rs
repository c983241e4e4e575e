//! The part of ONNX's public schema (`onnx.proto`, Apache-2.0) that writing a network needs, hand-written for `prost`.
//!
//! Reading uses the same messages: fields that are not named here (training info, quantisation, functions) are skipped.

#![allow(missing_docs, reason = "the schema says what its fields are")]

use prost::Message;
use prost::bytes::Bytes;

/// `TensorProto.DataType`.
pub mod data_type {
    use crate::Precision;

    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const FLOAT16: i32 = 10;
    pub const BFLOAT16: i32 = 16;

    /// The number of a precision's type.
    pub fn of(precision: Precision) -> i32 {
        match precision {
            Precision::Float32 => FLOAT,
            Precision::Float16 => FLOAT16,
            Precision::Bfloat16 => BFLOAT16,
        }
    }
}

/// Numbers of fields that are read or written without the messages below.
pub mod field {
    /// `ModelProto.ir_version`.
    pub const IR_VERSION: u32 = 1;
    /// `ModelProto.graph`.
    pub const GRAPH: u32 = 7;
    /// `GraphProto.node`.
    pub const NODE: u32 = 1;
    /// `NodeProto.op_type`.
    pub const OP_TYPE: u32 = 4;
    /// `GraphProto.initializer`.
    pub const INITIALIZER: u32 = 5;
    /// `GraphProto.input`.
    pub const INPUT: u32 = 11;
    /// `GraphProto.sparse_initializer`.
    pub const SPARSE_INITIALIZER: u32 = 15;
    /// `ValueInfoProto.name`.
    pub const INPUT_NAME: u32 = 1;
    /// `SparseTensorProto.values`, whose name is that of the whole tensor.
    pub const SPARSE_VALUES: u32 = 1;
    /// `TensorProto.data_type`.
    pub const DATA_TYPE: u32 = 2;
    /// `TensorProto.name`.
    pub const TENSOR_NAME: u32 = 8;
    /// `TensorProto.raw_data`.
    pub const RAW_DATA: u32 = 9;
    /// `TensorProto.external_data`.
    pub const EXTERNAL_DATA: u32 = 13;
    /// `StringStringEntryProto.key`.
    pub const KEY: u32 = 1;
    /// `StringStringEntryProto.value`.
    pub const VALUE: u32 = 2;
}

/// `AttributeProto.AttributeType`.
pub mod attribute_type {
    pub const FLOAT: i32 = 1;
    pub const INT: i32 = 2;
    pub const INTS: i32 = 7;
}

/// The file: a graph, and the version of the operators it uses.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A key and a value, such as a note of the model's maker.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// The file, of which only the graph's inputs and outputs and the notes are read.
#[derive(Clone, PartialEq, Message)]
pub struct ModelEnds {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphEnds>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// The inputs and outputs of a graph.
#[derive(Clone, PartialEq, Message)]
pub struct GraphEnds {
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// The version of one operator set; the empty domain is ONNX's own.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// Nodes in topological order, the constants they use, and the inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// One operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
}

/// A constant argument of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(int32, optional, tag = "20")]
    pub r#type: Option<i32>,
}

/// A constant tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// Little-endian elements.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Place of the numbers in another file: `location` (its name), `offset` and `length`, as text.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 (`TensorProto.DataLocation.EXTERNAL`) where the numbers lie in another file.
    #[prost(int32, optional, tag = "14")]
    pub data_location: Option<i32>,
}

/// Name and type of an input or output of the graph.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type; only tensors matter here.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Element type and shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A dimension: a number or a name.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
