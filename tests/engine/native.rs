//! The native backend on every instruction set of this processor: against Lc0's recorded evaluations where the folder
//! shared/ is there, against networks in 64-bit floats, and in itself.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::golden::{self, Golden};
use std::collections::HashMap;
use zeitnot_engine::backend::{
    self, Arithmetic, Attributes, Backend, BackendError, BackendSettings, Evaluation, Isa, NativeBackend,
    NativeOptions, Query,
};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::testing::{RandomBody, RandomNetwork, attention_networks, random_network};
use zeitnot_engine::network::{Activation, Conversion, HistoryFill, InputFormat, Network, PolicyKind, ValueKind};
use zeitnot_engine::runtime;

/// How far a logit may be from Lc0's (relative to its size where that is above 1).
const LOGIT: f32 = 2e-4;
/// How far q and d may be.
const VALUE: f32 = 1e-4;
/// The largest difference of a logit, and of q and d, for meangirl-8: there Lc0's recorded evaluations are up to 2.1e-4
/// (a logit) and 1.2e-4 (q) from the same network in 64-bit floats (`tests/reference/float64.py`); the native backend
/// is within 4e-5 and 1e-5 of it.
const LARGE_ACTIVATIONS: f32 = 3e-4;
/// The largest differences of a logit, and of q and d, for t1-256x10. Lc0's records are that far from the network in
/// 64-bit floats (`tests/engine/backend_shared.rs`); the native backend is equally far from them on every instruction
/// set, and ONNX Runtime is.
const T1_LOGIT: f32 = 4e-4;
const T1_VALUE: f32 = 2e-4;
/// How far the moves left may be, in plies.
const PLIES: f32 = 0.01;

fn available() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available())
}

fn prepare(network: &Network, isa: Isa, arithmetic: Arithmetic) -> Result<NativeBackend, BackendError> {
    let options = NativeOptions { isa: Some(isa), arithmetic: Some(arithmetic), ..NativeOptions::default() };
    NativeBackend::new(network, &options, HistoryFill::FenOnly)
}

fn load_int8(bytes: &[u8], isa: Isa) -> NativeBackend {
    prepare(&Network::from_bytes(bytes, "tiny.pb.gz").unwrap(), isa, Arithmetic::Int8).unwrap()
}

fn load(bytes: &[u8], isa: Isa) -> NativeBackend {
    prepare(&Network::from_bytes(bytes, "tiny.pb.gz").unwrap(), isa, Arithmetic::Float32).unwrap()
}

/// Positions of a game with a repetition, and some with castling, promotions and an en passant.
fn queries(backend: &dyn Backend) -> Vec<Query> {
    let ask = |game: &Game| Query::new(game, &game.current().legal_moves(), backend.attributes());
    let mut game = Game::new();
    let mut queries = vec![ask(&game)];
    for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "e7e5", "f3e5", "d8h4", "e5f7"] {
        game.push_uci(text).unwrap();
        queries.push(ask(&game));
    }
    let fens = [
        "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 9 20",
        "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
        "8/6k1/8/3pP3/8/8/8/4K3 w - d6 0 2",
    ];
    queries.extend(fens.map(|fen| ask(&Game::from_fen(fen, false).unwrap())));
    queries
}

