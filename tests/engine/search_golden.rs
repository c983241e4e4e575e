//! The search against Lc0's, visit by visit: the small set of the repository, and all records of
//! ../shared/golden/search.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::GoParams;

fn visits_of_lc0(golden: &Value) -> BTreeMap<String, f64> {
    let children = golden["children"].as_array().unwrap();
    children.iter().map(|child| (child["move"].as_str().unwrap().to_owned(), child["N"].as_f64().unwrap())).collect()
}

/// Half the sum of the differences of two visit distributions.
fn total_variation(ours: &BTreeMap<String, f64>, theirs: &BTreeMap<String, f64>) -> f64 {
    let sum = |visits: &BTreeMap<String, f64>| visits.values().sum::<f64>();
    let (our_sum, their_sum) = (sum(ours), sum(theirs));
    let share = |visits: &BTreeMap<String, f64>, mv: &String, sum: f64| visits.get(mv).copied().unwrap_or(0.0) / sum;
    let moves = ours.keys().chain(theirs.keys().filter(|mv| !ours.contains_key(*mv)));
    moves.map(|mv| (share(ours, mv, our_sum) - share(theirs, mv, their_sum)).abs()).sum::<f64>() / 2.0
}

/// The position of a line of a golden file.
fn position(golden: &Value) -> Game {
    let chess960 = golden["chess960"].as_bool().unwrap();
    let fen = golden["fen"].as_str();
    let mut game = fen.map_or_else(|| Ok(Game::new()), |fen| Game::from_fen(fen, chess960)).unwrap();
    for mv in golden["moves"].as_array().unwrap() {
        game.push_uci(mv.as_str().unwrap()).unwrap();
    }
    game
}

/// Visits from the most to the least, as shares. With equal priors many moves are exactly as good as each other, and
/// which of them is a visit ahead is a matter of the order of the moves: here they are compared by rank.
fn by_rank(visits: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut counts: Vec<f64> = visits.values().copied().collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    counts.into_iter().enumerate().map(|(rank, count)| (format!("{rank:03}"), count)).collect()
}

/// With `uniform` only the rules, the ends of the game, the arithmetic of the search and the order of equal moves are
/// left to differ. That order decides which of many equal lines is looked at, and so when a mate is found: positions
/// where Lc0 has found one are left out.
///
/// How much the order makes is known: with the order of moves turned round, this search differs from itself by 0.008 on
/// average after 800 visits, 0.23 in one position, and by 0.023 after 20,000, 0.24 in one position, and its distance
/// from Lc0 falls from 0.039 to 0.027.
///
/// Returns the distance of each position.
fn agree_with_equal_priors(folder: &Path, nodes: u64, most_other_moves: usize) -> Vec<f64> {
    let mut engine = crate::common::engine(&[
        ("Backend", "uniform"),
        ("Threads", "1"),
        ("MinibatchSize", "1"),
        ("OutOfOrderEval", "false"),
        ("SmartPruningFactor", "0"),
        ("NNCacheSize", "0"),
        ("VerboseMoveStats", "true"),
    ]);
    let text = fs::read_to_string(folder.join(format!("golden/search/uniform_{nodes}.jsonl"))).unwrap();
    let (mut agreed, mut distances) = (0, Vec::new());
    // The first line has Lc0's options.
    for line in text.lines().skip(1) {
        let golden: Value = serde_json::from_str(line).unwrap();
        if golden["children"].as_array().unwrap().iter().any(|child| child["bound"] == "T") {
            continue;
        }
        engine.new_game();
        engine.set_game(position(&golden));
        let end = crate::common::search(&mut engine, &GoParams { nodes: Some(nodes), ..GoParams::default() });
        let moves = end.move_stats.iter().filter_map(|stats| Some((to_uci(stats.mv?, true), f64::from(stats.n))));
        let (ours, theirs) = (moves.collect(), visits_of_lc0(&golden));
        let distance = total_variation(&by_rank(&ours), &by_rank(&theirs));
        // Our best move is one of those that Lc0 visited most, give or take what the order of equal moves makes.
        let most = theirs.values().copied().fold(0.0, f64::max);
        let best = to_uci(end.best.unwrap(), true);
        let close = theirs[&best] >= most * 0.99 - 1.0;
        agreed += usize::from(close);
        distances.push(distance);
        if !close || distance > 0.01 {
            eprintln!("position {}: {best} {} of {most}, distance {distance:.4}", golden["id"], theirs[&best]);
        }
    }
    let positions = distances.len();
    eprintln!(
        "{nodes} nodes: {agreed} of {positions} best moves are among the most visited, mean {:.5}",
        mean(&distances)
    );
    assert!(agreed + most_other_moves >= positions, "{agreed} of {positions} best moves");
    distances
}

