//! Says the lines of a GUI to an engine, and counts its answers: one move for each `go`.
//!
//! Lines that would write files, load libraries, end the session or rightly take long are left out, and each search has a
//! limit of nodes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Write;
use std::sync::{Arc, Mutex};
use zeitnot::uci::{Output, run};
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, Options, RuntimePolicy};

/// Parts of the names of options that are left alone.
const LEFT_OUT: [&str; 8] = ["file", "path", "onnxruntime", "backend", "nodespersecond", "threads", "cache", "crash"];

#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The line as it is said, if it is.
fn sayable(line: &str, searches: &mut usize) -> Option<String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word {
        "quit" | "exit" => None,
        "setoption" => {
            let lower = line.to_ascii_lowercase();
            (!LEFT_OUT.iter().any(|name| lower.contains(name))).then(|| line.to_owned())
        }
        "go" => match rest.trim().strip_prefix("perft") {
            Some(depth) if depth.trim().parse::<u32>().is_ok_and(|depth| depth > 2) => None,
            Some(_) => Some(line.to_owned()),
            None => {
                *searches += 1;
                Some(format!("{line} nodes 50"))
            }
        },
        _ => Some(line.to_owned()),
    }
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    engine.set_option("Backend", "uniform").expect("there is such a backend");
    let (mut lines, mut searches) = (String::new(), 0);
    for line in String::from_utf8_lossy(data).split('\n').filter_map(|line| sayable(line, &mut searches)) {
        lines += &line;
        lines.push('\n');
    }
    let said = Said::default();
    run(engine, Default::default(), lines.as_bytes(), &Output::new(said.clone())).expect("bytes in memory can be read");
    let said = String::from_utf8(said.0.lock().unwrap().clone()).expect("the engine speaks UTF-8");
    assert!(!said.contains("this is a defect"), "{said}");
    let moves = said.lines().filter(|line| line.starts_with("bestmove ")).count();
    assert_eq!(moves, searches, "moves, and go: {said}");
});
