//! Networks through ONNX Runtime, from a file's bytes to evaluations. The library is installed first if the machine has
//! none.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use zeitnot_engine::backend::{self, Backend, BackendSettings, Evaluation, Query};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::testing::{
    RandomNetwork, attention_networks, random_network, with_external_data, with_listed_initializers, with_narrow_ends,
    with_renamed_ends,
};
use zeitnot_engine::network::{Conversion, MishForm, Network, OnnxInterface, Precision, ValueKind, ValueOutput};
use zeitnot_engine::runtime;

/// Batching may change the order of additions: what 32-bit rounding may then differ by.
const ROUNDING: f32 = 1e-5;

fn load(bytes: &[u8], options: &BackendSettings) -> Arc<dyn Backend> {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(bytes, "tiny.pb.gz").unwrap();
    backend::create("onnxruntime", Some(&network), options).unwrap()
}

fn uncached() -> BackendSettings {
    BackendSettings { cache_size: 0, ..BackendSettings::default() }
}

/// Nine positions of one game.
fn queries(backend: &dyn Backend) -> Vec<Query> {
    let mut game = Game::new();
    let mut queries = Vec::new();
    for text in ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "f3g5", "d7d5", "e4d5"] {
        game.push_uci(text).unwrap();
        queries.push(Query::new(&game, &game.current().legal_moves(), backend.attributes()));
    }
    queries
}

fn assert_close(a: &Evaluation, b: &Evaluation, what: &str) {
    let close = |a: f32, b: f32| (a - b).abs() <= ROUNDING * (1.0 + a.abs());
    let m = (a.m.unwrap_or(0.0), b.m.unwrap_or(0.0));
    assert!(close(a.q, b.q) && close(a.d, b.d) && close(m.0, m.1), "{what}: {a:?} and {b:?}");
    assert_eq!(a.logits.len(), b.logits.len(), "{what}");
    assert!(a.logits.iter().zip(&b.logits).all(|(&a, &b)| close(a, b)), "{what}: {a:?} and {b:?}");
}

#[test]
fn a_batch_says_what_its_positions_say_alone() {
    let backend = load(&random_network(1, 2, 16), &uncached());
    let queries = queries(&*backend);
    let mut evaluator = backend.evaluator().unwrap();
    let alone: Vec<Evaluation> =
        queries.iter().map(|query| evaluator.evaluate(std::slice::from_ref(query)).unwrap().remove(0)).collect();
    assert_ne!(alone[0].q, alone[1].q, "the network tells positions apart");
    // Downwards too: rows left over from a larger batch must not show.
    for size in (1..=queries.len()).chain((1..queries.len()).rev()) {
        let together = evaluator.evaluate(&queries[..size]).unwrap();
        assert_eq!(together.len(), size);
        for (row, (a, b)) in together.iter().zip(&alone).enumerate() {
            assert_close(a, b, &format!("row {row} of {size}"));
        }
    }
    assert!(evaluator.evaluate(&[]).unwrap().is_empty());
}

#[test]
fn heads_show_in_attributes_and_evaluations() {
    let shape = RandomNetwork { value: ValueKind::Scalar, moves_left: false, ..RandomNetwork::default() };
    for (shape, has_wdl, has_moves_left) in [(RandomNetwork::default(), true, true), (shape, false, false)] {
        let backend = load(&shape.gzip(2), &uncached());
        let attributes = backend.attributes();
        assert_eq!((attributes.has_wdl, attributes.has_moves_left), (has_wdl, has_moves_left));
        assert_eq!(attributes.name, "onnxruntime cpu, tiny");
        assert!(attributes.is_cpu && attributes.preferred_batch <= attributes.maximum_batch);
        for answer in backend.evaluator().unwrap().evaluate(&queries(&*backend)).unwrap() {
            assert!((-1.0..=1.0).contains(&answer.q));
            assert_eq!(answer.m.is_some(), has_moves_left);
            assert_eq!(answer.d != 0.0, has_wdl);
        }
    }
}

