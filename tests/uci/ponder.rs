//! Thinking on the opponent's time: who is answered when, and by which clock.

use super::driver::{Answer, Uci, errors, game};
use std::time::{Duration, Instant};

const A_WHILE: Duration = Duration::from_millis(300);

/// The position that is pondered on, and the same with another reply.
const PREDICTED: &str = "startpos moves e2e4 e7e5";
const ANOTHER: &str = "startpos moves e2e4 c7c5";

fn silent(engine: &mut Uci) -> Vec<String> {
    let lines = engine.listen(A_WHILE);
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    lines
}

fn ponders(engine: &mut Uci, go: &str) {
    engine.send(&format!("position {PREDICTED}\n{go}"));
    let lines = silent(engine);
    assert!(lines.iter().all(|line| !line.starts_with("info string time ")), "no plan yet: {lines:?}");
}

#[test]
fn nothing_but_ponderhit_or_stop_gives_a_move() {
    for go in
        ["go ponder", "go ponder nodes 5", "go ponder depth 1", "go ponder movetime 1", "go ponder wtime 1 btime 1"]
    {
        for end in ["ponderhit", "stop", "ponderhit\nstop"] {
            let mut engine = Uci::uniform();
            ponders(&mut engine, go);
            engine.tell("isready");
            silent(&mut engine);
            engine.send(end);
            if (go, end) == ("go ponder", "ponderhit") {
                // It set no limit: this is an endless search now.
                silent(&mut engine);
                engine.send("stop");
            }
            engine.answer(&game(PREDICTED));
            assert!(engine.listen(A_WHILE).is_empty(), "{go} {end}");
            engine.quit();
        }
    }
}

// docs/documents.md, 4.8: the search goes on with what it has.
#[test]
fn the_clock_starts_at_ponderhit() {
    let mut engine = Uci::uniform();
    // It tells the nodes that it found.
    engine.send("setoption name TimeManager value smooth");
    engine.send("setoption name TimeManagerLog value true");
    let go = "go ponder wtime 4321 btime 9999 winc 10 binc 10";
    ponders(&mut engine, go);
    let hit = Instant::now();
    engine.send("ponderhit");
    let answer = engine.answer(&game(PREDICTED));
    let plan = answer.lines.iter().find(|line| line.starts_with("info string time ")).unwrap();
    assert!(plan.contains(" clock=4321ms "), "{plan}");
    let reused = plan.split(' ').find_map(|word| word.strip_prefix("reused_nodes=")).unwrap();
    assert_ne!(reused, "0nodes", "what was pondered counts: {plan}");
    assert!(answer.number("time") as u128 <= hit.elapsed().as_millis(), "{:?}", answer.lines.last());
    assert!(answer.number("nodes") > 100);
}

