//! Checks of the room `chess` against recorded numbers: perft, and the final positions of games.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;
use zeitnot_engine::chess::{Game, perft};

/// Deeper counts take minutes: the move generator is shakmaty's, what is ours is the reading of the FEN.
const LEAVES_LIMIT: u64 = 400_000;

/// Checks the counts of a file: `epd` lines, each with its `perft DEPTH LEAVES` lines, of which at least `least` count.
fn counts_agree(path: &Path, chess960: bool, least: u32) {
    let text = fs::read_to_string(path).unwrap();
    let mut game = None;
    let mut checked = 0;
    for line in text.lines() {
        if let Some(epd) = line.strip_prefix("epd ") {
            game = Some(Game::from_fen(epd, chess960).unwrap());
        } else if let Some(counts) = line.strip_prefix("perft ") {
            let mut numbers = counts.split_ascii_whitespace().map(|n| n.parse::<u64>().unwrap());
            let (depth, leaves) = (numbers.next().unwrap(), numbers.next().unwrap());
            if leaves <= LEAVES_LIMIT / if chess960 { 10 } else { 1 } {
                let game = game.as_ref().expect("a perft line follows its position");
                assert_eq!(perft(game.current().chess(), depth as u32), leaves, "{}: {}", path.display(), game.fen());
                checked += 1;
            }
        }
    }
    assert!(checked >= least, "{}: only {checked} counts were checked", path.display());
}

#[test]
fn perft_of_the_small_set() {
    let folder = crate::common::small_set().join("golden/perft");
    counts_agree(&folder.join("standard.perft"), false, 15);
    counts_agree(&folder.join("chess960.perft"), true, 12);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn perft_suites() {
    let folder = crate::common::shared().join("data/perft");
    counts_agree(&folder.join("tricky.perft"), false, 31);
    counts_agree(&folder.join("chess960.perft"), true, 31);
}

/// The positions of a file with their moves, and the position after them.
fn games_reach_their_final_positions(folder: &Path) {
    let text = fs::read_to_string(folder.join("golden/positions.jsonl")).unwrap();
    for line in text.lines() {
        let golden: serde_json::Value = serde_json::from_str(line).unwrap();
        let chess960 = golden["chess960"].as_bool().unwrap();
        let fen = golden["fen"].as_str();
        let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, chess960).unwrap());
        for mv in golden["moves"].as_array().unwrap() {
            game.push_uci(mv.as_str().unwrap()).unwrap();
        }
        // Lc0 writes Chess960 rights as rook files; boards, counters and side are comparable in all of them.
        // The illegal position is reached by a king's move, which counts as one.
        let compared = if game.positions()[0].is_illegal() { 5 } else { 6 };
        let fields = |fen: &str| -> Vec<String> {
            fen.split(' ').take(compared).enumerate().filter(|f| f.0 != 2).map(|f| f.1.to_owned()).collect()
        };
        assert_eq!(fields(&game.fen()), fields(golden["final_fen_ep_legal"].as_str().unwrap()), "id {}", golden["id"]);
    }
}

#[test]
fn games_of_the_small_set_reach_their_final_positions() {
    games_reach_their_final_positions(&crate::common::small_set());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn golden_games_reach_their_final_positions() {
    games_reach_their_final_positions(&crate::common::shared());
}