/// The largest differences of logits (relative above 1), q, d and moves left.
fn differences(a: &Evaluation, b: &Evaluation) -> [f32; 4] {
    assert_eq!(a.logits.len(), b.logits.len());
    assert_eq!(a.m.is_some(), b.m.is_some());
    let logit = a.logits.iter().zip(&b.logits).map(|(&a, &b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max);
    let m = a.m.zip(b.m).map_or(0.0, |(a, b)| (a - b).abs());
    [logit, (a.q - b.q).abs(), (a.d - b.d).abs(), m]
}

fn largest(all: impl IntoIterator<Item = [f32; 4]>) -> [f32; 4] {
    all.into_iter().fold([0.0; 4], |a, b| std::array::from_fn(|index| a[index].max(b[index])))
}

#[test]
fn every_shape_agrees_with_onnx_runtime() {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let tiny = RandomNetwork::default();
    let shapes = [
        tiny,
        RandomNetwork { blocks: 3, filters: 40, squeeze: None, head_planes: 7, head_hidden: 33, ..tiny },
        RandomNetwork { blocks: 2, filters: 24, activation: Activation::Mish, squeeze: Some(5), ..tiny },
        RandomNetwork {
            policy: PolicyKind::Classical,
            value: ValueKind::Scalar,
            moves_left: false,
            head_planes: 3,
            ..tiny
        },
        RandomNetwork { blocks: 0, filters: 16, batch_norm: false, input: InputFormat::CanonicalV2, ..tiny },
        // Wide enough for the tiling of small batches.
        RandomNetwork { blocks: 2, filters: 256, squeeze: Some(16), ..tiny },
    ];
    let attention = attention_networks().into_iter().map(|(_, shape)| shape);
    for (index, shape) in shapes.into_iter().chain(attention).chain(odd_transformers()).enumerate() {
        let bytes = shape.protobuf(index as u64);
        let network = Network::from_bytes(&bytes, "tiny.pb").unwrap();
        let options = BackendSettings { cache_size: 0, ..BackendSettings::default() };
        let reference = backend::create("onnxruntime", Some(&network), &options).unwrap();
        let queries = queries(&*reference);
        let wanted = reference.evaluator().unwrap().evaluate(&queries).unwrap();
        for isa in available() {
            let native = load(&bytes, isa);
            assert_eq!(native.isa(), isa);
            assert_eq!(native.attributes().input, reference.attributes().input);
            let mut evaluator = native.evaluator().unwrap();
            for size in [1, 2, 3, queries.len()] {
                let answers: Vec<Evaluation> =
                    queries.chunks(size).flat_map(|part| evaluator.evaluate(part).unwrap()).collect();
                assert_eq!(answers.len(), wanted.len());
                let worst = largest(answers.iter().zip(&wanted).map(|(a, b)| differences(a, b)));
                eprintln!("shape {index}, {isa}, batches of {size}: {worst:?}");
                assert!(
                    worst[0] <= LOGIT && worst[1] <= VALUE && worst[2] <= VALUE && worst[3] <= PLIES,
                    "{shape:?} {isa}"
                );
            }
        }
    }
}

/// Transformers whose sizes are no multiples of a vector, with every activation.
fn odd_transformers() -> impl Iterator<Item = RandomNetwork> {
    let network = RandomNetwork {
        policy: PolicyKind::Attention,
        squeeze: None,
        head_planes: 5,
        head_hidden: 19,
        ..RandomNetwork::default()
    };
    let activations = [Activation::Relu, Activation::None, Activation::Tanh, Activation::Sigmoid];
    let body = RandomBody { encoders: 1, width: 42, heads: 3, ..RandomBody::default() };
    activations.into_iter().map(move |ffn_activation| RandomNetwork {
        body: Some(RandomBody { ffn_activation, ..body }),
        policy_encoders: 1,
        value: if ffn_activation == Activation::Tanh { ValueKind::Scalar } else { ValueKind::Wdl },
        ..network
    })
}

#[test]
fn a_batch_of_any_size_says_to_the_bit_what_its_positions_say_alone() {
    let tiny = RandomNetwork::default();
    let shapes = [
        tiny,
        RandomNetwork { blocks: 2, filters: 40, squeeze: Some(5), policy: PolicyKind::Classical, ..tiny },
        // Wide enough for the tiling of small batches.
        RandomNetwork { blocks: 1, filters: 256, squeeze: Some(16), ..tiny },
    ];
    let attention: Vec<RandomNetwork> = attention_networks().into_iter().map(|(_, shape)| shape).collect();
    let shapes = || shapes.into_iter().chain(attention.iter().copied());
    for (isa, shape) in available().flat_map(|isa| shapes().map(move |shape| (isa, shape))) {
        answers_to_the_bit(&load(&shape.gzip(1), isa), &format!("{isa}, {shape:?}"));
        if shape.policy == PolicyKind::Attention {
            answers_to_the_bit(&load_int8(&shape.gzip(1), isa), &format!("{isa}, 8 bits, {shape:?}"));
        }
    }
}

fn answers_to_the_bit(native: &NativeBackend, what: &str) {
    assert!(native.attributes().is_batch_invariant);
    let positions = queries(native);
    let mut evaluator = native.evaluator().unwrap();
    let alone: Vec<Evaluation> =
        positions.iter().map(|query| evaluator.evaluate(std::slice::from_ref(query)).unwrap().remove(0)).collect();
    assert_ne!(alone[0].q, alone[1].q, "the network tells positions apart");
    let maximum = native.attributes().maximum_batch;
    for size in (0..=20).chain([maximum - 1, maximum, maximum + 1, 3 * maximum + 5, 7]) {
        let batch: Vec<Query> = positions.iter().cycle().take(size).cloned().collect();
        let answers = evaluator.evaluate(&batch).unwrap();
        assert_eq!(answers.len(), size);
        let is_same = answers.iter().zip(alone.iter().cycle()).all(|(together, alone)| together == alone);
        assert!(is_same, "{what}, {size} positions");
    }
}

/// How far 8 bits may take a logit, and q or d, in a random transformer: they are for networks whose numbers mean
/// something.
const LOGIT_OF_8_BITS: f32 = 0.5;
/// The same with AVX2, where the weights of an output have a larger scale if sums of four products need it, as they do
/// among uniform weights.
const LOGIT_OF_8_BITS_AVX2: f32 = 0.6;
const VALUE_OF_8_BITS: f32 = 0.1;

#[test]
fn auto_takes_native_for_transformers_with_avx2() {
    let (_, shape) = attention_networks().into_iter().next().unwrap();
    let network = Network::from_bytes(&shape.gzip(9), "tiny.pb.gz").unwrap();
    let is_native = |options: &str| {
        let options = BackendSettings { device: options.parse().unwrap(), ..BackendSettings::default() };
        backend::takes_native("auto", &network, &options).unwrap()
    };
    assert_eq!(is_native(""), Isa::Avx2.is_available());
    assert!(!is_native("threads=2"), "a key of ONNX Runtime's asks for it");
    let model = network.onnx(&Conversion::default()).unwrap();
    let model = Network::from_bytes(&model.bytes, "tiny.onnx").unwrap();
    assert!(!backend::takes_native("auto", &model, &BackendSettings::default()).unwrap());
}

#[test]
fn auto_takes_native_where_an_option_asks_for_8_bits() {
    let (_, shape) = attention_networks().into_iter().next().unwrap();
    let network = Network::from_bytes(&shape.gzip(9), "tiny.pb.gz").unwrap();
    let options = BackendSettings { device: "precision=int8".parse().unwrap(), ..BackendSettings::default() };
    assert!(backend::takes_native("auto", &network, &options).unwrap());
    let backend = backend::create("auto", Some(&network), &options).unwrap();
    let Attributes { name, device, .. } = backend.attributes();
    assert!(name.starts_with("native") && device.ends_with("int8"), "{name}, {device}");
}

#[test]
fn native_takes_8_bits_unasked_where_the_processor_is_fast_with_them() {
    for (name, shape) in attention_networks() {
        let network = Network::from_bytes(&shape.gzip(9), "tiny.pb.gz").unwrap();
        let device = |options: &str| {
            let options = BackendSettings { device: options.parse().unwrap(), ..BackendSettings::default() };
            backend::create("native", Some(&network), &options).unwrap().attributes().device.clone()
        };
        assert_eq!(device("").ends_with("int8"), shape.body.is_some() && Isa::best().is_fast_in_8_bits(), "{name}");
        assert!(!device("precision=f32").ends_with("int8") && !device("isa=portable").ends_with("int8"), "{name}");
    }
}

#[test]
fn eight_bits_say_nearly_what_float32_says() {
    for (name, shape) in attention_networks() {
        for isa in available() {
            let bytes = shape.gzip(9);
            let [exact, narrow] = [load(&bytes, isa), load_int8(&bytes, isa)];
            assert!(narrow.attributes().device.ends_with("int8"), "{}", narrow.attributes().device);
            let queries = queries(&exact);
            let wanted = exact.evaluator().unwrap().evaluate(&queries).unwrap();
            let found = narrow.evaluator().unwrap().evaluate(&queries).unwrap();
            let worst = largest(found.iter().zip(&wanted).map(|(a, b)| differences(a, b)));
            eprintln!("{name}, {isa}, 8 bits: {worst:?}");
            assert!(worst[0] > 0.0, "{name}: it is not computed in 8 bits");
            let logit = if isa == Isa::Avx2 { LOGIT_OF_8_BITS_AVX2 } else { LOGIT_OF_8_BITS };
            assert!(worst[0] <= logit && worst[1].max(worst[2]) <= VALUE_OF_8_BITS, "{name} {isa}: {worst:?}");
        }
    }
}

/// The least share of positions at which T1's first choice in 8 bits is Lc0's.
const CHOICES_OF_8_BITS: f32 = 0.9;

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn t1_in_8_bits_chooses_as_lc0_does() {
    let shared = crate::common::shared();
    let network = Network::load(&shared.join("nets/t1-256x10.pb.gz")).unwrap();
    let golden = golden::evaluations(&shared, "t1-256x10", 21);
    let games = golden::games(&shared);
    let first = |logits: &[f32]| (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    for isa in available().filter(|isa| isa.is_fast_in_8_bits()) {
        let backend = prepare(&network, isa, Arithmetic::Int8).unwrap();
        let mut evaluator = backend.evaluator().unwrap();
        let agrees = |golden: &&Golden| {
            let query = Query::new(&games[&golden.id], &[], backend.attributes());
            let query = Query { indices: golden.idx.clone(), ..query };
            first(&evaluator.evaluate(&[query]).unwrap()[0].logits) == first(&golden.logits)
        };
        let agreed = golden.iter().filter(agrees).count();
        eprintln!("t1-256x10, {isa}, 8 bits: {agreed} of {} first choices are Lc0's", golden.len());
        assert!(agreed as f32 >= CHOICES_OF_8_BITS * golden.len() as f32, "{isa}: {agreed}");
    }
}

#[test]
fn workers_agree_to_the_bit() {
    let native = load(&random_network(3, 2, 32), Isa::best());
    let queries = queries(&native);
    let answers: Vec<Vec<Evaluation>> = std::thread::scope(|scope| {
        let work = || native.evaluator().unwrap().evaluate(&queries).unwrap();
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn errors_are_one_line() {
    let network = Network::from_bytes(&random_network(4, 1, 8), "tiny.pb.gz").unwrap();
    let onnx = network.onnx(&Conversion::default()).unwrap().bytes;
    let foreign = Network::from_bytes(&onnx, "foreign.onnx").unwrap();
    let options = BackendSettings::default();
    let line = backend::create("native", Some(&foreign), &options).err().unwrap().to_string();
    assert!(line.contains("foreign.onnx") && line.contains("Lc0's format") && !line.contains('\n'), "{line}");
    let line = backend::create("native", None, &options).err().unwrap().to_string();
    assert_eq!(line, "the backend native needs a network, and none was given");

    let native = load(&random_network(5, 1, 8), Isa::Portable);
    let blind = Query { key: 1, planes: None, indices: vec![0] };
    let error = native.evaluator().unwrap().evaluate(&[blind]).unwrap_err();
    assert!(matches!(error, BackendError::Query { .. }), "{error}");
    let mut query = queries(&native).remove(0);
    query.indices.push(1858);
    let error = native.evaluator().unwrap().evaluate(&[query]).unwrap_err();
    assert!(error.to_string().contains("no policy for the index 1858"), "{error}");
}

#[test]
fn what_is_not_a_number_never_reaches_the_search() {
    for isa in available() {
        let transformer = RandomNetwork {
            policy: PolicyKind::Attention,
            body: Some(RandomBody::default()),
            squeeze: None,
            ..RandomNetwork::default()
        };
        for native in [load(&random_network(6, 2, 16), isa), load(&transformer.gzip(6), isa)] {
            refuses_what_is_not_a_number(&native);
        }
    }
}

fn refuses_what_is_not_a_number(native: &NativeBackend) {
    let mut query = queries(native).remove(0);
    // The plane of ones, and one square among the others.
    for plane in [111, 0] {
        query.planes.as_mut().unwrap().values[plane] = f32::NAN;
        let error = native.evaluator().unwrap().evaluate(std::slice::from_ref(&query)).unwrap_err();
        assert!(matches!(error, BackendError::Output { .. }), "{error}");
        assert!(error.to_string().contains("the network tiny gave NaN"), "{error}");
    }
}

/// Compares every golden evaluation of a network of `../shared`.
fn agrees(file: &str, logit_bar: f32, value_bar: f32) {
    let shared = crate::common::shared();
    let network = Network::load(&shared.join("nets").join(format!("{file}.pb.gz"))).unwrap();
    let name = file.rsplit('/').next().unwrap();
    let golden = golden::evaluations(&shared, name, 21);
    evaluations_agree(&network, name, &golden, &golden::games(&shared), logit_bar, value_bar);
}

/// Compares evaluations on every instruction set, in batches of seven and one by one.
fn evaluations_agree(
    network: &Network,
    name: &str,
    golden: &[Golden],
    games: &HashMap<u32, Game>,
    logit_bar: f32,
    value_bar: f32,
) {
    let mut failed = Vec::new();
    for isa in available() {
        let backend = prepare(network, isa, Arithmetic::Float32).unwrap();
        let mut evaluator = backend.evaluator().unwrap();
        let mut worst = [0.0; 4];
        for size in [7, 1] {
            for part in golden.chunks(size) {
                let ask = |golden: &Golden| {
                    let query = Query::new(&games[&golden.id], &[], backend.attributes());
                    // The recorded logits are those of the recorded indices, also where a canonical orientation turns
                    // the board, so that the moves have others.
                    Query { indices: golden.idx.clone(), ..query }
                };
                let queries: Vec<Query> = part.iter().map(ask).collect();
                let answers = evaluator.evaluate(&queries).unwrap();
                for (golden, answer) in part.iter().zip(&answers) {
                    assert_eq!(answer.m.is_some(), network.description().moves_left, "{name}");
                    let m = answer.m.and(golden.m);
                    let golden = Evaluation { q: golden.q, d: golden.d, m, logits: golden.logits.clone().into() };
                    worst = largest([worst, differences(answer, &golden)]);
                }
            }
        }
        let [logit, q, d, m] = worst;
        eprintln!("{name}, {isa}: largest difference of a logit {logit:.1e}, q {q:.1e}, d {d:.1e}, m {m:.1e}");
        if logit > logit_bar || q > value_bar || d > value_bar || m > PLIES {
            failed.push(isa);
        }
    }
    assert!(failed.is_empty(), "{name}: too far from the records on {failed:?}");
}

macro_rules! networks {
    ($($name:ident: $file:literal, $logit:expr, $value:expr;)*) => {
        $(
            #[test]
            #[cfg_attr(not(shared), ignore = "needs ../shared")]
            fn $name() {
                agrees($file, $logit, $value);
            }
        )*
    };
}

networks! {
    maia_1900: "maia-1900", LOGIT, VALUE;
    meangirl_8: "meangirl-8", LARGE_ACTIVATIONS, LARGE_ACTIVATIONS;
    tinygyal_8: "tinygyal-8", LOGIT, VALUE;
    legacy_format: "synthetic/classical-2x16-legacyfmt", LOGIT, VALUE;
    squeeze_convolution_wdl_moves_left: "synthetic/se-2x16-conv-wdl-mlh", LOGIT, VALUE;
    squeeze_convolution_mish: "synthetic/se-2x16-conv-wdl-mlh-mish", LOGIT, VALUE;
    squeeze_classical_heads: "synthetic/se-2x16-polclassical-valclassical", LOGIT, VALUE;
    canonical: "synthetic/se-1x8-input-canonical", LOGIT, VALUE;
    canonical_hectoplies: "synthetic/se-1x8-input-canonical-hectoplies", LOGIT, VALUE;
    canonical_hectoplies_armageddon: "synthetic/se-1x8-input-canonical-hectoplies-armageddon", LOGIT, VALUE;
    canonical_v2: "synthetic/se-1x8-input-canonical-v2", LOGIT, VALUE;
    canonical_v2_armageddon: "synthetic/se-1x8-input-canonical-v2-armageddon", LOGIT, VALUE;
    castling_plane: "synthetic/se-1x8-input-castling", LOGIT, VALUE;
    attention_policy_encoders: "synthetic/se-2x16-attpolicy-polenc-wdl-mlh-mish", LOGIT, VALUE;
    attention_body_plain: "synthetic/attbody-2x32x4h-nosmolgen-nogate-pemap", LOGIT, VALUE;
    attention_body_gates: "synthetic/attbody-2x32x4h-nosmolgen-pemap", LOGIT, VALUE;
    attention_body_smolgen_old_format: "synthetic/attbody-2x32x4h-smolgen-pemap-oldfmt", LOGIT, VALUE;
    attention_body_dense_position_several_heads: "synthetic/attbody-2x32x4h-smolgen-pedense-multihead", LOGIT, VALUE;
    t1_256x10: "t1-256x10", T1_LOGIT, T1_VALUE;
}

/// Compares the evaluations as `networks_of_the_small_set` of tests/engine/backend_shared.rs does, where `native` can
/// run the network.
#[test]
fn networks_of_the_small_set() {
    let folder = crate::common::small_set();
    let games = golden::games(&folder);
    let mut compared = 0;
    for (name, network) in golden::networks() {
        if prepare(&network, Isa::best(), Arithmetic::Float32).is_err() {
            continue;
        }
        evaluations_agree(&network, name, &golden::evaluations(&folder, name, 3), &games, LOGIT, VALUE);
        compared += 1;
    }
    assert!(compared >= 1, "{compared}");
}
