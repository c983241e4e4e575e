//! Input planes, policy indices and conversions against what Lc0 says (`../shared`, where it exists).

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use zeitnot::chess::Game;
use zeitnot::network::{self, HistoryFill, InputFormat, Network, NetworkError, Transform};

/// The folder of reference data, or a line that says what is skipped.
fn shared(test: &str) -> Option<PathBuf> {
    let folder = env::var_os("ZEITNOT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("{test}: skipped, there is no folder of reference data {}", folder.display());
    None
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The side not to move stands in check: Lc0 takes it, no rules of chess do.
const ILLEGAL: &str = "8/8/1k6/8/8/8/1QK5/8 w - - 0 1";

/// The positions by their id, without the illegal one.
fn games(shared: &Path) -> HashMap<u64, Game> {
    let game = |line: &Value| {
        let mut game = match line["fen"].as_str() {
            Some(fen) => Game::from_fen(fen, line["chess960"].as_bool().unwrap()).unwrap(),
            None => Game::new(),
        };
        for mv in line["moves"].as_array().unwrap() {
            game.push_uci(mv.as_str().unwrap()).unwrap();
        }
        (line["id"].as_u64().unwrap(), game)
    };
    let positions = lines(&shared.join("golden/positions.jsonl"));
    let games: HashMap<u64, Game> =
        positions.iter().filter(|line| line["fen"].as_str() != Some(ILLEGAL)).map(game).collect();
    assert_eq!(games.len() + 1, positions.len());
    games
}

const PLANES: [(InputFormat, &str); 7] = [
    (InputFormat::Classical, "classical"),
    (InputFormat::WithCastlingPlane, "with-castling-plane"),
    (InputFormat::Canonical, "canonical"),
    (InputFormat::CanonicalHectoplies, "canonical-hectoplies"),
    (InputFormat::CanonicalHectopliesArmageddon, "canonical-hectoplies-armageddon"),
    (InputFormat::CanonicalV2, "canonical-v2"),
    (InputFormat::CanonicalV2Armageddon, "canonical-v2-armageddon"),
];

#[test]
fn every_plane_is_that_of_lc0() {
    let Some(shared) = shared("every_plane_is_that_of_lc0") else { return };
    let games = games(&shared);
    for (format, file) in PLANES {
        let golden = lines(&shared.join(format!("golden/planes/{file}.jsonl")));
        assert!(golden.len() > 20, "{file}");
        for line in golden {
            let id = line["id"].as_u64().unwrap();
            let Some(game) = games.get(&id) else { continue };
            let (planes, _) = network::encode(game, format, HistoryFill::FenOnly);
            let wanted: Vec<(u64, u64, f32)> = (line["planes"].as_array().unwrap().iter())
                .map(|plane| {
                    let mask = u64::from_str_radix(plane[1].as_str().unwrap(), 16).unwrap();
                    (plane[0].as_u64().unwrap(), mask, plane[2].as_f64().unwrap() as f32)
                })
                .collect();
            let found: Vec<(u64, u64, f32)> = (0..)
                .zip(planes.masks.iter().zip(planes.values))
                .filter(|&(_, (&mask, _))| mask != 0)
                .map(|(plane, (&mask, value))| (plane, mask, value))
                .collect();
            assert_eq!(found, wanted, "{file}, position {id}: {}", game.fen());
        }
    }
}

/// Golden evaluations by the input format of their network, for every network whose loading does not matter here.
fn evaluations(shared: &Path) -> Vec<(InputFormat, PathBuf)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(shared.join("golden/eval")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    (files.into_iter())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let format = match name.strip_prefix("se-1x8-input-") {
                Some("castling") => InputFormat::WithCastlingPlane,
                Some(name) => PLANES.iter().find(|(_, file)| *file == name).unwrap().0,
                None => InputFormat::Classical,
            };
            (format, path)
        })
        .collect()
}

#[test]
fn every_policy_index_is_that_of_lc0() {
    let Some(shared) = shared("every_policy_index_is_that_of_lc0") else { return };
    let games = games(&shared);
    let evaluations = evaluations(&shared);
    assert!(evaluations.len() >= 19);
    let (mut compared, mut transposed) = (0, 0);
    for (format, path) in evaluations {
        for line in lines(&path) {
            let id = line["id"].as_u64().unwrap();
            let Some(game) = games.get(&id) else { continue };
            let (_, transform) = network::encode(game, format, HistoryFill::FenOnly);
            let found: HashMap<String, u16> = (game.current().legal_moves().iter())
                .map(|&mv| {
                    let index = network::policy_index(mv, game.current().turn(), transform);
                    // Chess960 spelling is the golden files': the king takes its rook.
                    (zeitnot::chess::to_uci(mv, true), index)
                })
                .collect();
            let moves = line["moves"].as_array().unwrap();
            assert_eq!(found.len(), moves.len(), "{}, position {id}", path.display());
            if transform.transposes() {
                // Lc0's own index is wrong here (lc0.md H1).
                transposed += 1;
                continue;
            }
            for (mv, index) in moves.iter().zip(line["idx"].as_array().unwrap()) {
                let mv = mv.as_str().unwrap();
                assert_eq!(u64::from(found[mv]), index.as_u64().unwrap(), "{}, position {id}, {mv}", path.display());
            }
            compared += 1;
        }
    }
    println!("{compared} positions compared, {transposed} transposed ones left out");
    assert!(compared > 1000 && transposed > 0);
}

