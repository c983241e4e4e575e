//! The provider of analysis for lichess, against a server that is lichess and its broker, by their public description.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::fake_lichess::{FakeLichess, Job};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zeitnot_engine::chess::Game;

pub const TOKEN: &str = "lip_abcdefghijklmnop";
const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const SHUFFLED: &str = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";

/// A provider that runs.
pub struct Provider {
    child: Child,
    /// What it has said so far.
    said: Arc<Mutex<String>>,
    errors: Option<JoinHandle<()>>,
}

impl Provider {
    fn start(server: &FakeLichess, flags: &[&str], token: Option<&str>) -> Provider {
        Provider::start_at(&server.url, &server.url, flags, token)
    }

    /// Starts one at the addresses of lichess and of its broker.
    pub fn start_at(lichess: &str, broker: &str, flags: &[&str], token: Option<&str>) -> Provider {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.env("RUST_LOG", "trace").env_remove("LICHESS_API_TOKEN").env("NO_PROXY", "127.0.0.1");
        if let Some(token) = token {
            command.env("LICHESS_API_TOKEN", token);
        }
        command.args(["lichess", "--backend=uniform", "--url", lichess, "--broker", broker]);
        command.args(flags).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&said);
        let errors = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                *shared.lock().unwrap() += &(line.unwrap() + "\n");
            }
            let mut output = String::new();
            stdout.read_to_string(&mut output).unwrap();
            assert_eq!(output, "");
        });
        Provider { child, said, errors: Some(errors) }
    }

    /// Waits until it has said something. Only what hangs takes two minutes.
    pub fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.said.lock().unwrap().contains(text) {
            assert!(Instant::now() < deadline, "no {text}: {}", self.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end: how it ended, and what it said.
    pub fn ends(mut self) -> (ExitStatus, String) {
        self.errors.take().unwrap().join().unwrap();
        let said = self.said.lock().unwrap().clone();
        assert!(!said.contains(TOKEN), "{said}");
        (self.child.wait().unwrap(), said)
    }

    /// Ends it, as who has seen enough does.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.ends().1
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The errors with which it ended.
pub fn errors(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("zeitnot: ")).collect()
}

/// A request for analysis.
fn job(id: usize, limits: serde_json::Value) -> Job {
    let (variant, fen, moves) = match id % 7 {
        3 => ("fromPosition", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", vec![]),
        5 => ("chess960", SHUFFLED, vec!["h1g3", "h8g6", "f1g1"]),
        _ => ("chess", STANDARD, ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1h1"][..id % 8].to_vec()),
    };
    let mut work = json!({
        "sessionId": format!("session {}", id / 50), "threads": 1 + id % 9, "hash": 16, "multiPv": 1 + id % 5,
        "variant": variant, "initialFen": fen, "moves": moves,
    });
    work.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    Job::new(&format!("job{id}"), work)
}

/// The lines that answered a request must be lines of analysis of its position, and a move at the end.
fn check(job: &Job, lines: &[String], is_whole: bool) {
    let work = &job.work;
    let mut game = Game::from_fen(work["initialFen"].as_str().unwrap(), true).unwrap();
    for mv in work["moves"].as_array().unwrap() {
        game.push_uci(mv.as_str().unwrap()).unwrap();
    }
    let most = work["multiPv"].as_u64().unwrap();
    let mut numbers = 0;
    for line in lines.iter().filter(|line| line.starts_with("info ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let after = |key: &str| words.iter().position(|word| *word == key).map(|at| at + 1);
        for key in ["depth", "nodes", "time", "score", "multipv"] {
            assert!(after(key).is_some(), "no {key}: {line}");
        }
        let number: u64 = words[after("multipv").unwrap()].parse().unwrap();
        numbers = numbers.max(number);
        let mut after_line = game.clone();
        for mv in &words[after("pv").unwrap()..] {
            // As in Chess960: castling is king takes rook.
            assert_ne!((*mv, after_line.moves().len()), ("e1g1", 6), "{line}");
            after_line.push_uci(mv).unwrap();
        }
    }
    if is_whole {
        assert_eq!(numbers, most.min(game.current().legal_moves().len() as u64), "{lines:?}");
        let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
        game.push_uci(best.split(' ').next().unwrap()).unwrap();
    }
}

#[test]
fn two_hundred_requests_are_served_whatever_the_network_does() {
    let server = FakeLichess::start(TOKEN);
    let provider = Provider::start(&server, &["--threads=2"], Some(TOKEN));
    let listed = server.wait_for_registration();
    assert_eq!((listed["name"].as_str(), &listed["variants"]), (Some("Zeitnot"), &json!(["chess"])));
    assert_eq!(listed["maxThreads"], 2);
    let mut refused = 0;
    for id in 0..200 {
        match id % 10 {
            // Somebody looks on, and goes.
            2 => {
                let job = job(id, json!({ "movetime": 86_400_000 }));
                server.ask(job.clone().cut_after(1 + id % 3));
                check(&job, &server.lines_of(&job), false);
            }
            // Somebody looks at another position before the search has ended.
            4 | 8 => {
                let job = job(id, if id % 4 == 0 { json!({}) } else { json!({ "depth": 200 }) });
                server.ask(job.clone());
                server.wait_for_lines(&job, 1);
                let next = self::job(id + 1000, json!({ "nodes": 30 }));
                server.ask(next.clone());
                check(&job, &server.lines_of(&job), true);
                check(&next, &server.lines_of(&next), true);
            }
            6 if id % 20 == 6 => {
                let mut job = job(id, json!({ "nodes": 100 }));
                match id % 40 {
                    6 => job.work["variant"] = "crazyhouse".into(),
                    _ => job.work["moves"] = json!(["e2e5"]),
                }
                server.ask(job.clone());
                assert_eq!(server.lines_of(&job), ["bestmove (none)"]);
                refused += 1;
            }
            _ => {
                if id % 100 == 50 {
                    server.go_away();
                    server.come_back();
                }
                let limits = match id % 50 {
                    1 => json!({ "movetime": 500 }),
                    at if at % 2 == 0 => json!({ "nodes": 100 }),
                    _ => json!({ "depth": 2 }),
                };
                let job = job(id, limits);
                server.ask(job.clone());
                check(&job, &server.lines_of(&job), true);
            }
        }
    }
    assert_eq!(server.faults(), Vec::<String>::new());
    let said = provider.kill();
    assert_eq!(said.matches("is refused: ").count(), refused, "{said}");
    assert!(said.contains("the variant crazyhouse is not played") && said.contains("e2e5"), "{said}");
    assert_eq!(said.matches("lichess answers again").count(), 2, "{said}");
}

#[test]
fn what_was_searched_is_known_after_the_server_was_away() {
    let server = FakeLichess::start(TOKEN);
    let provider = Provider::start(&server, &["--threads=1"], Some(TOKEN));
    let ask = |number: usize, position: usize, nodes: u64| {
        let job = Job { id: format!("again{number}"), ..job(position, json!({ "nodes": nodes })) };
        server.ask(job.clone());
        let lines = server.lines_of(&job);
        let first = lines[0].split(' ').skip_while(|word| *word != "nodes").nth(1).unwrap();
        first.parse::<u64>().unwrap()
    };
    ask(0, 0, 20_000);
    // A step forth, and one to another session.
    ask(1, 1, 100);
    ask(2, 58, 100);
    server.go_away();
    server.come_back();
    let known = ask(3, 0, 20_100);
    assert!(known >= 20_000, "{known}");
    provider.kill();
}

#[test]
fn the_engine_of_that_name_is_replaced() {
    let server = FakeLichess::start(TOKEN);
    for registered in 1..=2 {
        let provider = Provider::start(&server, &["--name=My engine"], Some(TOKEN));
        let listed = server.wait_for_registration();
        assert_eq!((listed["name"].as_str(), &listed["id"]), (Some("My engine"), &json!("eei_1")));
        let job = Job { id: format!("of{registered}"), ..job(1, json!({ "nodes": 50 })) };
        server.ask(job.clone());
        check(&job, &server.lines_of(&job), true);
        provider.kill();
    }
    let secrets = server.secrets();
    assert!(secrets.len() == 2 && secrets.iter().all(|secret| secret.len() >= 16), "each process has its own");
}

#[test]
fn a_token_that_is_not_taken_is_an_error_of_one_line() {
    let server = FakeLichess::start("another");
    let (status, said) = Provider::start(&server, &[], Some(TOKEN)).ends();
    assert_eq!(status.code(), Some(1));
    let errors = errors(&said);
    assert!(errors.len() == 1 && errors[0].contains("401") && errors[0].contains("engine:write"), "{said}");
    assert!(server.paths().iter().all(|path| path.starts_with("GET ")), "nothing is asked of the broker");
}

#[test]
fn the_token_may_be_in_a_file() {
    let (folder, server) = (tempfile::tempdir().unwrap(), FakeLichess::start(TOKEN));
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("--token-file={}", path.display())
    };
    let provider = Provider::start(&server, &[&file("token", &format!("{TOKEN}\n"))], None);
    server.wait_for_registration();
    provider.kill();
    let two_words = format!("{TOKEN} and more");
    for (flag, part) in [
        (file("empty", "\n"), "holds no token"),
        (file("words", &two_words), "holds no token"),
        (format!("--token-file={}", Path::new("absent").display()), "absent"),
        ("--threads=1".to_owned(), "LICHESS_API_TOKEN"),
    ] {
        let (status, said) = Provider::start(&server, &[&flag], None).ends();
        assert!(status.code() == Some(1) && errors(&said).len() == 1 && said.contains(part), "{flag}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn it_waits_for_a_server_that_is_not_there_yet_and_ends_when_asked_to() {
    let server = FakeLichess::start(TOKEN);
    server.go_away();
    let provider = Provider::start(&server, &[], Some(TOKEN));
    server.wait_for_attempts(2);
    server.come_back();
    server.wait_for_registration();
    let endless = job(0, json!({}));
    server.ask(endless.clone());
    server.wait_for_lines(&endless, 1);
    assert!(Command::new("kill").args(["-INT", &provider.child.id().to_string()]).status().unwrap().success());
    let (status, said) = provider.ends();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("cannot reach 127.0.0.1") && said.ends_with("interrupted after 1 requests\n"), "{said}");
}
