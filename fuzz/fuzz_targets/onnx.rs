//! Reads an ONNX model, as it is or within a network of Lc0's format. The first byte chooses what the user says about its
//! ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_engine::network::{Conversion, InputFormat, Network, OnnxInterface, ValueOutput};

/// The longest complaint, bytes.
const LONGEST: usize = 4096;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let Some((kind, bytes)) = data.split_first() else { return };
    let name = |bit: u8, name: &str| (kind >> bit & 1 == 1).then(|| name.to_owned());
    let interface = OnnxInterface {
        input_format: (kind & 1 == 1).then_some(InputFormat::CanonicalHectoplies),
        input: name(1, "/input/planes"),
        policy: name(2, "/output/policy"),
        value: name(3, "/output/wdl").map(ValueOutput::Wdl).or(name(4, "/output/value").map(ValueOutput::Scalar)),
        moves_left: name(5, "/output/mlh"),
    };
    match Network::from_bytes_with(bytes, "input", &interface) {
        Ok(network) => {
            let _ = network.description().to_string();
            let _ = network.onnx(&Conversion::default());
        }
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains('\n') && error.len() < LONGEST, "{error}");
        }
    }
});
