//! Nothing that a file, an engine, a server or the command line says commands the terminal or turns its lines.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use zeitnot_engine::network::testing::{random_network, with_renamed_ends};
use zeitnot_engine::network::{Conversion, Network};

/// Clears the screen, names the window, rings, turns the line, in sequences of 7 and of 8 bits; then a break of the
/// line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{202e}\u{2066}\u{9b}31m\r\u{8}\u{7f}\u{200f}";

/// A folder in which every name is hostile.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    /// A file of a hostile name with this ending.
    fn file(&self, ending: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(format!("a{HOSTILE}{ending}"));
        std::fs::write(&path, content).unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(self.0.path()).env("HOME", self.0.path()).env_remove("RUST_LOG");
        command.env("XDG_DATA_HOME", self.0.path()).env("XDG_CACHE_HOME", self.0.path());
        command
    }

    /// All that the program says on both streams, which must have been cleaned and yet quote what was hostile.
    fn quoted<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        self.said(self.command().args(arguments), "")
    }

    fn said(&self, command: &mut Command, input: &str) -> String {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its command line reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let bad = text.chars().find(|c| {
            let is_bidi =
                matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            c.is_control() && !matches!(c, '\n' | '\t') || is_bidi
        });
        assert_eq!(bad, None, "{command:?} says {text:?}");
        assert!(text.contains("[2J") || text.contains("31m"), "nothing is quoted: {text}");
        text
    }
}

fn onnx(rename: impl Fn(&str) -> String) -> Vec<u8> {
    let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
    with_renamed_ends(&network.onnx(&Conversion::default()).unwrap().bytes, rename)
}

const FLAG: &str = "--backend=uniform";

#[test]
fn what_was_typed() {
    let home = Home::new();
    for arguments in [
        &[HOSTILE][..],
        &["match", HOSTILE],
        &[&format!("--{HOSTILE}")],
        &["--threads", HOSTILE],
        &["eval", "--backend", HOSTILE],
        &["eval", FLAG, "--fen", HOSTILE],
        &["eval", FLAG, "--moves", HOSTILE],
        &["net", "fetch", HOSTILE],
        &["net", "fetch", &format!("http://127.0.0.1:9/{HOSTILE}.pb.gz")],
        &["net", "fetch", &format!("https://{HOSTILE}/a.pb.gz")],
        &["net", "describe", HOSTILE],
        &["--config", HOSTILE],
        &["time", "explain", "move", "--clock=1000", "--manager", HOSTILE],
        &["time", "audit", HOSTILE],
        &["time", "report", HOSTILE, "--svg=charts"],
        &["match", FLAG, "--engine2", HOSTILE],
        &["match", FLAG, "--option1", HOSTILE],
        &["match", FLAG, "--option2", &format!("{HOSTILE}=1")],
        &["match", FLAG, "--openings", HOSTILE],
        &["match", FLAG, "--tb", HOSTILE],
        &["genfens", HOSTILE, "seed", "1", "book", "None"],
        &["time", "compare", "--cells", HOSTILE],
        &["match", FLAG, "--clock=virtual", "--like", HOSTILE],
        &["runtime", "status", "--library", HOSTILE],
    ] {
        home.quoted(arguments);
    }
}

#[test]
fn names_of_files() {
    let home = Home::new();
    let network = home.file(".pb.gz", random_network(1, 1, 8));
    let models = home.0.path().join("models");
    std::fs::create_dir(&models).unwrap();
    std::fs::copy(&network, models.join(network.file_name().unwrap())).unwrap();
    let path = |path: &Path| path.as_os_str().to_owned();
    // Of the newest network nobody asks.
    home.quoted(&["doctor"]);
    home.quoted(&["doctor", "--json"]);
    home.quoted(&["doctor", "--report"]);
    home.quoted(&["bench".into(), "--weights".into(), path(&network), "--log-level=trace".into()]);
    home.quoted(&["net".into(), "describe".into(), path(&network), path(&network)]);
    home.quoted(&["net".into(), "describe".into(), "--json".into(), path(&network)]);
    home.quoted(&["net".into(), "convert".into(), path(&network)]);
    let pgn = home.file(".pgn", "[White \"a\"]\n\n1. e4 {[%clk 0:00:59]} *\n");
    home.quoted(&["time".into(), "audit".into(), path(&pgn)]);
    let games = home.file("2.pgn", "[White \"a\"]\n\n1. e5 *\n");
    home.quoted(&["time".into(), "audit".into(), path(&games)]);
    home.quoted(&["time".into(), "report".into(), "--svg".into(), path(&home.0.path().join(HOSTILE)), path(&games)]);
    let json = home.file(".json", "{}");
    home.quoted(&["match".into(), FLAG.into(), "--pool".into(), path(&json)]);
    home.quoted(&["eval".into(), FLAG.into(), "--positions".into(), path(&json)]);
    home.quoted(&["time".into(), "explain".into(), "script".into(), path(&json)]);
}

