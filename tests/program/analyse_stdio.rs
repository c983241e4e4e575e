//! Analysis for programs: each request of many is answered once, with what `go nodes` finds, and faults are named.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader};
#[cfg(unix)]
use std::io::{Seek as _, Write as _};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::time::Duration;

/// Positions with a moved game, castling in Chess960, a mate, a stalemate, few pieces, and tactics.
const POSITIONS: [(&str, &str); 7] = [
    ("startpos", ""),
    ("startpos", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1h1"),
    ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", ""),
    ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ""),
    ("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", "e2e4"),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ""),
];

fn zeitnot(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.env_remove("RUST_LOG").timeout(Duration::from_secs(300)).args(arguments);
    command
}

/// The answers to the lines of an input, each of which must be JSON.
fn answers(flags: &[&str], input: &str) -> Vec<Value> {
    let arguments = [&["analyse", "--stdio"], flags].concat();
    let output = zeitnot(&arguments).write_stdin(input).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A request for a search of 1 to 60 nodes.
fn request(id: usize) -> Value {
    let (fen, moves) = POSITIONS[id % POSITIONS.len()];
    let mut request =
        json!({ "id": id, "fen": fen, "moves": [moves], "nodes": 1 + id * 7 % 60, "chess960": id.is_multiple_of(3) });
    if id.is_multiple_of(4) {
        request["multipv"] = (1 + id % 5).into();
    }
    if id % 14 == 7 {
        request["searchmoves"] = json!(["a2a3", "h2h4"]);
    }
    request
}

/// Requests of every kind, faults among them. None depends on the time that it takes.
fn mixed(id: usize) -> (Value, Option<&'static str>) {
    let mut request = request(id);
    let fault = match id % 25 {
        3 => ("node", json!(5), "unknown field \"node\""),
        9 => ("fen", json!("no fen"), "no fen"),
        13 => ("moves", json!(["e2e5"]), "e2e5"),
        16 => ("searchmoves", json!(["a1a1"]), "searchmoves: "),
        19 => ("multipv", json!(501), "MultiPV"),
        22 => ("movetime", json!(-1), "movetime is -1"),
        _ => {
            if id.is_multiple_of(6) {
                request["id"] = format!("text {id}").into();
            }
            if id % 10 == 1 {
                request.as_object_mut().unwrap().remove("nodes");
                request["depth"] = (1 + id % 3).into();
            }
            request["stats"] = (id % 8 == 5).into();
            return (request, None);
        }
    };
    request[fault.0] = fault.1;
    (request, Some(fault.2))
}

#[test]
fn a_thousand_mixed_requests_are_answered_once_each() {
    let requests: Vec<_> = (0..1000).map(mixed).collect();
    let input: String = requests.iter().map(|(request, _)| format!("{request}\n")).collect();
    let answers = answers(&["--parallel=4", "--backend=uniform"], &format!("{input}\nno request\n{{\"nodes\": 1}}\n"));
    assert_eq!(answers.len(), 1002);
    let nameless = answers.iter().filter(|answer| answer.get("id").is_none() && answer["error"].is_string()).count();
    assert_eq!(nameless, 2);
    let by_id: BTreeMap<String, &Value> = answers.iter().map(|answer| (answer["id"].to_string(), answer)).collect();
    assert_eq!(by_id.len(), 1001, "each id once, and those without");
    for (request, fault) in requests {
        let answer = by_id[&request["id"].to_string()];
        match (fault, &answer["error"]) {
            (Some(fault), Value::String(error)) => assert!(error.contains(fault), "{request}: {error}"),
            (None, Value::Null) => check(&request, answer),
            _ => panic!("{request}: {answer}"),
        }
    }
}

/// An answer must fit its request.
fn check(request: &Value, answer: &Value) {
    let lines = answer["lines"].as_array().unwrap();
    if answer["bestmove"].is_null() {
        assert!(lines.is_empty(), "{request}: {answer}");
        return;
    }
    let most = request["multipv"].as_u64().unwrap_or(1) as usize;
    assert!((1..=most).contains(&lines.len()), "{request}: {answer}");
    assert_eq!(lines[0]["pv"][0], answer["bestmove"]);
    assert!(
        request["nodes"].as_u64().is_none_or(|nodes| answer["nodes"].as_u64().unwrap() >= nodes.min(2)),
        "{answer}"
    );
    assert_eq!(answer["moves"].is_array(), request["stats"] == true, "{request}: {answer}");
    if let Some(moves) = request.get("searchmoves") {
        assert!(moves.as_array().unwrap().contains(&answer["bestmove"]), "{request}: {answer}");
    }
}

/// What UCI says of a search, of each line the last.
fn by_uci(engine_flags: &[&str], requests: &[Value]) -> Vec<Vec<String>> {
    let mut input = String::new();
    for request in requests {
        let text = |key: &str| request[key].as_array().map(|words| words[0].as_str().unwrap()).unwrap_or_default();
        let fen = request["fen"].as_str().unwrap();
        let fen = if fen == "startpos" { fen.to_owned() } else { format!("fen {fen}") };
        writeln!(input, "ucinewgame\nsetoption name MultiPV value {}", request["multipv"].as_u64().unwrap_or(1))
            .unwrap();
        writeln!(input, "setoption name UCI_Chess960 value {}", request["chess960"]).unwrap();
        writeln!(input, "position {fen} moves {}\ngo nodes {}\nwait", text("moves"), request["nodes"]).unwrap();
    }
    let output = zeitnot(engine_flags).write_stdin(input).assert().success().get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    let (mut all, mut last) = (Vec::new(), BTreeMap::new());
    for line in output.lines() {
        let word = |key: &str| line.split(' ').skip_while(|word| *word != key).nth(1).unwrap_or("1").to_owned();
        if let Some(rest) = line.strip_prefix("info depth ") {
            let [score, pv] = [" score ", " pv "].map(|key| rest.split(key).nth(1).unwrap_or_default());
            let score: Vec<&str> = score.split(' ').take(6).collect();
            last.insert(word("multipv"), format!("nodes {} {} pv {pv}", word("nodes"), score.join(" ")));
        }
        if let Some(best) = line.strip_prefix("bestmove ") {
            let lines = std::mem::take(&mut last).into_values().filter(|line| !line.ends_with("pv "));
            all.push(lines.chain([best.to_owned()]).collect());
        }
    }
    all
}

/// An answer as [`by_uci`] has it.
fn as_uci(answer: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words = |values: &Value| values.as_array().unwrap().iter().map(word).collect::<Vec<_>>().join(" ");
    let line = |line: &Value| {
        let kind = if line["mate"].is_null() { "cp" } else { "mate" };
        let score = format!("{kind} {} wdl {}", line[kind], words(&line["wdl"]));
        format!("nodes {} {score} pv {}", answer["nodes"], words(&line["pv"]))
    };
    let ponder =
        if answer["ponder"].is_null() { String::new() } else { format!(" ponder {}", word(&answer["ponder"])) };
    let best = if answer["bestmove"].is_null() { "(none)".to_owned() } else { word(&answer["bestmove"]) };
    answer["lines"].as_array().unwrap().iter().map(line).chain([format!("{best}{ponder}")]).collect()
}

#[test]
fn a_search_finds_what_go_nodes_finds() {
    let requests: Vec<Value> = (0..70).filter(|id| id % 14 != 7).map(request).collect();
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let network = "--weights=zeitnot-tiny";
    let mut found = answers(&["--parallel=4", network], &input);
    found.sort_by_key(|answer| answer["id"].as_u64());
    let flags = [network, "--threads=1", "--smart-pruning-factor=0", "--show-wdl"];
    let expected = by_uci(&flags, &requests);
    assert_eq!(found.iter().map(as_uci).collect::<Vec<_>>(), expected);
    assert!(expected.iter().flatten().filter(|line| line.contains(" cp ")).count() > 50, "{expected:?}");
}

#[test]
fn requests_are_ended_by_others() {
    let endless = |id: &str| json!({ "id": id, "movetime": 1e10 });
    let terminate = |id: &str, of: &str| json!({ "id": id, "action": "terminate", "terminateId": of });
    let end = json!({ "id": "end", "action": "terminate" });
    let lines =
        [endless("a"), endless("b"), endless("a"), terminate("c", "b"), terminate("d", "a"), end.clone(), endless("e")];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answers = answers(&["--parallel=1", "--backend=uniform"], &input);
    let of = |id: &str| answers.iter().filter(|answer| answer["id"] == id).collect::<Vec<_>>();
    let [twice, first] = of("a")[..] else { panic!("{answers:?}") };
    assert!(twice["error"].as_str().unwrap().contains("no answer yet"));
    // It may not have begun.
    assert!(first["noResults"] == true || first["bestmove"].is_string(), "{first}");
    assert_eq!(of("b"), [&json!({ "id": "b", "noResults": true })]);
    assert_eq!((of("c"), of("end")), (vec![&terminate("c", "b")], vec![&end]));
    assert!(of("e").is_empty(), "nothing is read after the end");
}

#[test]
fn the_example_analyses_a_game() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/analyse/client.py");
    let client = |moves: &[&str]| {
        let mut command = Command::new("python3");
        command.env("ZEITNOT", env!("CARGO_BIN_EXE_zeitnot")).arg(&example).args(moves).assert()
    };
    let output = client(&["e2e4", "e7e5"]).success().get_output().stdout.clone();
    let lines: Vec<String> = String::from_utf8(output).unwrap().lines().map(str::to_owned).collect();
    assert!(lines.len() == 3 && lines[2].starts_with("  2 e7e5 "), "{lines:?}");
    client(&["e2e5"]).failure();
}

