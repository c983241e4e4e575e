//! `zeitnot benchmark`: the whole engine on this machine, and the settings that suit it.

mod print;

use super::engine_options::{self, MAY_INSTALL, ONLY_FIND};
use super::json_flag;
use super::output::say;
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde::Deserialize;
use serde_json::{Value, json};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use zeitnot::backend::{self, BACKENDS, BackendOptions};
use zeitnot::clock::{Clock, MonotonicClock};
use zeitnot::measure::{self, BENCHMARK_POSITIONS, Benchmark, BenchmarkError, Machine, Measured};
use zeitnot::runtime;

/// The backend that stands for another one.
const AUTO: &str = "auto";
/// The backend that needs no ONNX Runtime.
const NATIVE: &str = "native";

pub fn command() -> Command {
    let command = Command::new("benchmark")
        .about("Measure the whole engine on this machine, and recommend threads, batch size and backend")
        .after_help(
            "First the engine is measured as its options have it, then settings around them; warming up is left out. \
             Other backends are measured in processes of their own, if what they need is installed (zeitnot runtime install). \
             A setting takes --seconds and a fifth more to warm up, and a backend has up to 16 of them. \
             Batch sizes stay within what the backend runs at once; where --backend-opts=batch=N would let it run more, it is said. \
             --threads, --minibatch-size and --backend are held where they are given. Recommended is what makes within 5 % \
             of the most visits a second with the fewest positions in flight, since a search learns more from each then.",
        )
        .arg(
            Arg::new("seconds")
                .long("seconds")
                .value_name("S")
                .default_value("5")
                .value_parser(super::seconds)
                .help("How long each setting is measured"),
        )
        .arg(
            Arg::new("positions")
                .long("positions")
                .value_name("N")
                .default_value("6")
                .value_parser(value_parser!(u64).range(1..=BENCHMARK_POSITIONS as u64))
                .help("Positions among which that time is divided; fewer where one has no time for ten full batches"),
        )
        .arg(
            Arg::new("no-grid")
                .long("no-grid")
                .action(ArgAction::SetTrue)
                .help("Measure the engine as its options have it, and nothing else"),
        )
        .arg(
            Arg::new("no-install")
                .long("no-install")
                .action(ArgAction::SetTrue)
                .help("Do not obtain a missing ONNX Runtime for the engine as its options have it; other backends never do"),
        )
        .arg(json_flag().conflicts_with("csv"))
        .arg(Arg::new("csv").long("csv").action(ArgAction::SetTrue).help("Print comma-separated values"));
    engine_options::add_to(command)
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Text,
    Json,
    Csv,
}

/// The request of the command line.
struct Request<'a> {
    matches: &'a ArgMatches,
    seconds: f64,
    positions: usize,
    format: Format,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let request = Request {
        matches,
        seconds: *matches.get_one::<f64>("seconds").context("--seconds has a default")?,
        positions: *matches.get_one::<u64>("positions").context("--positions has a default")? as usize,
        format: match (matches.get_flag("json"), matches.get_flag("csv")) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => Format::Text,
        },
    };
    let mut benchmark = load(matches)?;
    let facts = Facts::of(&benchmark);
    if request.format == Format::Text {
        say!("{facts}");
    }
    let options = benchmark.engine().options();
    let (threads, batch) = (options.threads as usize, options.minibatch_size as usize);
    let first = benchmark.measure(threads, batch, request.positions, request.seconds)?;
    match request.format {
        Format::Text => say!("\n{}", print::in_words(&first, request.positions)),
        Format::Csv => say!("{}\n{}", print::COLUMNS.join(","), print::as_csv(&first)),
        Format::Json => {}
    }
    let mut grid = Vec::new();
    let (mut doubts, mut unavailable, mut larger) = (Vec::new(), Vec::new(), Vec::new());
    if !matches.get_flag("no-grid") {
        if request.format == Format::Text {
            say!("\n{}", print::row_header());
        }
        request.try_settings(&mut benchmark, &mut grid)?;
        doubts.extend(print::doubt(&first, &grid));
        larger.extend(request.larger_batches(&benchmark)?);
        // Its memory is given back before another backend is loaded.
        drop(benchmark);
        for name in others(facts.backend.starts_with(NATIVE)).filter(|_| !request.is_given("Backend")) {
            match request.in_a_process_of_its_own(name)? {
                Ok(answer) if answer.backend == facts.backend => {}
                Ok(answer) => {
                    answer.grid.iter().for_each(|measured| request.show(measured));
                    grid.extend(answer.grid);
                    doubts.extend(answer.unsteady);
                    larger.extend(answer.larger_batches);
                }
                Err(reason) => unavailable.push((name, reason)),
            }
        }
    }
    if request.format != Format::Json {
        for doubt in &doubts {
            request.note(&format!("unsteady: {doubt}"));
        }
        for larger in &larger {
            request.note(&format!("larger batches: {larger}"));
        }
        for (name, reason) in &unavailable {
            request.note(&format!("not available: {name}: {reason}"));
        }
    }
    let best = measure::recommend(if grid.is_empty() { std::slice::from_ref(&first) } else { &grid });
    let best = best.context("something was measured")?;
    match request.format {
        Format::Text => say!("\nrecommended: {}", print::recommendation(best)),
        Format::Json => say!("{}", facts.as_json(&first, &grid, best, [&doubts, &larger], &unavailable)),
        Format::Csv => request.note(&format!("recommended: {}", print::recommendation(best))),
    }
    Ok(())
}

