//! Changes ONNX models into forms that other exporters write.

use std::collections::HashSet;

use prost::Message;

use super::super::Precision;
use super::super::onnx_proto::{GraphProto, ModelProto, StringStringEntryProto, ValueInfoProto, data_type};

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

/// Puts the large tensors of an ONNX model into the file `name` beside it: the model, and the content of that file.
/// Shapes and the like stay in the model, as ONNX's own tools have it.
///
/// # Panics
/// When it is no model.
pub fn with_external_data(model: &[u8], name: &str) -> (Vec<u8>, Vec<u8>) {
    /// Bytes of the smallest tensor that goes.
    const LARGE: usize = 1024;
    let mut model = ModelProto::decode(model).expect("it is a model");
    let mut data = Vec::new();
    for tensor in model.graph.iter_mut().flat_map(|graph| &mut graph.initializer) {
        let Some(bytes) = tensor.raw_data.take_if(|bytes| bytes.len() >= LARGE) else { continue };
        let entry = |key: &str, value: String| StringStringEntryProto { key: Some(key.to_owned()), value: Some(value) };
        tensor.external_data = vec![
            entry("location", name.to_owned()),
            entry("offset", data.len().to_string()),
            entry("length", bytes.len().to_string()),
        ];
        tensor.data_location = Some(EXTERNAL);
        data.extend_from_slice(&bytes);
    }
    (model.encode_to_vec(), data)
}

/// A model of this IR version that lists its initializers among the inputs, without a type and before the planes: in
/// version 3 they have to be there.
///
/// # Panics
/// When it is no model.
pub fn with_listed_initializers(model: &[u8], ir_version: i64) -> Vec<u8> {
    let mut model = ModelProto::decode(model).expect("it is a model");
    model.ir_version = Some(ir_version);
    let graph = model.graph.as_mut().expect("a model has a graph");
    let names = graph.initializer.iter().map(|tensor| tensor.name.clone());
    graph.input.splice(0..0, names.map(|name| ValueInfoProto { name, r#type: None }));
    model.encode_to_vec()
}

/// A model whose inputs and outputs are called otherwise.
///
/// # Panics
/// When it is no model.
pub fn with_renamed_ends(model: &[u8], rename: impl Fn(&str) -> String) -> Vec<u8> {
    let mut model = ModelProto::decode(model).expect("it is a model");
    let GraphProto { node, input, output, .. } = model.graph.as_mut().expect("a model has a graph");
    let old: HashSet<String> = input.iter().chain(&*output).flat_map(|end| end.name.clone()).collect();
    let ends = input.iter_mut().chain(output).flat_map(|end| &mut end.name);
    let values = node.iter_mut().flat_map(|node| node.input.iter_mut().chain(&mut node.output));
    for name in ends.chain(values).filter(|name| old.contains(*name)) {
        *name = rename(name);
    }
    model.encode_to_vec()
}

/// A model whose inputs and outputs have this type, as exporters of half precision write it, from one converted in the
/// same precision, whose inputs and outputs are float32.
///
/// # Panics
/// When it is no such model.
pub fn with_narrow_ends(model: &[u8], precision: Precision) -> Vec<u8> {
    let narrow = data_type::of(precision);
    let mut model = ModelProto::decode(model).expect("the model was written here");
    let graph = model.graph.as_mut().expect("a model has a graph");
    let GraphProto { node, input, output, .. } = graph;
    for end in input.iter_mut().chain(output.iter_mut()) {
        let tensor = end.r#type.as_mut().and_then(|r#type| r#type.tensor_type.as_mut());
        tensor.expect("an end is a tensor").elem_type = Some(narrow);
    }
    for cast in node.iter_mut().filter(|node| node.op_type.as_deref() == Some("Cast")) {
        cast.attribute[0].i = Some(narrow.into());
    }
    model.encode_to_vec()
}
