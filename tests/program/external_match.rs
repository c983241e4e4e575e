//! Plays matches against other engines through the command line: interruptions, pools, engines that are built anew.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Only what hangs takes so long, even on a machine that is busy with something else.
const HANG: Duration = Duration::from_secs(120);

/// The command of a match of the script with every fault, or others, in this folder.
fn command(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["match", "--backend", "random", "--threads", "1", "--nodes", "5", "--json"]).args(flags);
    command
}

/// The last line of errors of a command that must fail.
fn refused(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{errors}");
    errors.lines().last().unwrap_or_default().to_owned()
}

/// The command line of the script with a fault.
fn script(fault: &str, log: &str) -> String {
    format!("python3 '{}/tests/faulty_engine.py' {fault} {log}", env!("CARGO_MANIFEST_DIR"))
}

/// Waits until something holds, and fails where the match ends before.
fn wait_until(child: &mut Child, holds: &dyn Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(child.try_wait().unwrap().is_none() && began.elapsed() < HANG, "it never came to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tells a match to end once, and waits for it: its exit code.
fn interrupt(mut child: Child) -> Option<i32> {
    Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < HANG, "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait().unwrap().code()
}

/// Between two opponents no journal is unfinished by itself, and the pool is all the same. The second opponent never
/// moves: the first interruption is heeded while it is waited for.
#[test]
fn a_pool_that_was_interrupted_between_two_opponents_is_not_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let pool = serde_json::json!([
        {"name": "A", "command": script("none", "told.txt"), "options": {}},
        {"name": "B", "command": script("hang", ""), "options": {}},
    ]);
    // Options are told in the order of the file, which `json!` does not keep.
    let options = "\"options\":{\"Play Style\":\"Solid\",\"Hash\":32,\"Clear Hash\":\"\"}";
    let pool = pool.to_string().replacen("\"options\":{}", options, 1);
    fs::write(folder.path().join("pool.json"), pool).unwrap();
    let flags = ["--pool", "pool.json", "--games", "2"];
    let journal = |number: u32| folder.path().join(format!("match.{number}.pgn.jsonl"));
    let mut child = command(folder.path(), &flags).spawn().unwrap();
    wait_until(&mut child, &|| fs::read_to_string(journal(1)).is_ok_and(|text| text.contains("{\"end\":true}")));
    assert_eq!(interrupt(child), Some(130));
    let first = fs::read(journal(1)).unwrap();
    let told = fs::read_to_string(folder.path().join("told.txt")).unwrap();
    let told: Vec<&str> = told.lines().filter(|line| line.starts_with("setoption")).take(3).collect();
    assert_eq!(
        told,
        ["setoption name Play Style value Solid", "setoption name Hash value 32", "setoption name Clear Hash"]
    );
    let anew = || {
        let line = refused(&command(folder.path(), &flags).output().unwrap());
        assert!(line.contains("match.1.pgn.jsonl has all games of a pool that was interrupted"), "{line}");
        assert!(line.contains("--resume goes on with it"), "{line}");
        assert!(fs::read(journal(1)).unwrap() == first);
    };
    anew();
    fs::remove_file(journal(2)).unwrap();
    anew();
    let mut child = command(folder.path(), &[&flags[..], &["--resume"]].concat()).spawn().unwrap();
    wait_until(&mut child, &|| fs::read_to_string(journal(2)).is_ok_and(|text| !text.is_empty()));
    assert_eq!(interrupt(child), Some(130));
    assert!(fs::read(journal(1)).unwrap() == first);
}

/// A player of a round robin, this engine as a process: what it is told goes to a file.
fn engine(keys: &str, backend: &str) -> String {
    let program = env!("CARGO_BIN_EXE_zeitnot");
    format!("name={keys} sh -c \"tee -a told.txt | '{program}' --backend={backend} --threads=1\"")
}

#[test]
fn in_a_round_robin_all_play_all_and_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let engines = [engine("A", "random"), engine("'B b' option.CPuct=2", "uniform"), engine("C rating=1500", "random")];
    let flags: Vec<&str> = engines.iter().flat_map(|line| ["--engine", line]).collect();
    let flags = [&flags[..], &["--games", "2", "--max-moves", "8", "--ponder"]].concat();
    let play = |more: &[&str]| {
        let output = command(folder.path(), &[&flags[..], more].concat()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert!(errors.contains("option Threads has no effect"), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = play(&[]);
    let told = fs::read_to_string(folder.path().join("told.txt")).unwrap();
    for command in ["setoption name CPuct value 2", "setoption name Ponder value true", "go ponder nodes 5"] {
        assert!(told.contains(command), "{told}");
    }
    let pairs = [["A", "B b"], ["A", "C"], ["B b", "C"]];
    let games: Vec<String> =
        (1..=3).map(|number| fs::read_to_string(folder.path().join(format!("match.{number}.pgn"))).unwrap()).collect();
    for (pgn, [first, second]) in games.iter().zip(pairs) {
        let tags = |white: &str, black: &str| format!("[White \"{white}\"]\n[Black \"{black}\"]\n");
        assert!(pgn.contains(&tags(first, second)) && pgn.contains(&tags(second, first)), "{pgn}");
        assert_eq!((pgn.matches("[ECO ").count(), pgn.matches("[Opening ").count()), (2, 2), "{pgn}");
    }
    let last: serde_json::Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    let rated = last["rating"]["all"].as_array().unwrap();
    let count = |rating: &serde_json::Value| rating["games"].as_u64();
    assert_eq!((rated.len(), &last["rating"]["anchors"]["C"]), (3, &1500.0.into()));
    assert!(rated.iter().all(|rating| count(rating) == Some(4)), "{last}");
    // What is missing is played again, and nothing else.
    let journal = folder.path().join("match.3.pgn.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let begun: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(&journal, begun).unwrap();
    let cut = games[2].rfind("[Event ").unwrap();
    fs::write(folder.path().join("match.3.pgn"), &games[2][..cut]).unwrap();
    play(&["--resume"]);
    let after = |number: usize| fs::read_to_string(folder.path().join(format!("match.{number}.pgn"))).unwrap();
    assert_eq!((after(1), after(2)), (games[0].clone(), games[1].clone()));
    assert_eq!(after(3).matches("[Event ").count(), 2);
    let line = refused(&command(folder.path(), &["--engine", &engines[0], "--engine", "name=A"]).output().unwrap());
    assert_eq!(line, "zeitnot: \"name=A\" is no engine: it has no command");
    for task in [&["audit"][..], &["report", "--out", "r.html"]] {
        let mut time = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        time.current_dir(folder.path()).arg("time").args(task).arg("match.3.pgn.jsonl");
        let line = refused(&time.output().unwrap());
        assert!(line.contains("match.3.pgn.jsonl: that is the journal of a match: its games are in the PGN"), "{line}");
    }
    let line = refused(&command(folder.path(), &["--engine", &engines[0]]).output().unwrap());
    assert!(line.contains("two engines or more"), "{line}");
}

#[test]
fn a_match_fails_by_its_warnings_where_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (illegal, flags) = (script("illegal", ""), ["--games", "2", "--name2", "X", "--fail-on-warning"]);
    let line = refused(&command(folder.path(), &[&flags[..], &["--engine2", &illegal]].concat()).output().unwrap());
    assert_eq!(line, "zeitnot: --fail-on-warning: there were 2 warnings");
    let journal = fs::read_to_string(folder.path().join("match.pgn.jsonl")).unwrap();
    assert!(journal.ends_with("{\"end\":true}\n"), "it was played to its end");
    let flags = ["--pgn", "own.pgn", "--name2", "X", "--max-moves", "2", "--fail-on-warning"];
    assert!(command(folder.path(), &flags).output().unwrap().status.success());
}

#[test]
fn a_match_does_not_go_on_with_an_engine_that_was_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let engine = folder.path().join("my engine");
    let build = |version: u32| {
        fs::write(&engine, format!("#!/bin/sh\n# {version}\nexec {}\n", script("none", ""))).unwrap();
        fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    };
    build(1);
    let quoted = format!("'{}'", engine.display());
    let flags = ["--engine2", &quoted, "--name2", "X", "--resume"];
    for _ in 0..2 {
        let output = command(folder.path(), &flags).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    build(2);
    let line = refused(&command(folder.path(), &flags).output().unwrap());
    assert!(line.contains("holds a match with another program"), "{line}");
}
