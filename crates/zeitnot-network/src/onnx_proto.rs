//! The part of ONNX's public schema (`onnx.proto`, Apache-2.0) that writing a network needs, hand-written for `prost`.
//!
//! Reading uses the same messages: fields that are not named here (training info, quantisation, functions) are skipped.

#![allow(missing_docs, reason = "the schema says what its fields are")]

use prost::bytes::Bytes;

/// `TensorProto.DataType`.
pub mod data_type {
    use crate::Precision;

    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub(crate) const INT32: i32 = 6;
    pub(crate) const INT64: i32 = 7;
    pub const FLOAT16: i32 = 10;
    pub const BFLOAT16: i32 = 16;

    /// ONNX's number of the element type for a precision.
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
    pub(crate) const IR_VERSION: u32 = 1; // `ModelProto.ir_version`.
    pub const GRAPH: u32 = 7; // `ModelProto.graph`.
    pub(crate) const NODE: u32 = 1; // `GraphProto.node`.
    pub(crate) const OP_TYPE: u32 = 4; // `NodeProto.op_type`.
    pub const INITIALIZER: u32 = 5; // `GraphProto.initializer`.
    pub(crate) const INPUT: u32 = 11; // `GraphProto.input`.
    pub(crate) const SPARSE_INITIALIZER: u32 = 15; // `GraphProto.sparse_initializer`.
    pub(crate) const INPUT_NAME: u32 = 1; // `ValueInfoProto.name`.
    pub(crate) const SPARSE_VALUES: u32 = 1; // `SparseTensorProto.values`, whose name is that of the whole tensor.
    pub const DATA_TYPE: u32 = 2; // `TensorProto.data_type`.
    pub(crate) const TENSOR_NAME: u32 = 8; // `TensorProto.name`.
    pub(crate) const RAW_DATA: u32 = 9; // `TensorProto.raw_data`.
    pub(crate) const EXTERNAL_DATA: u32 = 13; // `TensorProto.external_data`.
    pub(crate) const KEY: u32 = 1; // `StringStringEntryProto.key`.
    pub(crate) const VALUE: u32 = 2; // `StringStringEntryProto.value`.
}

/// `AttributeProto.AttributeType`.
pub(crate) mod attribute_type {
    pub(crate) const FLOAT: i32 = 1;
    pub(crate) const INT: i32 = 2;
    pub(crate) const INTS: i32 = 7;
}

messages! {
    /// The file: a graph, and the version of the operators it uses.
    ModelProto {
        optional int64 ir_version: i64 = 1;
        optional string producer_name: String = 2;
        optional string producer_version: String = 3;
        optional message graph: GraphProto = 7;
        repeated message opset_import: OperatorSetIdProto = 8;
        repeated message metadata_props: StringStringEntryProto = 14;
    }

    /// A key and a value, such as an entry of the model's metadata.
    StringStringEntryProto {
        optional string key: String = 1;
        optional string value: String = 2;
    }

    /// The file, of which only the graph's inputs and outputs and the metadata are read.
    ModelEnds {
        optional message graph: GraphEnds = 7;
        repeated message metadata_props: StringStringEntryProto = 14;
    }

    /// The inputs and outputs of a graph.
    GraphEnds {
        repeated message input: ValueInfoProto = 11;
        repeated message output: ValueInfoProto = 12;
    }

    /// The version of one operator set; the empty domain is ONNX's own.
    OperatorSetIdProto {
        optional string domain: String = 1;
        optional int64 version: i64 = 2;
    }

    /// Nodes in topological order, the constants they use, and the inputs and outputs.
    GraphProto {
        repeated message node: NodeProto = 1;
        optional string name: String = 2;
        repeated message initializer: TensorProto = 5;
        repeated message input: ValueInfoProto = 11;
        repeated message output: ValueInfoProto = 12;
    }

    /// One operator.
    NodeProto {
        repeated string input: String = 1;
        repeated string output: String = 2;
        optional string name: String = 3;
        optional string op_type: String = 4;
        repeated message attribute: AttributeProto = 5;
        /// Domain of the operator; ONNX's own where there is none.
        optional string domain: String = 7;
    }

    /// A constant argument of an operator.
    AttributeProto {
        optional string name: String = 1;
        optional float f: f32 = 2;
        optional int64 i: i64 = 3;
        repeated int64 ints: i64 = 8, packed = "false";
        optional int32 r#type: i32 = 20;
    }

    /// A constant tensor.
    TensorProto {
        repeated int64 dims: i64 = 1, packed = "false";
        optional int32 data_type: i32 = 2;
        optional string name: String = 8;
        /// Little-endian elements.
        optional bytes("bytes") raw_data: Bytes = 9;
        /// Place of the numbers in another file: `location` (its name), `offset` and `length`, as text.
        repeated message external_data: StringStringEntryProto = 13;
        /// 1 (`TensorProto.DataLocation.EXTERNAL`) where the numbers lie in another file.
        optional int32 data_location: i32 = 14;
    }

    /// Name and type of an input or output of the graph.
    ValueInfoProto {
        optional string name: String = 1;
        optional message r#type: TypeProto = 2;
    }

    /// A type; only tensors matter here.
    TypeProto {
        optional message tensor_type: TensorType = 1;
    }

    /// Element type and shape.
    TensorType {
        optional int32 elem_type: i32 = 1;
        optional message shape: TensorShapeProto = 2;
    }

    /// A shape.
    TensorShapeProto {
        repeated message dim: Dimension = 1;
    }

    /// A dimension: a number or a name.
    Dimension {
        optional int64 dim_value: i64 = 1;
        optional string dim_param: String = 2;
    }
}