#[test]
fn workers_agree_and_share_the_cache() {
    let backend = load(&random_network(3, 1, 8), &BackendSettings::default());
    let queries = queries(&*backend);
    let answers: Vec<Vec<Evaluation>> = std::thread::scope(|scope| {
        let work = || backend.evaluator().unwrap().evaluate(&queries).unwrap();
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    for (query, answer) in queries.iter().zip(&answers[0]) {
        assert_eq!(backend.cached(query.key).as_ref(), Some(answer));
    }
    assert_eq!(backend.cache_statistics().unwrap().positions, queries.len());
}

#[test]
fn a_batch_larger_than_the_largest_run_is_split() {
    let backend = load(&random_network(4, 1, 8), &uncached());
    let query = queries(&*backend).remove(0);
    let many = vec![query; backend.attributes().maximum_batch + 3];
    let answers = backend.evaluator().unwrap().evaluate(&many).unwrap();
    assert_eq!(answers.len(), many.len());
    for answer in &answers {
        assert_close(answer, &answers[0], "split");
    }
}

/// The bytes of the model `batch` is written in as the batch dimension: a name, as a protobuf string field of a
/// dimension.
const OPEN_BATCH: &[u8] = b"\x0a\x07\x12\x05batch";
/// The batch dimension with the value 4, in as many bytes (a varint may be longer than it needs to be).
const BATCH_OF_4: &[u8] = b"\x0a\x07\x08\x84\x80\x80\x80\x80\x00";

#[test]
fn a_foreign_model_with_a_fixed_batch_is_padded_and_split() {
    let original = Network::from_bytes(&random_network(6, 1, 8), "tiny.pb.gz").unwrap();
    let mut bytes = original.onnx(&Conversion::default()).unwrap().bytes;
    let open: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(OPEN_BATCH)).collect();
    assert!(open.len() >= 4, "one input and three outputs");
    for at in open {
        bytes[at..at + BATCH_OF_4.len()].copy_from_slice(BATCH_OF_4);
    }
    let fixed = load(&bytes, &uncached());
    assert_eq!((fixed.attributes().preferred_batch, fixed.attributes().maximum_batch), (4, 4));
    let free = backend::create("onnxruntime", Some(&original), &uncached()).unwrap();
    let queries = queries(&*fixed);
    let wanted = free.evaluator().unwrap().evaluate(&queries).unwrap();
    let mut evaluator = fixed.evaluator().unwrap();
    for size in [1, 4, 5, 9, 2] {
        let found = evaluator.evaluate(&queries[..size]).unwrap();
        assert_eq!(found.len(), size);
        for (a, b) in found.iter().zip(&wanted) {
            assert_close(a, b, &format!("{size} positions"));
        }
    }
}

#[test]
fn a_model_that_onnx_runtime_refuses_is_one_line() {
    let mut bytes = Network::from_bytes(&random_network(7, 1, 8), "tiny.pb.gz")
        .unwrap()
        .onnx(&Conversion::default())
        .unwrap()
        .bytes;
    // An operator of which nobody has heard, under a name of the same length.
    let at = bytes.windows(4).position(|name| name == b"Conv").unwrap();
    bytes[at..at + 4].copy_from_slice(b"Cunv");
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&bytes, "broken.onnx").unwrap();
    let error = backend::create("onnxruntime", Some(&network), &uncached()).err().unwrap();
    let line = error.to_string();
    assert!(matches!(error, backend::BackendError::Load { .. }), "{line}");
    assert!(line.contains("broken") && line.contains("Cunv") && !line.contains('\n'), "{line}");
}

#[test]
fn what_is_not_a_number_never_reaches_the_search() {
    let bytes = Network::from_bytes(&random_network(8, 1, 8), "tiny.pb.gz")
        .unwrap()
        .onnx(&Conversion::default())
        .unwrap()
        .bytes;
    // All bits set are no number, wherever the numbers of a tensor begin. The middle of the file is inside a tensor.
    let mut broken = bytes.clone();
    let middle = bytes.len() / 2;
    broken[middle..middle + 64].fill(0xff);
    let backend = load(&broken, &uncached());
    let error = backend.evaluator().unwrap().evaluate(&queries(&*backend)).unwrap_err();
    let line = error.to_string();
    assert!(matches!(error, backend::BackendError::Output { .. }), "{line}");
    assert!(line.contains("the network tiny gave NaN"), "{line}");
}

