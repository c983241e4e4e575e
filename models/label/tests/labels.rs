//! Runs the labeller: shards that are complete or absent, recipes that do not mix, and errors that name their cause.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;
use zeitnot_engine::network::testing::{RandomNetwork, random_network};

/// A folder with a small network.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.pb.gz"), random_network(1, 1, 8)).unwrap();
    folder
}

/// The program in a folder.
fn labeller(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot-label"));
    command.current_dir(folder.path());
    command
}

/// Labelled games by a network without a file.
fn label(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = labeller(folder);
    command.args(["--option=Backend=random", "--out", "games", "--shard-labels", "50", "--at-once", "4"]);
    command.args(arguments);
    command
}

#[test]
fn labelled_games_come_in_shards_and_a_run_goes_on_where_it_was_stopped() {
    let folder = folder();
    let shard = |number| folder.path().join(format!("games/games-1-000{number}.bin.gz"));
    label(&folder, &["--shards", "1"]).assert().success();
    let first = fs::read(shard(0)).unwrap();
    fs::write(shard(0), "kept").unwrap();
    let output = label(&folder, &["--shards", "3"]).assert().success().get_output().stderr.clone();
    assert_eq!(fs::read(shard(0)).unwrap(), b"kept");
    let said = String::from_utf8(output).unwrap();
    assert!(said.contains("0000.bin.gz: is there") && said.contains("0001") && said.contains("0002"), "{said}");
    assert_ne!(fs::read(shard(1)).unwrap(), fs::read(shard(2)).unwrap());
    // Nothing is left of files on their way; and the same shard again is the same.
    assert_eq!(fs::read_dir(folder.path().join("games")).unwrap().count(), 3 + 1);
    // Beside the shards lies how they were made, and no others come to them.
    let recipe = fs::read_to_string(folder.path().join("games/games-1.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&recipe).unwrap()["sampling"]["most_plies"], 200);
    let mut other = label(&folder, &["--shards", "4", "--deviations", "0.5"]);
    other.assert().code(1).stderr(predicates::str::contains("games-1.json has shards of another recipe (sampling)"));
    for option in ["--option=HistoryFill=no", "--option=BackendOptions=threads=1"] {
        let mut other = label(&folder, &["--shards", "4", option]);
        other.assert().code(1).stderr(predicates::str::contains("games-1.json has shards of another recipe (options)"));
    }
    // It is what is in it that counts.
    fs::write(folder.path().join("games/games-1.json"), recipe.replace('\n', "\r\n")).unwrap();
    fs::remove_file(shard(0)).unwrap();
    label(&folder, &["--shards", "1"]).assert().success();
    assert_eq!(fs::read(shard(0)).unwrap(), first);
    // A run that failed leaves nothing in the way of the next.
    fs::write(folder.path().join("book.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\nnonsense\n").unwrap();
    let mut with_nonsense = label(&folder, &["--shards", "1", "--seed", "2", "--openings", "book.epd"]);
    with_nonsense.assert().code(1).stderr(predicates::str::contains("book.epd line 2"));
    // A book is what is in it, not what it is called.
    let with_book = |line: &str| {
        fs::write(folder.path().join("book.epd"), line).unwrap();
        label(&folder, &["--shards", "1", "--seed", "2", "--openings", "book.epd"])
    };
    with_book("4k3/8/8/8/8/8/4P3/4K3 w - -\n").assert().success();
    let mut other = with_book("4k3/8/8/8/8/8/3P4/4K3 w - -\n");
    other.assert().code(1).stderr(predicates::str::contains("games-2.json has shards of another recipe"));
}

#[test]
fn labels_that_cannot_be_made_are_named() {
    let folder = folder();
    fs::write(folder.path().join("book.epd"), "nonsense\n").unwrap();
    label(&folder, &["--openings", "book.epd"]).assert().code(1).stderr(predicates::str::contains("book.epd line 1"));
    label(&folder, &["--openings", "none.epd"]).assert().code(1).stderr(predicates::str::contains("none.epd"));
    let mut without_player = labeller(&folder);
    without_player.args(["--out", "games", "--weights", "tiny.pb.gz", "--player", "none.pb.gz"]);
    without_player.assert().code(1).stderr(predicates::str::contains("none.pb.gz"));
    let without_left = RandomNetwork { moves_left: false, ..RandomNetwork::default() }.gzip(1);
    fs::write(folder.path().join("no-left.pb.gz"), without_left).unwrap();
    let mut half = labeller(&folder);
    half.args(["--out=games", "--option=Backend=native", "--weights=no-left.pb.gz"]);
    half.assert().code(1).stderr(predicates::str::contains("no-left has no moves-left head"));
    label(&folder, &["--name", "a/b"]).assert().code(1).stderr(predicates::str::contains("a/b"));
    label(&folder, &["--labelled", "2"]).assert().code(2);
    for share in ["--labelled", "--blunder"] {
        let mut alone = label(&folder, &[share, "0.1"]);
        alone.assert().code(2).stderr(predicates::str::contains("--player"));
    }
    for wrong in ["--at-once=0", "--at-once=4097", "--games=1"] {
        labeller(&folder).args(["--option=Backend=random", "--out=games", wrong]).assert().code(2);
    }
    label(&folder, &["--player-temperature", "2,1"]).assert().code(2);
}
