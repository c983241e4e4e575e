//! Reads a file of recorded searches, and replays them. An input that does not begin as such a file does is the content of a
//! block, which is compressed first: mutations of compressed bytes would hardly ever reach what is behind them.
#![no_main]

use flate2::Compression;
use flate2::write::DeflateEncoder;
use libfuzzer_sys::fuzz_target;
use std::io::Write as _;
use std::path::Path;
use zeitnot_lab::recordings::{ReplayRules, Speed, oracle, parse_recording, replay};
use zeitnot_time::StopperParams;

const HEADER: &str = r#"{"format":"zeitnot traces 1","nodes":400,"factor":16.0,"growth":1.1,"settings":null}"#;

fn file(data: &[u8]) -> Vec<u8> {
    if data.starts_with(b"{\"format") {
        return data.to_vec();
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory takes all bytes");
    let block = encoder.finish().expect("memory takes all bytes");
    [HEADER.as_bytes(), b"\n", &(block.len() as u32).to_le_bytes(), &block].concat()
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let Ok((_, traces)) = parse_recording(Path::new("input"), &file(data)) else { return };
    let control = "10+0.1".parse().expect("a time control");
    let rules = ReplayRules { control, speed: Speed { nps: 1000.0, batch: 8 }, stoppers: StopperParams::default() };
    for manager in ["alphazero", "smooth"] {
        replay(&traces, manager, &rules).expect("it is a manager");
    }
    let _ = oracle(&traces, 400.0);
});
