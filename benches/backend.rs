//! Evaluations per second of ONNX Runtime on one core, by batch size: `cargo bench --bench backend`.
//!
//! The network is a random SE 6x64 (the shape of Maia). What a larger batch gains decides the preferred one.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use zeitnot_engine::backend::{self, BackendSettings, Query};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::Network;
use zeitnot_engine::network::testing::random_network;
use zeitnot_engine::runtime;

/// The first positions of a game that goes nowhere, as many as the batch has rows.
fn queries(count: usize, attributes: &backend::Attributes) -> Vec<Query> {
    let mut game = Game::new();
    let moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"];
    let shuffle = ["f3g1", "f6g8", "g1f3", "g8f6"];
    let play = moves.iter().chain(shuffle.iter().cycle()).take(count);
    play.map(|text| {
        game.push_uci(text).expect("the moves are legal");
        Query::new(&game, &game.current().legal_moves(), attributes)
    })
    .collect()
}

fn onnxruntime(criterion: &mut Criterion) {
    runtime::ensure_installed(&|line| eprintln!("{line}")).expect("ONNX Runtime is there or can be installed");
    let network = Network::from_bytes(&random_network(1, 6, 64), "random-6x64").expect("a random network is valid");
    let options = BackendSettings { cache_size: 0, ..BackendSettings::default() };
    let backend = backend::create("onnxruntime", Some(&network), &options).expect("the backend loads");
    let mut evaluator = backend.evaluator().expect("there is room for a session");
    let mut group = criterion.benchmark_group("onnxruntime, 6x64, one thread");
    for size in [1, 2, 4, 8, 16, 32] {
        let batch = queries(size, backend.attributes());
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| black_box(evaluator.evaluate(&batch).expect("the network answers")));
        });
    }
    group.finish();
}

criterion_group!(benches, onnxruntime);
criterion_main!(benches);
