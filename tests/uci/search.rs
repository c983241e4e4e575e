//! Tests the searches that `go` asks for, and their reports.

use super::driver::{Uci, errors, game, legal_moves, words_after};
use std::collections::BTreeSet;
use zeitnot_engine::chess::{parse_uci, to_uci};

/// One worker, and nothing that ends a search before its limit.
const EXACT: [&str; 4] = ["--backend=random", "--threads=1", "--minibatch-size=8", "--smart-pruning-factor=0"];

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

#[test]
fn every_limit_ends_the_search() {
    let mut engine = Uci::uniform();
    for go in [
        "go wtime 1000 btime 1000 winc 10 binc 10",
        "go wtime 1000 btime 1000 movestogo 1",
        "go wtime 1 btime 1",
        "go wtime 0 btime 0 winc 0 binc 0",
        "go movetime 0",
        "go movetime 1",
        "go movetime 250",
        "go nodes 0",
        "go nodes 1",
        "go nodes 1000",
        "go depth 0",
        "go depth 3",
        "go nodes 100000000 movetime 250",
        "go depth 99 nodes 500",
        "go mate 5 nodes 500",
    ] {
        for position in ["startpos", KIWIPETE, "startpos moves e2e4"] {
            let answer = engine.search(position, go);
            assert!(errors(&answer.lines).is_empty(), "{go}: {:?}", answer.lines);
            let plans = answer.lines.iter().filter(|line| line.starts_with("info string time ")).count();
            assert_eq!(plans, usize::from(go.contains("wtime")), "{go}: {:?}", answer.lines);
            // A clock within the overhead is told of once.
            let first = answer.lines.iter().find(|line| !line.contains("Move Overhead")).unwrap();
            assert!(plans == 0 || first.starts_with("info string time "), "{go}: {:?}", answer.lines);
        }
    }
    engine.quit();
}

#[test]
fn nodes_are_counted_to_the_last() {
    let mut engine = Uci::ready_with(&EXACT);
    for nodes in [1, 2, 3, 7, 8, 9, 100, 777, 2000] {
        engine.send("ucinewgame");
        let go = format!("go nodes {nodes}");
        assert_eq!(engine.search(KIWIPETE, &go).number("nodes"), nodes);
        // The tree has them already.
        assert_eq!(engine.search(KIWIPETE, &go).number("nodes"), nodes);
    }
    engine.quit();
}

/// However many workers there are, the limit is neither missed nor passed, and no visit stays on its way.
#[test]
fn nodes_are_counted_among_workers_too() {
    for threads in 1..=4 {
        for size in [1, 5, 256] {
            let options = [format!("--threads={threads}"), format!("--minibatch-size={size}")];
            let fixed = ["--backend=random", "--smart-pruning-factor=0"].map(str::to_owned);
            let mut engine = Uci::ready_with(&[&options[..], &fixed].concat());
            for nodes in [1, 2, 50, 1000] {
                engine.send("ucinewgame");
                let answer = engine.search("startpos", &format!("go nodes {nodes}"));
                assert_eq!(answer.number("nodes"), nodes, "{options:?}");
            }
            engine.quit();
        }
    }
}

#[test]
fn playouts_are_those_of_this_search() {
    let mut engine = Uci::ready_with(&[&EXACT[..], &["--nodes-as-playouts"]].concat());
    assert_eq!(engine.search("startpos", "go nodes 100").number("nodes"), 100);
    assert_eq!(engine.search("startpos", "go nodes 50").number("nodes"), 150);
}

#[test]
fn one_thread_repeats_itself() {
    let run = || {
        let mut engine = Uci::ready_with(&EXACT);
        let answer = engine.search(KIWIPETE, "go nodes 500");
        let line = answer.infos().last().unwrap();
        (answer.best.clone(), words_after(line, "pv").map(str::to_owned).collect::<Vec<_>>())
    };
    assert_eq!(run(), run());
}

