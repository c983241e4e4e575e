//! Programs as time managers in whole games on the virtual clock.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;
use std::process::{Command, Stdio};

const ZEITNOT: &str = env!("CARGO_BIN_EXE_zeitnot");

/// Plays four games of a manager against `legacy`; the moves with their times, without the names, and standard error.
fn play(folder: &Path, manager: &str) -> (String, String) {
    let output = Command::new(ZEITNOT)
        .current_dir(folder)
        .stdin(Stdio::null())
        .args([
            "match",
            "--backend=random",
            "--clock=virtual",
            "--nps=400",
            "--tc=1+0.01",
            "--games=4",
            "--concurrency=1",
        ])
        .args(["--openings=builtin", "--max-moves=30", "--option2=TimeManager=legacy", "--json"])
        .args(["--option1", &format!("TimeManager={manager}")])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let pgn = std::fs::read_to_string(folder.join("match.pgn")).unwrap();
    std::fs::remove_file(folder.join("match.pgn")).unwrap();
    std::fs::remove_file(folder.join("match.pgn.jsonl")).unwrap();
    assert!(pgn.matches("[Event ").count() == 4 && !pgn.contains("time forfeit"), "{pgn}");
    (pgn.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n"), told)
}

#[test]
fn a_manager_behind_a_pipe_plays_as_it_does_inside() {
    let home = tempfile::tempdir().unwrap();
    let inside = play(home.path(), "simple").0;
    let (behind, told) =
        play(home.path(), &format!("external(command=\"'{ZEITNOT}' time explain script - --manager simple\")"));
    assert_eq!(behind, inside);
    assert!(!told.contains("ERROR"), "{told}");
}

#[test]
fn the_example_plays_the_same_games_twice() {
    let home = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external/manager.py");
    let manager = format!("external(command=\"python3 '{}'\")", example.display());
    let games = [(); 2].map(|()| play(home.path(), &manager));
    assert_eq!(games[0].0, games[1].0);
    assert_ne!(games[0].0, play(home.path(), "smooth").0);
    assert!(!games[0].1.contains("ERROR"), "{}", games[0].1);
}

#[test]
#[cfg_attr(not(cpp), ignore = "needs g++")]
fn the_example_in_cpp_is_built_and_answers() {
    let home = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external/manager.cpp");
    let program = home.path().join("manager");
    let built = Command::new("g++").arg("-Wall").arg("-Werror").arg("-o").arg(&program).arg(source).status();
    assert!(built.unwrap().success());
    let (games, told) = play(home.path(), &format!("external(command=\"'{}'\")", program.display()));
    assert!(games.len() > 4_000 && !told.contains("ERROR"), "{told}");
}

#[test]
fn a_program_that_ends_costs_no_game() {
    let home = tempfile::tempdir().unwrap();
    // The first look of each game ends it.
    let program = r#"while read -r line; do case $line in *observe*) exit 7;; *) echo {\"budget_ms\":20};; esac; done"#;
    let script = home.path().join("manager.sh");
    std::fs::write(&script, program).unwrap();
    let manager = format!("external(command=\"sh '{}'\")", script.display());
    let told = play(home.path(), &manager).1;
    assert!(told.contains("the program has ended (exit status: 7); smooth plays on"), "{told}");
    assert!(told.contains("players had 4 errors, of which each kind is told above"), "{told}");
    // The figures of a comparison would be those of another manager.
    for is_there in [false, true] {
        let output = Command::new(ZEITNOT)
            .current_dir(home.path())
            .args(["time", "compare", "legacy", &manager, "--backend=random", "--nps=400", "--tc=1+0.01", "--games=2"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains("players had 2 errors"), "{told}");
        assert!(told.contains("the program has ended (exit status: 7); smooth plays on"), "{told}");
        assert_eq!(told.contains("2 games are there and not played again"), is_there, "{told}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("| control |"), "the tables are printed all the same");
    }
}

/// The specification of a manager that is a script of the shell.
fn script(folder: &Path, name: &str, text: &str) -> String {
    let script = folder.join(name);
    std::fs::write(&script, text).unwrap();
    format!("external(command=\"sh '{}'\")", script.display())
}

#[test]
fn games_end_whatever_the_program_says() {
    let home = tempfile::tempdir().unwrap();
    for (number, (text, problem)) in [
        // A move of a millisecond has no look, whose answer it would not have.
        ("yes '{\"budget_ms\":1}'", ""),
        ("yes '{\"log\":1}'", "smooth plays on"),
        ("yes | tr -d '\\n'", "smooth plays on"),
        ("exec >&-; sleep 100", "the program has closed its output; smooth plays on"),
    ]
    .into_iter()
    .enumerate()
    {
        let told = play(home.path(), &script(home.path(), &format!("{number}.sh"), text)).1;
        assert!(told.contains(problem) && told.contains("smooth") != problem.is_empty(), "{text}: {told}");
    }
}

#[test]
fn a_simulated_game_ends_before_its_manager_does() {
    let home = tempfile::tempdir().unwrap();
    let text = r#"while read -r line; do
        case $line in *plan*) echo plan >>"$0.log"; echo '{"budget_ms":200,"next_ms":200}';; *observe*) echo '{"stop":true}';;
        *) echo finish >>"$0.log"; echo '{}';; esac
    done
    echo end >>"$0.log""#;
    let manager = script(home.path(), "manager.sh", text);
    let output = Command::new(ZEITNOT)
        .current_dir(home.path())
        .args(["time", "simulate", "--games=4", "--manager", &manager, "--json"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("ERROR"), "{told}");
    let log = std::fs::read_to_string(home.path().join("manager.sh.log")).unwrap();
    assert_eq!((log.matches("end").count(), log.matches("plan").count()), (4, log.matches("finish").count()));
}
