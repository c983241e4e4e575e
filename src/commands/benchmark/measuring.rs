//! Measures the engine as its options have it, then other numbers of threads and batch sizes, then the other backends.

use super::cards;
use super::engine_options::{self, MAY_INSTALL, ONLY_FIND};
use super::{AUTO, Format, other_process, print};
use crate::commands::output::say;
use anyhow::Context as _;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::json;
use std::sync::Arc;
use zeitnot_engine::backend::{self, BACKENDS, BackendSettings};
use zeitnot_engine::clock::{Clock, MonotonicClock};
use zeitnot_engine::engine::Engine;
use zeitnot_engine::runtime::{self, vulkan};
use zeitnot_lab::measure::{
    self, BackendDevice, Benchmark, BenchmarkError, BenchmarkResult, Grid, Machine, Measured, NetworkFacts,
    Recommended, Sizes, Tried, Unavailable,
};

/// The name of the backend that needs no ONNX Runtime.
const NATIVE: &str = "native";

/// The measurement that the command line asks for.
pub struct Request<'a> {
    matches: &'a ArgMatches,
    seconds: f64,
    positions: usize,
    format: Format,
}

impl<'a> Request<'a> {
    pub fn new(matches: &'a ArgMatches, format: Format) -> anyhow::Result<Request<'a>> {
        let seconds = *matches.get_one::<f64>("seconds").context("--seconds has a default")?;
        let positions = *matches.get_one::<u64>("positions").context("--positions has a default")? as usize;
        Ok(Request { matches, seconds, positions, format })
    }

    /// Measures all settings, and shows each as soon as it is measured.
    pub fn measure(&self) -> anyhow::Result<BenchmarkResult> {
        let mut benchmark = load(self.matches)?;
        let mut record = self.first(&mut benchmark)?;
        if self.matches.get_flag("no-grid") {
            return Ok(record);
        }
        if self.format == Format::Text {
            say!("\n{}", print::row_header());
        }
        self.try_settings(&mut benchmark, &mut record.grid)?;
        record.unsteady.extend(print::doubt(&record.measured, &record.grid));
        record.saturation.extend(measure::search_saturation(&record.grid));
        record.larger_batches.extend(self.larger_batches(&benchmark, &record)?);
        // The memory of this backend is given back before another one is loaded.
        drop(benchmark);
        for name in others(record.backend.starts_with(NATIVE)).filter(|_| !self.is_given("Backend")) {
            match other_process::measure(name)? {
                Ok(other) if other.backend == record.backend => {}
                Ok(other) => {
                    other.grid.iter().for_each(|measured| self.show(measured, &other.backend));
                    record.grid.extend(other.grid);
                    record.devices.extend(other.devices);
                    record.saturation.extend(other.saturation);
                    record.unsteady.extend(other.unsteady);
                    record.larger_batches.extend(other.larger_batches);
                }
                Err(reason) => record.unavailable.push(Unavailable { backend: name.to_owned(), reason }),
            }
        }
        record.recommended = Recommended::of(record.best());
        Ok(record)
    }

    /// Measures the engine with the threads and the batch size of its options.
    fn first(&self, benchmark: &mut Benchmark) -> anyhow::Result<BenchmarkResult> {
        let attributes = benchmark.attributes();
        let options = benchmark.engine().options();
        let (threads, batch) = (options.threads as usize, options.minibatch_size as usize);
        // Loaded already if anything runs on it.
        let on_runtime = attributes.device.contains("ONNX Runtime");
        let runtime = on_runtime.then(|| runtime::load(None).ok()).flatten();
        let devices = vec![BackendDevice { backend: options.backend.clone(), device: attributes.device.clone() }];
        let mut record = BenchmarkResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: Machine::this(),
            network: network(benchmark.engine()),
            backend: attributes.name,
            device: attributes.device,
            runtime: runtime.map(|runtime| json!(*runtime)),
            load_ms: benchmark.load_ms,
            recommended: Recommended::of(&Measured::default()),
            measured: Measured::default(),
            grid: Vec::new(),
            devices,
            saturation: Vec::new(),
            unsteady: Vec::new(),
            larger_batches: Vec::new(),
            unavailable: Vec::new(),
        };
        if self.format == Format::Text {
            say!("{}", print::facts(&record));
        }
        record.measured = benchmark.measure(threads, batch, self.positions, self.seconds)?;
        record.recommended = Recommended::of(&record.measured);
        if self.format == Format::Text {
            say!("\n{}", print::in_words(&record.measured, self.positions));
        }
        Ok(record)
    }

    fn is_given(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// Measures other threads and batch sizes around those of the backend; numbers that the command line fixes stay.
    fn try_settings(&self, benchmark: &mut Benchmark, results: &mut Vec<Measured>) -> anyhow::Result<()> {
        let mut grid = Grid::new(&benchmark.attributes());
        for (sizes, option) in [(&mut grid.threads, "Threads"), (&mut grid.batches, "MinibatchSize")] {
            let held = self.matches.get_one::<String>(option).and_then(|text| text.parse().ok());
            if let Some(number) = held.filter(|&number: &usize| number > 0) {
                *sizes = Sizes::Listed(vec![number]);
            }
        }
        let mut tried = Vec::new();
        while let Some((threads, batch)) = grid.after(&tried) {
            let visits_per_s = match benchmark.measure(threads, batch, self.positions, self.seconds) {
                Ok(measured) => {
                    self.show(&measured, &benchmark.attributes().name);
                    results.push(measured);
                    results.last().map_or(0.0, |measured| measured.visits_per_s)
                }
                // A larger batch may need longer than the first setting did; it is no setting to recommend then.
                Err(error @ BenchmarkError::NothingEvaluated { .. }) => {
                    self.format.note(&format!("left out: {error}"));
                    0.0
                }
                Err(error) => return Err(error.into()),
            };
            tried.push(Tried { threads, batch, visits_per_s });
        }
        Ok(())
    }

    /// Advice for measuring larger batches than the backend's options allow; `None` if there is nothing to gain, a
    /// software device runs it, or the command line fixes the batch size.
    fn larger_batches(&self, benchmark: &Benchmark, record: &BenchmarkResult) -> anyhow::Result<Option<String>> {
        if self.is_given("MinibatchSize") {
            return Ok(None);
        }
        let attributes = benchmark.attributes();
        if attributes.device.contains(vulkan::SOFTWARE) {
            return Ok(None);
        }
        let provider = backend::provider_of(&benchmark.engine().options().backend, &BackendSettings::default())?;
        let larger = measure::larger_batch(&attributes, provider, record.saturation.first());
        Ok(larger.map(|larger| print::larger_batches(&attributes, larger)))
    }

    fn show(&self, measured: &Measured, loaded: &str) {
        if self.format == Format::Text {
            say!("{}", print::as_row(measured, loaded));
        }
    }
}

/// The other backends that run networks, without `auto` and the one that it took: `native`, or its usual provider.
fn others(auto_is_native: bool) -> impl Iterator<Item = &'static str> {
    let provider = |name| backend::provider_of(name, &BackendSettings::default()).ok().flatten();
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
    let mut benchmark = Benchmark::new(engine, clock)?;
    let cards = cards::source(benchmark.engine().options(), &benchmark.attributes());
    benchmark.watch_cards(cards);
    Ok(benchmark)
}

/// The network that the engine runs.
fn network(engine: &Engine) -> Option<NetworkFacts> {
    let location = engine.network_location()?;
    let file = location.path().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let name = file.unwrap_or_else(|| location.to_string());
    Some(NetworkFacts { name, sha256: location.sha256().ok() })
}
