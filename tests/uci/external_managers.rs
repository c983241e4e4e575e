//! Programs as time managers under UCI: commands are heard and moves played, whatever a program does.

use super::driver::Uci;
use std::path::Path;
use std::time::Instant;

/// An engine whose time manager is a script of the shell.
fn with_manager(folder: &Path, text: &str) -> Uci {
    let script = folder.join("manager.sh");
    std::fs::write(&script, text).unwrap();
    let manager = format!("--time-manager=external(command=\"sh '{}'\")", script.display());
    Uci::start(&["--backend=uniform", &manager])
}

#[test]
fn commands_are_heard_whatever_the_program_does() {
    for text in [
        "yes '{\"budget_ms\":1}'",
        "yes '{\"log\":1}'",
        "yes | tr -d '\\n'",
        "exec >&-; sleep 100",
        "exec <&-; sleep 100",
        "trap '' TERM; while :; do sleep 1; done",
        "while read -r line; do sleep 0.5; echo '{\"budget_ms\":60000,\"stop\":false}'; done",
        "exit 3",
    ] {
        let home = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let mut engine = with_manager(home.path(), text);
        for _ in 0..2 {
            engine.ask("isready", "readyok");
            for _ in 0..2 {
                engine.send("go wtime 600000 btime 600000");
                engine.send("stop");
                engine.until("bestmove");
            }
            engine.send("ucinewgame");
        }
        engine.send("go wtime 600000 btime 600000");
        engine.quit();
        // A busy machine is slow, but nothing waits for the program for ever.
        assert!(start.elapsed().as_secs() < 60, "{text}: {:?}", start.elapsed());
    }
}

#[test]
fn a_program_has_loaded_when_the_engine_is_ready() {
    let home = tempfile::tempdir().unwrap();
    let answers = r#"*plan*) echo '{"budget_ms":50}';; *observe*) echo '{"stop":false}';; *) echo '{}';;"#;
    let text = format!("sleep 1; while read -r line; do case $line in {answers} esac; done");
    let mut engine = with_manager(home.path(), &text);
    let start = Instant::now();
    engine.ask("isready", "readyok");
    assert!(start.elapsed().as_secs_f64() > 0.9);
    engine.send("ucinewgame");
    engine.ask("isready", "readyok");
    let lines = engine.ask("go wtime 600000 btime 600000", "bestmove");
    // Where the machine keeps the program waiting for a second, `smooth` plays.
    let is_own = !lines.iter().any(|line| line.contains("ERROR"));
    assert!(is_own || start.elapsed().as_secs_f64() > 1.8, "{lines:?}");
    engine.quit();
}

#[test]
fn a_program_that_does_not_end_costs_no_clock() {
    let home = tempfile::tempdir().unwrap();
    let answers = r#"*plan*) echo '{"budget_ms":5}';; *observe*) echo '{"stop":true}';; *) echo '{}';;"#;
    let text = format!("while read -r line; do case $line in {answers} esac; done; sleep 100");
    let mut engine = with_manager(home.path(), &text);
    engine.ask("isready", "readyok");
    // Each would be waited for 300 ms.
    let start = Instant::now();
    for _ in 0..20 {
        engine.send("ucinewgame");
        engine.ask("isready", "readyok");
    }
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    engine.quit();
}

#[test]
fn a_wrong_answer_costs_one_move() {
    for wrong in [r#"{"error":"division by zero"}"#, r#"{"budget_ms":1e400}"#, "{}", "null"] {
        let home = tempfile::tempdir().unwrap();
        let answers = r#"*plan*) echo '{"budget_ms":20}';; *observe*) echo '{"stop":true}';; *) echo '{}';;"#;
        let text = format!(
            "while read -r line; do case $line in *8123.0*) echo '{wrong}'; continue;; esac; case $line in {answers} esac; done"
        );
        let mut engine = with_manager(home.path(), &text);
        engine.ask("isready", "readyok");
        let mut lost = |clock: u32| {
            let lines = engine.ask(&format!("go wtime {clock} btime {clock}"), "bestmove");
            lines.iter().any(|line| line.contains("; smooth decides this move"))
        };
        lost(8_000);
        assert!(lost(8_123), "{wrong}");
        // A busy machine may lose one more.
        assert!((0..3).any(|_| !lost(8_000)), "{wrong}");
        engine.quit();
    }
}
