//! Writes a network of random weights, for measurements and tests.
//!
//! `cargo run --example random_network -- 10 128 random-10x128.pb.gz` makes an SE tower of 10 blocks and 128 filters
//! (the speed of a network does not depend on its numbers).
//! `cargo run --example random_network -- "map, plain" plain.pb.gz` makes a small transformer of a kind that the usage
//! lists. The bytes are the same everywhere.

use std::process::ExitCode;

use zeitnot_engine::network::testing::{RandomNetwork, attention_networks};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kinds = attention_networks();
    let (shape, file) = match arguments.as_slice() {
        [blocks, filters, file] => match (blocks.parse(), filters.parse()) {
            (Ok(blocks), Ok(filters)) => (tower(blocks, filters), file),
            _ => return usage(&kinds),
        },
        [kind, file] => match kinds.iter().find(|(name, _)| name == kind) {
            Some(&(_, shape)) => (shape, file),
            None => return usage(&kinds),
        },
        _ => return usage(&kinds),
    };
    match std::fs::write(file, shape.gzip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {file}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An SE tower with the heads and the squeeze of Lc0's networks of the size.
fn tower(blocks: usize, filters: usize) -> RandomNetwork {
    RandomNetwork {
        blocks,
        filters,
        squeeze: Some((filters / 4).max(1)),
        head_planes: 32,
        head_hidden: 128,
        ..RandomNetwork::default()
    }
}

fn usage(kinds: &[(&str, RandomNetwork)]) -> ExitCode {
    eprintln!("usage: random_network BLOCKS FILTERS FILE, or random_network KIND FILE; kinds:");
    kinds.iter().for_each(|(name, _)| eprintln!("    {name:?}"));
    ExitCode::from(2)
}
