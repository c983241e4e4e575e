//! Files of text that an editor or a shell saved: a byte order mark makes no difference, and UTF-16 is called what it
//! is.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).env("HOME", folder).env_remove("RUST_LOG").args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses its command line reads nothing.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input);
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn utf16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// A file that a flag names, and a command that reads it.
struct Case<'a> {
    file: &'a str,
    content: &'a str,
    arguments: &'a [&'a str],
    /// Whether its output has no times of this machine.
    repeats: bool,
}

/// Lines of JSON have no line break within, so that each may begin another file.
fn with_marks(content: &str) -> String {
    content.split_inclusive('\n').map(|line| format!("\u{feff}{line}")).collect()
}

impl Case<'_> {
    /// The command does the same with a mark before the text (and before each line where the text is one of lines), and
    /// says what UTF-16 is.
    fn check(&self, folder: &Path, is_of_lines: bool) {
        let Case { file, content, arguments, repeats } = *self;
        let path = folder.join(file);
        let answer = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            run(folder, arguments, b"")
        };
        let expected = answer(content.as_bytes());
        assert!(expected.status.success(), "{arguments:?}: {}", said(&expected));
        let marked = [Some(format!("\u{feff}{content}")), is_of_lines.then(|| with_marks(content))];
        for text in marked.into_iter().flatten() {
            let got = answer(text.as_bytes());
            assert!(got.status.success(), "{arguments:?}: {}", said(&got));
            assert!(!repeats || got.stdout == expected.stdout, "{arguments:?}");
        }
        let refused = said(&answer(&utf16(content)));
        assert!(refused.contains(file) && refused.contains("UTF-16; save it as UTF-8"), "{arguments:?}: {refused}");
        fs::write(&path, content).unwrap();
    }
}

/// Two games on a virtual clock, for their journal, their results and what their time managers were asked.
/// One thread plays both: of two threads, the second may have played all before the first writes a file.
const MATCH: [&str; 11] = [
    "match",
    "--concurrency=1",
    "--backend=random",
    "--clock=virtual",
    "--nps=300",
    "--tc=0.2+0.01",
    "--games=2",
    "--json",
    "--pgn=m.pgn",
    "--decisions=asked",
    "--max-moves=8",
];

#[test]
fn files_of_lines() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let played = run(folder, &MATCH, b"");
    assert!(played.status.success(), "{}", said(&played));
    let results = String::from_utf8(played.stdout).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (journal, asked) = (read("m.pgn.jsonl"), read("asked/m-1-1.jsonl"));
    let plan =
        r#"{"event":"plan","clock_ms":60000,"inc_ms":600,"movestogo":null,"ply":0,"reused":0,"moves_left":null}"#;
    let plans = format!("{plan}\n{plan}\n");
    let positions = "{\"fen\":\"startpos\"}\n\n{\"fen\":\"startpos\",\"moves\":[\"e2e4\"]}\n";
    let simulate = ["time", "simulate", "--games=20", "--manager=smooth", "--json", "--fit=fit.pgn.jsonl"];
    let cases: [(&str, &str, &[&str]); 6] = [
        ("positions.jsonl", positions, &["eval", "--backend=random", "--positions=positions.jsonl"]),
        ("script.jsonl", &plans, &["time", "explain", "script", "script.jsonl"]),
        ("fit.pgn.jsonl", &journal, &simulate),
        ("asked.jsonl", &asked, &["time", "verify", "--json", "asked.jsonl"]),
        ("results.jsonl", &results, &["time", "report", "--svg=charts", "results.jsonl"]),
        ("options", "threads=1\nbackend=uniform\n", &["eval", "--config=options"]),
    ];
    for (file, content, arguments) in cases {
        Case { file, content, arguments, repeats: file != "fit.pgn.jsonl" }.check(folder, true);
    }
    // Standard input is a script, too.
    let script = ["time", "explain", "script", "-"];
    let expected = run(folder, &script, plan.as_bytes());
    assert_eq!(run(folder, &script, format!("\u{feff}{plan}").as_bytes()).stdout, expected.stdout);
    assert!(said(&run(folder, &script, &utf16(plan))).contains("UTF-16; save it as UTF-8"));
}

#[test]
fn files_of_one_object() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let measure =
        ["benchmark", "--backend=random", "--seconds=0.02", "--positions=1", "--minibatch-size=4", "--threads=1"];
    let measured = run(folder, &[&measure[..], &["--json"]].concat(), b"");
    assert!(measured.status.success(), "{}", said(&measured));
    let measured = String::from_utf8(measured.stdout).unwrap();
    let simulated = run(folder, &["time", "simulate", "--games=20", "--json"], b"");
    let simulated = String::from_utf8(simulated.stdout).unwrap();
    let costs = r#"[{"batch":1,"evals_per_s":300},{"batch":8,"evals_per_s":500}]"#;
    let play = ["match", "--backend=random", "--clock=virtual", "--tc=0.2+0.01", "--max-moves=4", "--pgn=a.pgn"];
    let pool = format!(r#"[{{"name":"other","command":"'{}' --backend=random"}}]"#, env!("CARGO_BIN_EXE_zeitnot"));
    let with = |flag| [&play[..], &[flag]].concat();
    let cases: [(&str, &str, &[&str]); 4] = [
        ("batch.json", costs, &with("--batch-ms=batch.json")),
        ("like.json", &measured, &with("--like=like.json")),
        (
            "pool.json",
            &pool,
            &["match", "--backend=random", "--nodes=1", "--max-moves=2", "--pgn=b.pgn", "--pool=pool.json"],
        ),
        ("simulated.json", &simulated, &["time", "report", "--svg=charts", "simulated.json"]),
    ];
    for (file, content, arguments) in cases {
        Case { file, content, arguments, repeats: file != "pool.json" }.check(folder, false);
    }
}

#[test]
fn a_match_goes_on_from_a_journal_with_a_mark() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let plain = MATCH.map(|argument| if argument == "--decisions=asked" { "--seed=1" } else { argument });
    assert!(run(folder, &plain, b"").status.success());
    let journal = folder.join("m.pgn.jsonl");
    let whole = fs::read(&journal).unwrap();
    // Within the second game.
    let first = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    // The games of the match are told from others by the journal.
    fs::remove_file(folder.join("m.pgn")).unwrap();
    let mark = "\u{feff}".as_bytes();
    fs::write(&journal, [mark, &whole[..first + 50]].concat()).unwrap();
    let again = [&plain[..], &["--resume"]].concat();
    let resumed = run(folder, &again, b"");
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert_eq!(fs::read(&journal).unwrap(), [mark, &whole].concat());
    fs::write(&journal, utf16(std::str::from_utf8(&whole).unwrap())).unwrap();
    let refused = run(folder, &again, b"");
    assert!(said(&refused).contains("UTF-16; save it as UTF-8"), "{}", said(&refused));
}
