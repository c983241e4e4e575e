//! Tests how sessions serve workers.

use super::*;
use zeitnot_chess::Game;
use zeitnot_network::testing::{RandomBody, RandomNetwork, attention_networks, random_network};
use zeitnot_network::{Activation, MOVES, PolicyKind};

/// Two sessions serve four workers at once, as on a card; they find their own answers in their own buffers.
#[test]
fn sessions_in_turn_keep_workers_apart() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
    let (options, fill) = (DeviceOptions::default(), HistoryFill::FenOnly);
    let announcer = Announcer::default();
    let mut backend = OnnxRuntimeBackend::new(runtime, Provider::Cpu, 0, &network, &options, fill, &announcer).unwrap();
    let second = backend.shared.session().unwrap();
    backend.sessions.get_mut().ready.push(Arc::new(Mutex::new(second)));
    backend.sharing = Sharing::InTurn(2);
    let mut game = Game::new();
    let query = |text: &str| {
        game.push_uci(text).unwrap();
        Query::new(&game, &game.current().legal_moves(), &backend.attributes)
    };
    let queries: Vec<Query> = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "f8c5"].map(query).into();
    let parts: Vec<&[Query]> = queries.chunks(2).collect();
    let mut alone = backend.evaluator().unwrap();
    let expected: Vec<Vec<Evaluation>> = parts.iter().map(|part| alone.evaluate(part).unwrap()).collect();
    assert_ne!(expected[0], expected[1]);
    std::thread::scope(|scope| {
        for (part, expected) in parts.iter().zip(&expected) {
            let mut evaluator = backend.evaluator().unwrap();
            scope.spawn(move || (0..100).for_each(|_| assert_eq!(&evaluator.evaluate(part).unwrap(), expected)));
        }
    });
    assert_eq!(backend.sessions.lock().ready.len(), 2, "none is taken away");
}

/// The first size fails with the memory of a card at its end; here only that a session gives some back and goes on.
#[test]
fn a_session_that_gave_memory_back_goes_on() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
    let (options, announcer) = (DeviceOptions::default(), Announcer::default());
    let backend =
        OnnxRuntimeBackend::new(runtime, Provider::Cpu, 0, &network, &options, HistoryFill::FenOnly, &announcer)
            .unwrap();
    let mut session = backend.shared.session().unwrap();
    for rows in [64, 1, 64] {
        backend.shared.shrink(&mut session, rows).unwrap();
    }
}

/// A fast device that runs any size, such as OpenVINO's graphics processor.
#[test]
fn a_largest_size_that_is_fast_is_kept_where_any_size_will_do() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
    let options = DeviceOptions::default();
    let model_io = ModelIo::new(&network, Provider::Cpu, &options.conversion_of(&network, Provider::Cpu)).unwrap();
    let mut plan = SessionPlan::new(Provider::Cpu, 0, Precision::Float32, &options, &model_io.model).unwrap();
    plan.units = None;
    let rows = plan.rows.clone();
    assert!(rows.are_any() && rows.most > 1);
    let mut shared = SharedModel { runtime, model_io, plan, rows: rows.clone(), weights: None };
    let builder = shared.plan.builder(&shared.runtime, &shared.model_io).unwrap();
    shared.prepare(builder, &Announcer::default()).unwrap();
    assert_eq!(shared.rows, rows);
}

#[test]
fn names_lose_the_endings_of_network_files() {
    assert_eq!(["maia-1900.pb.gz", "a.b.onnx", "744706"].map(stem), ["maia-1900", "a.b", "744706"]);
}