#[test]
fn a_query_without_planes_is_refused_in_one_line() {
    let backend = load(&random_network(5, 1, 8), &uncached());
    let query = Query { key: 1, planes: None, indices: vec![0] };
    let line = backend.evaluator().unwrap().evaluate(&[query]).unwrap_err().to_string();
    assert!(line.contains("tiny") && !line.contains('\n'), "{line}");
}

#[test]
fn the_runtime_says_what_it_is() {
    let runtime = runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    assert!(runtime.version.starts_with("1."), "{}", runtime.version);
    assert!(runtime.providers.iter().any(|provider| provider == "CPU"), "{:?}", runtime.providers);
    let status = runtime::Status::now(None);
    let json = serde_json::to_value(&status).unwrap();
    assert_eq!(json["runtime"]["version"], runtime.version);
    assert!(status.to_string().contains(&runtime.version));
    // A process keeps the library that it has.
    let error = runtime::load(Some(std::path::Path::new("elsewhere"))).unwrap_err();
    assert!(matches!(error, runtime::RuntimeError::AlreadyLoaded { .. }), "{error}");
}

/// The evaluations of the nine positions by a network converted so.
fn converted(bytes: &[u8], conversion: &Conversion) -> Vec<Evaluation> {
    let model = Network::from_bytes(bytes, "tiny.pb.gz").unwrap().onnx(conversion).unwrap();
    let backend = load(&model.bytes, &uncached());
    let queries = queries(&*backend);
    backend.evaluator().unwrap().evaluate(&queries).unwrap()
}

/// How far half precision may take a logit, or twenty plies, from single precision.
const HALF_ROUNDING: f32 = 0.05;

fn assert_similar(a: &Evaluation, b: &Evaluation, what: &str) {
    let similar = |a: f32, b: f32| (a - b).abs() <= HALF_ROUNDING * (1.0 + a.abs());
    assert!(similar(a.q, b.q) && similar(a.d, b.d), "{what}: {a:?} and {b:?}");
    assert!(a.logits.iter().zip(&b.logits).all(|(&a, &b)| similar(a, b)), "{what}: {a:?} and {b:?}");
}

#[test]
fn transformers_run_whatever_the_opset_the_batch_and_the_precision() {
    for (name, shape) in attention_networks() {
        let bytes = shape.gzip(5);
        let usual = converted(&bytes, &Conversion::default());
        assert_ne!(usual[0].logits, usual[2].logits, "{name}: the network tells positions apart");
        assert_ne!((usual[0].q, usual[0].m), (usual[2].q, usual[2].m), "{name}");
        for conversion in [
            Conversion { opset: 18, ..Conversion::default() },
            Conversion { opset: 22, ..Conversion::default() },
            Conversion { batch: Some(4), ..Conversion::default() },
        ] {
            for (a, b) in usual.iter().zip(&converted(&bytes, &conversion)) {
                assert_close(a, b, &format!("{name}, {conversion:?}"));
            }
        }
        let half = Conversion { precision: Precision::Float16, ..Conversion::default() };
        for (a, b) in usual.iter().zip(&converted(&bytes, &half)) {
            assert_similar(a, b, name);
        }
    }
}

