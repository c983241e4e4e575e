//! Writes a network of random weights, for measurements: `cargo run --example random_network -- 10 128 random-10x128.pb.gz`
//! makes an SE tower of 10 blocks and 128 filters (the speed of a network does not depend on its numbers).

use std::process::ExitCode;

use zeitnot::network::testing::RandomNetwork;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [blocks, filters, file] = arguments.as_slice() else {
        eprintln!("usage: random_network BLOCKS FILTERS FILE");
        return ExitCode::from(2);
    };
    let (Ok(blocks), Ok(filters)) = (blocks.parse(), filters.parse::<usize>()) else {
        eprintln!("BLOCKS and FILTERS are whole numbers");
        return ExitCode::from(2);
    };
    // The heads and the squeeze of Lc0's networks of the size.
    let shape = RandomNetwork {
        blocks,
        filters,
        squeeze: Some((filters / 4).max(1)),
        head_planes: 32,
        head_hidden: 128,
        ..RandomNetwork::default()
    };
    match std::fs::write(file, shape.gzip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {file}: {error}");
            ExitCode::FAILURE
        }
    }
}
