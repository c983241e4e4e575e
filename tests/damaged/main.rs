//! Damaged networks: whatever happens to a file, loading it ends, in an answer or in one line, without a panic and in
//! little memory.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod memory;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};

use damage::{KINDS, Original, Random};
use parking_lot::Mutex;
use zeitnot::network::testing::RandomNetwork;
use zeitnot::network::{Activation, Conversion, InputFormat, Network, NetworkError, PolicyKind, ValueKind};

/// The most memory that reading and converting a network may hold at once, in honest sizes of its file (issue 3).
const MOST_SIZES: usize = 4;
/// What loading takes whatever the network: tables, the decompressor's window, names of nodes.
const CONSTANT: usize = 256 << 10;
/// Damaged copies of each network.
const COPIES: u64 = 200;
/// Seed of all damage.
const SEED: u64 = 20_261_120;
/// The name that every error must give.
const NAME: &str = "some-network.pb.gz";

/// The allocator counts for the whole process: one measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Reads a network, and converts it.
fn use_it(bytes: &[u8]) -> Result<usize, NetworkError> {
    let network = Network::from_bytes(bytes, NAME)?;
    Ok(network.onnx(&Conversion::default())?.bytes.len())
}

/// What is wrong with the way these bytes were dealt with.
fn verdict(bytes: &[u8], honest: usize) -> Result<Result<usize, String>, String> {
    // A file larger than the network it came from is honestly so large.
    let allowed = MOST_SIZES * honest.max(bytes.len()) + CONSTANT;
    let (result, peak) = memory::peak(|| catch_unwind(AssertUnwindSafe(|| use_it(bytes))));
    let Ok(result) = result else { return Err("a panic".to_owned()) };
    if peak > allowed {
        let sizes = peak as f64 / honest as f64;
        return Err(format!("{peak} bytes at once, {sizes:.1} times the honest {honest}: {:?}", result.err()));
    }
    match result {
        Ok(length) => Ok(Ok(length)),
        Err(error) => {
            let line = error.to_string();
            let clear = line.lines().count() == 1 && line.contains(NAME) && line.len() < 500;
            if clear { Ok(Err(line)) } else { Err(format!("an unclear line: {line:?}")) }
        }
    }
}

/// Small networks of every kind that can be made without data.
fn small_networks() -> Vec<Original> {
    let default = RandomNetwork::default();
    let shapes = [
        ("SE", default),
        ("deep", RandomNetwork { blocks: 6, filters: 16, activation: Activation::Mish, ..default }),
        ("plain", RandomNetwork { squeeze: None, batch_norm: false, moves_left: false, ..default }),
        ("classical", RandomNetwork { policy: PolicyKind::Classical, value: ValueKind::Scalar, ..default }),
        ("canonical", RandomNetwork { input: InputFormat::CanonicalV2, ..default }),
    ];
    let mut networks: Vec<Original> =
        shapes.iter().map(|(name, shape)| Original::new(name, &shape.gzip(SEED))).collect();
    let model = Network::from_bytes(&default.gzip(SEED), NAME).unwrap().onnx(&Conversion::default()).unwrap();
    networks.push(Original::new("ONNX", &model.bytes));
    networks
}

/// The copies of every network, and how they fared; `copies` of each.
fn damage_all(networks: &[Original], copies: u64) {
    let _alone = ALONE.lock();
    let mut wrong = Vec::new();
    let (mut refused, mut taken) = (0, 0);
    for network in networks {
        let honest = network.content.len();
        for copy in 0..copies {
            let (kind, damage) = KINDS[copy as usize % KINDS.len()];
            let bytes = damage(network, &mut Random(SEED ^ copy << 32));
            match verdict(&bytes, honest) {
                Ok(Ok(_)) => taken += 1,
                Ok(Err(_)) => refused += 1,
                Err(problem) => wrong.push(format!("{}, copy {copy} ({kind}): {problem}", network.name)),
            }
        }
    }
    eprintln!("{refused} copies refused, {taken} taken");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), refused + taken + wrong.len(), wrong.join("\n"));
    assert!(refused > taken && taken > 0, "most damage is found, and a changed number is none: {refused}, {taken}");
}

#[test]
fn whole_networks_take_little_memory() {
    let _alone = ALONE.lock();
    let large = RandomNetwork { blocks: 4, filters: 96, squeeze: Some(24), ..RandomNetwork::default() };
    let mut networks = small_networks();
    networks.push(Original::new("4x96", &large.gzip(SEED)));
    for network in networks {
        let honest = network.content.len();
        for bytes in [damage::gzip(&network.content), network.content.clone()] {
            let (result, peak) = memory::peak(|| use_it(&bytes));
            let model = result.unwrap();
            eprintln!("{}: {honest} bytes, {peak} at once ({:.2}), model {model}", network.name, peak as f64 / honest as f64);
            assert!(peak <= MOST_SIZES * honest + CONSTANT, "{}: {peak} bytes for {honest}", network.name);
        }
    }
}

#[test]
fn damaged_copies_end_in_one_line() {
    damage_all(&small_networks(), COPIES);
}
