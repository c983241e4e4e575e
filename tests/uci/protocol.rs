//! The commands and the order of things: who answers when, and how it ends.

use super::driver::{Answer, Uci, errors, game};
use std::collections::BTreeMap;
use std::time::Duration;

/// Long enough for a search over `uniform` to be under way, or for a stray line to come.
const A_WHILE: Duration = Duration::from_millis(300);

#[test]
fn uci_names_the_engine_and_lists_its_options() {
    // Without a network and without looking for one.
    let mut engine = Uci::start(&["--weights=no/such/file"]);
    let lines = engine.ask("uci", "uciok");
    let name = lines[0].strip_prefix("id name ").unwrap();
    assert!(name.starts_with("Zeitnot ") && name.ends_with(" (Lc0)"), "{name}");
    assert!(name.len() <= 23, "xboard cuts it: {name}");
    assert!(lines[1].starts_with("id author "), "{}", lines[1]);
    let options = &lines[2..lines.len() - 1];
    assert!(options.iter().all(|line| line.starts_with("option name ")), "{options:?}");
    for name in ["WeightsFile", "Threads", "TimeManager", "Move Overhead", "MultiPV", "UCI_Chess960", "ClearTree"] {
        let named = |line: &&String| line.starts_with(&format!("option name {name} type "));
        assert_eq!(options.iter().filter(named).count(), 1, "{name}");
    }
    engine.quit();
}

#[test]
fn the_subcommand_is_the_same_engine() {
    let mut engine = Uci::start(&["uci"]);
    engine.ask("uci", "uciok");
    engine.quit();
}

#[test]
fn ready_also_during_a_search() {
    let mut engine = Uci::uniform();
    engine.send("go infinite");
    for _ in 0..3 {
        let lines = engine.reply();
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    }
    engine.send("stop");
    engine.until("bestmove");
    engine.quit();
}

#[test]
fn stop_gives_one_answer() {
    let mut engine = Uci::uniform();
    engine.send("go infinite");
    engine.listen(A_WHILE);
    engine.send("stop\nstop");
    engine.answer(&game("startpos"));
    engine.send("stop");
    assert!(engine.listen(A_WHILE).is_empty());
    assert!(engine.quit().is_empty());
}

#[test]
fn stop_before_any_search_is_nothing() {
    let mut engine = Uci::uniform();
    assert!(engine.tell("stop").is_empty());
    engine.plays();
}

#[test]
fn every_go_has_its_answer() {
    let mut engine = Uci::uniform();
    engine.send("go infinite\ngo infinite\ngo nodes 50");
    for _ in 0..3 {
        engine.answer(&game("startpos"));
    }
    assert!(engine.listen(A_WHILE).is_empty());
}

#[test]
fn infinite_waits_to_be_asked() {
    for position in [
        // A mate in one, a single legal move, a dead draw, a mate and a stalemate.
        "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
        "7k/8/8/8/8/8/6q1/7K w - - 0 1",
        "8/8/4k3/8/8/3K4/8/8 w - - 0 1",
        "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ] {
        for go in
            ["go infinite", "go infinite nodes 5", "go infinite movetime 1", "go", "go ponder wtime 100 btime 100"]
        {
            let mut engine = Uci::uniform();
            engine.send(&format!("position fen {position}\n{go}"));
            let early = engine.listen(A_WHILE);
            assert!(early.iter().all(|line| !line.starts_with("bestmove")), "{position}: {early:?}");
            engine.send("stop");
            engine.answer(&game(position));
            engine.quit();
        }
    }
}

#[test]
fn a_finished_game_has_no_move() {
    let mut engine = Uci::uniform();
    for position in ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"] {
        for go in ["go nodes 10", "go wtime 1000 btime 1000", "go movetime 10", "go depth 3", "go mate 2"] {
            assert_eq!(engine.search(position, go).best, "(none)", "{position} {go}");
        }
    }
    engine.plays();
}

#[test]
fn the_only_clock_told_is_that_of_the_move() {
    let mut engine = Uci::uniform();
    for (position, go, line) in [
        ("startpos", "go btime 300", "go has no wtime: btime is taken for it"),
        ("startpos moves e2e4", "go wtime 300 winc 10", "go has no btime: wtime is taken for it"),
        ("startpos", "go btime 300 movestogo 9", "go has no wtime: btime is taken for it"),
    ] {
        let answer = engine.search(position, go);
        assert_eq!(errors(&answer.lines), [&format!("info string ERROR: {line}")], "{go}");
        assert!(answer.lines.iter().any(|line| line.starts_with("info string time smooth: clock=300ms")), "{go}");
    }
    assert!(errors(&engine.search("startpos", "go wtime 300").lines).is_empty());
    engine.quit();
}

#[test]
fn commands_that_end_a_search_answer_it_first() {
    for command in ["position startpos moves e2e4", "ucinewgame", "setoption name ClearTree"] {
        let mut engine = Uci::uniform();
        engine.send("go infinite");
        engine.listen(A_WHILE);
        engine.send(command);
        engine.answer(&game("startpos"));
        assert!(engine.reply().is_empty(), "{command}");
        engine.plays();
        engine.quit();
    }
}

