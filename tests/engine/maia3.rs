//! Maia-3 on ONNX Runtime: random networks of its form beside a computation by hand, and what the reference code says of
//! a network of its shape.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use zeitnot_engine::backend::{self, Attributes, Backend, BackendSettings, Evaluation, Query, softmax};
use zeitnot_engine::chess::{Color, Game, Move, to_uci};
use zeitnot_engine::engine::GoParams;
use zeitnot_engine::network::testing::RandomMaia3;
use zeitnot_engine::network::{Network, Ratings};
use zeitnot_engine::runtime;

/// How far probabilities may be from the reference.
const TOLERANCE: f32 = 1e-4;

fn backend(network: &Network) -> Arc<dyn Backend> {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let options = BackendSettings { cache_size: 0, ..BackendSettings::default() };
    backend::create("onnxruntime", Some(network), &options).unwrap()
}

fn played(fen: Option<&str>, moves: &[&str]) -> Game {
    let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
    moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

/// The query where the side to move is rated `own`.
fn query(game: &Game, [own, opponent]: [u16; 2], attributes: &Attributes) -> Query {
    let mut query = Query::default();
    query.fill(game, &legal(game), Some(Ratings::of(game.current().turn(), own, opponent)), attributes);
    query
}

fn legal(game: &Game) -> Vec<Move> {
    game.current().legal_moves().into_iter().collect()
}

/// Win, draw and loss of an evaluation.
fn wdl(evaluation: &Evaluation) -> [f32; 3] {
    let decided = 1.0 - evaluation.d;
    [(decided + evaluation.q) / 2.0, evaluation.d, (decided - evaluation.q) / 2.0]
}

fn is_close(a: f32, b: f32) -> bool {
    (a - b).abs() <= TOLERANCE
}

#[test]
fn a_random_network_is_evaluated_as_by_hand() {
    let random = RandomMaia3::new(5);
    let games = [
        (played(None, &[]), [1500, 1500]),
        (played(None, &["e2e4", "c7c5", "g1f3"]), [1100, 2000]),
        (played(Some("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"), &[]), [2000, 1100]),
        (played(Some("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), &["e1g1", "e8c8"]), [0, 5000]),
        (played(Some("1n2k3/P7/8/8/8/8/6p1/K6R w - - 0 1"), &[]), [5000, 0]),
        (played(Some("1n2k3/P7/8/8/8/8/6p1/K6R b - - 0 1"), &[]), [600, 601]),
        (played(Some("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"), &[]), [601, 600]),
    ];
    for whole_ratings in [false, true] {
        let network = Network::from_bytes(&random.onnx(whole_ratings), "maia3.onnx").unwrap();
        let backend = backend(&network);
        let attributes = backend.attributes();
        assert_eq!((attributes.has_wdl, attributes.has_moves_left), (true, false));
        let queries: Vec<Query> = games.iter().map(|(game, ratings)| query(game, *ratings, attributes)).collect();
        let answers = backend.evaluator().unwrap().evaluate(&queries).unwrap();
        for (((game, _), query), answer) in games.iter().zip(&queries).zip(&answers) {
            let (policy, [loss, draw, win]) = random.outputs(query.planes.as_deref().unwrap());
            let expected = softmax(&[win, draw, loss], 1.0);
            assert!(wdl(answer).iter().zip(&expected).all(|(a, b)| is_close(*a, *b)), "{answer:?} {expected:?}");
            for (mv, logit) in legal(game).into_iter().zip(&answer.logits) {
                let expected = policy[index(mv, game.current().turn())];
                assert!((logit - expected).abs() < 1e-3, "{} {mv:?} {logit} {expected}", game.fen());
            }
        }
    }
}

/// The side to move plays by `SelfElo`, whichever it is; tree and cache do not answer for other ratings.
#[test]
fn an_engine_plays_by_its_options() {
    let random = RandomMaia3::new(5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maia3.onnx");
    std::fs::write(&path, random.onnx(false)).unwrap();
    let (weights, backend) = (("WeightsFile", path.to_str().unwrap()), ("Backend", "onnxruntime"));
    let mut engine = crate::common::engine(&[weights, backend, ("SelfElo", "1200"), ("OppoElo", "2400")]);
    let attributes = engine.attributes().unwrap().clone();
    let expected = |moves: &[&str], ratings| {
        let query = query(&played(None, moves), ratings, &attributes);
        let [loss, draw, win] = random.outputs(query.planes.as_deref().unwrap()).1;
        let p = softmax(&[win, draw, loss], 1.0);
        p[0] - p[2]
    };
    let mut seen = Vec::new();
    for (moves, own, ratings) in [
        (&[][..], "1200", [1200, 2400]),
        (&["e2e4"], "1200", [1200, 2400]),
        (&["e2e4"], "2400", [2400, 2400]),
        (&["e2e4"], "1200", [1200, 2400]),
        (&["e2e4", "e7e5"], "1200", [1200, 2400]),
    ] {
        engine.set_option("SelfElo", own).unwrap();
        engine.set_game(played(None, moves));
        let go = GoParams { nodes: Some(1), ..GoParams::default() };
        crate::common::search(&mut engine, &go);
        let q = engine.tree_value().unwrap().q;
        assert!(is_close(q, expected(moves, ratings)), "{moves:?} {ratings:?}: {q} {}", expected(moves, ratings));
        let mut evaluator = engine.network_evaluator().unwrap();
        let game = played(None, moves);
        assert!(is_close(evaluator.evaluate(&game, &legal(&game)).unwrap().1.q, q), "without a search");
        seen.push(q);
    }
    assert!(!is_close(seen[1], seen[2]) && is_close(seen[1], seen[3]), "{seen:?}");
}

/// The index of a move in the policy, from its text.
fn index(mv: Move, turn: Color) -> usize {
    let text = to_uci(mv, false);
    let square = |text: &str| {
        let (file, rank) = (usize::from(text.as_bytes()[0] - b'a'), usize::from(text.as_bytes()[1] - b'1'));
        8 * if turn.is_white() { rank } else { 7 - rank } + file
    };
    let (from, to) = (square(&text[..2]), square(&text[2..4]));
    match text[4..].chars().next() {
        None => from * 64 + to,
        Some(piece) => 4096 + (from % 8 * 8 + to % 8) * 4 + "qrbn".find(piece).unwrap(),
    }
}

/// A line of what `tests/reference/maia3_reference.py` writes.
#[derive(Deserialize)]
struct Reference {
    fen: Option<String>,
    moves: Vec<String>,
    ratings: [u16; 2],
    wdl: [f32; 3],
    logits: std::collections::BTreeMap<String, f32>,
}

/// `ZEITNOT_MAIA3` names the folder that `tests/reference/maia3_reference.py` has written.
#[test]
#[ignore = "needs ZEITNOT_MAIA3, a folder of tests/reference/maia3_reference.py, which needs PyTorch"]
fn evaluations_are_those_of_the_reference_code() {
    let folder = PathBuf::from(std::env::var_os("ZEITNOT_MAIA3").expect("ZEITNOT_MAIA3 names the folder"));
    let network = Network::load(&folder.join("maia3.onnx")).unwrap();
    let backend = backend(&network);
    let mut evaluator = backend.evaluator().unwrap();
    let text = std::fs::read_to_string(folder.join("reference.jsonl")).unwrap();
    let lines: Vec<Reference> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut worst_policy, mut worst_value) = (0_f32, 0_f32);
    for batch in lines.chunks(32) {
        let games: Vec<Game> = batch
            .iter()
            .map(|line| {
                let moves: Vec<&str> = line.moves.iter().map(String::as_str).collect();
                played(line.fen.as_deref(), &moves)
            })
            .collect();
        let queries: Vec<Query> =
            games.iter().zip(batch).map(|(game, line)| query(game, line.ratings, backend.attributes())).collect();
        for ((line, game), answer) in batch.iter().zip(&games).zip(evaluator.evaluate(&queries).unwrap()) {
            let names: Vec<String> = legal(game).into_iter().map(|mv| to_uci(mv, false)).collect();
            assert_eq!(names.len(), line.logits.len(), "{}", game.fen());
            let expected: Vec<f32> = names.iter().map(|name| line.logits[name]).collect();
            for (a, b) in softmax(&answer.logits, 1.0).into_iter().zip(softmax(&expected, 1.0)) {
                worst_policy = worst_policy.max((a - b).abs());
            }
            for (a, b) in wdl(&answer).into_iter().zip(line.wdl) {
                worst_value = worst_value.max((a - b).abs());
            }
        }
    }
    eprintln!("{} evaluations: policy within {worst_policy:.1e}, value within {worst_value:.1e}", lines.len());
    assert!(!lines.is_empty() && worst_policy <= TOLERANCE && worst_value <= TOLERANCE);
}
