//! Analysis: what is shown was looked at, deeper is never shown as shallower, and a depth that is not there is not
//! waited for.

use super::driver::{Answer, Uci, errors, game, legal_moves, words_after};
use std::collections::HashMap;
use std::time::Duration;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// One move, because it was asked for or because there is no other: searched to the limit, and worth what it is worth.
#[test]
fn one_move_is_searched_to_the_limit() {
    let mut engine = Uci::ready_with(&["--threads=1"]);
    let mut scores = HashMap::new();
    for (position, mv) in [
        ("startpos", "g2g4"),
        ("startpos", "e2e4"),
        ("startpos", "f2f3"),
        (KIWIPETE, "e2a6"),
        (KIWIPETE, "e1g1"),
        // The king has one move.
        ("7k/8/8/8/8/1r6/8/K7 w - - 0 1", "a1a2"),
    ] {
        for go in [format!("go nodes 200 searchmoves {mv}"), format!("go searchmoves {mv} nodes 200")] {
            let answer = engine.search(position, &go);
            assert_eq!(answer.best, mv);
            assert_eq!(answer.number("nodes"), 200, "{position} {go}: {:?}", answer.lines);
            scores.insert((position, mv), answer.number("cp"));
        }
        engine.send("ucinewgame");
        let answer = engine.search(position, &format!("go depth 4 searchmoves {mv}"));
        assert!(answer.number("depth") >= 4, "{position} {mv}: {:?}", answer.lines);
        let answer = engine.search(position, &format!("go movetime 600 searchmoves {mv}"));
        assert!(answer.number("nodes") > 2, "{position} {mv}: {:?}", answer.lines);
    }
    assert!(scores[&("startpos", "g2g4")] < scores[&("startpos", "e2e4")] - 30, "{scores:?}");
    assert!(scores[&("startpos", "f2f3")] < scores[&("startpos", "e2e4")], "{scores:?}");
    engine.quit();
}

/// The only move runs into a mate, or gives one; nobody needs more visits to know.
#[test]
fn an_only_move_that_mates_or_is_mated_says_so() {
    let mut engine = Uci::ready_with(&["--threads=1"]);
    for (fen, score) in [
        ("8/8/8/8/8/5k2/4q3/7K w - - 0 1", "mate -1"),
        ("k7/8/1K6/8/8/8/8/7R b - - 0 1", "mate -1"),
        ("7K/8/6k1/8/8/8/8/r7 w - - 0 1", "mate -1"),
    ] {
        for go in ["go nodes 1000", "go depth 6", "go movetime 1500", "go mate 1 movetime 1500"] {
            let lines = engine.search(fen, go).lines;
            assert_eq!(legal_moves(&game(fen)).len(), 1, "{fen}");
            let last = lines.iter().rfind(|line| line.starts_with("info depth ")).unwrap();
            assert!(last.contains(&format!(" score {score} ")), "{fen} {go}: {last}");
        }
    }
    engine.quit();
}

/// Two legal moves, of which one loses at once: the other one is searched like an only one.
#[test]
fn the_only_move_that_does_not_lose_at_once_is_searched_to_the_limit() {
    let mut engine = Uci::ready_with(&["--threads=1"]);
    for (fen, mv) in [("8/8/8/8/8/2k5/7r/1K6 w - - 0 1", "b1a1"), ("1k6/7R/2K5/8/8/8/8/8 b - - 0 1", "b8a8")] {
        for go in ["go nodes 1000", "go movetime 1500", "go depth 8", "go mate 2"] {
            engine.send("ucinewgame");
            let answer = engine.search(fen, go);
            assert_eq!(answer.best, mv);
            let last = answer.infos().last().unwrap();
            assert!(last.contains(" score mate -2 "), "{fen} {go}: {last}");
        }
    }
    engine.quit();
}

/// Nobody mates, and that is proven.
#[test]
fn a_mate_that_is_not_there_is_not_waited_for() {
    let mut engine = Uci::ready_with(&["--threads=1"]);
    for fen in ["8/8/4k3/8/8/4K3/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/R3K2R w KQ - 99 80", "7k/8/5K2/6Q1/8/8/8/8 b - - 0 1"]
    {
        for go in ["go mate 1", "go mate 3"] {
            engine.search(fen, go);
        }
    }
    engine.quit();
}

