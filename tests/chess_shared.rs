//! Checks of the chess room against ../shared: perft suites and the final positions of the golden games.

mod common;

use std::fs;
use zeitnot::chess::{Game, perft};

/// Deeper counts take minutes: the move generator is shakmaty's, what is ours is the reading of the FEN.
const LEAVES_LIMIT: u64 = 400_000;

#[test]
fn perft_suites() {
    let Some(shared) = common::shared("perft suites") else { return };
    for (file, chess960) in [("tricky.perft", false), ("chess960.perft", true)] {
        let text = fs::read_to_string(shared.join("data/perft").join(file)).unwrap();
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
                    assert_eq!(perft(game.current().chess(), depth as u32), leaves, "{file}: {}", game.fen());
                    checked += 1;
                }
            }
        }
        assert!(checked > 30, "{file}: only {checked} counts were checked");
    }
}

#[test]
fn golden_games_reach_their_final_positions() {
    let Some(shared) = common::shared("golden positions") else { return };
    let text = fs::read_to_string(shared.join("golden/positions.jsonl")).unwrap();
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
