//! Input planes, policy indices and conversions against what Lc0 says: the small set of the repository, and all records
//! of `../shared`.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use zeitnot_engine::chess::{Game, Square, parse_uci};
use zeitnot_engine::network::{self, Conversion, HistoryFill, InputFormat, Network, Transform};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The positions by their id.
fn games(folder: &Path) -> HashMap<u64, Game> {
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
    lines(&folder.join("golden/positions.jsonl")).iter().map(game).collect()
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

/// Compares every plane of the positions in `folder`, of which each format has at least `least`.
fn planes_agree(folder: &Path, least: usize) {
    let games = games(folder);
    for (format, file) in PLANES {
        let golden = lines(&folder.join(format!("golden/planes/{file}.jsonl")));
        assert!(golden.len() >= least, "{file}");
        for line in golden {
            let id = line["id"].as_u64().unwrap();
            let game = &games[&id];
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

#[test]
fn planes_of_the_small_set_are_those_of_lc0() {
    planes_agree(&crate::common::small_set(), 4);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn every_plane_is_that_of_lc0() {
    planes_agree(&crate::common::shared(), 21);
}

/// Compares every policy index of the positions in `folder`, at least `least` of them. The indices are those of the
/// board as it is, also where a canonical format shows it turned.
fn policy_indices_agree(folder: &Path, least: u32) {
    let games = games(folder);
    let mut compared = 0;
    for entry in fs::read_dir(folder.join("golden/eval")).unwrap() {
        let path = entry.unwrap().path();
        for line in lines(&path) {
            let id = line["id"].as_u64().unwrap();
            let game = &games[&id];
            let position = game.current();
            let moves = line["moves"].as_array().unwrap();
            assert_eq!(position.legal_moves().len(), moves.len(), "{}, position {id}", path.display());
            for (mv, index) in moves.iter().zip(line["idx"].as_array().unwrap()) {
                let mv = parse_uci(position.chess(), mv.as_str().unwrap()).unwrap();
                let found = network::policy_index(mv, position.turn(), Transform::NONE);
                assert_eq!(Some(u64::from(found)), index.as_u64(), "{}, position {id}, {mv:?}", path.display());
                compared += 1;
            }
        }
    }
    assert!(compared >= least, "{compared}");
}

#[test]
fn policy_indices_of_the_small_set_are_those_of_lc0() {
    policy_indices_agree(&crate::common::small_set(), 300);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn every_policy_index_is_that_of_lc0() {
    policy_indices_agree(&crate::common::shared(), 50_000);
}

/// Whatever the planes of a turned board mean, a move must start from a square where they show a piece of ours, and end
/// where they show none of ours, castling apart. Returns the transforms that were seen.
fn indices_are_turned_as_planes(folder: &Path) -> HashSet<u8> {
    let mut transforms = HashSet::new();
    for game in games(folder).values() {
        for format in InputFormat::ALL {
            let (planes, transform) = network::encode(game, format, HistoryFill::FenOnly);
            let ours = planes.masks[..6].iter().fold(0, |ours, mask| ours | mask);
            for &mv in &game.current().legal_moves() {
                let uci = network::index_to_uci(network::policy_index(mv, game.current().turn(), transform));
                let [from, to] =
                    [&uci[..2], &uci[2..4]].map(|square| 1 << u32::from(square.parse::<Square>().unwrap()));
                assert_ne!(ours & from, 0, "{format}: {}: {uci}", game.fen());
                assert_eq!(ours & to != 0, mv.is_castle(), "{format}: {}: {uci}", game.fen());
            }
            transforms.insert(transform.bits());
        }
    }
    transforms
}

#[test]
fn indices_and_planes_of_the_small_set_are_turned_alike() {
    let transforms = indices_are_turned_as_planes(&crate::common::small_set());
    assert!(transforms.len() >= 3, "{transforms:?}");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn indices_and_planes_are_turned_alike() {
    let transforms = indices_are_turned_as_planes(&crate::common::shared());
    assert!([0, 1, 4, 5, 6].iter().all(|bits| transforms.contains(bits)), "{transforms:?}");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn every_network_loads_or_says_what_it_is() {
    let shared = crate::common::shared();
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
        (
            "t1-256x10",
            "attention body 10x256, 8 heads, smolgen, mish, policy attention, value WDL, moves left, \
             input classical 112 planes, 20.2 M parameters",
        ),
        (
            "synthetic/attbody-2x32x4h-nosmolgen-nogate-pemap",
            "attention body 2x32, 4 heads, mish, policy attention, value WDL, moves left, input classical 112 planes",
        ),
        (
            "synthetic/attbody-2x32x4h-nosmolgen-pemap",
            "attention body 2x32, 4 heads, mish, policy attention, value WDL, moves left, input classical 112 planes",
        ),
        (
            "synthetic/attbody-2x32x4h-smolgen-pedense-multihead",
            "attention body 2x32, 4 heads, smolgen, mish, policy attention (vanilla, optimistic, soft, opponent), \
             value WDL (winner, q, st), moves left, input classical 112 planes",
        ),
        (
            "synthetic/attbody-2x32x4h-smolgen-pemap-oldfmt",
            "attention body 2x32, 4 heads, smolgen, mish, policy attention, value WDL, moves left, \
             input classical 112 planes",
        ),
        (
            "synthetic/se-2x16-attpolicy-polenc-wdl-mlh-mish",
            "SE 2x16, mish, policy attention after 2 encoders, value WDL, moves left, input classical 112 planes",
        ),
    ];
    for (name, wanted) in described {
        let network = Network::load(&shared.join(format!("nets/{name}.pb.gz"))).unwrap();
        let description = network.description().to_string();
        assert!(description.starts_with(wanted), "{name}: {description}");
        let model = network.onnx(&Conversion::default()).unwrap();
        assert!(model.bytes.len() > 100_000, "{name}");
        assert_eq!(model.moves_left.is_some(), network.description().moves_left);
        // The model is a network file in its own right.
        let again = Network::from_bytes(&model.bytes, "model").unwrap();
        assert_eq!(again.onnx(&Conversion::default()).unwrap(), model);
    }
}
