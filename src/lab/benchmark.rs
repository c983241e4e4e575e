//! The whole engine on this machine: how fast it searches, how well its batches are filled, and which settings suit.

use std::sync::Arc;

use serde::Serialize;

use super::bench::{BENCH_POSITIONS, bench_game};
use super::play::search_to_end;
use super::recorder::{Record, Recorder};
use super::statistics::{Latency, rate};
use crate::backend::Attributes;
use crate::engine::{Engine, EngineError, GoParams};
use crate::search::Clock;

/// How long the search that warms up takes, as a share of the measured time.
const WARM_UP: f64 = 0.2;
/// How long it takes at the least, in milliseconds.
const LEAST_WARM_UP_MS: f64 = 200.0;
/// The share of the most visits a second that a setting may lose and still be recommended for its smaller batch: such a
/// search learns more from each visit, and measurements differ by so much anyway.
const TOLERANCE: f64 = 0.05;

/// The numbers of one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The backend's option.
    pub backend: String,
    /// Search threads.
    pub threads: usize,
    /// Positions that a thread gathers at the most.
    pub batch: usize,
    /// Visits of the tree a second.
    pub visits_per_s: f64,
    /// Positions evaluated a second.
    pub evals_per_s: f64,
    /// The share of the evaluations asked for that the cache answered.
    pub cache_hit_share: f64,
    /// Positions in the average batch.
    pub mean_batch: f64,
    /// The same as a share of `batch`.
    pub batch_fill: f64,
    /// What one batch takes from the worker's point of view, in milliseconds.
    pub batch_latency_ms: Latency,
    /// From the start of the first search to its first evaluation, in milliseconds.
    pub first_evaluation_ms: f64,
    /// Visits made.
    pub visits: u64,
    /// Positions evaluated.
    pub evaluations: u64,
    /// How long was searched, in seconds.
    pub seconds: f64,
}

/// How many positions there are to search.
pub const BENCHMARK_POSITIONS: usize = BENCH_POSITIONS.len();

/// An engine that is being measured.
pub struct Benchmark {
    engine: Engine,
    recorder: Arc<Recorder>,
    /// What loading took, in milliseconds.
    pub load_ms: f64,
}

impl Benchmark {
    /// Loads what the engine's options name, and sets those that would end a search early. `clock` must be the engine's.
    ///
    /// # Errors
    ///
    /// When something cannot be loaded.
    pub fn new(mut engine: Engine, clock: Arc<dyn Clock>) -> Result<Benchmark, EngineError> {
        for (option, value) in [("MoveOverheadMs", "0"), ("SmartPruningFactor", "0"), ("MinimumKLDGainPerNode", "0")] {
            engine.set_option(option, value).expect("the option takes this value");
        }
        let start_ms = clock.now_ms();
        engine.prepare()?;
        let load_ms = clock.now_ms() - start_ms;
        let bare = engine.backend().ok_or(EngineError::NothingLoaded)?;
        let recorder = Arc::new(Recorder::new(bare, clock));
        let decorator = Arc::clone(&recorder);
        engine.decorate(|_| decorator)?;
        Ok(Benchmark { engine, recorder, load_ms })
    }

    /// What is measured.
    pub fn attributes(&self) -> Attributes {
        self.engine.attributes().cloned().expect("the engine was prepared")
    }

    /// The engine's options.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Searches the first `positions` of the bench's positions, each as a new game and for the same time, `seconds` in all,
    /// after a search that warms up; with so many threads and positions in a batch (0: as the backend prefers).
    ///
    /// # Errors
    ///
    /// When a search cannot start or fails.
    pub fn measure(
        &mut self,
        threads: usize,
        batch: usize,
        positions: usize,
        seconds: f64,
    ) -> Result<Measured, EngineError> {
        let attributes = self.attributes();
        for (option, value) in [("Threads", threads), ("MinibatchSize", batch)] {
            self.engine
                .set_option(option, &value.to_string())
                .map_err(|error| EngineError::Search(error.to_string()))?;
        }
        // Evaluators for new threads are made here and not on the clock.
        self.engine.prepare()?;
        let warm_up = self.search(0, (seconds * 1e3 * WARM_UP).max(LEAST_WARM_UP_MS))?;
        let first = warm_up.record.batches.iter().map(|batch| batch.end_ms).min_by(f64::total_cmp);

        let positions = positions.clamp(1, BENCHMARK_POSITIONS);
        let (mut visits, mut milliseconds, mut record) = (0, 0.0, Record::default());
        for position in 0..positions {
            let sample = self.search(position, seconds * 1e3 / positions as f64)?;
            visits += sample.playouts;
            milliseconds += sample.elapsed_ms;
            record.batches.extend(sample.record.batches);
            record.cache_hits += sample.record.cache_hits;
        }
        let seconds = milliseconds / 1e3;
        let or = |number, default| if number == 0 { default } else { number };
        let batch = or(batch, attributes.preferred_batch);
        let evaluations = record.evaluations();
        let asked = (evaluations + record.cache_hits) as f64;
        let mean_batch = rate(evaluations as f64, record.batches.len() as f64);
        Ok(Measured {
            backend: self.engine.options().backend.clone(),
            threads: or(threads, attributes.preferred_threads),
            batch,
            visits_per_s: rate(visits as f64, seconds),
            evals_per_s: rate(evaluations as f64, seconds),
            cache_hit_share: rate(record.cache_hits as f64, asked),
            mean_batch,
            batch_fill: mean_batch / batch.max(1) as f64,
            batch_latency_ms: latency(&record),
            first_evaluation_ms: first.map_or(0.0, |end_ms| end_ms - warm_up.start_ms),
            visits,
            evaluations,
            seconds,
        })
    }