/// Every line has a visit by its statistics, or is named as one that has none.
#[test]
fn lines_without_a_visit_are_named() {
    for multi_pv in [1, 3, 500] {
        let mut engine = Uci::ready_with(&[
            "--backend=random",
            "--threads=1",
            "--verbose-move-stats",
            &format!("--multipv={multi_pv}"),
        ]);
        for position in ["startpos", KIWIPETE, "7k/8/8/8/8/1r6/8/K7 w - - 0 1"] {
            for go in [
                "go nodes 1",
                "go nodes 2",
                "go nodes 9",
                "go nodes 400",
                "go depth 1",
                "go wtime 60000 btime 60000 nodes 2",
            ] {
                engine.send("ucinewgame");
                let answer = engine.search(position, go);
                let visits: HashMap<&str, u64> = (answer.move_stats().iter())
                    .map(|line| {
                        (
                            line.split(' ').next().unwrap(),
                            words_after(line, "N:").find_map(|word| word.parse().ok()).unwrap(),
                        )
                    })
                    .collect();
                let count = legal_moves(&game(position)).len().min(multi_pv);
                let infos: Vec<&String> = answer.infos().collect();
                let without = infos[infos.len() - count..]
                    .iter()
                    .filter(|line| {
                        let first = words_after(line, "pv").next().unwrap();
                        // Castling is written as king takes rook there.
                        visits[match first {
                            "e1g1" => "e1h1",
                            "e1c1" => "e1a1",
                            mv => mv,
                        }] == 0
                    })
                    .count();
                // An earlier report, which a slow machine makes within a short search, has a line of its own.
                let mut after = answer.lines.iter().rev().take_while(|line| !line.starts_with("info depth"));
                let said = after.find(|line| line.contains(" no visit: "));
                let named = said.map_or(0, |line| {
                    let numbers: Vec<usize> =
                        words_after(line, "multipv").take(3).filter_map(|word| word.parse().ok()).collect();
                    1 + numbers.last().unwrap_or(&0) - numbers.first().unwrap_or(&0)
                });
                assert_eq!(named, without, "{position} {go} {multi_pv}: {:?}", answer.lines);
            }
        }
        engine.quit();
    }
}

/// On a clock there is nothing to think about.
#[test]
fn an_only_move_is_played_at_once_on_a_clock() {
    let mut engine = Uci::ready_with(&["--threads=1"]);
    for go in ["go wtime 600000 btime 600000", "go wtime 600000 btime 600000 winc 1000 binc 1000 movestogo 10"] {
        engine.send("ucinewgame");
        let answer = engine.search("7k/8/8/8/8/1r6/8/K7 w - - 0 1", go);
        assert_eq!(answer.best, "a1a2");
        assert!(answer.number("nodes") < 100, "{:?}", answer.lines);
    }
    engine.quit();
}

/// A game looked through move by move, as GUIs do: En Croissant shows nothing of a line less deep than the one before.
#[test]
fn depth_does_not_fall_within_a_game() {
    for multi_pv in [1, 3] {
        let mut engine = Uci::ready_with(&["--backend=random", "--threads=2", &format!("--multipv={multi_pv}")]);
        for opening in ["startpos", KIWIPETE, "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 99 50"] {
            engine.send("ucinewgame");
            let (mut position, mut deepest) = (opening.to_owned(), 0);
            for moves in 0..12 {
                // The tree goes on by the line that was searched.
                let answer = engine.search(&position, if moves % 2 == 0 { "go nodes 3000" } else { "go movetime 300" });
                for line in answer.infos() {
                    let depth = |key: &str| words_after(line, key).next().unwrap().parse::<u32>().unwrap();
                    assert!(depth("depth") >= deepest, "{position}: {line}");
                    assert!(depth("seldepth") >= depth("depth"), "{line}");
                    deepest = depth("depth");
                }
                let Some(reply) = answer.ponder.filter(|_| answer.best != "(none)") else { break };
                let word = if moves == 0 { " moves" } else { "" };
                position += &format!("{word} {} {reply}", answer.best);
            }
            // The next game has a tree of its own.
            engine.send("ucinewgame");
            let answer = engine.search("startpos", "go nodes 20");
            assert!(answer.number("depth") < 5, "{:?}", answer.lines);
        }
        engine.quit();
    }
}

/// A search so slow that nothing changes for long, and one that changes all the time. The bounds are for a busy
/// machine: Lc0's 5 s and a report for each look are beyond them.
#[test]
fn reports_come_neither_seldom_nor_in_floods() {
    for option in ["--nps-limit=3", "--nps-limit=0"] {
        let mut engine = Uci::ready_with(&["--backend=random", "--threads=1", option]);
        engine.send("position startpos\ngo infinite");
        let lines = engine.listen(Duration::from_secs(6));
        let times: Vec<u64> = lines.iter().filter_map(|line| words_after(line, "time").next()?.parse().ok()).collect();
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest.is_some_and(|ms| ms < 3_000) && times.len() <= 70, "{option}: {times:?}");
        engine.send("stop");
        engine.answer(&game("startpos"));
        engine.quit();
    }
}

