//! Analysis for programs: a request in JSON a line, answers in JSON a line, several searches at once.
//!
//! Each request is searched with a fresh tree and an empty cache, so that its answer is that of `go nodes` in an engine
//! that has just been started; with one thread it repeats itself.
//!
//! | file | content |
//! |---|---|
//! | `request` | a line of the input: a request for a search, or to end one |
//! | `answer` | what a search found, as JSON |
//! | `desk` | requests under way, and the engines that serve them |

mod answer;
mod desk;
mod request;

use super::STDIO;
use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::flags;
use crate::commands::output::{note, notes};
use anyhow::bail;
use clap::{Arg, ArgMatches};
use desk::{Desk, Station};
use request::{Fault, Request};
use std::io::{BufRead, stdin};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use zeitnot::uci::Lines;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, Options, load_network};
use zeitnot_engine::memory;

pub const HELP: &str = "\
A request is a line such as {\"id\": 1, \"fen\": \"startpos\", \"moves\": [\"e2e4\"], \"nodes\": 800, \"multipv\": 3}; the limits are nodes, \
movetime (milliseconds) and depth. Answers come when they are ready, with the id of their request. The end of the input \
ends the program when all is answered. docs/analyse-stdio.md has every field.";

/// Most engines: each has its thread and its tree.
pub const MOST_ENGINES: u64 = 256;

/// The switch `--stdio`.
pub fn switch() -> Arg {
    flags::switch(STDIO, "Requests from standard input, one JSON object a line, answers to standard output")
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    // Only to read the options: it loads nothing.
    let mut options = engine_options::engine(matches, MAY_INSTALL)?.options().clone();
    if !options.tree_file.is_empty() {
        bail!("--tree-file: each request has a tree of its own, and none is kept");
    }
    if !options.was_set.contains("Threads") {
        options.threads = 1;
    }
    // It looks at the clock: the same request would have another answer on a busy machine.
    if !options.was_set.contains("SmartPruningFactor") {
        options.smart_pruning_factor = 0.0;
    }
    let loaded = load_network(&options, MAY_INSTALL, &notes())?;
    note!("{}", loaded.news);
    let count =
        matches.get_one::<u64>("parallel").map_or(loaded.backend.attributes().preferred_threads, |n| *n as usize);
    let count = count.max(1);
    options.automatic_memory = memory::automatic_limit().map(|bytes| bytes / count);
    let engine = |index| {
        let clock = Arc::new(MonotonicClock::new());
        let mut engine = Engine::with_backend(options.clone(), clock, Arc::clone(&loaded.backend))?;
        // All of them have the same to say about options, books and tables.
        if index == 0 {
            engine.announce_to(notes());
        }
        engine.prepare()?;
        engine.announce_to(notes());
        Ok(engine)
    };
    let engines = (0..count).map(engine).collect::<anyhow::Result<Vec<Engine>>>()?;
    serve(engines, &options, stdin().lock())
}

/// Answers the requests of the input, and returns when all are answered.
fn serve(engines: Vec<Engine>, options: &Options, input: impl BufRead) -> anyhow::Result<()> {
    let desk = Desk::default();
    let (queue, waiting) = channel();
    let waiting = parking_lot::Mutex::new(waiting);
    std::thread::scope(|scope| {
        for engine in engines {
            let (desk, waiting) = (&desk, &waiting);
            scope.spawn(move || Station::new(engine, desk).work(|| waiting.lock().recv().ok()));
        }
        // The queue ends with the input, and with it the engines' work.
        let queue = queue;
        read(options, &desk, &queue, input)
    })
}

/// Reads requests until the input ends, or a request asks for the end.
fn read(options: &Options, desk: &Desk, queue: &Sender<String>, input: impl BufRead) -> anyhow::Result<()> {
    // Who gives a file asks nothing in between, and cannot ask again.
    let is_file = std::fs::metadata("/dev/stdin").is_ok_and(|input| input.is_file());
    let mut lines = Lines::of(input);
    while let Some(line) = lines.read()? {
        let (request, line) = match line {
            Ok(line) if line.trim_start_matches('\u{feff}').trim().is_empty() => continue,
            Ok(line) => (request::read(&line, options.chess960), line),
            Err(error) => (Err(Fault { id: None, error: error.to_string() }), String::new()),
        };
        if is_file {
            desk.wait_for_room(&line);
        }
        let taken = request.and_then(|request| match request {
            Request::Search(asked) => desk.take(&asked, &line).map(|()| drop(queue.send(line))).map(|()| false),
            Request::Terminate { echo, of } => {
                answer::print(echo);
                of.iter().for_each(|id| desk.stop(id));
                Ok(of.is_none())
            }
        });
        match taken {
            Ok(true) => break,
            Ok(false) => {}
            Err(fault) => answer::print(fault.json()),
        }
    }
    Ok(())
}
