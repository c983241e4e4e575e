//! Tests what `zeitnot time audit`, `time explain game` and `time report` say of games in the shapes of many
//! programs: how they were lost on time, and what their clocks hold.
#![allow(clippy::unwrap_used, reason = "a test")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const ZEITNOT: &str = env!("CARGO_BIN_EXE_zeitnot");

/// A match of this program: the late move is not in the file, by how much it was late is.
const OWN: &str = "[White \"Zeitnot\"]\n[Black \"Stockfish 15.1\"]\n[Result \"1-0\"]\n[TimeControl \"3+0.03\"]\n\
    [Termination \"time forfeit\"]\n\n\
    1. e4 {[%clk 0:00:02.900] [%emt 0:00:00.160] [%nodes 90] [%budget 0:00:00.180]} 1... e5 {[%clk 0:00:01.060]\n\
    [%emt 0:00:02.000]} 2. Nf3 {[%clk 0:00:02.830] [%emt 0:00:00.100]} 2... Nc6 {[%clk 0:00:00.112] [%emt\n\
    0:00:00.978]} 3. Bb5 {[%clk 0:00:02.760] [%emt 0:00:00.100]} {Black loses on time (88ms\n\
    overrun)} 1-0\n\n";

/// fastchess, which writes the late move.
const FASTCHESS: &str = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[Termination \"time forfeit\"]\n[TimeControl \"1+0.01\"]\n\n\
    1. e4 {+0.31/12 0.200s, tl=0.820s, latency=0.001s, n=100} e5 {-0.31/12 0.974s, tl=0.046s, latency=0.001s, n=9}\n\
    2. Nf3 {+0.31/12 0.200s, tl=0.630s, latency=0.001s, n=100}\n\
    Nc6 {-0.31/12 0.055s, tl=-0.009s, latency=0.017s, n=100, Black loses on time} 1-0\n\n";

/// lichess; a game that is drawn since the other side cannot mate.
const LICHESS: &str = "[Site \"https://lichess.org/x\"]\n[White \"ann\"]\n[Black \"bob\"]\n[Result \"0-1\"]\n[TimeControl \"180+2\"]\n\
    [Termination \"Time forfeit\"]\n\n\
    1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Nf3 { [%clk 0:00:58] } 2... Nc6 { [%clk 0:03:01] } 0-1\n\n\
    [Site \"https://lichess.org/y\"]\n[White \"ann\"]\n[Black \"bob\"]\n[Result \"1/2-1/2\"]\n[TimeControl \"180+2\"]\n\
    [Termination \"Time forfeit\"]\n\n\
    1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Nf3 { [%clk 0:00:58] } 2... Nc6 { [%clk 0:03:01] } 1/2-1/2\n\n";

/// chess.com, by the day.
const CHESS_COM: &str = "[White \"ann\"]\n[Black \"bob.b\"]\n[Result \"1-0\"]\n[TimeControl \"1/86400\"]\n\
    [Termination \"ann won on time\"]\n\n\
    1. e4 {[%clk 23:59:48]} 1... e5 {[%clk 20:00:00]} 2. Nf3 {[%clk 10:00:00]} 1-0\n\n";

/// cutechess without clocks.
const CUTECHESS: &str = "[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n[Termination \"time forfeit\"]\n[TimeControl \"1+1\"]\n\n\
    1. e4 {+0.10/5 1.5s} e5 {-0.10/5 0.10s} 2. Nf3 {+0.10/5 1.2s} Nc6 {-0.10/5 0.10s, White loses on time} 0-1\n\n";

/// c-chess-cli, which tells neither clocks nor the time control.
const C_CHESS_CLI: &str = "[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n[Termination \"time forfeit\"]\n\n\
    1. e4 {19/4 220ms} e5 {38/21 36165ms} 2. Nf3 {M5/9 5ms} Nc6 {12/4 10ms} 0-1\n\n";

fn zeitnot(folder: &Path, args: &[&str]) -> Output {
    Command::new(ZEITNOT).current_dir(folder).args(args).output().unwrap()
}

/// The two outputs of a command that must not fail.
fn said(folder: &Path, args: &[&str]) -> (String, String) {
    let output = zeitnot(folder, args);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{args:?}: {err}");
    (out, err)
}

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// The objects of an audit.
fn audit(text: &str) -> Vec<Value> {
    let folder = folder_with("g.pgn", text);
    let (out, _) = said(folder.path(), &["time", "audit", "g.pgn", "--json", "--manager", "simple"]);
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The games of an audit that were lost on time.
fn losses(text: &str) -> Vec<Value> {
    audit(text).iter().filter_map(|line| line.get("lost_on_time").cloned()).collect()
}

#[test]
fn losses_on_time_are_told_for_every_program() {
    for (text, number, player, side, ply, name, clock, used, over, latency, longest) in [
        (
            OWN,
            1,
            "Stockfish 15.1",
            "black",
            5,
            "3...",
            Some(112.0),
            Some(200.0),
            Some(88.0),
            None,
            ("1... e5", 2_000.0),
        ),
        (FASTCHESS, 1, "B", "black", 3, "2... Nc6", Some(46.0), Some(55.0), Some(9.0), Some(17.0), ("1... e5", 974.0)),
        (LICHESS, 2, "ann", "white", 4, "3.", Some(58_000.0), None, None, None, ("2. Nf3", 124_000.0)),
        (CHESS_COM, 1, "bob.b", "black", 3, "2...", Some(86_400_000.0), None, None, None, ("1... e5", 14_400_000.0)),
        (CUTECHESS, 1, "A", "white", 4, "3.", Some(1_300.0), None, None, None, ("1. e4", 1_500.0)),
        (C_CHESS_CLI, 1, "A", "white", 4, "3.", None, None, None, None, ("1. e4", 220.0)),
    ] {
        let losses = losses(text);
        assert_eq!(losses.len(), number, "{text}");
        let lost = &losses[0];
        let number = |name: &str| lost[name].as_f64();
        assert_eq!((lost["player"].as_str(), lost["side"].as_str()), (Some(player), Some(side)));
        assert_eq!((lost["ply"].as_u64(), lost["move"].as_str()), (Some(ply), Some(name)));
        let times = [number("clock_ms"), number("used_ms"), number("over_ms"), number("latency_ms")];
        assert_eq!(times, [clock, used, over, latency], "{lost}");
        assert_eq!(
            (lost["longest"]["move"].as_str(), lost["longest"]["used_ms"].as_f64()),
            (Some(longest.0), Some(longest.1))
        );
        assert_eq!(lost["in_file"], text == FASTCHESS);
        assert_eq!(lost["explain"].is_null(), clock.is_none(), "{lost}");
    }
    // What fastchess says where it waited in vain for the move.
    let unanswered = FASTCHESS.replace(
        "Nf3 {+0.31/12 0.200s, tl=0.630s, latency=0.001s, n=100}\n",
        "Nf3 {+0.31/12 0.200s, Black loses on time (123ms overrun)} 1-0\n\n[Event \"x\"]\n\n1. e4\n",
    );
    let lost = &losses(&unanswered)[0];
    let times = ["clock_ms", "used_ms", "over_ms"].map(|name| lost[name].as_f64());
    assert_eq!((times, &lost["ply"]), ([Some(46.0), Some(169.0), Some(123.0)], &3.into()));
    let drawn = &losses(LICHESS)[1];
    assert_eq!((&drawn["drawn"], drawn["player"].as_str()), (&true.into(), Some("ann")));
    let lines = audit(&[OWN, LICHESS].concat());
    let summary = &lines.last().unwrap()["summary"];
    let counts: Vec<(&str, u64)> = summary["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| (player["player"].as_str().unwrap(), player["lost_on_time"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("ann", 1), ("bob", 0), ("Stockfish 15.1", 1), ("Zeitnot", 0)]);
    assert_eq!(summary["lost_on_time"], 3);
}

#[test]
fn tables_of_losses_have_commands_that_work_when_pasted() {
    // A name that a shell would take apart.
    let name = "it's 3+0.03 (new).pgn";
    let folder = folder_with(name, &[OWN, FASTCHESS, LICHESS, CHESS_COM, CUTECHESS, C_CHESS_CLI].concat());
    let (out, err) = said(folder.path(), &["time", "audit", name, "--manager", "smooth"]);
    for row in [
        "| 1 | Stockfish 15.1 (black) | 3... (not in the file) | 112 ms | 200 ms | 88 ms | - | 1... e5: 2 s |",
        "| 2 | B (black) | 2... Nc6 | 46 ms | 55 ms | 9 ms | 17 ms | 1... e5: 974 ms |",
        "| 3 | ann (white) | 3. (not in the file) | 58 s | - | - | - | 2. Nf3: 124 s |",
        "| 4 | ann (white, drawn) | 3. (not in the file) | 58 s | - | - | - | 2. Nf3: 124 s |",
        "| 7 | A (white) | 3. (not in the file) | - | - | - | - | 1. e4: 220 ms |",
    ] {
        assert!(out.contains(row), "{row}: {out}");
    }
    assert!(
        out.contains("| Stockfish 15.1 | bullet | 1 | 1.489 s | 0.112 / 0.112 / 0.112 s | 100 / 0 / 0 % |"),
        "{out}"
    );
    assert!(err.contains("neither a clock nor a time control, in 1 game (first game 7)"), "{err}");
    let commands: Vec<&str> = out.lines().filter(|line| line.contains("zeitnot time explain")).collect();
    assert_eq!(commands.len(), 6, "{out}");
    let path = [Path::new(ZEITNOT).parent().unwrap().to_str().unwrap(), &std::env::var("PATH").unwrap()].join(":");
    let expected = [
        "3... (Black): 0.112 s on the clock; it lost on time with this move, 0.088 s too late, and the move is not in the file.",
        "2... Nc6 (Black): 0.046 s on the clock, 0.055 s used and 100 nodes; it lost on time with this move, 0.009 s too late.",
        "3. (White): 58.00 s on the clock; it lost on time with this move, and the move is not in the file.",
        "3. (White): 58.00 s on the clock; it lost on time with this move, and the move is not in the file.",
        "2... (Black): 86400.0 s on the clock; it lost on time with this move, and the move is not in the file.",
        "3. (White): 1.300 s on the clock; it lost on time with this move, and the move is not in the file.",
    ];
    for (command, expected) in commands.into_iter().zip(expected) {
        let output = Command::new("sh").args(["-c", command]).env("PATH", &path).current_dir(&folder).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.starts_with(expected), "{command}: {said}");
        assert!(said.contains("would have granted it") && said.contains("hard_limit"), "{said}");
        let budget = said.lines().find_map(|line| line.trim_start().strip_prefix("budget ")).unwrap();
        assert!(!budget.trim_start().starts_with("0 ms"), "{command}: {said}");
    }
    let (out, _) = said(folder.path(), &["time", "audit", name, "--overhead", "30"]);
    assert_eq!(out.lines().filter(|line| line.ends_with(" --overhead 30")).count(), 6, "{out}");
}

#[test]
fn explanations_of_moves_that_were_not_played_are_told_apart() {
    let folder = folder_with(
        "g.pgn",
        &[
            OWN,
            "1. e4 {[%clk 0:01:00]} e5 {[%clk 0:01:00]} 2. Ke4 *\n\n",
            "1. f3 {[%clk 0:01:00]} e5 {[%clk 0:01:00]} 2. g4 {[%clk 0:00:50]} Qh4# {[%clk 0:00:50]} 0-1\n",
        ]
        .concat(),
    );
    let explain = |number: &str, ply: &str| {
        let output =
            zeitnot(folder.path(), &["time", "explain", "game", "g.pgn", "--json", "--number", number, "--ply", ply]);
        (
            output.status.success(),
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat(),
        )
    };
    let (_, said) = explain("1", "5");
    let lost: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&lost["clock_ms"], &lost["used_ms"], &lost["lost_on_time"]),
        (&112.0.into(), &Value::Null, &true.into())
    );
    assert!(lost["budget_ms"].as_f64().unwrap() >= 0.0 && lost["increment_ms"].is_null());
    // Nobody knows what stood behind an illegal move, and nobody moves after a mate.
    for (number, ply) in [("1", "6"), ("2", "2"), ("3", "4")] {
        let (is_fine, said) = explain(number, ply);
        assert!(!is_fine && said.contains(" has no clock for the move after ") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn reports_list_the_games_that_were_lost_on_time() {
    let folder = folder_with("my games.pgn", &[OWN, FASTCHESS].concat());
    let path = folder.path();
    let (audited, _) = said(path, &["time", "audit", "my games.pgn", "--json"]);
    fs::write(path.join("audit.jsonl"), audited).unwrap();
    for file in ["my games.pgn", "audit.jsonl"] {
        said(path, &["time", "report", file, "--out", "report.html"]);
        let page = fs::read_to_string(path.join("report.html")).unwrap();
        assert!(
            page.contains("Lost on time</h3>") && page.contains("2 games ended by a clock that ran out."),
            "{file}"
        );
        for cell in ["46 ms", "9 ms", "17 ms", "2... Nc6", "1... e5: 974 ms"] {
            assert!(page.contains(&format!("<td>{cell}</td>")), "{file}: {cell}");
        }
        let command = "zeitnot time explain game &#39;my games.pgn&#39; --number 2 --ply 3";
        assert!(page.contains(command), "{file}");
    }
    // Without a loss there is no such table.
    fs::write(path.join("sound.pgn"), OWN.replace("time forfeit", "normal").replace("loses on time", "plays")).unwrap();
    said(path, &["time", "report", "sound.pgn", "--out", "report.html"]);
    assert!(!fs::read_to_string(path.join("report.html")).unwrap().contains("Lost on time"));
}

#[test]
fn what_was_taken_for_granted_is_one_line_for_each_kind() {
    let game = |control: &str, moves: &str| format!("[TimeControl \"{control}\"]\n\n{moves} *\n\n");
    let given = game("60", "1. e4 {[%clk 0:00:50]} e5 2. Nf3 {[%clk 0:01:05]}");
    let long = game("10", "1. e4 {+0.1/5 6.000s} e5 2. Nf3 {+0.1/5 5.000s}");
    let told = game("10", "1. e4 {0/5 9.500s, tl=0.500s} e5 2. Nf3 {0/5 0.600s, tl=0.000s}");
    let text = [
        given.repeat(3),
        long.repeat(2),
        told,
        game("*180", "1. e4 {[%clk 0:03:00]} e5 2. Nf3 {[%clk 0:02:50]}"),
        game("5+3", "1. e4 {[%clk 0:05:02]}"),
        game("5400+30", "1. e4 {[%clk 1:29]}"),
    ];
    let folder = folder_with("g.pgn", &text.concat());
    let (_, err) = said(folder.path(), &["time", "audit", "g.pgn", "--manager", "simple"]);
    for line in [
        "g.pgn: the TimeControl of 1 game is not read (first game 7: \"*180\"): their clocks are those of the comments alone",
        "g.pgn: the TimeControl of 1 game is taken as minutes, which their clocks show (first game 8: \"5+3\")",
        "g.pgn: the clocks of 1 game are taken as hours and minutes (first game 9)",
        "g.pgn: 2 moves of 2 games would have used more than their clock though nobody lost on time (first game 4, 2. Nf3: 5 s of 4 s)",
        "g.pgn: 1 move of 1 game used more than their clock by their own comments though nobody lost on time (first game 6, 2. Nf3: 600 ms of 500 ms)",
        "g.pgn: the clock went up in 3 moves of 3 games by more than the time control gives (first game 1, 2. Nf3: by 15 s)",
    ] {
        assert!(err.lines().any(|said| said.starts_with(line)), "{line}: {err}");
    }
    assert_eq!(err.lines().count(), 6, "{err}");
    let (_, err) = said(folder.path(), &["time", "report", "g.pgn", "--out", "r.html"]);
    assert!(err.lines().filter(|line| line.starts_with("g.pgn: ")).count() == 6, "{err}");
    let (_, err) = said(folder.path(), &["time", "explain", "game", "g.pgn", "--number", "8", "--ply", "0"]);
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let folder = folder_with("g.pgn", FASTCHESS);
    for command in ["time audit /dev/stdin", "time report /dev/stdin --out r.html && cat r.html"] {
        let shell = format!("cat g.pgn | '{ZEITNOT}' {command}");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("2... Nc6"), "{command}: {said}");
    }
}

/// In a tenth of the memory that the games and all plans for them would take.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(whole), ignore = "slow: ZEITNOT_WHOLE=1 cargo test")]
fn games_are_not_held() {
    let game = |number: usize| {
        let moves: String = (1..=100)
            .map(|second| {
                let clock = 600 - 2 * second;
                format!(
                    "{second}. {} {{0.1/5 1s, tl={clock}s}} {} {{0.1/5 1s, tl={clock}s}} ",
                    ["Ng1", "Nf3"][second % 2],
                    ["Ng8", "Nf6"][second % 2]
                )
            })
            .collect();
        format!("[White \"A{number}\"]\n[Black \"B\"]\n[TimeControl \"600\"]\n\n{moves} *\n\n")
    };
    let folder = folder_with("g.pgn", &(0..6_000).map(game).collect::<String>());
    for command in ["time audit g.pgn", "time report g.pgn --out r.html"] {
        let shell = format!("ulimit -v 400000; exec '{ZEITNOT}' {command}");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