#[test]
fn mates_in_one_are_found() {
    let mut engine = Uci::ready_with(&["--backend=uniform", "--verbose-move-stats"]);
    for (position, mate) in [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8"),
        ("7k/8/6K1/8/8/8/8/R7 w - - 98 90", "a1a8"),
        ("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", "a8a1"),
        ("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", "d8h4"),
    ] {
        for go in ["go nodes 1000", "go mate 1", "go wtime 10000 btime 10000", "go movetime 1000"] {
            let answer = engine.search(position, go);
            assert_eq!(answer.best, mate, "{position} {go}");
            assert!(answer.infos().last().unwrap().contains(" score mate 1 "), "{:?}", answer.lines);
            assert!(answer.move_stats().iter().any(|line| line.starts_with(mate) && line.contains("(T)")));
        }
    }
    // Mate in two, and being mated in one whatever one does.
    let answer = engine.search("7k/8/5K2/8/8/8/8/R7 w - - 0 1", "go mate 2");
    assert!(answer.infos().last().unwrap().contains(" score mate 2 "), "{:?}", answer.lines);
    engine.send("setoption name SmartPruningFactor value 0");
    let answer = engine.search("8/8/8/8/8/6k1/r7/7K w - - 0 1", "go nodes 500");
    assert!(answer.infos().last().unwrap().contains(" score mate -1 "), "{:?}", answer.lines);
    engine.quit();
}

/// Every move draws by the fifty-move rule: there is no depth to be had.
#[test]
fn a_depth_that_is_not_there_is_not_waited_for() {
    for options in [&["--minibatch-size=1"][..], &["--out-of-order-eval=false"], &["--threads=2"]] {
        let mut engine = Uci::ready_with(&[&["--backend=random", "--smart-pruning-factor=0"], options].concat());
        let position = "8/5k2/8/8/8/2Q5/1K6/8 w - - 99 80";
        assert_eq!(engine.search(position, "go depth 9").number("depth"), 1);
        // And who waits for stop hears something meanwhile.
        engine.send("go infinite");
        engine.until("info");
        engine.send("stop");
        engine.answer(&game(position));
        engine.quit();
    }
}

#[test]
fn searchmoves_are_kept_to() {
    let mut engine = Uci::ready_with(&["--backend=random", "--multipv=20", "--threads=2"]);
    // The tree of a free search must not lead the next one astray.
    engine.search("startpos", "go nodes 500");
    for moves in [&["a2a3"][..], &["h2h4", "b1a3"], &["a2a4", "a2a4", "g1h3"]] {
        for go in ["nodes 900", "movetime 300", "wtime 500 btime 500"] {
            // On either side of the limit.
            for go in
                [format!("go {go} searchmoves {}", moves.join(" ")), format!("go searchmoves {} {go}", moves.join(" "))]
            {
                let answer = engine.search("startpos", &go);
                assert!(errors(&answer.lines).is_empty(), "{go}: {:?}", answer.lines);
                assert!(moves.contains(&&*answer.best), "{go}: {}", answer.best);
                for line in answer.infos() {
                    assert!(words_after(line, "pv").next().is_some_and(|first| moves.contains(&first)), "{go}: {line}");
                }
            }
        }
    }
    engine.quit();
}

#[test]
fn illegal_searchmoves_are_named_in_one_line() {
    let mut engine = Uci::ready_with(&EXACT);
    let answer = engine.search("startpos", "go searchmoves e2e5 d2d4 zz9 nodes 30");
    assert_eq!(answer.best, "d2d4");
    let complaints = errors(&answer.lines);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("e2e5") && complaints[0].contains("zz9"), "{complaints:?}");
    let answer = engine.search("startpos", "go searchmoves e2e5 nodes 30");
    assert_eq!(errors(&answer.lines).len(), 1, "{:?}", answer.lines);
    assert_eq!(answer.number("nodes"), 30);
}

#[test]
fn lines_of_analysis() {
    let mut engine = Uci::ready_with(&["--backend=random", "--multipv=500", "--show-wdl", "--show-movesleft"]);
    for (position, count) in [("startpos", 20), (KIWIPETE, 48), ("7k/8/8/8/8/8/6q1/7K w - - 0 1", 1)] {
        let answer = engine.search(position, "go nodes 3000");
        let last: Vec<&String> = answer.infos().collect::<Vec<_>>().split_off(answer.infos().count() - count);
        let mut firsts = BTreeSet::new();
        for (index, line) in last.iter().enumerate() {
            assert!(line.contains(&format!(" multipv {} ", index + 1)), "{line}");
            let wdl: Vec<u32> = words_after(line, "wdl").take(3).map(|word| word.parse().unwrap()).collect();
            assert_eq!(wdl.iter().sum::<u32>(), 1000, "{line}");
            assert!(line.contains(" movesleft "), "{line}");
            firsts.insert(words_after(line, "pv").next().unwrap().to_owned());
        }
        assert_eq!(firsts, legal_moves(&game(position)).into_iter().collect(), "each move has its line");
        assert_eq!(words_after(last[0], "pv").next(), Some(&*answer.best));
    }
    engine.quit();
}

