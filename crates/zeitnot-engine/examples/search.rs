//! Searches one position on the caller's thread and prints the moves that were visited most.
//!
//! ```text
//! cargo run --release --example search
//! cargo run --release --example search -- "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4" 2000
//! ```
//!
//! The arguments are a FEN and a number of visits. The network is the one that is built in. `Engine::go` does the same
//! on threads of its own and reports to a listener; this one returns its answer.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, GoParams, Options, RuntimePolicy};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let game = match arguments.first() {
        Some(fen) => Game::from_fen(fen, false)?,
        None => Game::new(),
    };
    let nodes = arguments.get(1).map_or(Ok(800), |text| text.parse())?;

    // Options have the names of the UCI options.
    let mut options = Options::default();
    for (name, value) in [("WeightsFile", "zeitnot-small"), ("Backend", "native"), ("VerboseMoveStats", "true")] {
        options.set(name, value)?;
    }
    let mut engine = Engine::new(options, Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    if let Some(line) = engine.prepare()? {
        println!("{line}");
    }
    engine.set_game(game);
    let start_ms = engine.now_ms();
    let (end, _) = engine.run(&GoParams { nodes: Some(nodes), ..GoParams::default() }, start_ms, None)?;

    // The statistics begin with the move that was visited least and end with the root itself.
    for stats in end.move_stats.iter().rev().skip(1).take(5) {
        let name = stats.mv.map(|mv| to_uci(mv, false)).unwrap_or_default();
        println!("{name:6} {:6} visits, win minus loss {:+.3}", stats.n, stats.wl.unwrap_or(0.0));
    }
    for line in &end.report.lines {
        let moves: Vec<String> = line.moves.iter().map(|&mv| to_uci(mv, false)).collect();
        println!("q {:+.3}, {} visits: {}", line.q, end.report.nodes, moves.join(" "));
    }
    println!(
        "best move {}, after {:.0} ms",
        end.best.map(|mv| to_uci(mv, false)).unwrap_or_default(),
        end.report.elapsed_ms
    );
    Ok(())
}
