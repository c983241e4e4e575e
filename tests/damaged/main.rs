//! Damaged networks: whatever happens to a file, loading it ends, in an answer or in one line, without a panic and in
//! little memory.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod memory;
mod wire;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use damage::{KINDS, Original};
use parking_lot::Mutex;
use zeitnot_engine::network::testing::{RandomMaia3, RandomNetwork, attention_networks};
use zeitnot_engine::network::{Activation, Conversion, InputFormat, Network, NetworkError, PolicyKind, ValueKind};
use zeitnot_engine::splitmix::SplitMix64 as Random;

/// The most memory that reading and converting a network may hold at once, in honest sizes of its file (issue 3).
const MOST_SIZES: usize = 4;
/// Memory that loading takes whatever the network: tables, the decompressor's window, names of nodes.
const CONSTANT: usize = 256 << 10;
/// Damaged copies of each network.
const COPIES: u64 = 200;
/// Characters of a line that a person reads.
const LONGEST_LINE: usize = 300;
/// Seed of all damage.
const SEED: u64 = 20_261_120;
/// The name that every error must give.
const NAME: &str = "some-network.pb.gz";

/// The allocator counts for the whole process: one measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The outcome of loading a file: the size of its model in bytes or the error, and the most memory held at once, while
/// it was loaded and until it was converted.
struct Outcome {
    result: Result<usize, NetworkError>,
    loading: usize,
    converting: usize,
}

/// Loads a network and converts it; `None` after a panic.
fn use_it(path: &Path) -> Option<Outcome> {
    let mut loading = 0;
    let work = || {
        let (network, peak) = memory::peak(|| Network::load(path));
        loading = peak;
        Ok(network?.onnx(&Conversion::default())?.bytes.len())
    };
    let (result, rest) = memory::peak(|| catch_unwind(AssertUnwindSafe(work)));
    Some(Outcome { result: result.ok()?, loading, converting: rest.max(loading) })
}

/// Judges how these bytes were dealt with: an error says what is wrong; else their model's size, or the line.
fn verdict(folder: &Path, bytes: &[u8], honest: usize) -> Result<Result<usize, String>, String> {
    let path = folder.join(NAME);
    fs::write(&path, bytes).unwrap();
    let Some(outcome) = use_it(&path) else { return Err("a panic".to_owned()) };
    // A file larger than the network it came from is honestly so large.
    let honest = honest.max(bytes.len());
    for (what, peak) in [("loading", outcome.loading), ("converting", outcome.converting)] {
        if peak > MOST_SIZES * honest + CONSTANT {
            let times = peak as f64 / honest as f64;
            return Err(format!("{what} took {peak} bytes, {times:.1} times the honest {honest}"));
        }
    }
    let result = outcome.result.map_err(|error| error.to_string());
    match &result {
        Err(line) if line.lines().count() != 1 || !line.contains(NAME) || line.len() > LONGEST_LINE => {
            Err(format!("an unclear line: {line:?}"))
        }
        _ => Ok(result),
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
    let mut networks: Vec<Original> = shapes
        .into_iter()
        .chain(attention_networks())
        .map(|(name, shape)| Original::new(name, &shape.gzip(SEED)))
        .collect();
    let model = Network::from_bytes(&default.gzip(SEED), NAME).unwrap().onnx(&Conversion::default()).unwrap();
    networks.push(Original::new("ONNX", &model.bytes));
    networks.push(Original::new("Maia-3", &RandomMaia3::new(SEED).onnx(false)));
    networks
}

/// The copies of every network, and how they fared; `copies` of each.
fn damage_all(networks: &[Original], copies: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let (mut refused, mut taken) = (0, 0);
    for network in networks {
        let honest = network.content.len();
        for copy in 0..copies {
            let (kind, damage) = KINDS[copy as usize % KINDS.len()];
            let bytes = damage(network, &mut Random(SEED ^ copy << 32));
            match verdict(folder.path(), &bytes, honest) {
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
    let folder = tempfile::tempdir().unwrap();
    let large = RandomNetwork { blocks: 4, filters: 96, squeeze: Some(24), ..RandomNetwork::default() };
    let mut networks = small_networks();
    networks.push(Original::new("4x96", &large.gzip(SEED)));
    let sparse = networks[networks.len() - 1].sparse("4x96, mostly zero");
    assert!(sparse.inflation() > 10, "{}", sparse.inflation());
    networks.push(sparse);
    for network in networks {
        let honest = network.content.len();
        for bytes in [damage::gzip(&network.content), network.content.clone()] {
            let path = folder.path().join(NAME);
            fs::write(&path, &bytes).unwrap();
            let Outcome { result, loading, converting } = use_it(&path).unwrap();
            let model = result.unwrap();
            let name = &network.name;
            eprintln!("{name}: {honest} bytes; loading {loading}, converting {converting}, model {model}");
            assert!(loading <= MOST_SIZES * honest + CONSTANT, "{name}");
            assert!(converting <= MOST_SIZES * honest + CONSTANT, "{name}");
        }
    }
}

/// The size of a file is looked at before it is read, and its beginning before the rest.
#[test]
fn huge_files_are_refused_before_they_are_read() {
    const GIB: u64 = 1 << 30;
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    for (head, size, part) in [
        (&b""[..], GIB, "not a network"),
        (b"1\n", GIB, "text network"),
        (b"\x1f\x8b", GIB, "damaged"),
        (b"\x0d\xc0\x01\x00\x00", 100 * GIB, "too large"),
        (b"\x1f\x8b\x08", 2 * GIB, "too large"),
    ] {
        fs::write(&path, head).unwrap();
        // Nothing of it lies on the disk.
        fs::File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
        let Outcome { result, loading, .. } = use_it(&path).unwrap();
        let line = result.unwrap_err().to_string();
        assert!(line.contains(part) && line.contains(NAME) && line.lines().count() == 1, "{line}");
        assert!(loading < CONSTANT, "{part}: {loading} bytes");
    }
}

/// Real networks, which are larger: fewer copies of each.
#[test]
#[cfg_attr(not(all(shared, whole)), ignore = "needs ../shared; slow: ZEITNOT_WHOLE=1 cargo test")]
fn damaged_copies_of_real_networks_end_in_one_line() {
    let _alone = ALONE.lock();
    let shared = common::shared();
    let mut paths = vec![shared.join("nets/maia-1900.pb.gz"), shared.join("nets/tinygyal-8.pb.gz")];
    paths.extend(fs::read_dir(shared.join("nets/synthetic")).unwrap().map(|entry| entry.unwrap().path()));
    paths.sort();
    let networks: Vec<Original> =
        paths.iter().map(|path| Original::new(&path.display().to_string(), &fs::read(path).unwrap())).collect();
    damage_all(&networks, 2 * KINDS.len() as u64);
}

#[test]
fn damaged_copies_end_in_one_line() {
    let _alone = ALONE.lock();
    damage_all(&small_networks(), COPIES);
}
