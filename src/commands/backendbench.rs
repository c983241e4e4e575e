//! `zeitnot backendbench`: measures the evaluator alone, by batch size, and against another evaluator.

use super::cards;
use super::engine_options::{self, MAY_INSTALL};
use super::output::say;
use super::speed_picture::{self, Spot, Texts};
use crate::commands::flags::{flag, json_flag, seconds, switch};
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use zeitnot_base::files::named_path;
use zeitnot_engine::backend::{self, BackendError, BackendSettings};
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::Engine;
use zeitnot_engine::network;
use zeitnot_engine::runtime::Provider;
use zeitnot_lab::measure::{
    self, BackendSide, Bare, BenchPlan, BenchRow, GAIN, Machine, Saturation, Side, Sizes, Throughput,
};
use zeitnot_lab::results::{BatchSpeed, LabResult};

/// The name by which `--versus` takes the bare ONNX Runtime loop.
const BARE: &str = "bare";
/// A short name for a backend, and the name that it stands for.
const SHORT: (&str, &str) = ("ort", "onnxruntime");
/// Time that a side runs before it is measured, as a share of the measured time.
const WARM_UP: f64 = 0.2;

pub fn command() -> Command {
    let command = Command::new("backendbench")
        .about("Measure the evaluator alone: evaluations a second by batch size, and against another backend")
        .after_long_help(
            "Timed is what a search waits for: from queries (planes, policy indices) to evaluations, without cache and \
             search. Positions are those of random games from the start position, the same on every machine. \
             evals_per_s is the median over slices of 0.1 s (of a quarter of --seconds where that is less); with \
             --versus both sides take turns slice by slice, on the one ONNX Runtime that a process can hold: its version is shown. \
             Batch sizes double until two in a row make less than 5 % more evaluations a second than all smaller ones (with \
             --versus: on both sides), or the backend runs no larger ones. \
             Power, clocks and memory of NVIDIA cards are shown where their driver reports them. \
             Threads are 1 by default (0: as many as suit the backend); `bare` has a session of its own for each, \
             as a card has up to `runs` of them: with more threads it is compared unfairly.",
        )
        .arg(
            flag("versus", "BACKEND").help(
                "Other side: a backend, or `bare`, a loop over the model in ONNX Runtime",
            ),
        )
        .arg(
            flag("batch-sizes", "N,N,...")
                .value_delimiter(',')
                .value_parser(value_parser!(u32).range(1..=65_536))
                .help("Batch sizes in positions [default: powers of two while they pay]"),
        )
        .arg(
            flag("seconds", "S")
                .default_value("2")
                .value_parser(seconds)
                .help("Time of each side at each batch size, in seconds"),
        )
        .arg(
            flag("versus-opts", "TEXT")
                .requires("versus")
                .help("BackendOptions of the other backend [default: the same]"),
        )
        .arg(switch("in-turn", "Also the time of a batch right after one of the size before").long_help(
            "Also the time of a batch right after one of the size before: some devices plan anew for each change of size",
        ))
        .arg(speed_picture::svg_flag())
        .arg(json_flag().help("Output as a JSON array"));
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let seconds = *matches.get_one::<f64>("seconds").context("--seconds has a default")?;
    let svg = speed_picture::asked(matches)?;
    let json = matches.get_flag("json");
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    let backend = full_name(&engine.options().backend).to_owned();
    let (mut other_first, mut versus): (_, Option<Box<dyn Side>>) = (false, None);
    let other = matches.get_one::<String>("versus").map(|name| full_name(name)).filter(|name| !is_bare(name));
    if let Some(name) = other {
        backend::needs_network(name).map_err(|error| anyhow::anyhow!("--versus: {error}, {BARE}"))?;
        // A process has one ONNX Runtime, the first that was loaded: that of a device can do the CPU as well.
        other_first = !on_device(&engine, &backend)? && on_device(&engine, name)?;
    }
    let load_other = |name: &str| -> anyhow::Result<Option<Box<dyn Side>>> {
        let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
        if let Some(options) = matches.get_one::<String>("versus-opts") {
            engine.set_option("BackendOptions", options).context("--versus-opts")?;
        }
        Ok(Some(Box::new(side(&mut engine, name)?)))
    };
    if let Some(name) = other.filter(|_| other_first) {
        versus = load_other(name)?;
    }
    let side = side(&mut engine, &backend)?;
    let attributes = engine.attributes().context("the engine is prepared")?.clone();
    match other {
        Some(name) if !other_first => versus = load_other(name)?,
        None if matches.contains_id("versus") => versus = Some(Box::new(bare(&engine)?)),
        _ => {}
    }
    let threads = match (engine.options().threads, matches.contains_id("Threads")) {
        (0, true) => attributes.preferred_threads,
        (0, false) => 1,
        (threads, _) => threads as usize,
    };
    let batch_sizes = match matches.get_many::<u32>("batch-sizes") {
        Some(sizes) => Sizes::Listed(sizes.map(|&size| size as usize).collect()),
        None => Sizes::doubling(1, attributes.maximum_batch),
    };
    let in_turn = matches.get_flag("in-turn");
    let plan = BenchPlan { batch_sizes, threads, seconds, warm_up_seconds: seconds * WARM_UP, in_turn };
    if !json {
        say!("{}; {threads} thread{}", side.name(), if threads == 1 { "" } else { "s" });
        if let Some(versus) = &versus {
            say!("versus {}", versus.name());
        }
        say!("{}", text_header(versus.is_some(), in_turn));
    }
    let show = |row: &BenchRow| {
        if !json {
            say!("{}", as_text(row));
        }
    };
    let cards = cards::source(engine.options(), &attributes);
    let rows = measure::backendbench(&side, versus.as_deref(), &plan, cards.as_deref(), &MonotonicClock::new(), show)?;
    let saturation = saturation(&rows);
    if json {
        let (backend, device) = (&attributes.name, &attributes.device);
        let result = |row| LabResult::BatchSpeed(Box::new(BatchSpeed::new(row, threads, backend, device)));
        say!("{}", serde_json::to_string(&rows.iter().map(result).collect::<Vec<_>>())?);
    } else if let Some(saturation) = &saturation {
        say!("{}", in_words(saturation));
    }
    if let Some(path) = svg {
        let names: Vec<&str> = std::iter::once(side.name()).chain(versus.as_deref().map(Side::name)).collect();
        let spots = spots(&rows, &names, threads);
        let point = saturation.as_ref().map(|of| (line(side.name(), threads), (of.batch, of.evals_per_s)));
        let texts = Texts {
            title: names.iter().map(|name| short(name)).collect::<Vec<_>>().join(" and "),
            notes: [
                attributes.device.clone(),
                Machine::this().to_string(),
                concat!("zeitnot ", env!("CARGO_PKG_VERSION")).to_owned(),
            ]
            .into_iter()
            .chain(saturation.as_ref().map(in_words))
            .collect(),
            saturation: point.into_iter().collect(),
        };
        speed_picture::write(path, &texts, &spots)?;
    }
    Ok(())
}