    /// Searches one position for so long.
    fn search(&mut self, position: usize, milliseconds: f64) -> Result<Sample, EngineError> {
        self.engine.new_game();
        self.engine.set_game(bench_game(position));
        let start_ms = self.engine.now_ms();
        let go = GoParams { movetime: Some(milliseconds), ..GoParams::default() };
        let report = search_to_end(&mut self.engine, &go, start_ms)?.0.report;
        // What was still being evaluated when the answer came counts for nothing, and must not count for the next search.
        self.engine.finish();
        let mut record = self.recorder.take();
        record.batches.retain(|batch| batch.end_ms <= start_ms + report.elapsed_ms);
        Ok(Sample { playouts: report.playouts, start_ms, elapsed_ms: report.elapsed_ms, record })
    }
}

/// One search.
struct Sample {
    playouts: u64,
    start_ms: f64,
    elapsed_ms: f64,
    record: Record,
}

fn latency(record: &Record) -> Latency {
    Latency::of(record.batches.iter().map(|batch| batch.end_ms - batch.start_ms).collect())
}

/// Settings worth trying on a backend: threads, and batch sizes in positions.
pub fn grid(attributes: &Attributes) -> (Vec<usize>, Vec<usize>) {
    let logical = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let preferred = attributes.preferred_threads.max(1);
    let threads = match attributes.is_cpu {
        // The search shares the cores with the evaluator; a second hardware thread of a core may still help a little.
        true => vec![1, preferred / 2, preferred, logical],
        // Workers hide the search behind the device.
        false => vec![1, preferred, preferred + 1, 2 * preferred],
    };
    let size = attributes.preferred_batch.max(1);
    let batches = match size == attributes.maximum_batch {
        // It cannot run another size any faster.
        true => vec![size],
        false if attributes.is_cpu => vec![size / 2, size, 2 * size, 4 * size],
        false => vec![size / 4, size / 2, size, 2 * size],
    };
    let tidy = |mut numbers: Vec<usize>, most: usize| {
        numbers.retain(|&number| number > 0 && number <= most);
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    (tidy(threads, MOST_THREADS), tidy(batches, attributes.maximum_batch))
}

/// The most search threads that the option takes.
const MOST_THREADS: usize = 128;

/// The setting to use: of those within 5 % of the most visits a second the one with the fewest positions in flight (threads
/// times batch), then with the smallest batch.
pub fn recommend(settings: &[Measured]) -> Option<&Measured> {
    let most = settings.iter().map(|setting| setting.visits_per_s).fold(0.0, f64::max);
    let good = settings.iter().filter(|setting| setting.visits_per_s >= most * (1.0 - TOLERANCE));
    good.min_by(|a, b| {
        let size = |setting: &Measured| (setting.batch * setting.threads, setting.batch);
        size(a).cmp(&size(b)).then(b.visits_per_s.total_cmp(&a.visits_per_s))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Options, RuntimePolicy};
    use crate::search::MonotonicClock;

    fn attributes(is_cpu: bool, preferred_batch: usize, maximum_batch: usize) -> Attributes {
        Attributes {
            name: "a".to_owned(),
            device: "b".to_owned(),
            input: None,
            has_wdl: true,
            has_moves_left: true,
            preferred_batch,
            maximum_batch,
            preferred_threads: 2,
            is_cpu,
        }
    }

    #[test]
    fn grids_stay_within_what_the_backend_takes() {
        let (threads, batches) = grid(&attributes(true, 8, 16));
        assert!(threads.contains(&1) && threads.contains(&2), "{threads:?}");
        assert_eq!(batches, [4, 8, 16]);
        assert_eq!(grid(&attributes(false, 256, 512)), (vec![1, 2, 3, 4], vec![64, 128, 256, 512]));
        assert_eq!(grid(&attributes(true, 16, 16)).1, [16], "a fixed batch");
    }

    #[test]
    fn a_small_batch_is_preferred_to_a_little_speed() {
        let setting = |threads, batch, visits_per_s| Measured {
            backend: "x".to_owned(),
            threads,
            batch,
            visits_per_s,
            evals_per_s: 0.0,
            cache_hit_share: 0.0,
            mean_batch: 0.0,
            batch_fill: 0.0,
            batch_latency_ms: Latency::default(),
            first_evaluation_ms: 0.0,
            visits: 0,
            evaluations: 0,
            seconds: 0.0,
        };
        let settings = [setting(1, 8, 500.0), setting(2, 8, 980.0), setting(2, 32, 1000.0), setting(4, 4, 960.0)];
        let best = recommend(&settings).unwrap();
        // Both hold 16 positions at a time: the smaller batch.
        assert_eq!((best.threads, best.batch), (4, 4));
        assert!(recommend(&[]).is_none());
    }

    #[test]
    fn a_measurement_counts_what_the_search_did() {
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
        let mut engine = Engine::new(Options::default(), Arc::clone(&clock), RuntimePolicy::FindOnly);
        engine.set_option("Backend", "random").unwrap();
        let mut benchmark = Benchmark::new(engine, clock).unwrap();
        let measured = benchmark.measure(2, 4, 2, 0.2).unwrap();
        assert_eq!((measured.threads, measured.batch, measured.backend.as_str()), (2, 4, "random"));
        assert!((0.1..3.0).contains(&measured.seconds), "{measured:?}");
        assert!(measured.visits > 0 && measured.evaluations > 0 && measured.visits_per_s > 0.0, "{measured:?}");
        assert!(measured.mean_batch <= 4.0 && measured.batch_fill <= 1.0, "{measured:?}");
        assert!((0.0..1.0).contains(&measured.cache_hit_share), "{measured:?}");
        assert!(measured.first_evaluation_ms > 0.0 && measured.batch_latency_ms.p99 >= measured.batch_latency_ms.p50);
    }
}
