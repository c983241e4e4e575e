//! Tests the limit of memory that the engine takes by default, and play where there is no more memory.

use super::driver::{Uci, errors};

/// The number in the line about memory among `lines`, in megabytes.
fn limit(lines: &[String]) -> Option<u64> {
    let line = lines.iter().find_map(|line| line.strip_prefix("info string tree and cache may take "))?;
    line.split(' ').next().unwrap().parse().ok()
}

#[test]
fn the_automatic_limit_is_told_once_and_options_replace_it() {
    let mut engine = Uci::start(&["--backend=uniform"]);
    let first = engine.tell("isready");
    assert!(limit(&first).is_some_and(|megabytes| megabytes > 0), "{first:?}");
    let next = engine.tell("isready");
    assert_eq!(limit(&next), None, "{next:?}");
    for option in ["--hash=100", "--ramlimit-mb=100"] {
        let lines = Uci::start(&["--backend=uniform", option]).tell("isready");
        assert_eq!(limit(&lines), None, "{lines:?}");
    }
}

/// The engine with so many kilobytes of addresses.
#[cfg(target_os = "linux")]
fn with_addresses(kilobytes: u32, options: &[&str]) -> Uci {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$@\""), "sh", env!("CARGO_BIN_EXE_zeitnot")]);
    command.args(options);
    Uci::spawn(command)
}

#[cfg(target_os = "linux")]
#[test]
fn without_memory_for_more_it_forgets_and_answers() {
    let options = ["--backend=uniform", "--threads=1", "--nncache=0", "--ramlimit-mb=100000"];
    let mut engine = with_addresses(160_000, &options);
    let lines = engine.tell("isready");
    assert!(errors(&lines).is_empty(), "{lines:?}");
    // More than there are addresses for.
    let answer = engine.search("startpos", "go nodes 1000000");
    assert_eq!(answer.number("nodes"), 1_000_000);
    let lines = engine.tell("isready");
    assert!(lines.iter().any(|line| line.starts_with("info string the system has no memory for more")), "{lines:?}");
    // The next game, and the one after it, begin with what there is.
    engine.search("startpos moves e2e4", "go movetime 500");
    engine.send("ucinewgame");
    engine.search("startpos moves d2d4", "go movetime 500");
    engine.quit();
}

/// Where some threads can be had, or next to none: the stacks of 64 are more than there are addresses.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_search_waits_for_stop_without_all_its_threads() {
    for kilobytes in [120_000, 200_000] {
        let mut engine = with_addresses(kilobytes, &["--backend=uniform", "--threads=64", "--nncache=0"]);
        engine.send("position startpos\ngo infinite");
        let lines = engine.listen(std::time::Duration::from_millis(500));
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
        assert!(engine.threads() < 60, "{}", engine.threads());
        engine.send("stop");
        engine.answer(&super::driver::game("startpos"));
        engine.quit();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_automatic_limit_keeps_to_a_limit_of_addresses() {
    let mut engine = with_addresses(600_000, &["--backend=uniform", "--threads=1"]);
    let lines = engine.tell("isready");
    assert!(limit(&lines).is_some_and(|megabytes| (1..307).contains(&megabytes)), "{lines:?}");
    engine.quit();
}

#[cfg(not(target_os = "linux"))]
#[test]
fn without_memory_for_more_it_forgets_and_answers() {
    eprintln!("skipped: only Linux keeps to a limit of addresses (ulimit -v)");
}