/// Planes that the graph expands are the same numbers, and half precision leaves the policy as it was computed.
#[test]
fn packed_planes_change_nothing() {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let shapes = attention_networks().into_iter().map(|(name, shape)| (name, shape.gzip(5)));
    for (name, bytes) in shapes.chain([("residual", random_network(3, 2, 16))]) {
        let network = Network::from_bytes(&bytes, "tiny.pb.gz").unwrap();
        for precision in ["", ",datatype=f16", ",datatype=f16,batch=16,steps=1"] {
            let said = |planes: &str| {
                let device = format!("planes={planes}{precision}").parse().unwrap();
                let backend =
                    backend::create("onnxruntime", Some(&network), &BackendSettings { device, ..uncached() }).unwrap();
                let queries = queries(&*backend);
                let mut evaluator = backend.evaluator().unwrap();
                // Downwards: rows left over from a larger batch must not show.
                let large = evaluator.evaluate(&queries).unwrap();
                let small = evaluator.evaluate(&queries[..3]).unwrap();
                [large, small].concat()
            };
            assert_eq!(said("packed"), said("dense"), "{name}{precision}");
        }
    }
}

#[test]
fn each_form_of_mish_is_mish() {
    let mut tried = 0;
    for (name, shape) in attention_networks() {
        let bytes = shape.gzip(5);
        let usual = converted(&bytes, &Conversion::default());
        let softplus = Conversion { mish: MishForm::Softplus, ..Conversion::default() };
        tried += usize::from(converted(&bytes, &softplus) != usual);
        for (a, b) in usual.iter().zip(&converted(&bytes, &softplus)) {
            assert_close(a, b, name);
        }
    }
    assert!(tried > 0, "some network has a Mish");
}

/// Two workers at once, each with a session of its own over shared weights, say what they say one after the other.
#[test]
fn workers_at_once_do_not_disturb_each_other() {
    let (_, shape) = attention_networks().pop().unwrap();
    for bytes in [random_network(3, 2, 16), shape.gzip(5)] {
        let backend = load(&bytes, &uncached());
        let queries = queries(&*backend);
        let parts = [&queries[..4], &queries[4..]];
        let alone = parts.map(|part| backend.evaluator().unwrap().evaluate(part).unwrap());
        std::thread::scope(|scope| {
            for (part, alone) in parts.iter().zip(&alone) {
                let backend = &backend;
                scope.spawn(move || {
                    let mut evaluator = backend.evaluator().unwrap();
                    for _ in 0..50 {
                        assert_eq!(&evaluator.evaluate(part).unwrap(), alone);
                    }
                });
            }
        });
    }
}

#[test]
fn each_head_says_its_own() {
    let (_, shape) = attention_networks().pop().unwrap();
    let said = |policy: &str, value: &str| {
        let [policy_head, value_head] = [policy, value].map(|head| Some(head.to_owned()));
        converted(&shape.gzip(5), &Conversion { policy_head, value_head, ..Conversion::default() }).remove(0)
    };
    let [vanilla, soft, extra] =
        [("vanilla", "winner"), ("soft", "winner"), ("extra", "q")].map(|(policy, value)| said(policy, value));
    assert_eq!((vanilla.q, vanilla.d, vanilla.m), (soft.q, soft.d, soft.m));
    assert_ne!(vanilla.logits, soft.logits);
    assert_ne!(soft.logits, extra.logits);
    assert_ne!(vanilla.q, extra.q);
}

#[test]
fn ends_may_be_of_half_precision() {
    let half = Conversion { precision: Precision::Float16, ..Conversion::default() };
    let network = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
    let model = network.onnx(&half).unwrap();
    let narrow = with_narrow_ends(&model.bytes, Precision::Float16);
    let types = Network::from_bytes(&narrow, "half.onnx").unwrap().onnx(&Conversion::default()).unwrap().types;
    assert_eq!((types.input, types.policy, types.value), (Precision::Float16, Precision::Float16, Precision::Float16));
    let [wide, narrow] = [&model.bytes, &narrow].map(|bytes| {
        let backend = load(bytes, &uncached());
        let queries = queries(&*backend);
        backend.evaluator().unwrap().evaluate(&queries).unwrap()
    });
    for (a, b) in wide.iter().zip(&narrow) {
        assert_similar(a, b, "narrow ends");
    }
}

