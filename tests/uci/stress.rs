//! Many commands in a hurry: nothing hangs, every search has one answer, and every move in it is legal.

use super::driver::{Uci, errors, game, legal_moves};
use zeitnot_engine::splitmix::SplitMix64 as Random;

#[test]
fn go_and_stop_at_once() {
    for threads in ["--threads=1", "--threads=4"] {
        let mut engine = Uci::ready_with(&["--backend=uniform", threads, "--minibatch-size=4"]);
        for round in 0..200 {
            engine.send(if round % 2 == 0 { "go infinite\nstop" } else { "go wtime 60000 btime 60000\nstop\nstop" });
            engine.answer(&game("startpos"));
        }
        assert!(engine.reply().is_empty());
        engine.quit();
    }
}

/// A GUI that never waits for anything.
#[test]
fn everything_at_once() {
    const POSITIONS: [&str; 8] = [
        "startpos",
        "startpos moves e2e4 e7e5",
        "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "k7/8/8/8/8/8/8/K6R w - - 99 80",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ];
    for seed in 0..6 {
        let mut random = Random(seed);
        let mut engine = Uci::ready_with(&["--backend=random"]);
        let mut searched: Vec<&str> = Vec::new();
        let mut position = "startpos";
        for _ in 0..150 {
            match random.below(9) {
                0 => {
                    position = random.choice(&POSITIONS);
                    engine.send(&super::driver::position_command(position));
                }
                1 => {
                    let option = random.choice(&[
                        "Threads value 1",
                        "Threads value 4",
                        "MinibatchSize value 1",
                        "MinibatchSize value 256",
                        "MultiPV value 3",
                        "MultiPV value 1",
                        "Backend value uniform",
                        "Backend value random",
                        "NNCacheSize value 0",
                        "NNCacheSize value 1000",
                        "TimeManager value smooth(init-nps=5)",
                        "ClearTree",
                    ]);
                    engine.send(&format!("setoption name {option}"));
                }
                2 => {
                    engine.send("ucinewgame");
                    position = "startpos";
                }
                3 => engine.send("stop"),
                4 => engine.send("ponderhit"),
                _ => {
                    let go = random.choice(&[
                        "infinite",
                        "nodes 1",
                        "nodes 500",
                        "depth 2",
                        "movetime 1",
                        "movetime 20",
                        "wtime 1 btime 1",
                        "wtime 2000 btime 2000 winc 10 binc 10",
                        "ponder wtime 100 btime 100",
                        "mate 1",
                        "searchmoves a2a3 e2e4 infinite",
                    ]);
                    searched.push(position);
                    engine.send(&format!("go {go}"));
                }
            }
        }
        engine.send("stop");
        for (index, position) in searched.iter().enumerate() {
            let answer = engine.answer(&game(position));
            let complaints = errors(&answer.lines);
            let known = |line: &&String| line.contains("searchmoves") || line.contains("ponderhit without go ponder");
            assert!(complaints.iter().all(known), "seed {seed}, {index}: {complaints:?}");
        }
        assert!(engine.reply().iter().all(|line| line.contains("ponderhit")), "seed {seed}");
        assert!(engine.quit().is_empty(), "seed {seed}");
    }
}

/// Games of random moves, so that the tree is now and then reused and now and then not; each position has one search.
#[test]
fn along_random_games() {
    // Where nearly every line is a draw by the fifty-move rule, ends of the game, draws and open moves meet at the
    // root.
    const QUEEN: &str = "8/5k2/8/8/8/2Q5/1K6/8 w - - 88 50";
    for (seed, backend, start, out_of_order) in [
        (1, "random", "startpos", true),
        (2, "uniform", "startpos", false),
        (3, "random", QUEEN, true),
        (4, "uniform", QUEEN, true),
        (5, "random", QUEEN, false),
        (6, "uniform", QUEEN, false),
    ] {
        let mut random = Random(seed);
        let out_of_order = format!("--out-of-order-eval={out_of_order}");
        let options =
            [format!("--backend={backend}"), out_of_order, "--multipv=4".into(), "--verbose-move-stats".into()];
        let mut engine = Uci::ready_with(&options);
        let mut position = format!("{start} moves");
        for ply in 0..120 {
            let moves = legal_moves(&game(if ply == 0 { start } else { &position }));
            let Some(bound) = Some(moves.len()).filter(|bound| *bound > 0) else { break };
            // A shuffling game meets repetitions and the fifty-move rule at the root.
            position = format!("{position} {}", moves[random.below(bound)]);
            let go = random.choice(&["go nodes 60", "go nodes 300", "go wtime 300 btime 300", "go movetime 5"]);
            let answer = engine.search(&position, go);
            assert!(errors(&answer.lines).is_empty(), "{position}: {:?}", answer.lines);
        }
        engine.quit();
    }
}

#[test]
fn draws_at_the_root_are_searched() {
    let mut engine = Uci::ready_with(&["--backend=random", "--threads=1", "--smart-pruning-factor=0"]);
    let mut moves = String::new();
    for ply in 0..120 {
        moves.push_str([" g1f3", " g8f6", " f3g1", " f6g8"][ply % 4]);
        let answer = engine.search(&format!("startpos moves{moves}"), "go nodes 40");
        assert!(answer.number("nodes") >= 40, "{:?}", answer.lines);
    }
    engine.quit();
}