#[test]
fn contents_of_files() {
    let home = Home::new();
    let file = |name: &str, content: &[u8]| {
        let path = home.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let config = file("config", format!("{HOSTILE}=1\n").as_bytes());
    home.quoted(&["bench", "--config", &config]);
    let fens = file("a.epd", format!("8/8/8/8/8/8/8/{HOSTILE} w - -\n").as_bytes());
    home.quoted(&["match", FLAG, "--openings", &fens]);
    let line = serde_json::json!({ "id": HOSTILE, "fen": HOSTILE }).to_string();
    let positions = file("positions", line.as_bytes());
    home.quoted(&["eval", FLAG, "--positions", &positions]);
    let tags =
        format!("[White \"{HOSTILE}\"]\n[TimeControl \"60\"]\n\n1. e4 {{[%clk 0:00:59]}} e5 {{[%clk 0:00:58]}} *\n");
    let games = file("games.pgn", tags.as_bytes());
    home.quoted(&["time", "audit", &games]);
    home.quoted(&["time", "audit", "--json", &games]);
    // Names in a network are quoted where they are missed.
    let model = file("net.onnx", &onnx(|name| format!("{name}{HOSTILE}")));
    home.quoted(&["net", "describe", &model]);
    home.quoted(&["eval", "--weights", &model]);
}

/// JSON says the same as before: what is printed otherwise are characters that it may write in either way.
#[test]
fn json_is_true_to_the_byte() {
    let home = Home::new();
    let line = serde_json::json!({ "id": HOSTILE, "fen": "startpos" }).to_string();
    let path = home.file(".jsonl", line);
    let arguments = ["eval".into(), FLAG.into(), "--positions".into(), path.into_os_string()];
    let said = home.quoted(&arguments);
    let value: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(value["id"], HOSTILE);
}

#[test]
fn what_a_gui_says() {
    let home = Home::new();
    let input = [
        format!("{HOSTILE}\n"),
        format!("setoption name {HOSTILE} value 1\n"),
        format!("setoption name Backend value native\nsetoption name WeightsFile value {HOSTILE}\n"),
        format!("setoption name LogFile value /no/{HOSTILE}\n"),
        format!("setoption name SyzygyPath value {HOSTILE}\n"),
        format!("position fen {HOSTILE}\n"),
        format!("position startpos moves {HOSTILE}\n"),
        format!("go nodes {HOSTILE}\nwait\n"),
        "setoption name LogFile value <stderr>\nisready\nuci\n".to_owned(),
    ];
    let (last, hostile) = input.split_last().unwrap();
    for line in hostile {
        home.said(home.command().arg(FLAG), &format!("{line}isready\nquit\n"));
    }
    home.said(home.command().arg(FLAG).arg("--log-level=trace"), &format!("{}{last}quit\n", hostile.concat()));
}

#[test]
fn what_an_opponent_says() {
    let home = Home::new();
    let script = home.0.path().join("engine.py");
    let lines = "import sys\nh = sys.argv[2]\nfor line in sys.stdin:\n    word = line.split()[0]\n    if word == 'uci':\n        \
                 print('id name N' + h + '\\noption name O' + h + ' type check default true\\nuciok', flush=True)\n    \
                 elif word == 'isready':\n        print('readyok', flush=True)\n    elif word == 'go':\n        \
                 print('bestmove ' + h, flush=True)\n        print(h, file=sys.stderr, flush=True)\n        \
                 if sys.argv[1] == 'ends': sys.exit(1)\n    elif word == 'quit':\n        break\n";
    std::fs::write(&script, lines).unwrap();
    // A command line is split at blanks and breaks.
    let hostile = HOSTILE.replace('\r', "");
    for kind in ["answers", "ends"] {
        let engine = format!("python3 {} {kind} '{hostile}'", script.display());
        let given = ["match", FLAG, "--threads=1", "--nodes=1", "--games=1", "--pgn", "a.pgn", "--engine2", &engine];
        home.quoted(&given);
        home.quoted(&[&given[..], &["--option2", "Nothing=1"]].concat());
        home.quoted(&[&given[..], &["--name2", HOSTILE, "--json"]].concat());
    }
    let pool = serde_json::json!([{ "name": HOSTILE, "command": format!("python3 {} answers x", script.display()) }]);
    std::fs::write(home.0.path().join("pool.json"), pool.to_string()).unwrap();
    home.quoted(&["match", FLAG, "--threads=1", "--nodes=1", "--games=1", "--pgn", "b.pgn", "--pool", "pool.json"]);
}