impl Request<'_> {
    fn is_given(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// Measures the settings around the backend's own, but those that the command line holds.
    fn try_settings(&self, benchmark: &mut Benchmark, results: &mut Vec<Measured>) -> anyhow::Result<()> {
        let (mut threads, mut batches) = measure::grid(&benchmark.attributes());
        for (numbers, option) in [(&mut threads, "Threads"), (&mut batches, "MinibatchSize")] {
            let held = self.matches.get_one::<String>(option).and_then(|text| text.parse().ok());
            if let Some(number) = held.filter(|&number: &usize| number > 0) {
                *numbers = vec![number];
            }
        }
        for &threads in &threads {
            for &batch in &batches {
                match benchmark.measure(threads, batch, self.positions, self.seconds) {
                    Ok(measured) => {
                        self.show(&measured);
                        results.push(measured);
                    }
                    // A larger batch may need longer than the first setting did; it is none to recommend then.
                    Err(error @ BenchmarkError::NothingEvaluated { .. }) => self.note(&format!("left out: {error}")),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// In a line, how the backend could be measured with larger batches than it runs as its options are; `None` where
    /// there is nothing to gain or the command line holds the size.
    fn larger_batches(&self, benchmark: &Benchmark) -> anyhow::Result<Option<String>> {
        if self.is_given("MinibatchSize") {
            return Ok(None);
        }
        let attributes = benchmark.attributes();
        let provider = backend::provider_of(&benchmark.engine().options().backend, &BackendOptions::default())?;
        Ok(measure::larger_batch(&attributes, provider).map(|larger| print::larger_batches(&attributes, larger)))
    }

    /// Prints a line that is no row of a table: text has it in place, other formats on standard error.
    fn note(&self, line: &str) {
        match self.format {
            Format::Text => say!("{line}"),
            Format::Json | Format::Csv => eprintln!("{line}"),
        }
    }

    fn show(&self, measured: &Measured) {
        match self.format {
            Format::Text => say!("{}", print::as_row(measured)),
            Format::Csv => say!("{}", print::as_csv(measured)),
            Format::Json => {}
        }
    }

    /// The settings of another backend; or, in a line, why it cannot be had. A process holds one ONNX Runtime, and each
    /// kind of device may need its own.
    fn in_a_process_of_its_own(&self, backend: &str) -> anyhow::Result<Result<Answer, String>> {
        let own = ["--csv", "--json", "--no-install"];
        let same = std::env::args_os().skip(1).filter(|argument| !own.iter().any(|own| argument == own));
        let output = Process::new(std::env::current_exe()?)
            .args(same)
            .arg(format!("--backend={backend}"))
            // What it says is not heard until it ends: nothing is downloaded meanwhile.
            .args(["--json", "--no-install"])
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let reason = said.lines().last().unwrap_or("it ended without a word");
            return Ok(Err(reason.trim_start_matches("zeitnot: ").to_owned()));
        }
        Ok(Ok(serde_json::from_slice(&output.stdout).context("another process of this program")?))
    }
}

/// The part of another process's JSON that is read.
#[derive(Deserialize)]
struct Answer {
    /// Its name for itself.
    backend: String,
    grid: Vec<Measured>,
    unsteady: Vec<String>,
    larger_batches: Vec<String>,
}

/// Backends that run networks, besides `auto` and the one that stands behind it: `native`, or that of a provider.
fn others(auto_is_native: bool) -> impl Iterator<Item = &'static str> {
    let provider = |name| backend::provider_of(name, &BackendOptions::default()).ok().flatten();
    let behind = provider(AUTO);
    BACKENDS.into_iter().filter(move |name| {
        let runs_networks = backend::needs_network(name).unwrap_or(false);
        let is_behind =
            if auto_is_native { *name == NATIVE } else { provider(name).is_some_and(|_| provider(name) == behind) };
        *name != AUTO && runs_networks && !is_behind
    })
}

/// The engine of the command line, loaded.
fn load(matches: &ArgMatches) -> anyhow::Result<Benchmark> {
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
    let policy = if matches.get_flag("no-install") { ONLY_FIND } else { MAY_INSTALL };
    let mut engine = engine_options::engine_on(matches, Arc::clone(&clock), policy)?;
    engine_options::limit_memory(&mut engine, 1)?;
    Ok(Benchmark::new(engine, clock)?)
}

/// The setting that the measurements hold for.
struct Facts {
    machine: Machine,
    backend: String,
    device: String,
    runtime: Option<Value>,
    load_ms: f64,
}

impl Facts {
    fn of(benchmark: &Benchmark) -> Facts {
        let attributes = benchmark.attributes();
        // Loaded already if anything runs on it.
        let on_runtime = attributes.device.contains("ONNX Runtime");
        let runtime = on_runtime.then(|| runtime::load(None).ok()).flatten();
        Facts {
            machine: Machine::this(),
            backend: attributes.name,
            device: attributes.device,
            runtime: runtime.map(|runtime| json!(*runtime)),
            load_ms: benchmark.load_ms,
        }
    }

    fn as_json(
        &self,
        first: &Measured,
        grid: &[Measured],
        best: &Measured,
        [unsteady, larger_batches]: [&[String]; 2],
        unavailable: &[(&str, String)],
    ) -> Value {
        let unavailable: Vec<Value> =
            unavailable.iter().map(|(name, reason)| json!({ "backend": name, "reason": reason })).collect();
        json!({
            "machine": self.machine, "backend": self.backend, "device": self.device, "runtime": self.runtime,
            "load_ms": self.load_ms, "measured": first, "grid": grid, "unsteady": unsteady, "larger_batches": larger_batches,
            "unavailable": unavailable,
            "recommended": { "Threads": best.threads, "MinibatchSize": best.minibatch_size, "Backend": best.backend },
        })
    }
}

impl std::fmt::Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Facts { machine, backend, device, load_ms, .. } = self;
        write!(f, "machine: {machine}\nbackend: {backend}\ndevice: {device}\nloaded in {load_ms:.0} ms")
    }
}
