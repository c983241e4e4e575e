//! Recorded evaluations: `golden/` in the folder shared/, or the small set of the repository.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::testing::attention_networks;
use zeitnot_engine::network::{self, BUILT_IN, Network, OnnxInterface};

#[derive(Deserialize)]
struct Line {
    id: u32,
    fen: Option<String>,
    moves: Vec<String>,
    chess960: bool,
}

/// The record of a position.
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

/// The evaluations by a network, at least `least` of them.
pub fn evaluations(folder: &Path, network: &str, least: usize) -> Vec<Golden> {
    let golden: Vec<Golden> = lines(&folder.join(format!("golden/eval/{network}.jsonl")));
    assert!(golden.len() >= least, "{network}: only {} positions", golden.len());
    golden
}

/// The networks whose evaluations are in the small set, by the names of their files: the built-in one, and transformers
/// of random weights, which are the same everywhere (`cargo run --example random_network`).
pub fn networks() -> Vec<(&'static str, Network)> {
    let random = |kind: &str| {
        let all = attention_networks();
        let (_, shape) = all.iter().find(|(name, _)| *name == kind).unwrap();
        Network::from_bytes(&shape.gzip(1), kind).unwrap()
    };
    vec![
        ("zeitnot-small", network::find(Some(BUILT_IN.as_ref())).unwrap().load(&OnnxInterface::default()).unwrap()),
        ("random-policy-encoders", random("tower with policy encoders")),
        ("random-smolgen", random("map, smolgen, gates")),
        ("random-dense", random("dense, several heads, policy encoders")),
    ]
}

/// The positions that were evaluated, with their histories.
pub fn games(folder: &Path) -> HashMap<u32, Game> {
    let game = |line: Line| {
        let mut game = line.fen.map_or_else(Game::new, |fen| Game::from_fen(&fen, line.chess960).unwrap());
        line.moves.iter().for_each(|text| game.push_uci(text).unwrap());
        (line.id, game)
    };
    lines::<Line>(&folder.join("golden/positions.jsonl")).into_iter().map(game).collect()
}

fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}
