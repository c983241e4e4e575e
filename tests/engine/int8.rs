//! Networks in 8 bits: what `net convert --int8` makes loads, runs, and says about what the network says.
#![allow(clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;
use zeitnot_engine::backend::{self, BackendOptions, Calibration, Evaluation, Query};
use zeitnot_engine::network::testing::{RandomNetwork, attention_networks};
use zeitnot_engine::network::{Activation, Conversion, InputFormat, Network};
use zeitnot_engine::runtime;

/// Positions that are compared, and another number that the ranges come from.
const POSITIONS: usize = 64;
const CALIBRATION: Calibration = Calibration { positions: 48, seed: 3 };
/// The mean error of a logit, in standard deviations of the logits; a random network stores its activations no better
/// than a trained one. Twice as much without VNNI: ONNX Runtime's sums of 16 bits overflow there
/// (docs/low-precision.md).
fn logit_error() -> f32 {
    #[cfg(target_arch = "x86_64")]
    let has_vnni = is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    let has_vnni = true;
    if has_vnni { 0.05 } else { 0.1 }
}

/// The mean error of the expected score.
const VALUE_ERROR: f32 = 0.03;

fn uncached() -> BackendOptions {
    BackendOptions { cache_size: 0, ..BackendOptions::default() }
}

fn evaluate(network: &Network, positions: &[Query]) -> Vec<Evaluation> {
    backend::create("onnxruntime", Some(network), &uncached())
        .unwrap()
        .evaluator()
        .unwrap()
        .evaluate(positions)
        .unwrap()
}

/// Mean and standard deviation of all logits.
fn spread(evaluations: &[Evaluation]) -> f32 {
    let logits: Vec<f32> = evaluations.iter().flat_map(|evaluation| evaluation.logits.to_vec()).collect();
    let mean = logits.iter().sum::<f32>() / logits.len() as f32;
    (logits.iter().map(|logit| (logit - mean).powi(2)).sum::<f32>() / logits.len() as f32).sqrt()
}

#[test]
fn networks_in_8_bits_say_about_the_same() {
    let runtime = runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let default = RandomNetwork { blocks: 3, filters: 16, head_hidden: 64, head_planes: 8, ..RandomNetwork::default() };
    let shapes = [
        ("SE", default),
        ("mish, no SE", RandomNetwork { activation: Activation::Mish, squeeze: None, ..default }),
        ("canonical", RandomNetwork { input: InputFormat::CanonicalV2, ..default }),
    ];
    for (name, shape) in shapes.into_iter().chain(attention_networks()) {
        let network = Network::from_bytes(&shape.gzip(5), "tiny.pb.gz").unwrap();
        let model = match backend::quantise(&runtime, &network, &Conversion::default(), CALIBRATION) {
            Ok(model) => model,
            // The layers of some of these are too small to gain.
            Err(error) => {
                assert!(error.to_string().contains("nothing in it can run in int8"), "{name}: {error}");
                assert!(shape.blocks != default.blocks, "{name}");
                continue;
            }
        };
        let small = Network::from_bytes(&model.bytes, "tiny.onnx").unwrap();
        assert_eq!(small.description().input, network.description().input, "{name}");
        let backend = backend::create("onnxruntime", Some(&network), &uncached()).unwrap();
        let positions = backend::self_play(&*backend, POSITIONS, 9).unwrap();
        let (wanted, found) = (evaluate(&network, &positions), evaluate(&small, &positions));
        assert_ne!(wanted, found, "{name}: 8 bits round");
        let spread = spread(&wanted);
        let mut errors = (0.0, 0.0, 0);
        for (wanted, found) in wanted.iter().zip(&found) {
            errors.0 += (wanted.q - found.q).abs();
            errors.1 += wanted.logits.iter().zip(&*found.logits).map(|(a, b)| (a - b).abs()).sum::<f32>() / spread;
            errors.2 += wanted.logits.len();
        }
        let (value, logit) = (errors.0 / POSITIONS as f32, errors.1 / errors.2 as f32);
        eprintln!("{name}: value {value:.4}, logits {logit:.4} of their spread {spread:.3}");
        assert!(value < VALUE_ERROR && logit < logit_error(), "{name}: {value}, {logit}");
    }
}

#[test]
fn self_play_is_the_same_for_the_same_seed() {
    let backend = backend::create("random", None, &uncached()).unwrap();
    let keys = |count, seed| -> Vec<u64> {
        backend::self_play(&*backend, count, seed).unwrap().iter().map(|query| query.key).collect()
    };
    let one = keys(200, 1);
    assert_eq!(one.len(), 200);
    assert_eq!(one, keys(200, 1));
    assert_ne!(one, keys(200, 2));
    let mut distinct = one.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 180, "{} of 200", distinct.len());
}

#[test]
fn net_convert_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("tiny.pb.gz"), folder.path().join("tiny-int8.onnx"));
    let zeitnot = || Command::cargo_bin("zeitnot").unwrap();
    let convert = |extra: &[&str]| {
        let mut command = zeitnot();
        command.args(["net", "convert"]).arg(&input).arg("--output").arg(&output).args(extra);
        command.assert()
    };
    let residual = RandomNetwork { blocks: 2, filters: 16, ..RandomNetwork::default() };
    std::fs::write(&input, residual.gzip(1)).unwrap();
    let refused = convert(&["--int8", "--calibration", "16"]).failure();
    let refused = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(refused.contains("8 bits are for transformers") && !output.exists(), "{refused}");
    // The layers of some transformers among these are too small to gain.
    let written = attention_networks().into_iter().any(|(_, shape)| {
        std::fs::write(&input, shape.gzip(1)).unwrap();
        let assert = convert(&["--int8", "--calibration", "16"]);
        String::from_utf8_lossy(&assert.get_output().stdout).contains("int8, opset 17")
    });
    assert!(written && output.exists());
    let bytes = std::fs::read(&output).unwrap();
    assert!(bytes.windows(14).any(|name| name == b"QuantizeLinear"));
    assert!(Network::load(&output).is_ok());
    convert(&["--force", "--calibration", "16"]).failure();
    convert(&["--force", "--int8", "--precision", "float16"]).failure();
}
