//! Tests levels of strength, and a Maia that plays as people do, under the protocol.

use super::driver::{Answer, Uci, errors, game, words_after};
use std::collections::BTreeSet;

const CLOCK: &str = "go wtime 60000 btime 60000";
const MAIA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/nets/maia-1900.pb.gz");

fn notes<'a>(answer: &'a Answer, start: &str) -> Vec<&'a String> {
    answer.lines.iter().filter(|line| line.starts_with(&format!("info string {start}"))).collect()
}

#[test]
fn a_level_plays_few_nodes_and_says_so_once() {
    let flags = ["--limit-strength", "--uci-elo=2600", "--weights=zeitnot-tiny", "--smart-pruning-factor=0"];
    let mut engine = Uci::ready_with(&flags);
    let answer = engine.search("startpos", CLOCK);
    assert_eq!(notes(&answer, "limited to Elo 2600").len(), 1, "{:?}", answer.lines);
    assert_eq!(answer.number("nodes"), 480);
    for go in [CLOCK, "go movetime 20000", "go depth 60", "go nodes 100000"] {
        let answer = engine.search("startpos", go);
        assert_eq!((answer.number("nodes"), notes(&answer, "limited").len()), (480, 0), "{go}");
    }
    assert_eq!(engine.search("startpos", "go nodes 50").number("nodes"), 50);
    engine.tell("setoption name UCI_Elo value 1500");
    let answer = engine.search("startpos", CLOCK);
    assert_eq!(answer.number("nodes"), 1);
    // Analysis before does not help the level, nor is analysis limited.
    engine.tell("setoption name UCI_LimitStrength value false");
    assert!(engine.search("startpos", "go nodes 900").number("nodes") >= 900);
    engine.tell("setoption name UCI_LimitStrength value true");
    assert_eq!(engine.search("startpos", CLOCK).number("nodes"), 1);
    engine.quit();
}

#[test]
fn a_level_holds_for_a_move_that_was_pondered() {
    let mut engine = Uci::ready_with(&["--skill-level=19", "--backend=uniform"]);
    engine.send("position startpos moves e2e4");
    engine.send("go ponder wtime 60000 btime 60000");
    engine.send("ponderhit");
    let lines = engine.until("bestmove");
    let nodes = lines.iter().rev().find_map(|line| {
        let mut words = line.split(' ');
        words.find(|word| *word == "nodes").and_then(|_| words.next()?.parse::<u64>().ok())
    });
    assert!(nodes.is_some_and(|nodes| (130..=480).contains(&nodes)), "{lines:?}");
    engine.quit();
}

/// GUIs offer the levels of other engines: what was not measured here is as near as it can be.
#[test]
fn a_level_outside_of_what_was_measured_is_the_nearest() {
    let mut engine = Uci::ready_with(&["--limit-strength", "--weights=zeitnot-tiny"]);
    for (option, value, taken, level) in [
        ("UCI_Elo", "500", "600", "600"),
        ("uci_elo", "99999999999999999999", "2600", "2600"),
        ("UCI_Elo", "-5", "600", "600"),
        ("Skill Level", "-9", "0", "600"),
        ("Skill Level", "21", "20", ""),
    ] {
        engine.tell(&format!("setoption name UCI_LimitStrength value {}", option != "Skill Level"));
        let said = engine.tell(&format!("setoption name {option} value {value}"));
        let expected = format!("info string option {option}: {value} is out of its range, {taken} is taken");
        assert_eq!(said.first(), Some(&expected), "{said:?}");
        // A level is told where it is another one.
        engine.tell("setoption name RandomSeed value 7");
        let answer = engine.search("startpos", CLOCK);
        assert!(notes(&answer, "limited").iter().all(|line| line.contains(&format!("Elo {level} "))), "{said:?}");
        assert_eq!(answer.number("nodes") > 480, level.is_empty(), "{option} {value}: {:?}", answer.lines);
    }
    for (option, value) in [("UCI_Elo", "low"), ("UCI_Elo", "1500.5"), ("Skill Level", "")] {
        engine.complains(&format!("setoption name {option} value {value}"), &[option, &format!("\"{value}\"")]);
    }
    engine.quit();
}

/// A GUI takes the first line of the last report for that of the move.
#[test]
fn the_line_that_is_shown_is_that_of_the_move_played() {
    let mut others = 0;
    for level in ["--uci-elo=1000", "--uci-elo=1900"] {
        for multi_pv in [1, 3] {
            let flags = ["--limit-strength", level, "--weights=zeitnot-tiny", "--random-seed=1"];
            let mut engine = Uci::ready_with(&[&flags[..], &[&format!("--multipv={multi_pv}")]].concat());
            for opening in ["startpos", "startpos moves e2e4", "startpos moves d2d4 d7d5", "startpos moves c2c4 e7e5"] {
                for _ in 0..8 {
                    let answer = engine.search(opening, CLOCK);
                    let infos: Vec<&String> = answer.infos().collect();
                    let last = &infos[infos.len() - multi_pv..];
                    let firsts: Vec<&str> = last.iter().map(|line| words_after(line, "pv").next().unwrap()).collect();
                    assert_eq!(firsts[0], answer.best, "{:?}", answer.lines);
                    assert_eq!(firsts.iter().collect::<BTreeSet<_>>().len(), multi_pv, "{:?}", answer.lines);
                    let score = |line: &str| words_after(line, "cp").next().unwrap().parse::<i32>().unwrap();
                    others += usize::from(multi_pv == 3 && score(last[1]) > score(last[0]));
                }
            }
            engine.quit();
        }
    }
    assert!(others > 0, "some moves were drawn that are not the best");
}

