//! Endgame tables: what the files of ../shared say through the library.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::{engine, search, shared};
use std::fs;
use std::path::{Path, PathBuf};
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::GoParams;
use zeitnot_engine::tablebase::{RootMoves, Tablebase};

fn folder() -> PathBuf {
    shared().join("data/syzygy")
}

fn open(folder: &Path) -> Tablebase {
    let (tables, errors) = Tablebase::open(&folder.to_string_lossy());
    assert!(errors.is_empty(), "{errors:?}");
    tables
}

fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::from_fen(fen, false).unwrap();
    for mv in moves.split_whitespace() {
        game.push_uci(mv).unwrap();
    }
    game
}

fn names(root: &RootMoves) -> Vec<String> {
    let mut names: Vec<String> = root.moves.iter().map(|mv| to_uci(*mv, false)).collect();
    names.sort();
    names
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn results_of_known_endings() {
    let folder = folder();
    let tables = open(&folder);
    assert_eq!(tables.max_pieces(), 4);
    for (fen, result) in [
        ("8/8/8/8/8/4k3/8/4K2Q w - - 0 1", Some(1)),
        ("8/8/8/8/8/4k3/8/4K2Q b - - 0 1", Some(-1)),
        // The opposition: who has to move loses it.
        ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", Some(0)),
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", Some(-1)),
        ("8/8/8/8/8/4k3/8/4K2Q w - - 1 1", None),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", None),
        ("4k3/8/8/8/8/8/3PP3/4K2R w - - 0 1", None),
    ] {
        assert_eq!(tables.wdl(game(fen, "").current()), result, "{fen}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_repetition_makes_the_win_hurry() {
    let folder = folder();
    let tables = open(&folder);
    let start = "8/8/8/4k3/8/8/8/KQ6 w - - 0 1";
    let rank = |moves: &str, fast| tables.rank_root(&game(start, moves), fast).unwrap();
    let (free, fast) = (rank("", false), rank("", true));
    // Two of the queen's moves lose her.
    assert_eq!((free.by_dtz, free.probes, free.moves.len()), (true, 22, 20), "{free:?}");
    assert!(fast.moves.len() < free.moves.len() && fast.moves.iter().all(|mv| free.moves.contains(mv)));
    let shuffled = rank("b1b2 e5e6 b2b1 e6e5", false);
    assert_eq!(shuffled.moves, fast.moves, "the distances are the same here: only the counter has grown");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_fifty_move_rule_leaves_only_the_shortest_way() {
    let folder = folder();
    let tables = open(&folder);
    let game = |counter: u32| Game::from_fen(&format!("8/8/8/4k3/8/8/8/KR6 w - - {counter} 90"), false).unwrap();
    let at = |counter: u32, fast| names(&tables.rank_root(&game(counter), fast).unwrap());
    assert!(at(0, false).len() > 10);
    // The rook mates in about thirty plies from there.
    let late = at(72, false);
    assert!(late.len() < at(0, false).len(), "{late:?}");
    assert_eq!(late, at(0, true));
    let too_late = game(99);
    let all = too_late.current().legal_moves().to_vec();
    assert_eq!(tables.rank_root(&too_late, false).unwrap().moves, all, "every move draws");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn results_alone_do_when_there_are_no_distances() {
    let folder = folder();
    let without = tempfile::tempdir().unwrap();
    for table in ["KPvK", "KQvK", "KRvK", "KBvK", "KNvK"] {
        let name = format!("{table}.rtbw");
        fs::copy(folder.join(&name), without.path().join(&name)).unwrap();
    }
    let (all, results) = (open(&folder), open(without.path()));
    let game = game("5k2/8/5K2/5P2/8/8/8/8 w - - 0 1", "");
    let ranked = results.rank_root(&game, false).unwrap();
    assert!(!ranked.by_dtz);
    assert_eq!(names(&ranked), names(&all.rank_root(&game, false).unwrap()));
    assert_eq!(names(&ranked), ["f6e6", "f6g6"]);
    // The search has to find the way, and is told by the tables where a pawn move wins.
    let path = without.path().to_string_lossy().into_owned();
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1"), ("SyzygyPath", &path)]);
    engine.set_game(game);
    let end = search(&mut engine, &GoParams { nodes: Some(2000), ..GoParams::default() });
    let first = &end.report.lines[0];
    assert!(end.report.tb_hits > 0 && first.wl == 1.0 && first.mate > Some(100), "{:?}", end.report);
    assert!(ranked.moves.contains(&end.best.unwrap()));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_damaged_table_is_no_table() {
    let folder = folder();
    let damaged = tempfile::tempdir().unwrap();
    let good = fs::read(folder.join("KQvK.rtbw")).unwrap();
    let position = game("8/8/8/8/8/4k3/8/4K2Q w - - 0 1", "");
    for seed in 0..200usize {
        let mut bytes = good.clone();
        for step in 0..20 {
            let at = (seed * 7919 + step * 104_729) % bytes.len();
            bytes[at] ^= (seed + step) as u8 | 1;
        }
        if seed == 0 {
            bytes.truncate(80);
        }
        fs::write(damaged.path().join("KQvK.rtbw"), &bytes).unwrap();
        // Wrong perhaps, but never a panic: one would break the tables.
        let tables = open(damaged.path());
        let _ = (tables.wdl(position.current()), tables.rank_root(&position, false));
        assert!(tables.check().is_ok(), "seed {seed}");
    }
    fs::write(damaged.path().join("KQvK.rtbw"), b"short").unwrap();
    fs::write(damaged.path().join("KRvK.rtbw"), fs::read(folder.join("KRvK.rtbw")).unwrap()).unwrap();
    let (tables, errors) = Tablebase::open(&damaged.path().to_string_lossy());
    assert_eq!((tables.wdl(position.current()), errors.len()), (None, 1), "{errors:?}");
    assert!(errors[0].to_string().contains("KQvK.rtbw") && tables.files() == 1, "{errors:?}");
}
