//! The native backend against ONNX Runtime, by batch size: `cargo bench --bench native`.
//!
//! Both evaluate the same positions in turn, in one process and on one thread; the figures are medians of evaluations
//! per second of processor time (of wall time where the system does not give it), and their ratio. Arguments choose:
//! `cargo bench --bench native -- 6x64 10x128 batch=1,8 isa=avx2 rounds=15 threads=2 alone`.

#![allow(clippy::print_stdout, reason = "the output of a benchmark")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zeitnot_engine::backend::{
    self, Arithmetic, Backend, BackendSettings, Evaluator, Isa, NativeBackend, NativeOptions, Query,
};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::testing::RandomNetwork;
use zeitnot_engine::network::{HistoryFill, Network};
use zeitnot_engine::runtime;

/// Blocks, filters and squeeze units, of the shapes that are in use.
const SHAPES: [(usize, usize, usize); 4] = [(6, 64, 8), (10, 128, 32), (15, 192, 32), (20, 256, 32)];
/// Time for which each side runs in a round.
const SLICE: Duration = Duration::from_millis(150);

struct Arguments {
    shapes: Vec<String>,
    batches: Vec<usize>,
    isa: Option<Isa>,
    rounds: usize,
    threads: usize,
    alone: bool,
}

fn arguments() -> Arguments {
    let mut arguments =
        Arguments { shapes: Vec::new(), batches: vec![1, 8, 16, 32], isa: None, rounds: 9, threads: 1, alone: false };
    for text in std::env::args().skip(1) {
        match text.split_once('=') {
            Some(("batch", list)) => {
                arguments.batches = list.split(',').map(|number| number.parse().expect("a batch size")).collect();
            }
            Some(("isa", name)) => arguments.isa = Some(name.parse().unwrap_or_else(|error| panic!("{error}"))),
            Some(("rounds", number)) => arguments.rounds = number.parse().expect("a number of rounds"),
            Some(("threads", number)) => arguments.threads = number.parse().expect("a number of threads"),
            None if text == "alone" => arguments.alone = true,
            None if !text.starts_with("--") => arguments.shapes.push(text),
            _ => {}
        }
    }
    arguments
}

fn network((blocks, filters, squeeze): (usize, usize, usize)) -> Network {
    let shape = RandomNetwork {
        blocks,
        filters,
        squeeze: Some(squeeze),
        head_planes: 32,
        head_hidden: 128,
        moves_left: false,
        ..RandomNetwork::default()
    };
    Network::from_bytes(&shape.protobuf(1), "random.pb").expect("a random network is valid")
}

/// Positions of one game, from a move on at which all of a network's history is known.
fn queries(count: usize, backend: &dyn Backend) -> Vec<Query> {
    let mut game = Game::new();
    let opening = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7"];
    let moves = ["f1e1", "b7b5", "a4b3", "d7d6", "c2c3", "e8g8", "h2h3", "c6a5", "b3c2", "c7c5", "d2d4", "d8c7"];
    let shuffle = ["b1d2", "c8d7", "d2b1", "d7c8"];
    for text in opening {
        game.push_uci(text).expect("the moves are legal");
    }
    let play = moves.iter().chain(shuffle.iter().cycle()).take(count);
    play.map(|text| {
        game.push_uci(text).expect("the moves are legal");
        Query::new(&game, &game.current().legal_moves(), backend.attributes())
    })
    .collect()
}

/// Processor time of this thread in seconds, where the system gives it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}

/// Evaluations per second of one slice: of processor time, and of wall time.
fn slice(evaluator: &mut dyn Evaluator, batch: &[Query]) -> [f64; 2] {
    let (begin, busy) = (Instant::now(), processor_seconds());
    let mut count = 0;
    while begin.elapsed() < SLICE {
        black_box(evaluator.evaluate(batch).expect("the network answers"));
        count += batch.len();
    }
    let wall = begin.elapsed().as_secs_f64();
    let busy = processor_seconds().zip(busy).map_or(wall, |(now, then)| now - then);
    [count as f64 / busy, count as f64 / wall]
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The network on native, in float32: that is what ONNX Runtime runs.
fn native(network: &Network, arguments: &Arguments) -> Arc<dyn Backend> {
    let options =
        NativeOptions { isa: arguments.isa, arithmetic: Some(Arithmetic::Float32), ..NativeOptions::default() };
    let backend = NativeBackend::new(network, &options, HistoryFill::FenOnly);
    Arc::new(backend.unwrap_or_else(|error| panic!("{error}")))
}

fn versus(name: &str, network: &Network, arguments: &Arguments) {
    let begin = Instant::now();
    let native = native(network, arguments);
    let loading = begin.elapsed();
    let options = BackendSettings { cache_size: 0, ..BackendSettings::default() };
    println!("{name}: {} (made ready in {} ms)", native.attributes(), loading.as_millis());
    let mut ours = native.evaluator().expect("there is room");
    if arguments.alone {
        for &size in &arguments.batches {
            let batch = queries(size, &*native);
            let rates = (0..arguments.rounds).map(|_| slice(&mut *ours, &batch)[0]).collect();
            println!("  batch {size:3}: {:8.0} /s", median(rates));
        }
        return;
    }
    let ort = backend::create("onnxruntime", Some(network), &options).expect("the backend loads");
    let mut theirs = ort.evaluator().expect("there is room for a session");
    for &size in &arguments.batches {
        let batch = queries(size, &*native);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            a.push(slice(&mut *ours, &batch)[0]);
            b.push(slice(&mut *theirs, &batch)[0]);
        }
        let (a, b) = (median(a), median(b));
        println!("  batch {size:3}: native {a:8.0} /s, ONNX Runtime {b:8.0} /s, ratio {:.2}", a / b);
    }
}

/// Workers side by side against one alone, in wall time.
fn scaling(name: &str, network: &Network, arguments: &Arguments) {
    let native = native(network, arguments);
    for &size in &arguments.batches {
        let batch = queries(size, &*native);
        let together = |threads: usize| -> [f64; 2] {
            std::thread::scope(|scope| {
                let work = || slice(&mut *native.evaluator().expect("there is room"), &batch);
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                let rates: Vec<[f64; 2]> = workers.into_iter().map(|worker| worker.join().expect("it ends")).collect();
                [0, 1].map(|kind| rates.iter().map(|rate| rate[kind]).sum())
            })
        };
        let (mut one, mut many) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for _ in 0..arguments.rounds {
            let (a, b) = (together(1), together(arguments.threads));
            for kind in 0..2 {
                one[kind].push(a[kind]);
                many[kind].push(b[kind]);
            }
        }
        let [busy, wall] = [0, 1].map(|kind| median(many[kind].clone()) / median(one[kind].clone()));
        println!(
            "{name}, batch {size}: {} workers do {wall:.2} of one's work in wall time, {busy:.2} by processor time",
            arguments.threads
        );
    }
}

fn main() {
    let arguments = arguments();
    runtime::ensure_installed(&|line| eprintln!("{line}")).expect("ONNX Runtime is there or can be installed");
    for shape in SHAPES {
        let name = format!("{}x{}", shape.0, shape.1);
        if !arguments.shapes.is_empty() && !arguments.shapes.contains(&name) {
            continue;
        }
        let network = network(shape);
        if arguments.threads > 1 {
            scaling(&name, &network, &arguments);
        } else {
            versus(&name, &network, &arguments);
        }
    }
}
