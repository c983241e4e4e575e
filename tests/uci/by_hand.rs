//! Words that people type: help, a board, an evaluation, moves alone, and words that are nearly right.

use super::driver::{Uci, errors, game};

#[test]
fn help_lists_commands_that_exist() {
    let mut engine = Uci::uniform();
    let lines = engine.tell("help");
    assert!(lines.len() > 10 && lines.iter().all(|line| line.len() < 120), "{lines:?}");
    for command in ["position startpos", "go movetime", "setoption name", "d ", "eval ", "quit "] {
        assert!(lines.iter().any(|line| line.starts_with(command)), "{command}: {lines:?}");
    }
    engine.plays();
}

#[test]
fn d_draws_the_board() {
    let mut engine = Uci::uniform();
    engine.send("position startpos moves f2f3 e7e5 g2g4 d8h4");
    let lines = engine.tell("d");
    assert_eq!(lines[0], "8  r n b . k b n r");
    assert_eq!(lines[4], "4  . . . . . . P q");
    for line in [
        "fen: rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
        "moves: 0 legal for white",
        "check: from h4",
        "result: checkmate, black wins",
    ] {
        assert!(lines.iter().any(|said| said == line), "{line}: {lines:?}");
    }
    engine.quit();
}

#[test]
fn eval_asks_the_network_and_the_tree() {
    let mut engine = Uci::start(&["--threads=1"]);
    let first = |lines: &[String], word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
    engine.send("position startpos moves e2e4");
    let lines = engine.tell("eval");
    assert!(errors(&lines).is_empty(), "{lines:?}");
    for (word, part) in [("network: ", "zeitnot-small"), ("value: ", " for black (win "), ("policy: ", " %, ")] {
        assert!(lines.iter().any(|line| line.starts_with(word) && line.contains(part)), "{word}: {lines:?}");
    }
    assert_eq!(first(&lines, "search: "), 0, "nothing was searched: {lines:?}");
    engine.send("go nodes 300");
    let best = engine.answer(&game("startpos moves e2e4")).best;
    let lines = engine.tell("eval");
    assert_eq!(first(&lines, "search: "), 1, "{lines:?}");
    let visits = lines.iter().find(|line| line.starts_with("visits: ") && line.contains(", of them ")).unwrap();
    assert!(visits.contains(&format!(" {best} ")), "{visits}");
    // While a search has the tree, and where nothing can be evaluated.
    engine.send("go infinite");
    let lines = engine.tell("eval");
    assert!(first(&lines, "value: ") == 1 && lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    engine.ask("stop", "bestmove");
    engine.send("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
    assert_eq!(engine.tell("eval"), ["network: not asked, for there is no legal move"]);
    engine.quit();
}

#[test]
fn moves_alone_are_played() {
    let mut engine = Uci::uniform();
    for (line, said) in [
        ("e2e4", "info string e4: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        ("c5 Nf3", "info string c5 Nf3: rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"),
    ] {
        assert_eq!(engine.tell(line), [said]);
    }
    engine.complains("e2e4", &["e2e4 is illegal in rnbqkbnr/pp1ppppp/"]);
    engine.complains("d6 d6", &["d6 is illegal in "]);
    engine.send("go nodes 50");
    engine.answer(&game("startpos moves e2e4 c7c5 g1f3"));
    engine.plays();
    engine.quit();
}

#[test]
fn words_that_are_nearly_right_are_asked_about() {
    let mut engine = Uci::uniform();
    for (line, part) in [
        ("postion startpos", "unknown command \"postion startpos\"; did you mean \"position\"?"),
        ("setoption name Thread value 2", "unknown option \"Thread\"; did you mean \"Threads\"?"),
        ("go node 5 nodes 5", "go does not know \"node\": ignored; did you mean \"nodes\"?"),
    ] {
        let lines = engine.tell(line);
        assert!(errors(&lines).iter().any(|error| error.ends_with(part)), "{line}: {lines:?}");
    }
    engine.plays();
}