#[test]
fn a_bad_position_leaves_the_search_alone() {
    let mut engine = Uci::uniform();
    engine.send("go infinite");
    let lines = engine.tell("position startpos moves e2e5");
    assert_eq!(errors(&lines).len(), 1, "{lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    engine.send("stop");
    engine.answer(&game("startpos"));
}

#[test]
fn options_set_during_a_search_hold_from_the_next_one() {
    let mut engine = Uci::uniform();
    engine.send("go infinite");
    for option in ["MultiPV value 3", "Threads value 3", "MinibatchSize value 7", "Backend value random"] {
        engine.send(&format!("setoption name {option}"));
    }
    engine.send("stop");
    let before = engine.answer(&game("startpos"));
    assert!(before.infos().all(|line| !line.contains(" multipv ")), "{:?}", before.lines);
    let after = engine.search("startpos", "go nodes 100");
    assert!(after.lines[0].contains("info string random"), "{:?}", after.lines);
    assert!(after.infos().any(|line| line.contains(" multipv 3 ")), "{:?}", after.lines);
}

#[test]
fn movetime_ends_the_search_for_a_mate() {
    let mut engine = Uci::uniform();
    engine.search("startpos", "go movetime 50 mate 1");
    engine.send("go movetime 50 mate 1\nwait\nisready");
    let lines = engine.until("readyok");
    assert_eq!(lines.iter().filter(|line| line.starts_with("bestmove")).count(), 1, "{lines:?}");
    assert!(errors(&lines).is_empty(), "{lines:?}");
}

#[test]
fn wait_does_not_wait_for_a_mate_that_may_not_be_there() {
    let mut engine = Uci::uniform();
    engine.send("position startpos\ngo mate 1");
    engine.complains("wait", &["wait", "stop"]);
    engine.ask("stop", "bestmove");
    // With another limit the search ends by itself.
    for go in ["go mate 1 nodes 100", "go mate 1 depth 2", "go mate 1 wtime 1000 btime 1000"] {
        let lines = engine.tell(&format!("{go}\nwait"));
        assert!(errors(&lines).is_empty() && lines.iter().any(|line| line.starts_with("bestmove")), "{go}: {lines:?}");
    }
    engine.plays();
}

#[test]
fn wait_waits_for_the_answer() {
    let mut engine = Uci::uniform();
    engine.send("go nodes 1000\nwait\nisready");
    let lines = engine.until("readyok");
    assert!(lines.iter().any(|line| line.starts_with("bestmove ")), "{lines:?}");
}

#[test]
fn quit_ends_it() {
    assert!(Uci::start(&[""; 0]).quit().is_empty());
    let mut engine = Uci::uniform();
    engine.send("go infinite");
    engine.listen(A_WHILE);
    engine.quit();
}

#[test]
fn the_end_of_the_input_ends_it() {
    assert!(Uci::start(&[""; 0]).hang_up().is_empty());
    for go in ["go infinite", "go wtime 600000 btime 600000", "go ponder", "go mate 9"] {
        let mut engine = Uci::uniform();
        engine.send(go);
        engine.listen(A_WHILE);
        let last = engine.hang_up();
        // A GUI that is gone needs no answer, but `echo ... | zeitnot` shows one.
        assert!(last.last().is_some_and(|line| line.starts_with("bestmove ")), "{go}: {last:?}");
    }
}

#[test]
fn both_line_endings_and_stray_blanks() {
    let mut engine = Uci::uniform();
    engine.send("position   startpos\tmoves  e2e4 \r");
    engine.send("  go   nodes 10  \r");
    engine.answer(&game("startpos moves e2e4"));
    assert!(errors(&engine.tell("\r")).is_empty());
}

/// The counts of the start position are well known: 197,281 leaves at depth 4, 13,160 of them behind e2e4.
#[test]
fn perft_counts_the_leaves_behind_each_move() {
    let mut engine = Uci::ready_with(&["--backend=random"]);
    engine.send("position startpos");
    let mut lines = engine.tell("go perft 4");
    assert_eq!(lines.pop().unwrap(), "Nodes searched: 197281");
    assert_eq!(lines.pop().unwrap(), "");
    let counts: BTreeMap<&str, u64> = lines
        .iter()
        .map(|line| line.split_once(": ").unwrap())
        .map(|(mv, leaves)| (mv, leaves.parse().unwrap()))
        .collect();
    assert_eq!((lines.len(), counts.len()), (20, 20), "{lines:?}");
    assert_eq!((counts["e2e4"], counts.values().sum::<u64>()), (13_160, 197_281), "{lines:?}");
    engine.quit();
}

/// The moves of a short game, each answered by the engine itself: the tree goes on from move to move.
#[test]
fn a_game_from_move_to_move() {
    let mut engine = Uci::ready_with(&["--backend=random", "--threads=2"]);
    for round in 0..2 {
        engine.send("ucinewgame");
        let mut moves = String::new();
        for _ in 0..30 {
            let position = if moves.is_empty() { "startpos".to_owned() } else { format!("startpos moves{moves}") };
            if game(&position).current().legal_moves().is_empty() {
                break;
            }
            let Answer { best, .. } = engine.search(&position, "go nodes 200");
            moves = format!("{moves} {best}");
        }
        assert!(moves.split_whitespace().count() > 4, "round {round}: {moves}");
    }
    engine.quit();
}
