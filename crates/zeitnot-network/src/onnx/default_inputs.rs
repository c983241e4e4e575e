//! Finds the inputs of a model that an initializer gives a default value, so that nobody has to feed them. Models of IR
//! version 3 list every initializer among the inputs; later models may, for values that can be replaced from outside.

use std::collections::HashSet;

use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};

use super::fields::{Field, all, fields};
use crate::onnx_proto::field::{
    GRAPH, INITIALIZER, INPUT, INPUT_NAME, IR_VERSION, SPARSE_INITIALIZER, SPARSE_VALUES, TENSOR_NAME,
};

/// The first IR version in which an initializer need not be an input.
const FREE_INITIALIZERS: u64 = 4;

/// The names of a model's inputs that have a default value.
pub(super) fn names(model: &[u8]) -> HashSet<&[u8]> {
    let graphs = || all(model, GRAPH);
    let inputs: HashSet<&[u8]> = graphs().flat_map(|graph| all(graph, INPUT)).filter_map(input_name).collect();
    let dense = graphs().flat_map(|graph| all(graph, INITIALIZER));
    let sparse =
        graphs().flat_map(|graph| all(graph, SPARSE_INITIALIZER)).flat_map(|tensor| all(tensor, SPARSE_VALUES));
    let initialized = dense.chain(sparse).filter_map(|tensor| all(tensor, TENSOR_NAME).last());
    initialized.filter(|name| inputs.contains(name)).collect()
}

fn input_name(input: &[u8]) -> Option<&[u8]> {
    all(input, INPUT_NAME).last()
}

/// The model without its inputs that have a default value, otherwise unchanged; `None` if it has none or is no model.
///
/// With such inputs ONNX Runtime either folds the initializer away, and then still asks for the input, or does not fold
/// it, as it might be replaced, and is slower.
pub fn without_default_inputs(model: &[u8]) -> Option<Vec<u8>> {
    let names = names(model);
    if names.is_empty() {
        return None;
    }
    let is_kept =
        |field: &Field<'_>| field.number != INPUT || input_name(field.content).is_none_or(|name| !names.contains(name));
    let mut out = Vec::with_capacity(model.len());
    for field in fields(model)? {
        match field.number {
            IR_VERSION => {
                let mut rest = field.whole;
                decode_key(&mut rest).ok()?;
                let version = decode_varint(&mut rest).ok()?;
                encode_key(IR_VERSION, WireType::Varint, &mut out);
                encode_varint(version.max(FREE_INITIALIZERS), &mut out);
            }
            GRAPH => {
                let kept: Vec<Field<'_>> = fields(field.content)?.into_iter().filter(is_kept).collect();
                encode_key(GRAPH, WireType::LengthDelimited, &mut out);
                encode_varint(kept.iter().map(|field| field.whole.len() as u64).sum(), &mut out);
                kept.iter().for_each(|field| out.extend_from_slice(field.whole));
            }
            _ => out.extend_from_slice(field.whole),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::onnx_proto::{ModelProto, TensorProto, ValueInfoProto};
    use crate::testing::{random_network, with_listed_initializers};
    use crate::{Conversion, Network};

    fn usual() -> Vec<u8> {
        let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
        network.onnx(&Conversion::default()).unwrap().bytes
    }

    #[test]
    fn initializers_are_no_inputs_of_any_version() {
        for version in [3, 4, 8] {
            let listed = with_listed_initializers(&usual(), version);
            assert!(names(&listed).len() > 10, "{}", names(&listed).len());
            let model = ModelProto::decode(&*without_default_inputs(&listed).unwrap()).unwrap();
            assert_eq!(model.ir_version, Some(version.max(4)));
            let mut expected = ModelProto::decode(&*usual()).unwrap();
            expected.ir_version = model.ir_version;
            assert_eq!(model, expected);
        }
        assert_eq!(without_default_inputs(&usual()), None);
    }

    #[test]
    fn sparse_initializers_count_and_others_do_not() {
        let input = |name: &str| ValueInfoProto { name: Some(name.into()), r#type: None };
        let mut model = ModelProto::decode(&*usual()).unwrap();
        let graph = model.graph.as_mut().unwrap();
        graph.input.extend([input("sparse"), input("fed")]);
        graph.initializer.clear();
        // SparseTensorProto { values: TensorProto { name: "sparse" } }, field 15 of the graph.
        let values = TensorProto { name: Some("sparse".into()), ..TensorProto::default() }.encode_to_vec();
        let sparse = [&[SPARSE_VALUES as u8 * 8 + 2, values.len() as u8][..], &values].concat();
        let mut graph = model.graph.take().unwrap().encode_to_vec();
        encode_key(SPARSE_INITIALIZER, WireType::LengthDelimited, &mut graph);
        encode_varint(sparse.len() as u64, &mut graph);
        graph.extend(sparse);
        let mut bytes = model.encode_to_vec();
        encode_key(GRAPH, WireType::LengthDelimited, &mut bytes);
        encode_varint(graph.len() as u64, &mut bytes);
        bytes.extend(graph);
        assert_eq!(names(&bytes), HashSet::from([&b"sparse"[..]]));
        let model = ModelProto::decode(&*without_default_inputs(&bytes).unwrap()).unwrap();
        let left: Vec<String> = model.graph.unwrap().input.into_iter().filter_map(|input| input.name).collect();
        assert_eq!(left, ["/input/planes", "fed"]);
    }

    #[test]
    fn what_is_no_model_has_none() {
        for bytes in [&b""[..], b"\x3a\xff\x01x", b"\xff", b"\x3a\x02\x12\x05", b"\x0b"] {
            assert_eq!(without_default_inputs(bytes), None, "{bytes:?}");
        }
    }
}
