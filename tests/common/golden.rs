//! Lc0's recorded evaluations: `golden/` in the folder shared/.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use zeitnot::chess::Game;

#[derive(Deserialize)]
struct Line {
    id: u32,
    fen: Option<String>,
    moves: Vec<String>,
    chess960: bool,
}

/// What Lc0 recorded of a position.
#[derive(Deserialize)]
pub struct Golden {
    /// The position.
    pub id: u32,
    /// Its legal moves.
    pub moves: Vec<String>,
    /// Their policy indices.
    pub idx: Vec<u16>,
    /// The network's output at these.
    pub logits: Vec<f32>,
    /// Win minus loss.
    pub q: f32,
    /// Draw.
    pub d: f32,
    /// Plies left.
    pub m: Option<f32>,
}

/// The evaluations by a network.
pub fn evaluations(shared: &Path, network: &str) -> Vec<Golden> {
    let golden: Vec<Golden> = lines(&shared.join(format!("golden/eval/{network}.jsonl")));
    assert!(golden.len() > 20, "{network}: only {} positions", golden.len());
    golden
}

/// The positions that were evaluated, with their histories.
pub fn games(shared: &Path) -> HashMap<u32, Game> {
    let game = |line: Line| {
        let mut game = line.fen.map_or_else(Game::new, |fen| Game::from_fen(&fen, line.chess960).unwrap());
        line.moves.iter().for_each(|text| game.push_uci(text).unwrap());
        (line.id, game)
    };
    lines::<Line>(&shared.join("golden/positions.jsonl")).into_iter().map(game).collect()
}

fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}