#[test]
fn a_level_that_is_set_during_a_search_is_told_to_count_later() {
    for go in ["go ponder wtime 60000 btime 60000", "go infinite"] {
        let mut engine = Uci::uniform();
        engine.send(&format!("position startpos\n{go}"));
        for (option, value) in [("UCI_LimitStrength", "true"), ("UCI_Elo", "1200"), ("Skill Level", "3")] {
            let told = format!("info string option {option}: it counts from the next move on");
            let lines = engine.tell(&format!("setoption name {option} value {value}"));
            assert!(lines.contains(&told), "{go}: {lines:?}");
            let again = engine.tell(&format!("setoption name {option} value {value}"));
            assert!(!again.contains(&told), "nothing changed: {again:?}");
        }
        engine.send("stop");
        engine.answer(&game("startpos"));
        let later = engine.tell("setoption name UCI_Elo value 1300");
        assert!(later.iter().all(|line| !line.contains("it counts from")), "no search is running: {later:?}");
        engine.quit();
    }
}

#[test]
fn a_missing_network_is_told_at_a_level() {
    let mut engine = Uci::start(&["--limit-strength", "--weights=missing.pb.gz"]);
    let lines = engine.ask("isready", "readyok");
    assert!(errors(&lines).iter().any(|line| line.contains("missing.pb.gz")), "{lines:?}");
    engine.quit();
}

#[cfg_attr(not(shared), ignore = "needs ../shared")]
#[test]
fn a_maia_plays_as_people_do() {
    let mut engine = Uci::ready_with(&["--weights", MAIA]);
    // As GUIs send them.
    for option in ["NodesPerMove value 0", "TimeManager value smooth", "Temperature value 0"] {
        engine.tell(&format!("setoption name {option}"));
    }
    let answer = engine.search("startpos", "go wtime 2000 btime 2000");
    assert_eq!(answer.number("nodes"), 1);
    assert_eq!(notes(&answer, "this Maia plays as people rated 1900 do: one node a move, Temperature 1.00").len(), 1);
    assert_eq!(notes(&answer, "time human").len(), 1, "{:?}", answer.lines);
    // Smart pruning may spare the last ones.
    assert!(engine.search("startpos", "go nodes 200").number("nodes") > 100);
    engine.tell("setoption name NodesPerMove value 30");
    assert_eq!(engine.search("startpos moves e2e4 e7e5", "go wtime 60000 btime 60000").number("nodes"), 30);
    engine.quit();
}

/// The words of pychess, of polyglot (xboard) and of python-chess (lichess-bot) for three minutes without an increment.
#[cfg_attr(not(shared), ignore = "needs ../shared")]
#[test]
fn a_maia_plays_one_visit_whatever_way_a_client_sends_its_clock() {
    for (options, go) in [
        (&["Ponder value false"][..], "go wtime 3000 winc 0 btime 3000 binc 0"),
        (&["Hash value 68", "UCI_AnalyseMode value false"], "go wtime 3000 btime 3000"),
        (&["Hash value 68"], "go wtime 3000 btime 3000 movestogo 40"),
        (&["Move Overhead value 100", "UCI_ShowWDL value true"], "go wtime 3000 btime 3000 winc 0 binc 0"),
    ] {
        let mut engine = Uci::ready_with(&["--weights", MAIA]);
        for option in options {
            engine.tell(&format!("setoption name {option}"));
        }
        for moves in ["startpos", "startpos moves e2e4 e7e5"] {
            let answer = engine.search(moves, go);
            assert_eq!((answer.number("nodes"), notes(&answer, "time human").len()), (1, 1), "{go}");
        }
        engine.quit();
    }
}

#[test]
fn a_clock_within_the_overhead_is_searched_and_won_games_are_won() {
    let mut engine = Uci::ready_with(&["--weights=zeitnot-tiny"]);
    let mut told = 0;
    for _ in 0..3 {
        let answer = engine.search("5K2/8/4Q3/8/8/8/8/k7 w - - 0 1", "go wtime 150 btime 60000 winc 100 binc 100");
        assert!(!["e6b3", "e6a2"].contains(&answer.best.as_str()), "{:?}", answer.lines);
        told += notes(&answer, "the clock has less than Move Overhead").len();
    }
    assert_eq!(told, 1);
    engine.quit();
}
