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