#[test]
fn no_tree_is_saved() {
    let assert = zeitnot(&["analyse", "--stdio", "--backend=uniform", "--tree-file=analysis.tree"]).assert().code(1);
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("--tree-file: "));
}

#[test]
fn ids_come_back_as_they_came() {
    let ids = [
        "1",
        "-0",
        "12345678901234567890123456789",
        "12345678901234567890123456788",
        "0.10000000000000000000000000000000000001",
        "1E+400",
        "1e2",
        r#""a\u0062\n\/\ud83d\ude00""#,
        r#""\ud800""#,
        "\"\u{7f}\u{202e}\u{2028}é 象棋\"",
        "\"\"",
        "null",
        "true",
        r#"[1, {"a" :2.50}]"#,
        r#"{"id": [ ] }"#,
        &format!("{}{}", "[".repeat(1000), "]".repeat(1000)),
        &format!("\"{}\"", "x".repeat(100_000)),
    ];
    let mut input = String::from("\u{feff}");
    for id in ids {
        writeln!(input, r#" {{ "id" : {id} , "nodes": 1}} "#).unwrap();
        writeln!(input, r#"{{"nodes": 0, "id":{id}}}"#).unwrap();
        writeln!(input, r#"{{"id":{id}, "nodes": 1}} and more"#).unwrap();
        writeln!(input, r#"{{"action": "terminate","x":1.0,"id":{id},"terminateId":"none"}}"#).unwrap();
    }
    let arguments = ["analyse", "--stdio", "--parallel=2", "--backend=uniform"];
    let output = zeitnot(&arguments).write_stdin(input).assert().success().get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    assert_eq!(output.lines().count(), 4 * ids.len());
    for id in ids {
        let count =
            |end: &str| output.lines().filter(|line| line.starts_with(&format!("{{\"id\":{id},\"{end}"))).count();
        assert_eq!((count("bestmove"), count("error")), (1, 2), "{id:.50}");
        let echo = format!(r#"{{"action": "terminate","x":1.0,"id":{id},"terminateId":"none"}}"#);
        assert_eq!(output.lines().filter(|line| *line == echo).count(), 1, "{id:.50}");
    }
}

#[test]
fn the_end_of_a_game_is_named() {
    for (fen, moves, outcome) in [
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "", Some("checkmate")),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "", Some("stalemate")),
        ("startpos", "f2f3 e7e5 g2g4 d8h4", Some("checkmate")),
        ("7k/8/6K1/8/8/8/8/8 w - - 0 1", "", Some("insufficient material")),
        ("startpos", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", Some("threefold repetition")),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 90", "", Some("the fifty-move rule")),
        ("startpos", "e2e4", None),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - bm Qg7; id \"mate in 1\";", "", None),
    ] {
        let request = json!({ "id": 1, "fen": fen, "moves": [moves], "nodes": 4 });
        let answers = answers(&["--parallel=1", "--backend=uniform"], &format!("{request}\n"));
        assert_eq!((answers.len(), answers[0]["outcome"].as_str()), (1, outcome), "{fen}: {answers:?}");
        let is_stuck = matches!(outcome, Some("checkmate" | "stalemate"));
        assert_eq!(answers[0]["bestmove"].is_null(), is_stuck, "{fen}: {answers:?}");
    }
}

/// Requests behind one that does not end: those that no memory is for are refused one by one, and the program listens.
#[cfg(target_os = "linux")]
#[test]
fn requests_that_wait_take_a_bounded_memory() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.env_remove("RUST_LOG").args([
        "analyse",
        "--stdio",
        "--parallel=1",
        "--backend=uniform",
        "--ramlimit-mb=20",
    ]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut lines = output.lines().map(Result::unwrap);
    let memory = |child: &std::process::Child, key: &str| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        text.lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    writeln!(input, r#"{{"id": 0, "movetime": 1e10}}"#).unwrap();
    writeln!(input, r#"{{"id": "begun", "action": "terminate", "terminateId": "x"}}"#).unwrap();
    assert!(lines.next().unwrap().contains("begun"));
    let before = memory(&child, "VmRSS:");
    const COUNT: usize = 800;
    let writer = std::thread::spawn(move || {
        let blanks = " ".repeat(50_000);
        let requests: String = (1..=COUNT).map(|id| format!("{{\"id\": {id},{blanks}\"nodes\": 1}}\n")).collect();
        input.write_all(requests.as_bytes()).unwrap();
        writeln!(input, r#"{{"id": "end", "action": "terminate", "terminateId": 0}}"#).unwrap();
        input
    });
    let mut refused = 0;
    let mut found = [false; 2];
    while found != [true; 2] {
        let line = lines.next().unwrap();
        refused += usize::from(line.contains("too many requests wait"));
        found[0] |= line.contains("terminateId");
        found[1] |= line.starts_with("{\"id\":0,\"bestmove\"");
    }
    let more = memory(&child, "VmHWM:").saturating_sub(before);
    assert!(more < 50_000, "{more} kB");
    assert!((COUNT / 10..COUNT).contains(&refused), "{refused}");
    let _ = writer.join().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Requests of a file, more than may wait while the first is searched, are all served.
#[cfg(unix)]
#[test]
fn requests_of_a_file_wait_for_room() {
    let mut input = tempfile::tempfile().unwrap();
    let blanks = " ".repeat(50_000);
    let requests = (1..=600).map(|id| format!("{{\"id\": {id},{blanks}\"nodes\": 1}}\n"));
    let text: String = std::iter::once("{\"id\": 0, \"movetime\": 3000}\n".to_owned()).chain(requests).collect();
    input.write_all(text.as_bytes()).unwrap();
    input.rewind().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.env_remove("RUST_LOG").args(["analyse", "--stdio", "--parallel=1", "--backend=uniform"]).stdin(input);
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(output.lines().count(), 601);
    assert!(!output.contains("\"error\""), "{:.300}", output.lines().find(|line| line.contains("\"error\"")).unwrap());
}
