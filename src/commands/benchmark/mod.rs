//! `zeitnot benchmark`: measures the whole engine on this machine, and the settings that suit it.

mod measuring;
mod other_process;
mod print;

use super::output::{note, say};
use super::speed_picture::{self, Spot, Texts};
use super::{cards, engine_options};
use crate::commands::flags::{flag, json_flag, seconds, switch};
use clap::{ArgMatches, Command, value_parser};
use measuring::Request;
use zeitnot_lab::measure::{BENCHMARK_POSITIONS, BenchmarkResult};

/// The name of the backend that chooses another one.
const AUTO: &str = "auto";

pub fn command() -> Command {
    let command = Command::new("benchmark")
        .about("Measure the whole engine on this machine, and recommend threads, batch size and backend")
        .after_long_help(
            "First the engine is measured as its options have it, then settings around them; warming up is left out. \
             For each number of threads batches double until two in a row make less than 5 % more visits a second, or the \
             backend runs no larger ones, or a CPU has four times what it prefers; on a card threads rise in the same way. \
             Other backends are measured in processes of their own, if what they need is installed (zeitnot runtime install). \
             A setting takes --seconds and a fifth more to warm up, and a backend has about 12 of them, a card up to 30. \
             Where --backend-opts=batch=N would let a backend run batches that may pay, it is said. \
             Power, clocks and memory of NVIDIA cards are shown where their driver reports them. \
             --threads, --minibatch-size and --backend are held where they are given. Recommended is what makes within 5 % \
             of the most visits a second with the fewest positions in flight, since a search learns more from each then. \
             The output of --json is one file to share, and the time of batches for match --like.",
        )
        .arg(
            flag("seconds", "S")
                .default_value("5")
                .value_parser(seconds)
                .help("Time of each setting, in seconds"),
        )
        .arg(
            flag("positions", "N")
                .default_value("6")
                .value_parser(value_parser!(u64).range(1..=BENCHMARK_POSITIONS as u64))
                .help("Positions among which that time is divided")
                .long_help("Positions among which that time is divided; fewer where one has no time for ten full batches"),
        )
        .arg(
            switch("no-grid", "Measurement of the engine with its options alone"),
        )
        .arg(
            switch("no-install", "No installation of a missing ONNX Runtime")
                .long_help("No installation of a missing ONNX Runtime for the engine with its options; other backends never install one"),
        )
        .arg(speed_picture::svg_flag())
        .arg(json_flag());
    engine_options::add_to(command)
}

/// The format of the output.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Text,
    Json,
}

impl Format {
    /// Prints a line that is no part of the table: on standard output with text, on standard error with JSON.
    fn note(self, line: &str) {
        match self {
            Format::Text => say!("{line}"),
            Format::Json => note!("{line}"),
        }
    }
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let format = if matches.get_flag("json") { Format::Json } else { Format::Text };
    // An error of the file is reported before anything is measured.
    let svg = speed_picture::asked(matches)?;
    let record = Request::new(matches, format)?.measure()?;
    print::conclusion(&record, format);
    if format == Format::Json {
        say!("{}", record.to_json()?);
    }
    if let Some(path) = svg {
        speed_picture::write(path, &texts(&record), &spots(&record))?;
    }
    Ok(())
}

/// The name of a line in the chart: its number of threads, and the backend where there are several.
fn line(record: &BenchmarkResult, backend: &str, threads: usize) -> String {
    let settings = record.settings();
    let threads = speed_picture::threads(threads);
    match settings.iter().all(|setting| setting.backend == settings[0].backend) {
        true => threads,
        false => format!("{backend}, {threads}"),
    }
}

/// The title and notes of the chart.
fn texts(record: &BenchmarkResult) -> Texts {
    let best = format!("best: {}", print::setting(record.best()));
    let program = format!("zeitnot {}", record.version);
    let saturation = record
        .saturation
        .iter()
        .map(|of| (line(record, &of.backend, of.threads), (of.saturation.batch, of.saturation.evals_per_s)));
    Texts {
        title: record.subject(),
        notes: vec![record.machine.to_string(), program, best],
        saturation: saturation.collect(),
    }
}

/// The measurements as points of the chart.
fn spots(record: &BenchmarkResult) -> Vec<Spot> {
    let settings = record.settings();
    let spot = |setting: &zeitnot_lab::measure::Measured| Spot {
        line: line(record, &setting.backend, setting.threads),
        batch: setting.batch,
        evals_per_s: setting.evals_per_s,
        p50_ms: setting.batch_latency_ms.p50,
        p95_ms: setting.batch_latency_ms.p95,
    };
    settings.iter().map(spot).collect()
}
