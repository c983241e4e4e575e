//! Tests the tree of an analysis and its saved trees under the protocol.

use super::driver::{Uci, errors, words_after};

const LINE: [&str; 4] =
    ["startpos", "startpos moves d2d4", "startpos moves d2d4 d7d5", "startpos moves d2d4 d7d5 c2c4"];

/// An engine whose limit of memory is its own, and no share of what is free.
fn engine(flags: &[&str]) -> Uci {
    Uci::ready_with(
        &[&["--backend=random", "--threads=1", "--smart-pruning-factor=0", "--ramlimit-mb=300"], flags].concat(),
    )
}

/// The nodes of the first line of a search that adds none.
fn known(engine: &mut Uci, position: &str) -> i64 {
    let answer = engine.search(position, "go nodes 1");
    let first = answer.infos().next().expect("a line").to_owned();
    first.split_whitespace().skip_while(|word| *word != "nodes").nth(1).and_then(|nodes| nodes.parse().ok()).unwrap()
}

#[test]
fn an_analysis_steps_back_and_forth_without_loss() {
    let mut engine = engine(&[]);
    let searched: Vec<i64> =
        LINE.iter().map(|position| engine.search(position, "go nodes 3000").number("nodes")).collect();
    for index in [2, 1, 0, 1, 2, 3, 0] {
        assert!(known(&mut engine, LINE[index]) >= searched[index], "{}", LINE[index]);
    }
    // Not so in a game, nor where nothing is to be kept.
    for memory in ["game", "off"] {
        engine.tell(&format!("setoption name TreeMemory value {memory}"));
        for position in &LINE[..2] {
            engine.search(position, "go nodes 500");
        }
        assert!(known(&mut engine, LINE[0]) < 100, "{memory}");
    }
    engine.quit();
}

#[test]
fn a_saved_tree_is_taken_up_by_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a tree").display().to_string();
    let mut first = engine(&[]);
    assert_eq!(errors(&first.tell(&format!("savetree {file}"))).len(), 1, "there is none yet");
    let nodes = first.search(LINE[1], "go nodes 2000").number("nodes");
    assert!(first.tell(&format!("savetree {file}")).iter().any(|line| line.contains("2000 visits")));
    first.quit();
    let mut second = engine(&[]);
    assert!(errors(&second.tell(&format!("loadtree {file}"))).is_empty());
    assert_eq!(known(&mut second, LINE[1]), nodes);
    for (line, part) in [
        ("loadtree", "needs a file"),
        ("loadtree missing.tree", "missing.tree"),
        ("savetree /nowhere/at/all.tree", "/nowhere/at/all.tree"),
    ] {
        let lines = second.tell(line);
        assert!(errors(&lines).len() == 1 && errors(&lines)[0].contains(part), "{line}: {lines:?}");
    }
    second.quit();
}

#[test]
fn a_tree_file_is_saved_at_the_end_and_taken_up_at_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--tree-file={}", folder.path().join("days.tree").display());
    let mut first = engine(&[&flag]);
    let nodes = first.search(LINE[2], "go nodes 2000").number("nodes");
    first.quit();
    let mut second = engine(&[&flag]);
    second.send("ucinewgame");
    assert_eq!(known(&mut second, LINE[2]), nodes);
    second.quit();
}

/// A position is found again with its history alone: the same boards, once with a draw in them and once without.
#[test]
fn a_mate_that_history_makes_a_draw_is_none() {
    let flags = ["--weights=zeitnot-tiny", "--threads=1", "--smart-pruning-factor=0"];
    let shuffled = "7k/5K2/8/8/8/8/8/6R1 b - - 0 1 moves h8h7 g1g2 h7h8 g2g1 h8h7 f7f6 h7h8";
    let plain = "7k/8/5K2/8/8/8/8/6R1 w - - 7 10";
    let best = |engine: &mut Uci, position: &str, go: &str| {
        let answer = engine.search(position, go);
        let mate = answer.infos().last().is_some_and(|line| line.contains("score mate 2 "));
        (answer.best, mate)
    };
    let mut engine = Uci::ready_with(&flags);
    assert_eq!(best(&mut engine, plain, "go nodes 2000 searchmoves f6f7"), ("f6f7".to_owned(), true));
    let (mv, is_mate) = best(&mut engine, shuffled, "go nodes 4000");
    assert!(mv != "f6f7" && !is_mate, "{mv}: f6f7 is the third occurrence");
    // And the other way round.
    engine.send("ucinewgame");
    assert_ne!(best(&mut engine, shuffled, "go nodes 4000").0, "f6f7");
    assert_eq!(best(&mut engine, plain, "go nodes 2000 searchmoves f6f7"), ("f6f7".to_owned(), true));
    // No line goes on behind a third occurrence that was searched as a root.
    let twice = "7k/8/8/8/8/8/Q7/K7 w - - 0 1 moves a2b2 h8g8 b2a2 g8h8 a2b2 h8g8";
    engine.search(&format!("{twice} b2a2 g8h8"), "go nodes 3000");
    let answer = engine.search(twice, "go nodes 500 searchmoves b2a2");
    let drawn = |line: &&String| words_after(line, "pv").nth(1) == Some("g8h8");
    let lines: Vec<&String> = answer.infos().filter(drawn).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| words_after(line, "pv").count() == 2), "{:?}", answer.lines);
    engine.quit();
}

/// Statistics of the root's moves after searches along a game.
#[test]
fn a_search_is_the_same_whatever_is_kept() {
    let stats = |memory: &str, positions: &[&str]| {
        let mut engine = engine(&["--verbose-move-stats", "--nncache=0", &format!("--tree-memory={memory}")]);
        let mut lines = Vec::new();
        for position in positions {
            let answer = engine.search(position, "go nodes 800");
            lines.extend(answer.lines.iter().filter(|line| line.contains("(P: ")).cloned());
        }
        engine.quit();
        assert!(lines.len() > 20 * positions.len(), "{lines:?}");
        lines
    };
    let along = ["startpos", "startpos moves d2d4 d7d5", "startpos moves d2d4 d7d5 c2c4 e7e6"];
    assert_eq!(stats("forest", &along), stats("game", &along));
    assert_eq!(stats("forest", &along[..1]), stats("off", &along[..1]));
}

#[test]
fn the_best_line_stays_when_memory_is_full() {
    let mut engine = Uci::ready_with(&["--backend=uniform", "--threads=1", "--smart-pruning-factor=0", "--hash=4"]);
    let answer = engine.search("startpos", "go nodes 600000");
    let lines: Vec<usize> = answer.infos().map(|line| words_after(line, "pv").count()).collect();
    let full = lines.iter().position(|plies| *plies > 3).unwrap();
    assert!(lines[full..].iter().all(|plies| *plies > 2), "{lines:?}");
    assert!(answer.infos().last().unwrap().contains("hashfull 1000"), "{:?}", answer.infos().last());
    engine.quit();
}

#[cfg(unix)]
#[test]
fn a_signal_to_end_saves_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--tree-file={}", folder.path().join("days.tree").display());
    let mut first = engine(&[&flag]);
    let nodes = first.search(LINE[2], "go nodes 2000").number("nodes");
    first.end_by_signal();
    let mut second = engine(&[&flag]);
    assert_eq!(known(&mut second, LINE[2]), nodes);
    second.quit();
}
