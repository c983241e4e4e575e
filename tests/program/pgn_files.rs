//! Tests the commands that read games on files that are written otherwise than the standard says.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The output and the errors of a command.
fn zeitnot(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_zeitnot")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn file(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn each_move_has_its_own_clock_or_the_game_ends_there() {
    let folder = tempfile::tempdir().unwrap();
    let start = "[TimeControl \"60\"]\n[FEN \"8/4P1k1/8/8/8/8/6K1/8 w - - 0 1\"]\n\n1. Kg3 {[%clk 0:00:59]} Kf7 {[%clk 0:00:58]}";
    // The moves that were timed, as plies and seconds, and what is said of the game.
    for (rest, moves, said) in [
        ("2. e8Q {[%clk 0:00:40]} 1-0", "0:1 1:2 2:19", ""),
        ("2. e8(Q)+!? {[%clk 0:00:40]} 1-0", "0:1 1:2 2:19", ""),
        ("2. e7-e8=Q $1 {[%clk 0:00:40]} 1-0", "0:1 1:2 2:19", ""),
        ("2. De8 {[%clk 0:00:40]} 1-0", "0:1 1:2", "illegal move De8 after 2 plies"),
        ("2. -- {[%clk 0:00:40]} Kf6 {[%clk 0:00:30]} 1-0", "0:1 1:2", "null move -- after 2 plies"),
        ("\n\n2. e8q {[%clk 0:00:40]}\n\n1-0", "0:1 1:2 2:19", ""),
    ] {
        let path = file(folder.path(), "games.pgn", format!("{start} {rest}\n"));
        let (is_fine, output, errors) =
            zeitnot(&["time", "audit", path.to_str().unwrap(), "--json", "--manager", "simple"]);
        let lines = output.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let moves_of = |line: serde_json::Value| {
            Some(format!("{}:{}", line.get("ply")?.as_u64()?, line.get("used_ms")?.as_f64()? / 1e3))
        };
        assert_eq!(lines.filter_map(moves_of).collect::<Vec<_>>().join(" "), moves, "{rest}");
        assert!(is_fine && errors.contains(said) && errors.is_empty() == said.is_empty(), "{rest}: {errors}");
    }
}

#[test]
fn a_game_is_explained_whatever_stands_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[Event \"not played\"]\n\n\u{feff}[Event \"x\"]\n; a comment\n[TimeControl \"15'/game & 10\"/move\"]\n[White \"A\"]\n\n\
        1. Sf3 {[%clk 0:00:50]} 1-0\n\n[Event \"y\"]\n[TimeControl \"60\"]\n\n1. e2-e4 {[%clk 0:00:50]} *\n";
    let path = file(folder.path(), "games.pgn", text);
    let explain =
        |number| zeitnot(&["time", "explain", "game", path.to_str().unwrap(), "--ply", "0", "--number", number]);
    let (is_fine, output, _) = explain("3");
    assert!(is_fine && output.starts_with("1. e4 (White): 60.0 s on the clock, 10.00 s used"), "{output}");
    let (is_fine, _, errors) = explain("2");
    assert!(!is_fine && errors.contains("of its 0 plies: illegal move Sf3 after 0 plies"), "{errors}");
    let (is_fine, _, errors) = explain("4");
    assert!(!is_fine && errors.contains("games.pgn has games 1 to 3"), "{errors}");
}

/// A pipe's content is read more than once, and a folder is called one.
#[test]
#[cfg(unix)]
fn positions_of_a_pipe_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let games = file(folder.path(), "games.pgn", "1. e4 e5 2. Nf3 Nc6 *\n");
    let script = format!(
        "cat '{}' | '{}' time record --games /dev/stdin --backend random --nodes 20 --factor 2 --out '{}'",
        games.display(),
        env!("CARGO_BIN_EXE_zeitnot"),
        folder.path().join("t.zt").display()
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("2 positions of 1 games in "), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let path = folder.path().to_str().unwrap();
    for args in [
        &["time", "audit", path][..],
        &["time", "explain", "game", path, "--ply", "0"],
        &["time", "record", "--games", path],
        &["time", "record", "--positions", path],
        &["time", "report", "--svg=charts", path],
        &["match", "--nodes", "1", "--games", "2", "--openings", path],
    ] {
        let (is_fine, _, errors) = zeitnot(args);
        assert!(!is_fine && errors.matches("it is a folder, not a file").count() == 1, "{args:?}: {errors}");
    }
}

#[test]
fn files_in_utf_16_are_called_that() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let pgn = file(folder.path(), "games.pgn", bytes("\u{feff}[Event \"x\"]\n\n1. e4 {[%clk 0:00:50]} *\n"));
    let epd = file(folder.path(), "book.epd", bytes("8/8/4k3/8/8/4K3/4P3/8 w - -\n"));
    let [pgn, epd] = [&pgn, &epd].map(|path| path.to_str().unwrap());
    for args in [
        &["time", "audit", pgn][..],
        &["time", "explain", "game", pgn, "--ply", "0"],
        &["time", "record", "--games", pgn],
        &["time", "record", "--positions", epd],
        &["match", "--nodes", "1", "--games", "2", "--openings", epd],
        &["match", "--nodes", "1", "--games", "2", "--openings", pgn],
    ] {
        let (is_fine, _, errors) = zeitnot(args);
        let name = if args.contains(&pgn) { "games.pgn" } else { "book.epd" };
        assert!(!is_fine && errors.contains(&format!("{name}: it is UTF-16; save it as UTF-8")), "{args:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{args:?}: {errors}");
    }
}
