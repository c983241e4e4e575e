//! The root's answer comes from visits that the root itself allocated among the moves of the search, whatever was
//! searched before: the moves of another search (`searchmoves`), a move that was pondered on and taken back.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::{Answer, engine, search};
use std::sync::Arc;
use zeitnot_engine::chess::{Game, Move, to_uci};
use zeitnot_engine::engine::{Engine, GoParams, SearchEnd};
use zeitnot_engine::splitmix::SplitMix64 as Random;

/// A rook takes a queen; every other move loses to it.
const WHITE: &str = "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1";
const BLACK: &str = "3rk3/8/8/8/3Q4/8/8/4K3 b - - 0 1";

fn start(fen: &str, options: &[(&str, &str)]) -> (Engine, Game) {
    let mut options = options.to_vec();
    options.extend([("Threads", "1"), ("SmartPruningFactor", "0")]);
    let mut engine = engine(&options);
    let game = Game::from_fen(fen, false).unwrap();
    engine.set_game(game.clone());
    (engine, game)
}

fn after(game: &Game, moves: &[&str]) -> Game {
    let mut game = game.clone();
    moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

fn among(game: &Game, moves: &[&str]) -> Vec<Move> {
    let legal = game.current().legal_moves();
    let found: Vec<Move> = legal.into_iter().filter(|mv| moves.contains(&&*to_uci(*mv, false))).collect();
    assert_eq!(found.len(), moves.len());
    found
}

fn nodes(nodes: u64) -> GoParams {
    GoParams { nodes: Some(nodes), ..GoParams::default() }
}

fn best(end: &SearchEnd) -> String {
    to_uci(end.best.unwrap(), false)
}

/// Searches until there are so many nodes, and stops.
fn search_until(engine: &mut Engine, go: &GoParams, nodes: u64) -> SearchEnd {
    let answer = Arc::new(Answer::default());
    engine.go(go, engine.now_ms(), Arc::clone(&answer) as _).unwrap();
    while answer.reports.lock().last().is_none_or(|report| report.nodes < nodes) {
        std::thread::yield_now();
    }
    engine.finish();
    answer.end.lock().take().unwrap()
}

#[test]
fn a_search_among_some_moves_does_not_decide_the_next_one() {
    for (fen, right, wrong) in [(WHITE, "d1d5", ["e1f1", "e1f2"]), (BLACK, "d8d4", ["e8f8", "e8f7"])] {
        let (mut engine, game) = start(fen, &[]);
        let some = |moves: &[&str], nodes| GoParams {
            nodes: Some(nodes),
            search_moves: among(&game, moves),
            ..GoParams::default()
        };
        // On an empty tree, then on one that has visits of all moves, then one restriction after another.
        assert!(wrong.contains(&&*best(&search(&mut engine, &some(&wrong, 400)))));
        assert_eq!(best(&search(&mut engine, &nodes(300))), right);
        search(&mut engine, &some(&wrong[..1], 600));
        assert_eq!(best(&search(&mut engine, &nodes(310))), right);
        search(&mut engine, &some(&wrong[1..], 600));
        search(&mut engine, &some(&wrong, 700));
        let all = search(&mut engine, &nodes(320));
        assert!(best(&all) == right && all.report.lines[0].q > 0.5, "{:?}", all.report);
        // Pondering among them, too.
        let ponder = GoParams { ponder: true, nodes: None, ..some(&wrong, 0) };
        search_until(&mut engine, &ponder, 700);
        assert_eq!(best(&search(&mut engine, &nodes(330))), right);
    }
}

#[test]
fn a_limit_of_nodes_counts_those_of_the_moves_that_are_searched() {
    let (mut engine, game) = start(WHITE, &[]);
    search(&mut engine, &nodes(500));
    let go = GoParams { search_moves: among(&game, &["e1f1"]), ..nodes(200) };
    let end = search(&mut engine, &go);
    let line = &end.report.lines[0];
    assert!(best(&end) == "e1f1" && end.report.nodes >= 200 && line.visits >= 199, "{:?}", end.report);
}

#[test]
fn a_pondered_move_that_is_taken_back_does_not_decide() {
    for (fen, right, wrong, reply) in [(WHITE, "d1d5", "e1f1", "d5d1"), (BLACK, "d8d4", "e8f8", "d4d8")] {
        let (mut engine, game) = start(fen, &[]);
        let ponder = GoParams { ponder: true, ..GoParams::default() };
        assert_eq!(best(&search(&mut engine, &nodes(200))), right);
        engine.set_game(after(&game, &[wrong]));
        search_until(&mut engine, &ponder, 800);
        engine.set_game(game.clone());
        let end = search(&mut engine, &nodes(210));
        assert!(best(&end) == right && end.report.lines[0].q > 0.5, "{:?}", end.report);
        // A miss between: another move was played, and that one is taken back.
        engine.set_game(after(&game, &[wrong]));
        search_until(&mut engine, &ponder, 800);
        engine.set_game(after(&game, &["e1e2", "e8e7"][usize::from(fen == BLACK)..][..1]));
        search_until(&mut engine, &ponder, 20);
        engine.set_game(game.clone());
        assert_eq!(best(&search(&mut engine, &nodes(220))), right);
        // Two plies on, and one back: the reply of the other side is what is searched.
        search(&mut engine, &nodes(220));
        engine.set_game(after(&game, &[wrong, reply]));
        search_until(&mut engine, &ponder, 100);
        engine.set_game(after(&game, &[wrong]));
        assert_eq!(best(&search(&mut engine, &nodes(200))), reply);
    }
}

/// The visits of the moves that may be played add up to those of the root, after whatever went before.
#[test]
fn the_roots_visits_are_those_of_its_moves() {
    let mut random = Random(44);
    for round in 0..40 {
        let mut engine = engine(&[
            ("Backend", random.choice(&["random", "uniform"])),
            ("Threads", random.choice(&["1", "2"])),
            ("MultiPV", random.choice(&["1", "3", "500"])),
            ("VerboseMoveStats", "true"),
        ]);
        let mut game = Game::new();
        for step in 0..25 {
            let moves = game.current().legal_moves();
            if moves.is_empty() {
                break;
            }
            let some: Vec<Move> = moves.iter().filter(|_| random.below(4) == 0).copied().collect();
            let go = GoParams {
                nodes: Some(random.below(400) as u64 + 2),
                search_moves: if random.below(2) == 0 { some } else { Vec::new() },
                ..GoParams::default()
            };
            engine.set_game(game.clone());
            let end = match random.below(4) {
                0 => search_until(&mut engine, &GoParams { ponder: true, nodes: None, ..go.clone() }, 1),
                1 => search_until(&mut engine, &GoParams { infinite: true, nodes: None, ..go.clone() }, 1),
                _ => search(&mut engine, &go),
            };
            let allowed = |mv: &Move| go.search_moves.is_empty() || go.search_moves.contains(mv);
            let stats = end.move_stats.iter().filter_map(|stats| Some((stats.mv?, u64::from(stats.n))));
            let sum: u64 = stats.filter(|(mv, _)| allowed(mv)).map(|(_, n)| n).sum();
            assert_eq!(end.report.nodes, 1 + sum, "round {round}, step {step}: {go:?}");
            assert!(end.best.is_some_and(|best| allowed(&best)), "round {round}, step {step}: {go:?}");
            match random.below(5) {
                0 => engine.set_option("Contempt", random.choice(&["0", "40"])).unwrap(),
                1 => engine.set_option("MultiPV", random.choice(&["1", "4"])).unwrap(),
                _ => {}
            }
            // On by one move, another one than the last, back by one, or the same position again.
            match random.below(5) {
                0 | 1 => game.push(end.best.unwrap()),
                2 => game.push(moves[random.below(moves.len())]),
                3 => game.truncate(game.moves().len().saturating_sub(1)),
                _ => {}
            }
        }
    }
}