#[test]
fn names_of_its_own_change_nothing_that_a_model_says() {
    let own = |name: &str| format!("own{}:0", name.replace('/', " "));
    let value = [ValueOutput::Wdl as fn(String) -> ValueOutput, ValueOutput::Scalar];
    for (kind, value) in [ValueKind::Wdl, ValueKind::Scalar].into_iter().zip(value) {
        let shape = RandomNetwork { value: kind, ..RandomNetwork::default() };
        let usual = Network::from_bytes(&shape.gzip(11), "tiny.pb.gz").unwrap();
        let usual = usual.onnx(&Conversion::default()).unwrap().bytes;
        let renamed = with_renamed_ends(&usual, own);
        let interface = OnnxInterface {
            input_format: None,
            input: Some("own input planes:0".to_owned()),
            policy: Some("own output policy:0".to_owned()),
            value: Some(value(if kind == ValueKind::Wdl { own("/output/wdl") } else { own("/output/value") })),
            moves_left: Some("own output mlh:0".to_owned()),
        };
        let network = Network::from_bytes_with(&renamed, "renamed.onnx", &interface).unwrap();
        let usual = load(&usual, &uncached());
        let renamed = backend::create("onnxruntime", Some(&network), &uncached()).unwrap();
        let said = |backend: &dyn Backend| backend.evaluator().unwrap().evaluate(&queries(backend)).unwrap();
        assert_eq!(said(&*usual), said(&*renamed));
    }
}

#[test]
fn initializers_among_the_inputs_change_nothing_that_a_model_says() {
    let network = Network::from_bytes(&random_network(12, 2, 16), "tiny.pb.gz").unwrap();
    let usual = network.onnx(&Conversion::default()).unwrap().bytes;
    let said = |bytes: &[u8]| {
        let backend = load(bytes, &uncached());
        // A second evaluator has a session of its own.
        let _first = backend.evaluator().unwrap();
        backend.evaluator().unwrap().evaluate(&queries(&*backend)).unwrap()
    };
    // In version 3 they have to be there; later they are defaults of what could be replaced.
    for version in [3, 4, 8] {
        for (a, b) in said(&usual).iter().zip(&said(&with_listed_initializers(&usual, version))) {
            assert_close(a, b, "listed initializers");
        }
    }
}

/// The working folder of the tests is another one than that of the model.
#[test]
fn external_data_lies_beside_its_model() {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    let inline = Network::from_bytes(&random_network(9, 2, 16), "tiny.pb.gz").unwrap();
    let inline = inline.onnx(&Conversion::default()).unwrap().bytes;
    let create = || backend::create("onnxruntime", Some(&Network::load(&path).unwrap()), &uncached());
    let said = |backend: &dyn Backend| backend.evaluator().unwrap().evaluate(&queries(backend)).unwrap();
    let (model, data) = with_external_data(&inline, "weights.bin");
    std::fs::write(&path, &model).unwrap();
    let line = create().err().unwrap().to_string();
    assert!(line.contains("weights.bin") && !line.contains('\n'), "{line}");
    std::fs::write(folder.path().join("weights.bin"), &data).unwrap();
    let backend = create().unwrap();
    // A second evaluator has a session of its own.
    let _first = backend.evaluator().unwrap();
    for (a, b) in said(&*load(&inline, &uncached())).iter().zip(&said(&*backend)) {
        assert_close(a, b, "external data");
    }
    // A folder below it will do as well; no other.
    std::fs::create_dir(folder.path().join("below")).unwrap();
    std::fs::write(folder.path().join("below/weights.bin"), &data).unwrap();
    std::fs::write(&path, with_external_data(&inline, "below/weights.bin").0).unwrap();
    assert_eq!(said(&*create().unwrap()).len(), 9);
    let outside = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("weights.bin");
    std::fs::write(&absolute, &data).unwrap();
    let name = outside.path().file_name().unwrap().to_string_lossy();
    for name in [absolute.to_string_lossy().into_owned(), format!("../{name}/weights.bin")] {
        std::fs::write(&path, with_external_data(&inline, &name).0).unwrap();
        let line = create().err().unwrap().to_string();
        assert!(line.contains("network net: External data path") && !line.contains('\n'), "{line}");
    }
}