#[test]
fn a_second_ponderhit_is_nothing() {
    let mut engine = Uci::uniform();
    engine.complains("ponderhit", &["ponderhit"]);
    ponders(&mut engine, "go ponder");
    engine.send("ponderhit\nponderhit\nisready");
    let lines = engine.until("readyok");
    assert_eq!(errors(&lines).len(), 1, "{lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    engine.send("stop");
    engine.answer(&game(PREDICTED));
    engine.complains("ponderhit", &["ponderhit"]);
    engine.send("go infinite");
    silent(&mut engine);
    assert_eq!(errors(&engine.tell("ponderhit")).len(), 1, "an infinite search is no pondering");
    engine.send("stop");
    engine.answer(&game(PREDICTED));
    engine.plays();
}

#[test]
fn a_miss_finds_what_was_searched_before() {
    let mut engine = Uci::ready_with(&["--backend=random", "--threads=1", "--smart-pruning-factor=0"]);
    engine.search("startpos moves e2e4", "go nodes 5000");
    let visits = |engine: &mut Uci, position: &str| engine.search(position, "go nodes 1").number("nodes");
    ponders(&mut engine, "go ponder");
    engine.send("stop");
    let pondered = engine.answer(&game(PREDICTED)).number("nodes");
    let found = visits(&mut engine, ANOTHER);
    assert!(found > 20 && found < pondered, "{found} of {pondered}");
    // And a hit finds all of it, as does the move after the reply.
    let mut engine = Uci::ready_with(&["--backend=random", "--threads=1", "--smart-pruning-factor=0"]);
    ponders(&mut engine, "go ponder nodes 1");
    engine.send("stop");
    engine.answer(&game(PREDICTED));
    ponders(&mut engine, "go ponder nodes 9000");
    engine.send("ponderhit");
    let Answer { best, ponder, lines } = engine.answer(&game(PREDICTED));
    assert!(lines.iter().any(|line| line.contains(" nodes 9000 ")), "{lines:?}");
    let next = format!("{PREDICTED} {best} {}", ponder.unwrap());
    assert!(visits(&mut engine, &next) > 20);
}

#[test]
fn other_commands_while_pondering() {
    for command in [format!("position {ANOTHER}"), "ucinewgame".to_owned(), "setoption name ClearTree".to_owned()] {
        let mut engine = Uci::uniform();
        ponders(&mut engine, "go ponder wtime 1000 btime 1000");
        // The search is over, and every search has its answer.
        engine.send(&command);
        engine.answer(&game(PREDICTED));
        engine.complains("ponderhit", &["ponderhit"]);
        engine.plays();
        engine.quit();
    }
    let mut engine = Uci::uniform();
    ponders(&mut engine, "go ponder");
    engine.send("go nodes 10");
    engine.answer(&game(PREDICTED));
    engine.answer(&game(PREDICTED));
    ponders(&mut engine, "go ponder");
    engine.quit();
}

#[test]
fn without_a_network_the_answer_waits_all_the_same() {
    for end in ["ponderhit", "stop"] {
        let mut engine = Uci::start(&["--weights=no/such/network.pb.gz"]);
        engine.send(&format!("position {PREDICTED}\ngo ponder wtime 1000 btime 1000"));
        silent(&mut engine);
        engine.send(end);
        engine.answer(&game(PREDICTED));
        assert!(engine.listen(A_WHILE).is_empty(), "{end}");
        engine.quit();
    }
}

#[test]
fn stop_ends_the_wait_of_a_human_clock() {
    let mut engine = Uci::uniform();
    engine.send("setoption name NodesPerMove value 1\nsetoption name TimeManager value human(elo=1500)");
    // The mean of the move is far more than half a minute.
    engine.send("position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6\ngo wtime 36000000 btime 36000000");
    silent(&mut engine);
    engine.send("stop");
    let answer = engine.answer(&game("startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"));
    assert_eq!(answer.number("nodes"), 1);
    // A pondered move has no more nodes.
    engine.send("go ponder wtime 1000 btime 1000");
    silent(&mut engine);
    engine.send("ponderhit");
    let answer = engine.answer(&game("startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"));
    assert!(answer.number("nodes") <= 2, "{:?}", answer.lines);
    // Nothing waits without a clock.
    engine.send("go nodes 1");
    engine.answer(&game("startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"));
    engine.quit();
}

/// Nothing can come of such a search: its score is known at once, and told once. The move waits.
#[test]
fn a_finished_game_has_its_score_at_once() {
    for (fen, score) in [
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "info depth 0 score mate 0"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "info depth 0 score cp 0"),
    ] {
        for (go, end) in [
            ("go infinite", "stop"),
            ("go", "stop"),
            ("go ponder wtime 1000 btime 1000", "stop"),
            ("go ponder wtime 1000 btime 1000", "ponderhit"),
            ("go nodes 5", ""),
            ("go wtime 1000 btime 1000", ""),
        ] {
            let mut engine = Uci::uniform();
            engine.send(&format!("position fen {fen}\n{go}"));
            let mut lines = engine.until("info");
            while !lines.last().is_some_and(|line| line.starts_with("info depth")) {
                lines.extend(engine.until("info"));
            }
            assert_eq!(lines.last().unwrap(), score, "{go}");
            if !end.is_empty() {
                assert!(silent(&mut engine).is_empty(), "{go}");
                engine.send(end);
            }
            let rest = engine.answer(&game(fen));
            assert_eq!(rest.infos().count(), 0, "{go}: {:?}", rest.lines);
            engine.quit();
        }
    }
}

/// Batches are under way when the pondered move is played; the root that they began at must still be there.
#[test]
fn visits_on_their_way_at_ponderhit_are_counted() {
    let flags = ["--weights=zeitnot-tiny", "--threads=2", "--verbose-move-stats", "--smart-pruning-factor=0"];
    let mut engine = Uci::ready_with(&flags);
    for _ in 0..4 {
        engine.send("ucinewgame");
        let answer = engine.search("startpos", "go wtime 4000 btime 4000");
        let position = format!("startpos moves {} {}", answer.best, answer.ponder.unwrap());
        engine.send(&format!("position {position}\ngo ponder wtime 3000 btime 3000"));
        engine.listen(A_WHILE);
        engine.send("ponderhit");
        let answer = engine.answer(&game(&position));
        let counts = answer.lines.iter().filter(|line| line.contains(" N: ")).map(|line| {
            let number = |text: &str| text.trim().parse::<u64>().unwrap();
            let of_node = line.starts_with("info string node");
            (of_node, number(line.split(" N: ").nth(1).unwrap().split('(').next().unwrap()))
        });
        let counts: Vec<(bool, u64)> = counts.collect();
        let root = counts.iter().find(|(of_node, _)| *of_node).unwrap().1;
        let moves: u64 = counts.iter().filter(|(of_node, _)| !of_node).map(|(_, visits)| visits).sum();
        assert_eq!(root, moves + 1, "{:?}", answer.lines);
    }
    engine.quit();
}
