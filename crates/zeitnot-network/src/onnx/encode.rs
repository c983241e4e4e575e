//! Writes a model file: the graph by `prost`, the constants number by number straight into the file, so that there is
//! never a second copy of the network.

use half::{bf16, f16};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use super::graph::MICROSOFT;
use super::{Conversion, Precision};
use crate::NetworkError;
use crate::onnx_proto::{
    GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, data_type, field,
};
use crate::weights::tensor::Tensor;

/// The largest message of protobuf, bytes (2 GiB).
const LARGEST: usize = (1 << 31) - 1;
/// The only version of ONNX Runtime's own operators.
const MICROSOFT_OPSET: i64 = 1;

/// A constant of a graph.
pub(crate) struct Constant<'a> {
    pub name: String,
    pub shape: Vec<i64>,
    pub numbers: Numbers<'a>,
}

/// The numbers of a constant, in order.
pub(crate) enum Numbers<'a> {
    /// Numbers in the precision of the graph.
    Floats(Vec<Floats<'a>>),
    /// Numbers as int64.
    Integers(Vec<i64>),
}

/// Some of the numbers of a constant.
pub(crate) enum Floats<'a> {
    /// Numbers that are held here.
    Values(Vec<f32>),
    /// Numbers of a tensor of the network file, times a factor.
    Tensor(&'a Tensor, f32),
    /// Numbers of matrices of the network file, one below the other and with rows of this length, column by column.
    Columns(Vec<&'a Tensor>, usize),
}

impl Floats<'_> {
    pub fn len(&self) -> usize {
        match self {
            Floats::Values(values) => values.len(),
            Floats::Tensor(tensor, _) => tensor.len(),
            Floats::Columns(tensors, _) => tensors.iter().map(|tensor| tensor.len()).sum(),
        }
    }

    fn for_each(&self, mut take: impl FnMut(f32)) {
        match self {
            Floats::Values(values) => values.iter().copied().for_each(take),
            Floats::Tensor(tensor, factor) if *factor == 1.0 => tensor.for_each(take),
            Floats::Tensor(tensor, factor) => tensor.for_each(|value| take(value * factor)),
            Floats::Columns(tensors, columns) => {
                let rows: Vec<f32> = tensors.iter().flat_map(|tensor| tensor.values()).collect();
                transposed(&rows, *columns).into_iter().for_each(take);
            }
        }
    }
}

/// The transpose of a matrix whose rows have `columns` numbers.
pub(super) fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| matrix.iter().skip(column).step_by(columns)).copied().collect()
}

/// The file of a model, with `notes` (key and value) as its metadata; errors call the network `name`.
pub fn model(
    graph: &GraphProto,
    constants: &[Constant<'_>],
    notes: &[(&str, String)],
    conversion: &Conversion,
    name: &str,
) -> Result<Vec<u8>, NetworkError> {
    let is_fused = graph.node.iter().any(|node| node.domain.is_some());
    let operators = [("", conversion.opset)].into_iter().chain(is_fused.then_some((MICROSOFT, MICROSOFT_OPSET)));
    let outer = ModelProto {
        ir_version: Some(ir_version(conversion.opset)),
        producer_name: Some(env!("CARGO_PKG_NAME").to_owned()),
        producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        graph: None,
        opset_import: operators
            .map(|(domain, version)| OperatorSetIdProto { domain: Some(domain.to_owned()), version: Some(version) })
            .collect(),
        metadata_props: (notes.iter())
            .map(|(key, value)| StringStringEntryProto { key: Some((*key).to_owned()), value: Some(value.clone()) })
            .collect(),
    };
    let precision = conversion.precision;
    let graph_length = graph.encoded_len()
        + constants
            .iter()
            .map(|constant| message_length(field::INITIALIZER, constant.length(precision)))
            .sum::<usize>();
    let length = outer.encoded_len() + message_length(field::GRAPH, graph_length);
    if length > LARGEST {
        return Err(NetworkError::TooLarge { name: name.to_owned(), limit_mib: (LARGEST as u64).div_ceil(1 << 20) });
    }
    let mut file = Vec::with_capacity(length);
    outer.encode_raw(&mut file);
    start_message(field::GRAPH, graph_length, &mut file);
    graph.encode_raw(&mut file);
    for constant in constants {
        start_message(field::INITIALIZER, constant.length(precision), &mut file);
        constant.write(precision, name, &mut file)?;
    }
    debug_assert_eq!(file.len(), length);
    Ok(file)
}

/// The version of the file format that goes with an operator set (ONNX's table of versions).
fn ir_version(opset: i64) -> i64 {
    match opset {
        ..=18 => 8,
        19 | 20 => 9,
        _ => 10,
    }
}

fn start_message(field: u32, length: usize, file: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, file);
    encode_varint(length as u64, file);
}

/// Bytes of a field that holds a message of `length` bytes: key, length and message.
fn message_length(field: u32, length: usize) -> usize {
    key_len(field) + encoded_len_varint(length as u64) + length
}

impl Constant<'_> {
    /// The message of the constant without its numbers.
    fn head(&self, precision: Precision) -> TensorProto {
        let data_type = match self.numbers {
            Numbers::Floats(_) => data_type::of(precision),
            Numbers::Integers(_) => data_type::INT64,
        };
        TensorProto {
            dims: self.shape.clone(),
            data_type: Some(data_type),
            name: Some(self.name.clone()),
            ..TensorProto::default()
        }
    }

    /// Bytes of the numbers.
    fn data_length(&self, precision: Precision) -> usize {
        match &self.numbers {
            Numbers::Floats(parts) => parts.iter().map(Floats::len).sum::<usize>() * precision.bytes(),
            Numbers::Integers(values) => size_of_val(values.as_slice()),
        }
    }

    /// Bytes of the constant's message.
    fn length(&self, precision: Precision) -> usize {
        self.head(precision).encoded_len() + message_length(field::RAW_DATA, self.data_length(precision))
    }

    fn write(&self, precision: Precision, network: &str, file: &mut Vec<u8>) -> Result<(), NetworkError> {
        self.head(precision).encode_raw(file);
        start_message(field::RAW_DATA, self.data_length(precision), file);
        let parts = match &self.numbers {
            Numbers::Integers(values) => {
                values.iter().for_each(|value| file.extend_from_slice(&value.to_le_bytes()));
                return Ok(());
            }
            Numbers::Floats(parts) => parts,
        };
        let mut finite = true;
        for part in parts {
            match precision {
                Precision::Float32 => part.for_each(|value| file.extend_from_slice(&value.to_le_bytes())),
                Precision::Float16 => part.for_each(|value| {
                    let short = f16::from_f32(value);
                    finite &= short.is_finite();
                    file.extend_from_slice(&short.to_le_bytes());
                }),
                Precision::Bfloat16 => {
                    part.for_each(|value| file.extend_from_slice(&bf16::from_f32(value).to_le_bytes()));
                }
            }
        }
        if finite {
            Ok(())
        } else {
            let what = format!("as {precision}, which does not hold all numbers of {}, it is", self.name);
            Err(NetworkError::Unsupported { name: network.to_owned(), what })
        }
    }
}