/// A transposed position, seen by its planes, is a position of its own: its moves must start from its pieces.
#[test]
fn transposed_moves_start_from_own_pieces() {
    let Some(shared) = shared("transposed_moves_start_from_own_pieces") else { return };
    let mut transposed = 0;
    for game in games(&shared).values() {
        let (planes, transform) = network::encode(game, InputFormat::Canonical, HistoryFill::FenOnly);
        transposed += u32::from(transform.transposes());
        let ours = planes.masks[..6].iter().fold(0, |ours, mask| ours | mask);
        for &mv in &game.current().legal_moves() {
            let uci = network::index_to_uci(network::policy_index(mv, game.current().turn(), transform));
            let from: shakmaty::Square = uci[..2].parse().unwrap();
            assert_ne!(ours & 1 << u32::from(from), 0, "{}: {uci}", game.fen());
        }
        if !transform.transposes() {
            assert_eq!(transform == Transform::NONE, transform.bits() == 0);
        }
    }
    assert!(transposed > 0);
}

#[test]
fn every_network_loads_or_says_what_it_is() {
    let Some(shared) = shared("every_network_loads_or_says_what_it_is") else { return };
    let described = [
        (
            "maia-1900",
            "SE 6x64, relu, policy convolution, value WDL, no moves left, input classical 112 planes, 0.87 M parameters",
        ),
        (
            "meangirl-8",
            "SE 4x32, relu, policy convolution, value scalar, no moves left, input classical 112 planes, 0.41 M parameters",
        ),
        (
            "tinygyal-8",
            "SE 2x16, relu, policy convolution, value scalar, no moves left, input classical 112 planes, 0.30 M parameters",
        ),
        (
            "synthetic/classical-2x16-legacyfmt",
            "classical 2x16, relu, policy classical, value scalar, no moves left, input classical 112 planes",
        ),
        (
            "synthetic/se-2x16-polclassical-valclassical",
            "SE 2x16, relu, policy classical, value scalar, no moves left, input classical 112 planes",
        ),
        (
            "synthetic/se-2x16-conv-wdl-mlh",
            "SE 2x16, relu, policy convolution, value WDL, moves left, input classical 112 planes",
        ),
        (
            "synthetic/se-2x16-conv-wdl-mlh-mish",
            "SE 2x16, mish, policy convolution, value WDL, moves left, input classical 112 planes",
        ),
        (
            "synthetic/se-1x8-input-castling",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input with castling plane 112 planes",
        ),
        (
            "synthetic/se-1x8-input-canonical",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input canonical 112 planes",
        ),
        (
            "synthetic/se-1x8-input-canonical-hectoplies",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input canonical hectoplies 112 planes",
        ),
        (
            "synthetic/se-1x8-input-canonical-hectoplies-armageddon",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input canonical hectoplies armageddon 112 planes",
        ),
        (
            "synthetic/se-1x8-input-canonical-v2",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input canonical v2 112 planes",
        ),
        (
            "synthetic/se-1x8-input-canonical-v2-armageddon",
            "SE 1x8, relu, policy convolution, value WDL, moves left, input canonical v2 armageddon 112 planes",
        ),
    ];
    for (name, wanted) in described {
        let network = Network::load(&shared.join(format!("nets/{name}.pb.gz"))).unwrap();
        let description = network.description().to_string();
        assert!(description.starts_with(wanted), "{name}: {description}");
        let model = network.onnx().unwrap();
        assert!(model.bytes.len() > 100_000, "{name}");
        assert_eq!(model.moves_left.is_some(), network.description().moves_left);
        // The model is a network file in its own right.
        let again = Network::from_bytes(&model.bytes, "model").unwrap();
        assert_eq!(again.onnx().unwrap(), model);
    }
    for name in [
        "t1-256x10",
        "synthetic/attbody-2x32x4h-nosmolgen-nogate-pemap",
        "synthetic/attbody-2x32x4h-nosmolgen-pemap",
        "synthetic/attbody-2x32x4h-smolgen-pedense-multihead",
        "synthetic/attbody-2x32x4h-smolgen-pemap-oldfmt",
        "synthetic/se-2x16-attpolicy-polenc-wdl-mlh-mish",
    ] {
        let error = Network::load(&shared.join(format!("nets/{name}.pb.gz"))).unwrap_err();
        assert!(matches!(error, NetworkError::Unsupported { .. }), "{name}: {error}");
    }
}

#[test]
#[ignore]
fn dump() {
    let Some(shared) = shared("dump") else { return };
    let out = PathBuf::from(env::var_os("ZEITNOT_DUMP").unwrap());
    for entry in fs::read_dir(shared.join("nets")).unwrap().chain(fs::read_dir(shared.join("nets/synthetic")).unwrap())
    {
        let path = entry.unwrap().path();
        match path.is_file().then(|| Network::load(&path)) {
            Some(Ok(network)) => {
                let started = std::time::Instant::now();
                let model = network.onnx().unwrap();
                println!("{} {} {:?}", network.name(), network.description(), started.elapsed());
                fs::write(out.join(network.name().replace(".pb.gz", ".onnx")), model.bytes).unwrap();
            }
            Some(Err(error)) => println!("{error}"),
            None => {}
        }
    }
}