/// A stand-in for a device that computes wrongly in float16 and, as asked, in float32.
#[test]
fn float32_is_tried_where_float16_proves_wrong_and_nothing_was_chosen() {
    let wrong = |_: &DeviceOptions| BackendError::Wrong { backend: "card".to_owned(), problem: "q is 1".to_owned() };
    let tried = |provider, datatype, is_wrong_in_float32: bool| {
        let (said, types) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let mut options = DeviceOptions::default();
        options.datatype = datatype;
        let loaded = in_fitting_type(
            provider,
            &options,
            |line| said.lock().push(line.to_owned()),
            |options| {
                types.lock().push(options.datatype);
                let is_float32 = options.datatype == Some(Precision::Float32);
                if is_float32 && !is_wrong_in_float32 { Ok(()) } else { Err(wrong(options)) }
            },
        );
        (loaded.is_ok(), types.into_inner(), said.into_inner())
    };
    let float32 = Some(Precision::Float32);
    let line = "CUDA: float32, for in float16 q is 1".to_owned();
    assert_eq!(tried(Provider::Cuda, None, false), (true, vec![None, float32], vec![line]));
    assert_eq!(tried(Provider::Cuda, None, true), (false, vec![None, float32], vec![]));
    let float16 = Some(Precision::Float16);
    assert_eq!(tried(Provider::Cuda, float16, false), (false, vec![float16], vec![]), "float16 was chosen");
    assert_eq!(tried(Provider::OpenVino, None, true), (false, vec![None], vec![]), "it was float32");
}

/// Towers with and without squeeze and excitation, and transformers with each feature and each activation.
fn networks() -> Vec<(String, RandomNetwork)> {
    let mut networks: Vec<_> = attention_networks().into_iter().map(|(name, shape)| (name.to_owned(), shape)).collect();
    for (squeeze, activation) in [(None, Activation::Relu), (Some(4), Activation::Mish)] {
        let shape = RandomNetwork { blocks: 2, filters: 16, squeeze, activation, ..RandomNetwork::default() };
        networks.push((format!("tower, {squeeze:?}, {activation:?}"), shape));
    }
    for ffn_activation in [Activation::Relu, Activation::Mish, Activation::Swish, Activation::ReluSquared] {
        for smolgen in [false, true] {
            let body =
                RandomBody { encoders: 3, width: 64, heads: 8, smolgen, ffn_activation, ..RandomBody::default() };
            let policy = PolicyKind::Attention;
            let shape = RandomNetwork { body: Some(body), policy, squeeze: None, ..RandomNetwork::default() };
            networks.push((format!("transformer, smolgen {smolgen}, {ffn_activation:?}"), shape));
        }
    }
    networks
}

/// All logits, q, d and the moves left: in float32 within 1e-4, and in float16 within a proof's bound of a logit.
#[test]
fn fused_operators_compute_the_same() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    for (name, shape) in networks() {
        let network = Network::from_bytes(&shape.gzip(7), "tiny.pb.gz").unwrap();
        let evaluate = |options: &str| {
            let (options, fill, announcer) = (options.parse().unwrap(), HistoryFill::FenOnly, Announcer::default());
            let runtime = Arc::clone(&runtime);
            let backend =
                OnnxRuntimeBackend::new(runtime, Provider::Cpu, 0, &network, &options, fill, &announcer).unwrap();
            let query = |game: Game| {
                let query = Query::new(&game, &[], &backend.attributes);
                Query { indices: (0..MOVES as u16).collect(), ..query }
            };
            let queries: Vec<Query> = crate::proof::usual_games().map(query).collect();
            backend.evaluator().unwrap().evaluate(&queries).unwrap()
        };
        let plain = evaluate("");
        for (options, bound) in
            [("fused=true", 1e-4), ("fused=true,planes=packed", 1e-4), ("fused=true,fp16=true", 0.3)]
        {
            for (plain, fused) in plain.iter().zip(evaluate(options)) {
                let numbers = |evaluation: &Evaluation| {
                    let Evaluation { q, d, m, logits } = evaluation;
                    logits.iter().copied().chain([*q, *d, m.unwrap_or_default()]).collect::<Vec<f32>>()
                };
                let pairs = numbers(plain).into_iter().zip(numbers(&fused));
                let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(difference <= bound, "{name}, {options}: {difference}");
            }
        }
    }
}