/// The batch size from which the first side gains next to nothing; `None` without measurements.
fn saturation(rows: &[BenchRow]) -> Option<Saturation> {
    Saturation::of(&rows.iter().map(|row| (row.batch, row.side.evals_per_s)).collect::<Vec<_>>())
}

fn in_words(saturation: &Saturation) -> String {
    let Saturation { batch, evals_per_s, is_reached } = saturation;
    let rest = match is_reached {
        true => format!("it saturates there: larger ones gain less than {:.0} %", GAIN * 100.0),
        false => "the largest measured, and it is not seen to saturate".to_owned(),
    };
    format!("best batch: {batch} ({evals_per_s:.0} evaluations/s; {rest})")
}

/// The points of the chart: a line of the chart for each side.
fn spots(rows: &[BenchRow], names: &[&str], threads: usize) -> Vec<Spot> {
    let spot = |row: &BenchRow, name: &str, of: &Throughput| Spot {
        line: line(name, threads),
        batch: row.batch,
        evals_per_s: of.evals_per_s,
        p50_ms: of.latency_ms.p50,
        p95_ms: of.latency_ms.p95,
    };
    let of = |row: &BenchRow| -> Vec<Spot> {
        let sides = std::iter::once(&row.side).chain(&row.versus);
        sides.zip(names).map(|(of, name)| spot(row, name, of)).collect()
    };
    rows.iter().flat_map(of).collect()
}

