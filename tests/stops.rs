//! Searches that are started and stopped at random moments: each ends with one legal move, and soon.
//!
//! `ZEITNOT_SEARCHES=10000 cargo test --release --test stops -- --nocapture` makes so many (300 otherwise), and
//! `ZEITNOT_NETWORK=FILE` has them evaluated by that network as well. It prints how long `stop` took to be answered.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Answer, engine};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::GoParams;
use zeitnot_engine::splitmix::SplitMix64 as Random;

const FEW: usize = 300;
/// Searches between two changes of the options.
const SERIES: usize = 25;
/// The latest moment of a stop, in microseconds.
const LATEST_US: usize = 50_000;

const POSITIONS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1",
    "8/5k2/8/8/8/2Q5/1K6/8 w - - 88 50",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 4 9",
];

fn options(random: &mut Random, network: Option<&str>, tables: Option<&str>) -> Vec<(&'static str, String)> {
    let backend = match network {
        Some(_) if random.below(2) == 0 => "native",
        _ => random.choice(&["uniform", "random"]),
    };
    let mut options = vec![("Backend", backend.to_owned())];
    options.extend(network.map(|network| ("WeightsFile", network.to_owned())));
    options.extend(tables.filter(|_| random.below(2) == 0).map(|folder| ("SyzygyPath", folder.to_owned())));
    for (name, values) in [
        ("Threads", ["0", "1", "2", "4"]),
        ("MinibatchSize", ["0", "1", "8", "256"]),
        ("MultiPV", ["1", "1", "3", "500"]),
        ("Hash", ["0", "0", "2", "64"]),
        ("NNCacheSize", ["0", "10", "1000", "2000000"]),
        ("OutOfOrderEval", ["true", "true", "true", "false"]),
        ("SmartPruningFactor", ["1.33", "1.33", "0", "10"]),
        ("NodesPerSecondLimit", ["0", "0", "0", "500"]),
    ] {
        options.push((name, values[random.below(values.len())].to_owned()));
    }
    options
}

fn go(random: &mut Random, moves: &[Move]) -> GoParams {
    let none = GoParams::default();
    let some = |random: &mut Random| moves.iter().filter(|_| random.below(2) == 0).copied().collect();
    match random.below(10) {
        0 => GoParams { nodes: Some(random.below(2000) as u64 + 1), ..none },
        1 => GoParams { movetime: Some(random.below(30) as f64), ..none },
        2 => GoParams { wtime: Some(500.0), btime: Some(500.0), ..none },
        3 => GoParams { infinite: true, search_moves: some(random), ..none },
        4 => GoParams { ponder: true, wtime: Some(500.0), btime: Some(500.0), ..none },
        5 => GoParams { ponder: true, search_moves: some(random), ..none },
        _ => GoParams { infinite: true, ..none },
    }
}

/// A position and some random moves that follow; now and then the game before goes on.
fn position(random: &mut Random, before: Game) -> Game {
    let mut game = match random.below(3) {
        0 => before,
        _ => Game::from_fen(POSITIONS[random.below(POSITIONS.len())], false).unwrap(),
    };
    for _ in 0..random.below(4) {
        let moves = game.current().legal_moves();
        if moves.is_empty() {
            break;
        }
        game.push(moves[random.below(moves.len())]);
    }
    game
}

#[test]
fn stopped_at_any_moment_a_search_answers_once() {
    let searches = std::env::var("ZEITNOT_SEARCHES").map_or(FEW, |text| text.parse().expect("a number"));
    let network = std::env::var("ZEITNOT_NETWORK").ok();
    // Tables make some of the searches different where they are there.
    let tables = cfg!(shared).then(|| common::shared().join("data/syzygy").display().to_string());
    let mut random = Random(searches as u64);
    let mut took = Vec::with_capacity(searches);
    let mut made = 0;
    while made < searches {
        let chosen = options(&mut random, network.as_deref(), tables.as_deref());
        let chosen: Vec<(&str, &str)> = chosen.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut engine = engine(&chosen);
        for _ in 0..SERIES.min(searches - made) {
            made += 1;
            let game = position(&mut random, engine.game().clone());
            let moves = game.current().legal_moves();
            engine.set_game(game);
            let answer = Arc::new(Answer::default());
            let go = go(&mut random, &moves);
            let hit = random.below(2) == 0;
            engine.go(&go, engine.now_ms(), Arc::clone(&answer) as _).unwrap();
            let mut sleep = || std::thread::sleep(Duration::from_micros(random.below(LATEST_US) as u64));
            sleep();
            if go.ponder {
                assert!(answer.end.lock().is_none(), "an answer before ponderhit or stop: {chosen:?}");
                if hit {
                    engine.ponder_hit(engine.now_ms()).unwrap().unwrap();
                    sleep();
                }
            }
            let stopped = Instant::now();
            engine.stop();
            engine.wait_for_answer();
            took.push(stopped.elapsed().as_secs_f64() * 1e3);
            engine.wait();
            let end = answer.end.lock().take().expect("an answer");
            assert_eq!(end.error, None, "{chosen:?}");
            match end.best {
                Some(best) => {
                    let allowed = if go.search_moves.is_empty() { &moves[..] } else { &go.search_moves };
                    assert!(allowed.contains(&best), "{best:?}: {chosen:?}");
                }
                None => assert!(moves.is_empty(), "{chosen:?}"),
            }
        }
    }
    took.sort_by(f64::total_cmp);
    let share = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    eprintln!(
        "{searches} searches; from stop to the answer: median {:.3} ms, 99 % within {:.3} ms, all within {:.3} ms",
        share(0.5),
        share(0.99),
        share(1.0)
    );
}
