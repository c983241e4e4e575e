//! `zeitnot time drive` around an engine that has faults, and time managers compared in another engine.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faulty_engine.py");

/// A clock with which an engine that answers is in time on any machine, and one whose end is soon there; in milliseconds.
const LONG_MS: u32 = 600_000;
const SHORT_MS: u32 = 2_000;

fn zeitnot(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.stdin(Stdio::null()).args(args);
    command
}

/// Lets the driver play two moves of a game on a clock with the engine of this fault. Returns what it says.
fn play(fault: &str, clock_ms: u32, log: &str) -> Vec<String> {
    let mut driver = zeitnot(&["time", "drive", "--manager", "simple", "--log", log, "--", "python3", ENGINE, fault]);
    let mut driver = driver.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut gui, mut said) = (driver.stdin.take().unwrap(), Vec::new());
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |word: &str| {
        let line = lines.by_ref().find(|line| {
            if said.len() < 100 || !line.starts_with("info depth") {
                said.push(line.clone());
            }
            line.starts_with(word)
        });
        assert!(line.is_some(), "{fault}: no {word}");
    };
    gui.write_all(b"uci\n").unwrap();
    until("uciok");
    for moves in ["", " moves e2e4 e7e5"] {
        gui.write_all(format!("position startpos{moves}\ngo wtime {clock_ms} btime {clock_ms}\n").as_bytes()).unwrap();
        until("bestmove");
    }
    gui.write_all(b"quit\n").unwrap();
    assert!(driver.wait().unwrap().success());
    said
}

#[test]
fn whatever_an_engine_does_the_driver_answers() {
    let folder = tempfile::tempdir().unwrap();
    for (fault, clock_ms, error, moves) in [
        ("none", LONG_MS, None, ["e2e4", "g1f3"]),
        ("one-move", LONG_MS, Some("has ended"), ["e2e4", ""]),
        ("crash", LONG_MS, Some("has ended"), ["", ""]),
        ("close", LONG_MS, Some("has ended"), ["", ""]),
        ("hang", SHORT_MS, Some("has not answered stop"), ["", ""]),
        ("endless-lines", SHORT_MS, Some("has not answered stop"), ["", ""]),
        ("endless-line", SHORT_MS, Some("has not answered stop"), ["", ""]),
    ] {
        let said = play(fault, clock_ms, folder.path().join(fault).to_str().unwrap());
        let errors: Vec<&String> = said.iter().filter(|line| line.contains("ERROR")).collect();
        assert_eq!(error.is_some(), !errors.is_empty(), "{fault}: {errors:?}");
        assert!(error.is_none_or(|error| errors.iter().any(|line| line.contains(error))), "{fault}: {errors:?}");
        let answers: Vec<&String> = said.iter().filter(|line| line.starts_with("bestmove")).collect();
        for (answer, mv) in answers.iter().zip(moves) {
            assert!(answer.starts_with(&format!("bestmove {mv}")), "{fault}: {answers:?}");
        }
        assert_eq!(answers.len(), 2, "{fault}: {answers:?}");
    }
}

#[test]
fn every_decision_is_logged_and_comes_out_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    for _ in 0..2 {
        play("none", LONG_MS, log.to_str().unwrap());
    }
    let logs = [log.clone(), log.with_extension("2")];
    for log in &logs {
        let log = log.to_str().unwrap();
        let output = zeitnot(&["time", "verify", log]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("2 moves"), "{text}");
    }
}

#[test]
fn a_driver_without_an_engine_or_a_manager_ends_in_a_line() {
    for (args, error) in [
        (vec!["--", "/nowhere/fish"], "cannot start /nowhere/fish"),
        (vec!["--manager", "fast", "--", "python3"], "unknown time manager"),
    ] {
        let output = zeitnot(&[&["time", "drive"], &args[..]].concat()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(error) && text.lines().count() == 1, "{text}");
    }
}

#[test]
fn managers_are_compared_in_another_engine() {
    let folder = tempfile::tempdir().unwrap();
    let engine = format!("option.Hash=8 python3 '{ENGINE}'");
    let play = |out: &str, more: &[&str]| {
        let args = ["time", "compare", "legacy", "soft-hard", "--games=2", "--tc=1", "--max-moves=4", "--fen=startpos"];
        let mut command = zeitnot(&[&args[..], &["--json", "--out", out, "--engine", &engine], more].concat());
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let table = play("first", &["--nps=1000"]);
    assert_eq!(play("second", &["--nps=1000"]), table);
    // The engine searches no more than its 120 nodes, however few are asked for.
    assert_ne!(play("slow", &["--nps=200"]), table);
    assert!(play("real", &["--clock=real"]).contains("soft-hard"));
    for file in std::fs::read_dir(folder.path().join("first")).unwrap() {
        let name = file.unwrap().file_name();
        // A journal has its games in the order of their ends.
        let [first, second] = ["first", "second"].map(|out| {
            let text = std::fs::read_to_string(folder.path().join(out).join(&name)).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        });
        assert!(first == second, "{name:?} is not the same twice");
    }
}

#[test]
fn an_engine_that_does_not_count_its_nodes_is_named() {
    let engine = format!("python3 '{ENGINE}' endless-nodes");
    let folder = tempfile::tempdir().unwrap();
    let args = ["time", "compare", "legacy", "simple", "--games=2", "--tc=1", "--nps=1000", "--engine", &engine];
    let output = zeitnot(&args).current_dir(folder.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("Faulty does not end at go nodes "), "{error}");
}

#[test]
fn a_program_that_is_no_engine_is_named() {
    let mut driver = zeitnot(&["time", "drive", "--", "sh", "-c", "echo no such thing >&2; exit 7"]);
    let mut driver = driver.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A GUI that waits for `uciok`.
    let gui = driver.stdin.take();
    let ended = driver.wait_with_output().unwrap();
    drop(gui);
    assert_eq!(ended.status.code(), Some(1));
    let error = "zeitnot: sh has ended at once (exit status: 7) no such thing\n";
    assert_eq!(String::from_utf8_lossy(&ended.stderr), error);
}

#[test]
fn bytes_in_no_known_encoding_go_through_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let echo = "echo uciok; tee \"$0\"";
    let mut driver = zeitnot(&["time", "drive", "--", "sh", "-c", echo, heard.to_str().unwrap()]);
    let mut driver = driver.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let option = b"setoption name BookFile value /caf\xe9/caf\xc3\xa9.bin";
    let mut gui = driver.stdin.take().unwrap();
    gui.write_all(&[b"uci\n", &option[..], b"\n"].concat()).unwrap();
    let mut said = BufReader::new(driver.stdout.take().unwrap()).split(b'\n').map(Result::unwrap);
    assert!(said.any(|line| line == option));
    gui.write_all(b"quit\n").unwrap();
    assert!(driver.wait().unwrap().success());
    assert!(std::fs::read(heard).unwrap().split(|byte| *byte == b'\n').any(|line| line == option));
}

#[test]
fn a_flood_that_nobody_reads_can_be_ended() {
    let flood = "echo uciok; while :; do echo info string of an engine that says the same again and again; done";
    let mut driver = zeitnot(&["time", "drive", "--", "sh", "-c", flood]);
    let mut driver = driver.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let second = std::time::Duration::from_secs(1);
    let ended = (0..60).any(|_| {
        std::thread::sleep(second);
        // The first signal asks, the second one means it.
        Command::new("kill").args(["-TERM", &driver.id().to_string()]).status().unwrap();
        driver.try_wait().unwrap().is_some()
    });
    driver.kill().unwrap();
    assert!(ended);
}
