//! `zeitnot benchmark`: the whole engine on this machine, and the settings that suit it.

use super::engine_options;
use super::json_flag;
use super::output::say;
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::sync::Arc;
use zeitnot::backend::{self, BACKENDS, runtime};
use zeitnot::engine::RuntimePolicy;
use zeitnot::lab::{self, BENCHMARK_POSITIONS, Benchmark, Machine, Measured};
use zeitnot::search::{Clock, MonotonicClock};

/// The backend that stands for another one.
const AUTO: &str = "auto";

pub fn command() -> Command {
    let command = Command::new("benchmark")
        .about("Measure the whole engine on this machine, and recommend threads, batch size and backend")
        .after_help(
            "First the engine is measured as its options have it, then settings around them; warming up is left out. \
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
                .help("Positions among which that time is divided"),
        )
        .arg(
            Arg::new("no-grid")
                .long("no-grid")
                .action(ArgAction::SetTrue)
                .help("Measure the engine as its options have it, and nothing else"),
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

/// What the command line asks for.
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
    let mut benchmark = load(matches, None, engine_options::MAY_INSTALL)?;
    let facts = Facts::of(&benchmark);
    if request.format == Format::Text {
        say!("{facts}");
    }
    let options = benchmark.engine().options();
    let (threads, batch) = (options.threads as usize, options.minibatch_size as usize);
    let first = benchmark.measure(threads, batch, request.positions, request.seconds)?;
    match request.format {
        Format::Text => say!("\n{}", in_words(&first)),
        Format::Csv => say!("{}\n{}", COLUMNS.join(","), as_csv(&first)),
        Format::Json => {}
    }
    let mut grid = Vec::new();
    let mut unavailable = Vec::new();
    if !matches.get_flag("no-grid") {
        if request.format == Format::Text {
            say!("\n{}", row_header());
        }
        request.try_settings(&mut benchmark, &mut grid)?;
        let known = benchmark.attributes().name;
        // Its memory is given back before another backend is loaded.
        drop(benchmark);
        for name in others().filter(|_| !request.is_given("Backend")) {
            match load(matches, Some(name), RuntimePolicy::FindOnly) {
                Ok(other) if other.attributes().name == known => {}
                Ok(mut other) => request.try_settings(&mut other, &mut grid)?,
                Err(error) => unavailable.push((name, format!("{error:#}"))),
            }
        }
    }
    let best = lab::recommend(if grid.is_empty() { std::slice::from_ref(&first) } else { &grid });
    let best = best.context("something was measured")?;
    match request.format {
        Format::Text => {
            for (name, reason) in &unavailable {
                say!("not tried: backend {name}: {reason}");
            }
            say!("\nrecommended: {}", recommendation(best));
        }
        Format::Json => say!("{}", facts.as_json(&first, &grid, best, &unavailable)),
        Format::Csv => {}
    }
    Ok(())
}

impl Request<'_> {
    fn is_given(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// Measures the settings around the backend's own, but those that the command line holds.
    fn try_settings(&self, benchmark: &mut Benchmark, results: &mut Vec<Measured>) -> anyhow::Result<()> {
        let (mut threads, mut batches) = lab::grid(&benchmark.attributes());
        for (numbers, option) in [(&mut threads, "Threads"), (&mut batches, "MinibatchSize")] {
            let held = self.matches.get_one::<String>(option).and_then(|text| text.parse().ok());
            if let Some(number) = held.filter(|&number: &usize| number > 0) {
                *numbers = vec![number];
            }
        }
        for &threads in &threads {
            for &batch in &batches {
                let measured = benchmark.measure(threads, batch, self.positions, self.seconds)?;
                match self.format {
                    Format::Text => say!("{}", as_row(&measured)),
                    Format::Csv => say!("{}", as_csv(&measured)),
                    Format::Json => {}
                }
                results.push(measured);
            }
        }
        Ok(())
    }
}

/// Backends besides `auto` that run networks.
fn others() -> impl Iterator<Item = &'static str> {
    BACKENDS.into_iter().filter(|name| *name != AUTO && backend::needs_network(name).unwrap_or(false))
}

