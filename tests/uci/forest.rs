//! Tests the forest of an analysis and its saved trees under the protocol.

use super::driver::{Uci, errors};

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
