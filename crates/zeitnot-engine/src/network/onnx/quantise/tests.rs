use std::collections::HashSet;

use super::*;
use crate::network::testing::{RandomNetwork, with_listed_initializers};
use crate::network::{Activation, Conversion, Network, PolicyKind};

fn model(shape: RandomNetwork) -> OnnxModel {
    Network::from_bytes(&shape.gzip(1), "tiny.pb.gz").unwrap().onnx(&Conversion::default()).unwrap()
}

fn ranges(quantiser: &Quantiser) -> HashMap<String, ActivationRange> {
    let range = ActivationRange { minimum: -1.0, maximum: 4.0 };
    quantiser.observed().into_iter().map(|name| (name, range)).collect()
}

fn operators(bytes: &[u8]) -> Vec<String> {
    let graph = ModelProto::decode(bytes).unwrap().graph.unwrap();
    graph.node.into_iter().map(|node| node.op_type.unwrap()).collect()
}

#[test]
fn the_first_and_the_last_convolution_stay_in_floats() {
    let quantiser = Quantiser::new(model(RandomNetwork { blocks: 2, ..Default::default() }), "tiny").unwrap();
    let observed = quantiser.observed();
    assert!(observed.contains(&"/input/relu".to_owned()) && !observed.contains(&"/input/planes".to_owned()));
    assert!(observed.contains(&"/policy/conv1/relu".to_owned()));
    assert!(!observed.iter().any(|name| name.starts_with("/output") || name.starts_with("/policy/conv2")));
    // A sum is read by the next convolution in 8 bits, but written in floats.
    assert!(observed.contains(&"/block0/relu".to_owned()) && !observed.contains(&"/block0/sum".to_owned()));
}

#[test]
fn graphs_stay_whole_and_their_ends_the_same() {
    for policy in [PolicyKind::Classical, PolicyKind::Convolution] {
        for activation in [Activation::Relu, Activation::Mish] {
            let original = model(RandomNetwork { policy, activation, ..Default::default() });
            let quantiser = Quantiser::new(original.clone(), "tiny").unwrap();
            let ranges = ranges(&quantiser);
            let small = quantiser.quantise(&ranges).unwrap();
            let graph = ModelProto::decode(&*small.bytes).unwrap().graph.unwrap();
            let mut known: HashSet<String> = graph.input.iter().map(|end| end.name.clone().unwrap()).collect();
            for tensor in &graph.initializer {
                assert!(known.insert(tensor.name.clone().unwrap()), "{tensor:?}");
            }
            for node in &graph.node {
                assert!(node.input.iter().all(|name| known.contains(name)), "{node:?}");
                assert!(node.output.iter().all(|name| known.insert(name.clone())), "{node:?}");
            }
            assert!(graph.output.iter().all(|end| known.contains(end.name.as_ref().unwrap())));
            assert_eq!(OnnxModel { bytes: original.bytes.clone(), ..small.clone() }, original);
        }
    }
}

#[test]
fn initializers_among_the_inputs_do_not_matter() {
    let original = model(RandomNetwork::default());
    let listed = with_listed_initializers(&original.bytes, 3);
    let small = |bytes: Vec<u8>| {
        let quantiser = Quantiser::new(OnnxModel { bytes, ..original.clone() }, "tiny").unwrap();
        let ranges = ranges(&quantiser);
        ModelProto::decode(&*quantiser.quantise(&ranges).unwrap().bytes).unwrap()
    };
    let (found, wanted) = (small(listed), small(original.bytes.clone()));
    assert_eq!((found.graph, found.ir_version), (wanted.graph, Some(4)));
}

#[test]
fn old_operator_sets_are_refused() {
    let original = model(RandomNetwork::default());
    let mut old = ModelProto::decode(&*original.bytes).unwrap();
    old.opset_import[0].version = Some(12);
    let error = Quantiser::new(OnnxModel { bytes: old.encode_to_vec(), ..original }, "tiny").err().unwrap().to_string();
    assert!(error.contains("operator set is older than 13"), "{error}");
}

#[test]
fn relus_of_convolutions_are_absorbed_and_others_stay() {
    let original = model(RandomNetwork { policy: PolicyKind::Convolution, squeeze: None, ..Default::default() });
    let count = |bytes: &[u8], op: &str| operators(bytes).iter().filter(|&found| found == op).count();
    let quantiser = Quantiser::new(original.clone(), "tiny").unwrap();
    let ranges = ranges(&quantiser);
    let small = quantiser.quantise(&ranges).unwrap();
    // Convolutions with a ReLU of their own: the block's first, the policy's first, the value's and moves left's.
    assert_eq!(count(&original.bytes, "Relu") - count(&small.bytes, "Relu"), 4);
    assert_eq!(count(&original.bytes, "Conv"), count(&small.bytes, "Conv"));
    assert_eq!(count(&original.bytes, "QuantizeLinear"), 0);
}

#[test]
fn the_observable_model_has_the_values_as_outputs() {
    let quantiser = Quantiser::new(model(RandomNetwork::default()), "tiny").unwrap();
    let graph = ModelProto::decode(&*quantiser.observable()).unwrap().graph.unwrap();
    let outputs: HashSet<String> = graph.output.into_iter().filter_map(|end| end.name).collect();
    assert!(quantiser.observed().iter().all(|name| outputs.contains(name)));
}

#[test]
fn invalid_ranges_are_named() {
    let quantiser = || Quantiser::new(model(RandomNetwork::default()), "tiny.onnx").unwrap();
    let mut ranges = ranges(&quantiser());
    let line = |ranges: &_| quantiser().quantise(ranges).unwrap_err().to_string();
    ranges.insert("/input/relu".to_owned(), ActivationRange { minimum: f32::NAN, maximum: 1.0 });
    assert_eq!(line(&ranges), "the ONNX model tiny.onnx cannot be used: /input/relu has no finite range");
    ranges.remove("/input/relu");
    assert!(line(&ranges).contains("/input/relu has no finite range"));
}

#[test]
fn a_model_that_is_already_in_8_bits_or_foreign_is_refused() {
    let quantiser = Quantiser::new(model(RandomNetwork::default()), "tiny").unwrap();
    let ranges = ranges(&quantiser);
    let small = quantiser.quantise(&ranges).unwrap();
    // Its first and last convolutions are the only ones with weights in floats.
    let error = Quantiser::new(small, "small.onnx").err().unwrap().to_string();
    assert!(error.contains("small.onnx") && error.contains("nothing in it can run in int8"), "{error}");
    let mut foreign = model(RandomNetwork::default());
    // A field of the model that the messages do not know: its documentation.
    foreign.bytes.extend_from_slice(b"\x32\x02hi");
    let error = Quantiser::new(foreign, "foreign.onnx").err().unwrap().to_string();
    assert!(error.contains("parts of ONNX that the conversion to int8 does not know"), "{error}");
}