/// The engine of the command line, loaded; with another backend if one is named.
fn load(matches: &ArgMatches, backend: Option<&str>, policy: RuntimePolicy) -> anyhow::Result<Benchmark> {
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
    let mut engine = engine_options::engine_on(matches, Arc::clone(&clock), policy)?;
    if let Some(name) = backend {
        engine.set_option("Backend", name)?;
    }
    Ok(Benchmark::new(engine, clock)?)
}

/// What the measurements hold for.
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

    fn as_json(&self, first: &Measured, grid: &[Measured], best: &Measured, unavailable: &[(&str, String)]) -> Value {
        let unavailable: Vec<Value> =
            unavailable.iter().map(|(name, reason)| json!({ "backend": name, "reason": reason })).collect();
        json!({
            "machine": self.machine, "backend": self.backend, "device": self.device, "runtime": self.runtime,
            "load_ms": self.load_ms, "measured": first, "grid": grid, "unavailable": unavailable,
            "recommended": { "Threads": best.threads, "MinibatchSize": best.batch, "Backend": best.backend },
        })
    }
}

impl std::fmt::Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Facts { machine, backend, device, load_ms, .. } = self;
        write!(f, "machine: {machine}\nbackend: {backend}\ndevice: {device}\nloaded in {load_ms:.0} ms")
    }
}

fn in_words(measured: &Measured) -> String {
    let Measured { threads, batch, visits, evaluations, seconds, .. } = measured;
    let latency = measured.batch_latency_ms;
    format!(
        "threads {threads}, batch {batch}: {:.0} visits/s, {:.0} evaluations/s ({visits} visits, {evaluations} evaluations in \
         {seconds:.1} s)\ncache hits: {:.1} % of what was asked for\nbatches: {:.1} positions on average, {:.0} % full\n\
         batch latency: {:.2} ms median, {:.2} ms p95, {:.2} ms p99\nfirst evaluation after {:.1} ms",
        measured.visits_per_s,
        measured.evals_per_s,
        measured.cache_hit_share * 100.0,
        measured.mean_batch,
        measured.batch_fill * 100.0,
        latency.p50,
        latency.p95,
        latency.p99,
        measured.first_evaluation_ms
    )
}

fn row_header() -> String {
    format!(
        "{:<14} {:>7} {:>6} {:>10} {:>10} {:>6} {:>6} {:>9} {:>9}",
        "backend", "threads", "batch", "visits/s", "evals/s", "cache", "fill", "ms p50", "ms p95"
    )
}

fn as_row(measured: &Measured) -> String {
    let Measured { backend, threads, batch, visits_per_s, evals_per_s, .. } = measured;
    let (cache, fill) = (measured.cache_hit_share * 100.0, measured.batch_fill * 100.0);
    let (p50, p95) = (measured.batch_latency_ms.p50, measured.batch_latency_ms.p95);
    format!(
        "{backend:<14} {threads:>7} {batch:>6} {visits_per_s:>10.0} {evals_per_s:>10.0} {cache:>5.1}% {fill:>5.0}% {p50:>9.2} {p95:>9.2}"
    )
}

/// The settings to use, as options and as flags.
fn recommendation(best: &Measured) -> String {
    let Measured { backend, threads, batch, visits_per_s, .. } = best;
    format!(
        "Threads {threads}, MinibatchSize {batch}, Backend {backend} ({visits_per_s:.0} visits/s)\n             \
         --threads={threads} --minibatch-size={batch} --backend={backend}"
    )
}

/// The columns of `--csv`; the first row is the engine as its options have it.
const COLUMNS: [&str; 13] = [
    "backend",
    "threads",
    "batch",
    "visits_per_s",
    "evals_per_s",
    "cache_hit_share",
    "mean_batch",
    "batch_fill",
    "batch_latency_p50_ms",
    "batch_latency_p95_ms",
    "batch_latency_p99_ms",
    "first_evaluation_ms",
    "seconds",
];

fn as_csv(measured: &Measured) -> String {
    let latency = measured.batch_latency_ms;
    let numbers = [
        measured.threads as f64,
        measured.batch as f64,
        measured.visits_per_s,
        measured.evals_per_s,
        measured.cache_hit_share,
        measured.mean_batch,
        measured.batch_fill,
        latency.p50,
        latency.p95,
        latency.p99,
        measured.first_evaluation_ms,
        measured.seconds,
    ];
    let cells = numbers.iter().map(f64::to_string);
    std::iter::once(measured.backend.clone()).chain(cells).collect::<Vec<_>>().join(",")
}