fn mean(distances: &[f64]) -> f64 {
    distances.iter().sum::<f64>() / distances.len() as f64
}

/// In one of the positions (a pawn that promotes) the order of equal moves makes 0.18.
#[test]
fn visits_of_the_small_set_agree_with_lc0() {
    let distances = agree_with_equal_priors(&crate::common::small_set(), 800, 0);
    let close = distances.iter().filter(|distance| **distance <= 0.01).count();
    assert!(close >= 11 && close + 1 >= distances.len(), "{distances:?}");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn visits_with_equal_priors_agree_with_lc0() {
    let distances = agree_with_equal_priors(&crate::common::shared(), 800, 1);
    assert!(distances.len() >= 25 && mean(&distances) <= 0.01, "{distances:?}");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn many_visits_with_equal_priors_agree_with_lc0() {
    let distances = agree_with_equal_priors(&crate::common::shared(), 20_000, 4);
    assert!(distances.len() >= 25 && mean(&distances) <= 0.05, "{distances:?}");
}

/// With single visits and without the cache, the best move agrees on at least 33 of 35 positions and
/// the visit distributions differ by 0.03 at most on average.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn visits_of_maia_agree_with_lc0() {
    let shared = crate::common::shared();
    let weights = shared.join("nets/maia-1900.pb.gz");
    let mut engine = crate::common::engine(&[
        ("WeightsFile", weights.to_str().unwrap()),
        ("Threads", "1"),
        ("MinibatchSize", "1"),
        ("OutOfOrderEval", "false"),
        ("SmartPruningFactor", "0"),
        ("NNCacheSize", "0"),
        ("VerboseMoveStats", "true"),
    ]);
    let text = fs::read_to_string(shared.join("golden/search/maia1900_nocache.jsonl")).unwrap();
    let (mut positions, mut agreed, mut distance_sum) = (0, 0, 0.0);
    for line in text.lines().skip(1) {
        let golden: Value = serde_json::from_str(line).unwrap();
        let chess960 = golden["chess960"].as_bool().unwrap();
        engine.new_game();
        engine.set_game(position(&golden));
        let end = crate::common::search(&mut engine, &GoParams { nodes: Some(800), ..GoParams::default() });
        let moves = end.move_stats.iter().filter_map(|stats| Some((to_uci(stats.mv?, true), f64::from(stats.n))));
        let distance = total_variation(&moves.collect(), &visits_of_lc0(&golden));
        let best = to_uci(end.best.unwrap(), chess960);
        let theirs = golden["bestmove"].as_str().unwrap().split(' ').nth(1).unwrap();
        positions += 1;
        agreed += usize::from(best == theirs);
        distance_sum += distance;
        if best != theirs || distance > 0.005 {
            eprintln!(
                "position {}: {best} for {theirs}, distance {distance:.4}, nodes {}",
                golden["id"], end.report.nodes
            );
        }
    }
    let mean = distance_sum / f64::from(positions);
    eprintln!("{agreed} of {positions} best moves agree, mean distance {mean:.5}");
    assert!(agreed >= 33 && positions == 35, "{agreed} of {positions} best moves");
    assert!(mean <= 0.03, "mean distance {mean}");
}

/// On at least 80 % of the positions, batches and two threads choose the move that single visits
/// choose. Run by hand, as it takes minutes:
/// `cargo test --release --test engine search_golden -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes, and needs ../shared"]
fn batches_and_threads_choose_the_same_moves() {
    let shared = crate::common::shared();
    let weights = shared.join("nets/maia-1900.pb.gz");
    let text = fs::read_to_string(shared.join("golden/search/maia1900_nocache.jsonl")).unwrap();
    let choices = |threads: &str, batch: &str| -> Vec<String> {
        let mut engine = crate::common::engine(&[
            ("WeightsFile", weights.to_str().unwrap()),
            ("Threads", threads),
            ("MinibatchSize", batch),
            ("SmartPruningFactor", "0"),
        ]);
        let choice = |line: &str| {
            engine.new_game();
            engine.set_game(position(&serde_json::from_str(line).unwrap()));
            let end = crate::common::search(&mut engine, &GoParams { nodes: Some(20_000), ..GoParams::default() });
            to_uci(end.best.unwrap(), true)
        };
        text.lines().skip(1).map(choice).collect()
    };
    let single = choices("1", "1");
    for (threads, batch) in [("1", "32"), ("2", "32"), ("2", "256"), ("2", "0")] {
        let same = choices(threads, batch).iter().zip(&single).filter(|(a, b)| a == b).count();
        eprintln!("{threads} threads, batches of {batch}: {same} of {} moves are the same", single.len());
        assert!(same * 5 >= single.len() * 4, "{threads} threads, batches of {batch}: {same} of {}", single.len());
    }
}
