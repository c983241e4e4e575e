//! The search where the network costs nothing: `cargo bench --bench search [-- NODES [CASE [NAME=VALUE...]]]`.
//!
//! CASE is one of the table's, as `random-kiwipete-2-256` (backend, position, threads, batch); further arguments set
//! options of the engine (`CPuct=2`).
//!
//! Nodes per second of processor time and of the wall, and bytes a node, for batches of 32 and 256 and one and two
//! threads; then what it costs to go on with a large tree after a move, and to give it up.
//!
//! The same of Lc0:
//! `lc0 --backend=random --backend-opts=uniform=true --nncache=0 --max-prefetch=0 --task-workers=0 --threads=1 --minibatch-size=32 --smart-pruning-factor=0`,
//! then `go nodes 2000000` (its bytes: the resident set, less what it is after `go nodes 1` and `ucinewgame`).

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use cpu_time::ProcessTime;
use std::sync::Arc;
use std::time::Instant;
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, GoParams, Options, RuntimePolicy};
use zeitnot_engine::search::{Listener, Report, SearchEnd};
use zeitnot_time::Plan;

const DEFAULT_NODES: u64 = 2_000_000;
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

struct Silent;

impl Listener for Silent {
    fn planned(&self, _: &Plan) {}
    fn failed(&self, _: &str) {}
    fn report(&self, _: &Report) {}
    fn finished(&self, _: &SearchEnd) {}
}

fn engine(backend: &str, threads: u32, batch: u32, options: &[(&str, &str)]) -> Engine {
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    let (threads, batch) = (threads.to_string(), batch.to_string());
    for (name, value) in [
        ("Backend", backend),
        ("Threads", &threads),
        ("MinibatchSize", &batch),
        ("NNCacheSize", "0"),
        ("SmartPruningFactor", "0"),
    ]
    .iter()
    .chain(options)
    {
        engine.set_option(name, value).expect("the options exist");
    }
    engine.prepare().expect("these backends need nothing");
    engine
}

fn search(engine: &mut Engine, fen: &str, nodes: u64) {
    engine.set_game(Game::from_fen(fen, false).expect("the position is legal"));
    let go = GoParams { nodes: Some(nodes), ..GoParams::default() };
    engine.go(&go, engine.now_ms(), Arc::new(Silent)).expect("the backend is loaded");
    engine.wait();
}

fn speed(nodes: u64, case: Option<&str>, options: &[(&str, &str)]) {
    println!("backend  position  threads  batch  nodes/cpu-s  nodes/s  bytes/node");
    for (backend, position, fen) in
        [("uniform", "start", START), ("random", "start", START), ("random", "kiwipete", KIWIPETE)]
    {
        for threads in [1, 2] {
            for batch in [32, 256] {
                if case.is_some_and(|case| case != format!("{backend}-{position}-{threads}-{batch}")) {
                    continue;
                }
                let mut engine = engine(backend, threads, batch, options);
                let (cpu, wall) = (ProcessTime::now(), Instant::now());
                search(&mut engine, fen, nodes);
                let (cpu, wall) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
                let (per_cpu, per_wall) = (nodes as f64 / cpu, nodes as f64 / wall);
                let bytes = engine.tree_bytes() as f64 / nodes as f64;
                println!(
                    "{backend:<8} {position:<9} {threads:<8} {batch:<6} {per_cpu:<12.0} {per_wall:<8.0} {bytes:.1}"
                );
            }
        }
    }
}

/// Plays a move and its reply on a tree of `nodes`, and then sets up another game.
fn moving_on(nodes: u64) {
    let mut engine = engine("random", 1, 256, &[]);
    search(&mut engine, START, nodes);
    let mut game = Game::from_fen(START, false).expect("the position is legal");
    for mv in ["e2e4", "e7e5"] {
        game.push_uci(mv).expect("the move is legal");
    }
    for (what, game) in [("a move and a reply", game), ("another game", Game::new())] {
        let start = Instant::now();
        engine.set_game(game);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!("{what} on a tree of {nodes} nodes: {ms:.2} ms");
    }
}

fn main() {
    // Cargo adds flags of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let nodes = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(DEFAULT_NODES);
    let case = args.get(1).map(String::as_str);
    let options: Vec<(&str, &str)> = args.iter().filter_map(|arg| arg.split_once('=')).collect();
    speed(nodes, case, &options);
    if case.is_none() {
        moving_on(nodes * 5);
    }
}