/// docs/lc0.md, 3.8: the fewest visits first, the node last; for instance
/// `e2e4  (322 ) N:     312 (+ 0) (P: 44.24%) (WL:  0.02652) (D: 0.050) (M:  4.3) (Q:  0.02652) (U: 0.07270) (S: ...`.
#[test]
fn verbose_move_stats() {
    let mut engine = Uci::ready_with(&[&EXACT[..], &["--verbose-move-stats"]].concat());
    for position in ["startpos", KIWIPETE] {
        let answer = engine.search(position, "go nodes 1000");
        let stats = answer.move_stats();
        let legal = legal_moves(&game(position));
        assert_eq!(stats.len(), legal.len() + 1);
        let field = |line: &str, key: &str| -> f64 {
            let (_, rest) = line.split_once(key).unwrap_or_else(|| panic!("no {key}: {line}"));
            let end = rest.find([')', '(', '%']).unwrap();
            rest[..end].trim().parse().unwrap_or(f64::NAN)
        };
        let (node, moves) = stats.split_last().unwrap();
        assert!(node.starts_with(&format!("node  ({:>4}) N:    1000 (+ 0) ", legal.len())), "{node}");
        let visits: Vec<f64> = moves.iter().map(|line| field(line, " N:")).collect();
        assert!(visits.is_sorted(), "{visits:?}");
        assert_eq!(visits.iter().sum::<f64>(), 999.0, "all but the root's own");
        let priors: f64 = moves.iter().map(|line| field(line, "(P:")).sum();
        assert!((priors - 100.0).abs() < 0.005 * moves.len() as f64, "{priors}");
        for line in moves {
            assert!(field(line, "(+") == 0.0, "nothing is on its way any more: {line}");
            assert!(field(line, "(Q:").abs() <= 1.0 && field(line, "(U:") >= 0.0, "{line}");
            let index = field(line, "(").trunc() as usize;
            assert!(index < 1858, "{line}");
            for key in ["(WL:", "(D:", "(M:", "(S:", "(V:"] {
                assert!(line.contains(key), "{key}: {line}");
            }
        }
        // Castling is written as king takes rook there.
        let last = moves.last().unwrap().split(' ').next().unwrap();
        let best = parse_uci(game(position).current().chess(), last).unwrap();
        assert_eq!(to_uci(best, false), answer.best, "the most visited one is played");
    }
    engine.quit();
}

#[test]
fn chess960_castling_in_and_out() {
    let mut engine = Uci::uniform();
    // Both spellings are read whatever the mode.
    let start = "startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
    for castling in ["e1g1", "e1h1"] {
        engine.send(&format!("position {start} {castling}"));
        let fen = &engine.ask("fen", "info")[0];
        assert!(fen.contains("RNBQ1RK1 b kq"), "{castling}: {fen}");
    }
    for (chess960, castling) in [(false, "e1g1"), (true, "e1h1")] {
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        assert_eq!(engine.search(start, "go nodes 5 searchmoves e1g1").best, castling);
        assert_eq!(engine.search(start, "go nodes 5 searchmoves e1h1").best, castling);
    }
    // The king stands beside its rook: only king takes rook can say it.
    let fen = "1rk4r/pppppppp/8/8/8/8/PPPPPPPP/1RK4R w HBhb - 0 1";
    assert_eq!(engine.search(fen, "go nodes 5 searchmoves c1b1").best, "c1b1");
    engine.send(&format!("position fen {fen} moves c1b1"));
    let after = &engine.ask("fen", "info")[0];
    assert!(after.contains("/2KR3R b "), "{after}");
    engine.quit();
}