/// All lines end before the depth: by the fifty-move rule, or because nobody can go on without a repetition.
#[test]
fn a_depth_beyond_the_end_of_all_lines_is_not_waited_for() {
    for options in [&["--threads=1"], &["--threads=2"]] {
        let mut engine = Uci::ready_with(&[&["--backend=random", "--smart-pruning-factor=0"], &options[..]].concat());
        for fen in [
            "8/5k2/8/8/8/2R5/1K6/8 w - - 90 80",
            "8/5k2/6r1/8/8/2R5/1K6/8 b - - 90 80",
            "8/5k2/8/8/8/2Q5/1K6/8 w - - 96 80",
            "8/5k2/2n5/8/8/2N1B3/1K6/8 w - - 90 80",
        ] {
            let answer = engine.search(fen, "go depth 30");
            assert!(errors(&answer.lines).is_empty(), "{fen}: {:?}", answer.lines);
        }
        engine.quit();
    }
}

/// The moves and scores of the last report.
fn lines(answer: &Answer, multi_pv: usize) -> Vec<(String, String)> {
    let infos: Vec<&String> = answer.infos().collect();
    let word = |line: &str, key| words_after(line, key).next().unwrap().to_owned();
    let score = |line: &str| words_after(line, "score").take(2).collect::<Vec<_>>().join(" ");
    infos[infos.len() - multi_pv..].iter().map(|line| (word(line, "pv"), score(line))).collect()
}

/// A win that is found is one line of several, and the others are searched all the same.
#[test]
fn all_lines_are_searched_to_their_end() {
    const FOUR_MATES: &str = "k7/2Q5/1K6/8/8/8/8/8 w - - 0 1";
    for network in ["zeitnot-small", "zeitnot-tiny"] {
        for multi_pv in [4, 3, 2] {
            let mut engine =
                Uci::ready_with(&["--threads=1", &format!("--weights={network}"), &format!("--multipv={multi_pv}")]);
            for go in ["go nodes 20000", "go movetime 2000", "go depth 12", "go mate 1"] {
                engine.send("ucinewgame");
                let answer = engine.search(FOUR_MATES, go);
                let shown = lines(&answer, multi_pv);
                assert!(shown.iter().all(|(_, score)| score == "mate 1"), "{network} {go}: {shown:?}");
                // There is no more to be found.
                assert!(answer.number("nodes") < 10_000, "{network} {go}: {:?}", answer.lines);
            }
            engine.quit();
        }
    }
}

/// Whatever ends a search early, no line is shown that was not searched.
#[test]
fn an_early_end_waits_for_the_lines() {
    for (fen, first) in [
        ("k7/2Q5/1K6/8/8/8/8/8 w - - 0 1", "mate 1"),
        ("6k1/5ppp/8/8/8/8/8/1R4K1 w - - 0 1", "mate 1"),
        ("7k/8/8/8/8/1r6/8/K7 w - - 0 1", ""),
    ] {
        let mut engine = Uci::ready_with(&["--threads=1", "--weights=zeitnot-tiny", "--multipv=4"]);
        for manager in ["smooth", "legacy"] {
            engine.send(&format!("ucinewgame\nsetoption name TimeManager value {manager}"));
            let answer = engine.search(fen, "go wtime 60000 btime 60000");
            let after = answer.lines.iter().rev().take_while(|line| !line.starts_with("info depth"));
            assert!(after.clone().all(|line| !line.contains(" no visit: ")), "{fen} {manager}: {:?}", answer.lines);
            let multi_pv = legal_moves(&game(fen)).len().min(4);
            assert!(lines(&answer, multi_pv)[0].1.starts_with(first), "{fen} {manager}: {:?}", answer.lines);
        }
        engine.quit();
    }
}

#[test]
fn a_second_line_has_its_own_mate() {
    const FEN: &str = "8/8/8/8/8/2k5/3q4/1K6 b - - 0 1";
    for network in ["zeitnot-small", "zeitnot-tiny"] {
        for (multi_pv, mates) in [(2, &["mate 1", "mate 2"][..]), (3, &["mate 1", "mate 2", "mate 2"])] {
            let mut engine =
                Uci::ready_with(&["--threads=1", &format!("--weights={network}"), &format!("--multipv={multi_pv}")]);
            let shown = lines(&engine.search(FEN, "go nodes 2000"), multi_pv);
            assert!(shown.iter().map(|(_, score)| score).eq(mates), "{network}: {shown:?}");
            engine.quit();
        }
    }
}
