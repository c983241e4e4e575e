use std::collections::HashSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use prost::Message;

use super::onnx_proto::{ModelProto, NodeProto};
use super::testing::{RandomNetwork, attention_networks, random_network, with_listed_initializers, with_renamed_ends};
use super::*;

/// Every combination of heads, activations and blocks, small.
fn shapes() -> Vec<RandomNetwork> {
    let mut shapes = Vec::new();
    for policy in [PolicyKind::Classical, PolicyKind::Convolution] {
        for value in [ValueKind::Scalar, ValueKind::Wdl] {
            for (squeeze, activation, moves_left, batch_norm) in [
                (None, Activation::Relu, false, true),
                (Some(4), Activation::Mish, true, true),
                (Some(2), Activation::Relu, true, false),
            ] {
                let shape = RandomNetwork {
                    blocks: 2,
                    policy,
                    value,
                    squeeze,
                    activation,
                    moves_left,
                    batch_norm,
                    ..RandomNetwork::default()
                };
                shapes.push(shape);
            }
        }
    }
    shapes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn load(bytes: &[u8]) -> Result<Network, NetworkError> {
    Network::from_bytes(bytes, "net.pb.gz")
}

/// The one line of the error, which must name the file.
fn error(bytes: &[u8]) -> String {
    let error = load(bytes).unwrap_err().to_string();
    assert!(error.contains("net.pb.gz") && error.lines().count() == 1, "{error}");
    error
}

#[test]
fn every_shape_loads_gzipped_and_raw() {
    for shape in shapes() {
        let network = load(&shape.gzip(7)).unwrap();
        let raw = load(&shape.protobuf(7)).unwrap();
        assert_eq!(network.weights(), raw.weights());
        assert_eq!(network.name(), "net.pb.gz");
        let description = network.description();
        assert_eq!(
            description.architecture,
            Architecture::Residual {
                blocks: 2,
                filters: 8,
                squeeze_excitation: shape.squeeze.is_some(),
                policy_encoders: 0,
            }
        );
        assert_eq!(description.policy, Some(shape.policy));
        assert_eq!(description.value, shape.value);
        assert_eq!(description.moves_left, shape.moves_left);
        assert_eq!(description.activation, Some(shape.activation));
    }
}

#[test]
fn heads_take_their_sizes_from_the_tensors() {
    let shape = RandomNetwork { head_planes: 5, head_hidden: 23, ..RandomNetwork::default() };
    let network = load(&shape.gzip(1)).unwrap();
    let weights = network.weights().unwrap();
    let value = &weights.value;
    assert_eq!((value.convolution.outputs, value.hidden.inputs, value.hidden.outputs), (5, 5 * 64, 23));
    let input = 112 * 8 * 9 + 8;
    let block = 2 * (8 * 8 * 9 + 8) + (8 * 4 + 4) + (4 * 16 + 16);
    let policy = (8 * 8 * 9 + 8) + (8 * 80 * 9 + 80);
    let head = |outputs: usize| (8 * 5 + 5) + (5 * 64 * 23 + 23) + (23 * outputs + outputs);
    assert_eq!(network.description().parameters, Some(input + block + policy + head(3) + head(1)));
}

#[test]
fn equal_seeds_give_equal_networks() {
    assert_eq!(random_network(3, 2, 8), random_network(3, 2, 8));
    assert_ne!(random_network(3, 2, 8), random_network(4, 2, 8));
}

#[test]
fn batch_normalisation_is_folded() {
    let shape = RandomNetwork::default();
    let mut net = shape.net(5);
    let floats = |values: &[f32]| {
        let params: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Some(proto::Layer {
            params: Some(params.into()),
            encoding: Some(weights::tensor::encoding::FLOAT32),
            ..proto::Layer::default()
        })
    };
    let eight = |value: f32| floats(&[value; 8]);
    net.weights.as_mut().unwrap().input = Some(proto::ConvBlock {
        weights: floats(&[2.0; 8 * 112 * 9]),
        biases: eight(5.0),
        bn_means: eight(1.0),
        bn_stddivs: eight(4.0 - 1e-5),
        bn_gammas: eight(3.0),
        bn_betas: eight(0.25),
    });
    let network = load(&net.encode_to_vec()).unwrap();
    let input = &network.weights().unwrap().input;
    assert!(input.weights.iter().all(|weight| (weight - 3.0).abs() < 1e-5));
    assert!(input.biases.iter().all(|bias| (bias - 6.25).abs() < 1e-5));

    net.weights.as_mut().unwrap().input.as_mut().unwrap().bn_stddivs = eight(-1.0);
    assert!(error(&net.encode_to_vec()).contains("input.bn_stddivs holds a negative variance"));
}

/// Every conversion that differs in its graph.
fn conversions() -> Vec<Conversion> {
    let mut conversions = vec![Conversion { batch: Some(5), ..Conversion::default() }];
    for precision in [Precision::Float32, Precision::Float16] {
        for fused in [false, true] {
            let mish = MishForm::Softplus;
            conversions.push(Conversion { precision, packed: true, mish, fused, ..Conversion::default() });
        }
    }
    for opset in Conversion::OPSETS {
        for precision in [Precision::Float32, Precision::Float16, Precision::Bfloat16] {
            if precision != Precision::Bfloat16 || opset == 22 {
                conversions.push(Conversion { opset, precision, ..Conversion::default() });
            }
        }
    }
    conversions
}

#[test]
fn converted_onnx_graphs_are_well_formed() {
    let shapes: Vec<RandomNetwork> =
        shapes().into_iter().chain(attention_networks().into_iter().map(|(_, shape)| shape)).collect();
    for (shape, conversion) in
        shapes.iter().flat_map(|shape| conversions().into_iter().map(move |conversion| (shape, conversion)))
    {
        let network = load(&shape.gzip(2)).unwrap();
        let model = network.onnx(&conversion).unwrap();
        let ModelProto { graph, opset_import, .. } = ModelProto::decode(model.bytes.as_slice()).unwrap();
        let graph = graph.unwrap();
        let used: HashSet<String> = graph.node.iter().map(|node| node.domain.clone().unwrap_or_default()).collect();
        let stated: HashSet<String> = opset_import.into_iter().map(|set| set.domain.unwrap()).collect();
        assert_eq!(used, stated);
        assert_eq!(used.len() == 2, conversion.fused && (shape.body.is_some() || shape.policy_encoders > 0));
        let mut known: HashSet<String> = graph.input.iter().map(|input| input.name.clone().unwrap()).collect();
        for tensor in &graph.initializer {
            assert!(known.insert(tensor.name.clone().unwrap()), "{tensor:?}");
        }
        for NodeProto { input, output, .. } in &graph.node {
            // An optional input that is left out has an empty name.
            assert!(input.iter().all(|name| name.is_empty() || known.contains(name)), "{input:?}");
            for name in output {
                assert!(known.insert(name.clone()), "two values {name}");
            }
        }
        let mut outputs = vec![model.policy.clone()];
        outputs.push(match &model.value {
            ValueOutput::Wdl(name) => {
                assert_eq!(shape.value, ValueKind::Wdl);
                name.clone()
            }
            ValueOutput::Scalar(name) => {
                assert_eq!(shape.value, ValueKind::Scalar);
                name.clone()
            }
            ValueOutput::LossDrawWinLogits(name) => panic!("{name} is of another family"),
        });
        outputs.extend(model.moves_left.clone());
        let stated: Vec<String> = graph.output.iter().map(|output| output.name.clone().unwrap()).collect();
        assert_eq!(stated, outputs);
        assert!(outputs.iter().all(|name| known.contains(name)));
    }
}

#[test]
fn onnx_files_and_networks_with_a_model_inside() {
    let model = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap();
    let network = Network::from_bytes(&model.bytes, "net.onnx").unwrap();
    assert_eq!(network.onnx(&Conversion::default()).unwrap(), model);
    assert!(network.weights().is_none());
    assert!(network.description().to_string().starts_with("ONNX model of"), "{}", network.description());
    let usual = Conversion::default();
    let head = || Some("soft".to_owned());
    for (conversion, named) in [
        (Conversion { precision: Precision::Float16, ..usual.clone() }, "the type float16"),
        (Conversion { opset: 18, ..usual.clone() }, "opset 18"),
        (Conversion { batch: Some(4), ..usual.clone() }, "the fixed batch size 4"),
        (Conversion { packed: true, ..usual.clone() }, "packed planes"),
        (Conversion { mish: MishForm::Softplus, ..usual.clone() }, "another form of Mish"),
        (Conversion { fused: true, ..usual.clone() }, "fused operators"),
        (Conversion { policy_head: head(), ..usual.clone() }, "the policy head soft"),
        (Conversion { value_head: head(), ..usual.clone() }, "the value head soft"),
    ] {
        let line = network.onnx(&conversion).unwrap_err().to_string();
        assert!(line.contains("net.onnx") && line.contains("came as ONNX") && line.contains(named), "{line}");
    }

    let format = proto::NetworkFormat { input: Some(2), network: Some(5), ..proto::NetworkFormat::default() };
    let mut net = proto::Net {
        magic: Some(0x1c0),
        format: Some(proto::Format { weights_encoding: None, network_format: Some(format) }),
        onnx_model: Some(proto::OnnxModel { model: Some(model.bytes.clone().into()), ..Default::default() }),
        ..proto::Net::default()
    };
    let wrapped = load(&gzip(&net.encode_to_vec())).unwrap();
    assert_eq!(wrapped.onnx(&Conversion::default()).unwrap(), model);
    assert_eq!(wrapped.description().input, InputFormat::WithCastlingPlane);

    // It may name the ends of the model, and then they are these.
    let with = |net: &proto::Net, interface| Network::from_bytes_with(&net.encode_to_vec(), "net.pb", &interface);
    let outer = net.onnx_model.as_mut().unwrap();
    outer.model = Some(renamed().into());
    outer.input_planes = Some("my:input/planes".to_owned());
    outer.output_policy = Some("my:output/policy".to_owned());
    let renamed = renamed_interface();
    assert!(with(&net, renamed.clone()).is_ok(), "what it leaves open can be given");
    let other = OnnxInterface { policy: Some("p".to_owned()), ..renamed };
    let line = with(&net, other).unwrap_err().to_string();
    assert!(line.contains("it states output_policy=my:output/policy, and not output_policy=p"), "{line}");
    net.onnx_model.as_mut().unwrap().output_wdl = Some("my:output/wdl".to_owned());
    assert!(load(&net.encode_to_vec()).unwrap().onnx(&Conversion::default()).unwrap().moves_left.is_none());
    net.onnx_model.as_mut().unwrap().output_mlh = Some("my:output/mlh".to_owned());
    assert!(load(&net.encode_to_vec()).unwrap().onnx(&Conversion::default()).unwrap().moves_left.is_some());
    let value = OnnxInterface { value: Some(ValueOutput::Scalar("v".to_owned())), ..OnnxInterface::default() };
    let line = with(&net, value).unwrap_err().to_string();
    assert!(line.contains("it states output_wdl=my:output/wdl, and not output_value=v"), "{line}");
    net.onnx_model.as_mut().unwrap().output_wdl = Some("/wdl".to_owned());
    assert!(error(&net.encode_to_vec()).contains("no output /wdl, which the file gives as output_wdl; its outputs"));
    net.onnx_model = Some(proto::OnnxModel::default());
    assert!(error(&net.encode_to_vec()).contains("missing"));
}

#[test]
fn a_converted_model_knows_its_input_format() {
    for input in InputFormat::ALL {
        let shape = RandomNetwork { input, ..RandomNetwork::default() };
        let model = load(&shape.gzip(1)).unwrap().onnx(&Conversion::default()).unwrap();
        let with = |bytes: &[u8], input| {
            let interface = OnnxInterface { input_format: Some(input), ..OnnxInterface::default() };
            Network::from_bytes_with(bytes, "net.onnx", &interface)
        };
        let network = load(&model.bytes).unwrap();
        assert_eq!((network.description().input, network.description().input_is_assumed), (input, false));
        let other = if input.is_canonical() { InputFormat::Classical } else { InputFormat::CanonicalV2 };
        // Lc0's own format states it, too.
        for bytes in [&model.bytes, &shape.gzip(1)] {
            assert_eq!(with(bytes, input).unwrap().description().input, input);
            let line = with(bytes, other).unwrap_err().to_string();
            assert!(line.contains(&format!("format is {input}, as it states, and not {other}")), "{line}");
        }
        // As Lc0 exports it: without the note.
        let mut model = ModelProto::decode(model.bytes.as_slice()).unwrap();
        model.metadata_props.clear();
        let bytes = model.encode_to_vec();
        let text = load(&bytes).unwrap().description().to_string();
        assert!(text.ends_with("input classical 112 planes (assumed)"), "{text}");
        let text = with(&bytes, input).unwrap().description().to_string();
        assert!(text.ends_with(&format!("input {input} 112 planes")), "{text}");
    }
}

/// The names in [`renamed`].
fn renamed_interface() -> OnnxInterface {
    OnnxInterface {
        input_format: None,
        input: Some("my:input/planes".to_owned()),
        policy: Some("my:output/policy".to_owned()),
        value: Some(ValueOutput::Wdl("my:output/wdl".to_owned())),
        moves_left: Some("my:output/mlh".to_owned()),
    }
}

/// A converted network whose inputs and outputs have names of their own.
fn renamed() -> Vec<u8> {
    let model = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap();
    testing::with_renamed_ends(&model.bytes, |name| name.replacen('/', "my:", 1))
}

#[test]
fn a_model_with_names_of_its_own_is_told_them() {
    let bytes = renamed();
    let line = error(&bytes);
    let wanted = "it has no input /input/planes (input_planes names another); its only input is my:input/planes";
    assert!(line.contains(wanted), "{line}");

    let network = Network::from_bytes_with(&bytes, "net.onnx", &renamed_interface()).unwrap();
    let model = network.onnx(&Conversion::default()).unwrap();
    let OnnxInterface { input, policy, value, moves_left, .. } = renamed_interface();
    let dense = input.map(ModelInput::Dense);
    assert_eq!((Some(model.input), Some(model.policy), Some(model.value)), (dense, policy, value));
    assert_eq!((model.moves_left, model.bytes == bytes), (moves_left, true));
    assert!(network.description().to_string().contains("value WDL, moves left"), "{}", network.description());
    // The moves-left output is one that a network need not have.
    let without = OnnxInterface { moves_left: None, ..renamed_interface() };
    let network = Network::from_bytes_with(&bytes, "net.onnx", &without).unwrap();
    assert_eq!(network.onnx(&Conversion::default()).unwrap().moves_left, None);
}

#[test]
fn a_name_that_a_model_does_not_have_is_an_error() {
    let bytes = renamed();
    let usual = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap().bytes;
    let wrong = |bytes: &[u8], interface: OnnxInterface| {
        let error = Network::from_bytes_with(bytes, "net.onnx", &interface).unwrap_err();
        assert!(matches!(error, NetworkError::Interface { .. }), "{error}");
        let line = error.to_string();
        assert!(
            line.starts_with("the network file net.onnx cannot be used with this interface: ")
                && line.lines().count() == 1
        );
        line
    };
    let name = |name: &str| Some(name.to_owned());
    let outputs = "its outputs are my:output/policy, my:output/wdl, my:output/mlh";
    for (interface, parts) in [
        (
            OnnxInterface { input: name("x"), ..renamed_interface() },
            ["it has no input x, which input_planes names", "its only input is my:input/planes"],
        ),
        (
            OnnxInterface { policy: name("p"), ..renamed_interface() },
            ["no output p, which output_policy names", outputs],
        ),
        (
            OnnxInterface { value: Some(ValueOutput::Wdl("w".into())), ..renamed_interface() },
            ["no output w, which output_wdl names", outputs],
        ),
        (
            OnnxInterface { value: Some(ValueOutput::Scalar("v".into())), ..renamed_interface() },
            ["no output v, which output_value names", outputs],
        ),
        (
            OnnxInterface { moves_left: name(""), ..renamed_interface() },
            ["no output , which output_mlh names", outputs],
        ),
        (
            OnnxInterface { policy: name("my:output/wdl"), ..renamed_interface() },
            ["my:output/wdl does not have the sizes", "[1858]"],
        ),
    ] {
        let line = wrong(&bytes, interface);
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    // A value that is named is not replaced by the usual one, which is there.
    let scalar = OnnxInterface { value: Some(ValueOutput::Scalar("v".into())), ..OnnxInterface::default() };
    assert!(wrong(&usual, scalar).contains("no output v"));
    let long = OnnxInterface { policy: Some("p\n".repeat(100)), ..renamed_interface() };
    assert!(wrong(&bytes, long).len() < 300);

    // Lc0's own format has no names.
    let line = wrong(&random_network(1, 1, 8), OnnxInterface { moves_left: name("m"), ..OnnxInterface::default() });
    assert!(line.contains("it is in Lc0's own format, and output_mlh is for ONNX models"), "{line}");
}

#[test]
fn many_names_are_listed_in_one_line() {
    let model = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap();
    let mut model = ModelProto::decode(model.bytes.as_slice()).unwrap();
    let inputs = &mut model.graph.as_mut().unwrap().input;
    let input = inputs.remove(0);
    for index in 0..100 {
        inputs.push(onnx_proto::ValueInfoProto { name: Some(format!("a.name\nin {index} lines")), ..input.clone() });
    }
    let line = error(&model.encode_to_vec());
    assert!(line.contains(r"a.name\nin 0 lines, a.name\nin 1 lines") && line.ends_with("more"), "{line}");
    assert!(line.len() < 300, "{line}");
}

#[test]
fn onnx_models_of_other_things_are_refused() {
    let model = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap();
    let graph = ModelProto::decode(model.bytes.as_slice()).unwrap();
    let changed = |change: &dyn Fn(&mut onnx_proto::GraphProto)| {
        let mut model = graph.clone();
        change(model.graph.as_mut().unwrap());
        error(&model.encode_to_vec())
    };
    assert!(changed(&|graph| graph.input.clear()).contains("no input /input/planes"));
    assert!(changed(&|graph| graph.output.truncate(1)).contains("neither an output /output/wdl nor /output/value"));
    let element = |graph: &mut onnx_proto::GraphProto| {
        let tensor = graph.input[0].r#type.as_mut().unwrap().tensor_type.as_mut().unwrap();
        tensor.elem_type = Some(11);
    };
    assert!(changed(&element).contains("/input/planes is of ONNX's type 11"));
    let size = |graph: &mut onnx_proto::GraphProto| {
        let tensor = graph.output[0].r#type.as_mut().unwrap().tensor_type.as_mut().unwrap();
        tensor.shape.as_mut().unwrap().dim[1].dim_value = Some(362);
    };
    assert!(changed(&size).contains("/output/policy does not have the sizes"));
    let mut noted = graph.clone();
    noted.metadata_props[0].value = Some("9".to_owned());
    assert!(error(&noted.encode_to_vec()).contains("input format \"9\" is unknown"));
}

#[test]
fn mismatching_tensors_are_named() {
    let shape = RandomNetwork { blocks: 2, ..RandomNetwork::default() };
    let shorten = |layer: &mut Option<proto::Layer>| {
        let layer = layer.as_mut().unwrap();
        let bytes = layer.params.as_ref().unwrap();
        layer.params = Some(bytes.slice(..bytes.len() - 2));
    };
    type Change<'a> = &'a dyn Fn(&mut proto::Weights);
    let cases: [(Change<'_>, &str); 9] = [
        (&|w| w.input = None, "input.weights is missing"),
        (&|w| shorten(&mut w.input.as_mut().unwrap().weights), "input.weights has 8063 values"),
        (&|w| shorten(&mut w.residual[1].conv2.as_mut().unwrap().weights), "residual[1].conv2.weights has"),
        (&|w| shorten(&mut w.residual[0].conv1.as_mut().unwrap().bn_betas), "residual[0].conv1.bn_betas has 7 values"),
        (&|w| shorten(&mut w.residual[0].se.as_mut().unwrap().w2), "residual[0].se.w2 has"),
        (&|w| w.policy = w.policy1.clone(), "policy.weights gives 8 outputs where the network needs 80"),
        (&|w| w.ip2_val_b = w.ip1_val_b.clone(), "ip2_val_w has"),
        (&|w| shorten(&mut w.ip1_val_b), "ip1_val_w has"),
        (&|w| w.moves_left = None, "moves_left.weights is missing"),
    ];
    for (change, wanted) in cases {
        let mut net = shape.net(1);
        change(net.weights.as_mut().unwrap());
        let error = error(&net.encode_to_vec());
        assert!(error.contains(&format!("tensor {wanted}")), "{wanted}: {error}");
    }
}

#[test]
fn foreign_files_are_told_apart() {
    let png = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13];
    assert!(error(b"").contains("is empty"));
    assert!(error(&png).contains("is not a network"));
    assert!(error(&gzip(b"plain text")).contains("is not a network"));
    assert!(error(&gzip(b"")).contains("is not a network"));
    for text in [&b"1\n0.1 0.2 0.3\n"[..], b"2\n0.1 0.2\n"] {
        assert!(error(text).contains("old text network"));
        assert!(error(&gzip(text)).contains("old text network"));
    }
    // The magic of another format, and no weights after the right one.
    assert!(error(&[0x0d, 0xc1, 0x01, 0, 0]).contains("is not a network"));
    assert!(error(&[0x0d, 0xc0, 0x01, 0, 0]).contains("holds no weights"));
}

#[test]
fn truncated_files_are_damaged_at_any_length() {
    let raw = RandomNetwork::default().protobuf(1);
    let zipped = gzip(&raw);
    for part in [1, 5, 20, 50, 90, 99] {
        let shorter = error(&zipped[..(zipped.len() * part / 100).max(3)]);
        assert!(shorter.contains("truncated or damaged"), "{part} %: {shorter}");
        let shorter = error(&raw[..(raw.len() * part / 100).max(6)]);
        assert!(
            shorter.contains("damaged") || shorter.contains("missing") || shorter.contains("no weights"),
            "{shorter}"
        );
    }
    assert!(error(&zipped[..zipped.len() - 1]).contains("truncated or damaged"));
}

#[test]
fn gzip_files_of_several_members_are_whole() {
    let raw = RandomNetwork::default().protobuf(1);
    let model = load(&raw).unwrap().onnx(&Conversion::default()).unwrap().bytes;
    let expected = load(&raw).unwrap();
    for cut in [0, 1, 4, 5, 6, 1000, raw.len() / 2, raw.len() - 1, raw.len()] {
        let members = [gzip(&raw[..cut]), gzip(&raw[cut..])].concat();
        assert_eq!(load(&members).unwrap().weights(), expected.weights(), "cut at {cut}");
        // What is left of the second one does not do.
        assert!(error(&members[..members.len() - 1]).contains("truncated or damaged"), "cut at {cut}");
    }
    let members: Vec<u8> = model.chunks(1 << 12).flat_map(gzip).collect();
    assert_eq!(load(&members).unwrap().onnx(&Conversion::default()).unwrap().bytes, model);
    // The beginning of the file says nothing yet.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.pb.gz");
    std::fs::write(&path, [gzip(b"").repeat(4_000), gzip(&raw)].concat()).unwrap();
    assert_eq!(Network::load(&path).unwrap().weights(), expected.weights());
    assert!(file::looks_like_a_network(&path));
}

#[test]
fn bombs_of_several_members_are_not_kept() {
    let start = [0x0d, 0xc0, 0x01, 0, 0];
    let bomb = [gzip(&start), gzip(&vec![0; 1 << 20]).repeat(64)].concat();
    assert!(error(&bomb).contains("more than half of the 65 MiB that it inflates to are empty"));
    let other = [gzip(b"hello"), gzip(&start)].concat();
    assert!(error(&other).contains("is not a network"));
}

#[test]
fn initializers_among_the_inputs_are_no_inputs() {
    let bytes = load(&random_network(1, 1, 8)).unwrap().onnx(&Conversion::default()).unwrap().bytes;
    let listed = with_listed_initializers(&bytes, 3);
    let network = load(&listed).unwrap();
    let ends = |network: &Network| network.description().to_string().split_once(", ").unwrap().1.to_owned();
    assert_eq!(ends(&network), ends(&load(&bytes).unwrap()));
    assert_eq!(network.onnx(&Conversion::default()).unwrap().bytes, listed, "it is as it came");
    let without = with_renamed_ends(&listed, |name| name.replace("/input/planes", "/input/plains"));
    let line = error(&without);
    assert!(line.contains("no input /input/planes") && line.contains("its only input is /input/plains"), "{line}");
}

#[test]
fn absurd_lengths_take_no_memory() {
    // A length field far past the end, at each depth.
    let start = [0x0d, 0xc0, 0x01, 0, 0];
    for tail in [&[0x52, 0xff, 0xff, 0xff, 0xff, 0x0f][..], &[0x52, 6, 0x12, 0xff, 0xff, 0xff, 0xff, 0x07]] {
        assert!(error(&[&start, tail].concat()).contains("damaged"));
    }
    // A million empty residual blocks.
    let blocks = [0x12, 0].repeat(1_000_000);
    let mut content = start.to_vec();
    content.push(0x52);
    prost::encoding::encode_varint(blocks.len() as u64, &mut content);
    content.extend_from_slice(&blocks);
    assert!(error(&content).contains("claims more structure"));
    assert!(error(&gzip(&content)).contains("that it inflates to are empty"));
}

#[test]
fn transformers_are_described() {
    let lines: Vec<String> = attention_networks()
        .iter()
        .map(|(_, shape)| load(&shape.gzip(1)).unwrap().description().to_string())
        .map(|line| line.split(", input").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        lines,
        [
            "SE 1x8, relu, policy attention, value WDL, moves left",
            "classical 1x8, mish, policy attention after 2 encoders, value WDL, moves left",
            "attention body 2x16, 4 heads, smolgen, mish, policy attention, value WDL, moves left",
            "attention body 2x16, 4 heads, relu, policy attention, value WDL, moves left",
            "attention body 2x16, 4 heads, smolgen, on a tower of 1x8, relu, policy attention, value WDL, moves left",
            "attention body 2x16, 4 heads, smolgen, relu, policy attention (vanilla, soft, extra) after 1 encoder, \
             value WDL (winner, q), moves left",
        ]
    );
    for (name, shape) in attention_networks() {
        assert!(load(&shape.gzip(1)).unwrap().weights().is_none(), "{name}");
    }
}

#[test]
fn heads_are_chosen_by_name() {
    let (_, shape) = attention_networks().pop().unwrap();
    let network = load(&shape.gzip(3)).unwrap();
    let convert = |policy: Option<&str>, value: Option<&str>| {
        let [policy_head, value_head] = [policy, value].map(|head| head.map(str::to_owned));
        network.onnx(&Conversion { policy_head, value_head, ..Conversion::default() })
    };
    let usual = convert(None, None).unwrap();
    assert_eq!(convert(Some("vanilla"), Some("winner")).unwrap(), usual);
    for (policy, value) in [(Some("soft"), None), (Some("extra"), None), (None, Some("q"))] {
        assert_ne!(convert(policy, value).unwrap(), usual);
    }
    let error = convert(Some("optimistic"), None).unwrap_err().to_string();
    assert_eq!(error, "the network file net.pb.gz has no policy head \"optimistic\"; it has vanilla, soft, extra");
    let error = convert(None, Some("st")).unwrap_err().to_string();
    assert_eq!(error, "the network file net.pb.gz has no value head \"st\"; it has winner, q");
    // A network with one head calls it by the usual name.
    let network = load(&random_network(1, 1, 8)).unwrap();
    let named = Conversion { policy_head: Some("vanilla".to_owned()), ..Conversion::default() };
    assert_eq!(network.onnx(&named).unwrap(), network.onnx(&Conversion::default()).unwrap());
}

#[test]
fn unsupported_conversions_are_refused_by_name() {
    let network = load(&random_network(1, 1, 8)).unwrap();
    let error = |conversion: Conversion| network.onnx(&conversion).unwrap_err().to_string();
    assert!(error(Conversion { opset: 16, ..Conversion::default() }).contains("opset 16 (17 to 22 are known)"));
    assert!(error(Conversion { precision: Precision::Bfloat16, ..Conversion::default() }).contains("before opset 22"));
    assert!(error(Conversion { batch: Some(0), ..Conversion::default() }).contains("batch of 0"));
    let mut net = RandomNetwork::default().net(1);
    net.weights.as_mut().unwrap().ip2_val_w.as_mut().unwrap().max_val = Some(1e6);
    let network = load(&net.encode_to_vec()).unwrap();
    let half = Conversion { precision: Precision::Float16, ..Conversion::default() };
    let error = network.onnx(&half).unwrap_err().to_string();
    assert!(error.contains("as float16") && error.contains("/value/out/w"), "{error}");
}

#[test]
fn a_model_is_as_large_as_its_numbers() {
    for (name, shape) in attention_networks() {
        let network = load(&shape.gzip(2)).unwrap();
        let parameters = network.description().parameters.unwrap();
        let [single, half] = [Precision::Float32, Precision::Float16].map(|precision| {
            let conversion = Conversion { precision, ..Conversion::default() };
            network.onnx(&conversion).unwrap().bytes.len()
        });
        // Several heads: all are counted, and one is written.
        let written = if shape.several_heads { parameters / 2 } else { parameters };
        assert!(single > 4 * written && half < single * 2 / 3, "{name}: {single} and {half} of {parameters}");
    }
}

#[test]
fn unsupported_networks_are_refused_by_name() {
    let (_, shape) = attention_networks().swap_remove(2);
    type Change<'a> = &'a dyn Fn(&mut proto::Net);
    fn weights(net: &mut proto::Net) -> &mut proto::Weights {
        net.weights.as_mut().unwrap()
    }
    fn mha(net: &mut proto::Net) -> &mut proto::Mha {
        weights(net).encoder[1].mha.as_mut().unwrap()
    }
    fn format(net: &mut proto::Net) -> &mut proto::NetworkFormat {
        net.format.as_mut().unwrap().network_format.as_mut().unwrap()
    }
    let cases: [(Change<'_>, &str); 14] = [
        (&|net| mha(net).rpe_q = mha(net).q_w.clone(), "relative position encoding (encoder[1].mha.rpe_q) is not yet"),
        (&|net| format(net).policy = Some(2), "a convolution policy on an attention body is not yet supported"),
        (&|net| format(net).ffn_activation = Some(9), "ffn activation 9 of its header"),
        (&|net| format(net).smolgen_activation = Some(77), "smolgen activation 77 of its header"),
        (&|net| format(net).input_embedding = Some(5), "input embedding 5 of its header"),
        (&|net| weights(net).encoder.clear(), "encoder[0] is missing"),
        (
            &|net| weights(net).headcount = Some(3),
            "headcount is 3, which does not divide the 16 queries of encoder[0].mha",
        ),
        (&|net| weights(net).headcount = None, "headcount is 0"),
        (&|net| weights(net).smolgen_w = None, "smolgen_w is missing"),
        (&|net| mha(net).k_w = None, "encoder[1].mha.k_w is missing"),
        (&|net| mha(net).dense_b = weights(&mut net.clone()).ip2_val_b.clone(), "encoder[1].mha.dense_w"),
        (&|net| weights(net).ip_mult_gate = weights(net).ip_emb_b.clone(), "ip_mult_gate has 16 values where 1024 fit"),
        (&|net| weights(net).ip4_pol_w = weights(net).ip_emb_b.clone(), "ip4_pol_w has 16 values where 64 fit"),
        (&|net| format(net).input_embedding = Some(2), "ip_emb_preproc_b is missing"),
    ];
    for (change, wanted) in cases {
        let mut net = shape.net(1);
        change(&mut net);
        let error = error(&net.encode_to_vec());
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn older_transformers_are_upgraded() {
    let (_, shape) = attention_networks().swap_remove(2);
    let mut net = shape.net(1);
    let modern = load(&net.encode_to_vec()).unwrap();
    let format = net.format.as_mut().unwrap().network_format.as_mut().unwrap();
    // As T1 was written: a squeeze-and-excitation network by its header, squared ReLU and swish unsaid.
    (format.network, format.ffn_activation, format.smolgen_activation) = (Some(4), None, None);
    format.input_embedding = None;
    let old = load(&net.encode_to_vec()).unwrap();
    assert_eq!(old.description(), modern.description());
    assert_eq!(old.onnx(&Conversion::default()).unwrap(), modern.onnx(&Conversion::default()).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = load(&bytes);
        let _ = load(&gzip(&bytes));
        let magic = [&[0x0d, 0xc0, 0x01, 0, 0][..], &bytes].concat();
        let _ = load(&magic);
        let onnx = [&[0x08, 0x08][..], &bytes].concat();
        let _ = load(&onnx);
    }

    #[test]
    fn changed_networks_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        zipped in any::<bool>(),
        onnx in any::<bool>(),
    ) {
        let shape = RandomNetwork { filters: 2, head_planes: 1, head_hidden: 2, squeeze: Some(1), ..Default::default() };
        let mut bytes = shape.protobuf(9);
        if onnx {
            bytes = load(&bytes).unwrap().onnx(&Conversion::default()).unwrap().bytes;
        }
        // Tags and lengths cluster at the front and the back; the middle is mostly numbers.
        let length = bytes.len();
        for (place, value) in changes {
            let place = place.index(400);
            let place = if place < 200 { place } else { length - 1 - (place - 200) };
            bytes[place] = value;
        }
        let loaded = if zipped { load(&gzip(&bytes)) } else { load(&bytes) };
        if let Ok(network) = loaded {
            let _ = network.onnx(&Conversion::default());
        }
    }
}

#[test]
fn the_built_in_network_has_six_blocks_of_64_wdl_and_moves_left() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("networks/zeitnot-small.pb.gz");
    let network = Network::load(&path).unwrap();
    let description = network.description();
    assert!(description.moves_left);
    let text = description.to_string();
    assert!(text.contains("6x64") && text.contains("value WDL"), "{text}");
}
