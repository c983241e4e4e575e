//! Evaluates one position with a network, without a search, and prints the best moves of its policy.
//!
//! ```text
//! cargo run --release --example evaluate
//! cargo run --release --example evaluate -- "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" maia-1900.pb.gz
//! ```
//!
//! Without a network the one that is built in is taken. The backend `native` runs residual networks on the processor
//! and needs no library; for a transformer write `onnxruntime`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;
use zeitnot_engine::backend::{self, BackendSettings, Query};
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::network::{self, BUILT_IN, OnnxInterface};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let game = match arguments.first() {
        Some(fen) => Game::from_fen(fen, false)?,
        None => Game::new(),
    };
    let file = arguments.get(1).map_or(BUILT_IN, String::as_str);
    let network = network::find(Some(Path::new(file)))?.load(&OnnxInterface::default())?;
    println!("{}", network.description());

    let backend = backend::create("native", Some(&network), &BackendSettings::default())?;
    let mut evaluator = backend.evaluator()?;
    let moves = game.current().legal_moves();
    let query = Query::new(&game, &moves, backend.attributes());
    // A batch of one: an evaluator takes as many queries as its backend likes.
    let evaluation = evaluator.evaluate(&[query])?.remove(0);

    println!("{}", game.fen());
    println!("win minus loss {:.3}, draw {:.3}, plies left {:?}", evaluation.q, evaluation.d, evaluation.m);
    // The policy is logits, one for each move in the order of the query; a softmax makes priors of them.
    let mut priors: Vec<_> = moves.iter().zip(backend::softmax(&evaluation.logits, 1.0)).collect();
    priors.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (&mv, prior) in priors.into_iter().take(5) {
        println!("{:6} {:5.1} %", to_uci(mv, false), 100.0 * prior);
    }
    Ok(())
}
