//! Reads a network, converts it to ONNX, and evaluates a position with it where the processor's own kernels know its kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_engine::backend::{Arithmetic, Backend as _, NativeBackend, NativeOptions, Query};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::{Conversion, HistoryFill, Network, Precision};

/// The largest name of a network in its description, bytes.
const LONGEST: usize = 4096;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let network = match Network::from_bytes(data, "input") {
        Ok(network) => network,
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains('\n') && error.len() < LONGEST, "{error}");
            return;
        }
    };
    let _ = network.description().to_string();
    for precision in [Precision::Float32, Precision::Float16] {
        let _ =
            network.onnx(&Conversion { precision, packed: precision == Precision::Float16, ..Conversion::default() });
    }
    let game = Game::new();
    let moves = game.current().legal_moves();
    for arithmetic in [Arithmetic::Float32, Arithmetic::Int8] {
        let options = NativeOptions { arithmetic: Some(arithmetic), ..NativeOptions::default() };
        let Ok(backend) = NativeBackend::new(&network, &options, HistoryFill::FenOnly) else { return };
        let mut evaluator = backend.evaluator().expect("there is memory for a small network");
        let _ = evaluator.evaluate(&[Query::new(&game, &moves, backend.attributes())]);
    }
});