/// The name of a side's line in the chart.
fn line(name: &str, threads: usize) -> String {
    format!("{}, {}", short(name), speed_picture::threads(threads))
}

/// The name of a side without its text in brackets.
fn short(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

fn is_bare(name: &str) -> bool {
    name.eq_ignore_ascii_case(BARE)
}

fn full_name(name: &str) -> &str {
    if name.eq_ignore_ascii_case(SHORT.0) { SHORT.1 } else { name }
}

/// Whether a backend needs an ONNX Runtime with another provider than the CPU.
fn on_device(engine: &Engine, name: &str) -> anyhow::Result<bool> {
    let runtime = named_path(&engine.options().runtime);
    let provider = backend::provider_of(name, &BackendSettings { runtime, ..BackendSettings::default() })?;
    Ok(provider.is_some_and(|provider| provider != Provider::Cpu))
}

/// The backend of this name as a side of the comparison; the engine's other options hold.
fn side(engine: &mut Engine, name: &str) -> anyhow::Result<BackendSide> {
    engine.set_option("Backend", name)?;
    // A cache would answer in the network's place.
    engine.set_option("NNCacheSize", "0")?;
    engine.prepare()?;
    Ok(BackendSide::new(engine.backend().context("the engine is prepared")?))
}

/// The bare loop over the engine's network, on the device of the engine's backend.
fn bare(engine: &Engine) -> anyhow::Result<Bare> {
    let options = engine.options();
    let backend_options = BackendSettings {
        runtime: named_path(&options.runtime),
        device: options.backend_options.parse().map_err(BackendError::from)?,
        ..BackendSettings::default()
    };
    let (_, network) =
        network::load(named_path(&options.weights).as_deref(), &backend_options.device.interface, |_| {})?;
    // A backend without ONNX Runtime is compared with ONNX Runtime on the CPU.
    let provider = backend::provider_of(&options.backend, &backend_options)?.unwrap_or(Provider::Cpu);
    let devices = backend_options.device.devices.len();
    anyhow::ensure!(
        devices <= 1,
        "--versus={BARE} runs on one device, not on {devices}: --backend-opts=gpu=N names it"
    );
    Ok(Bare::new(provider, network, backend_options)?)
}

fn text_header(versus: bool, in_turn: bool) -> String {
    let mut text = format!(
        "{:>6} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10}",
        "batch", "evals/s", "mean", "p95", "evals/cpu-s", "ms p50", "ms p95"
    );
    if versus {
        text.push_str(&format!(" | {:>10} {:>12} {:>7} {:>9}", "versus", "evals/cpu-s", "ratio", "cpu ratio"));
    }
    if in_turn {
        text.push_str(&format!(" | {:>10}", "ms in turn"));
    }
    text
}

fn as_text(row: &BenchRow) -> String {
    let Throughput { evals_per_s, mean_evals_per_s, p95_evals_per_s, evals_per_cpu_s, latency_ms, .. } = &row.side;
    let (p50, p95) = (latency_ms.p50, latency_ms.p95);
    let mut text = format!(
        "{:>6} {evals_per_s:>10.0} {mean_evals_per_s:>10.0} {p95_evals_per_s:>10.0} {evals_per_cpu_s:>12.0} {p50:>10.3} {p95:>10.3}",
        row.batch
    );
    if let Some(versus) = &row.versus {
        text.push_str(&format!(
            " | {:>10.0} {:>12.0} {:>7.3} {:>9.3}",
            versus.evals_per_s,
            versus.evals_per_cpu_s,
            row.ratio().unwrap_or_default(),
            row.cpu_ratio().unwrap_or_default()
        ));
    }
    if let Some(in_turn_ms) = row.in_turn_ms {
        text.push_str(&format!(" | {in_turn_ms:>10.3}"));
    }
    text.push_str(&cards::in_row(row.cards.as_deref()));
    text
}
