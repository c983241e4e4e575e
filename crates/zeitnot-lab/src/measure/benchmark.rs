//! Measures the whole engine on this machine: its speed, the fill of its batches, and the settings that suit it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bench::{BENCH_POSITIONS, bench_game};
use super::card_use::{CardUse, watch};
use super::host_cost::HostCost;
use super::meter::{BatchRecord, Meter, Reading};
use super::saturation::GAIN;
use super::statistics::{Latency, mean, median, rate};
use zeitnot_engine::backend::{Attributes, Backend as _};
use zeitnot_engine::clock::{Clock, MonotonicClock};
use zeitnot_engine::engine::{Engine, EngineError, GoParams, Options};
use zeitnot_engine::runtime::nvidia_readings::CardSource;

/// Time of the search that warms up, as a share of the measured time.
const WARM_UP: f64 = 0.2;
/// Least time of the search that warms up, in milliseconds.
const LEAST_WARM_UP_MS: f64 = 200.0;
/// Most searches that warm up: each is twice as long as the one before, until something is evaluated.
const MOST_WARM_UPS: u32 = 12;
/// Least number of full batches that each worker should have time for in each position: a new tree first gives small
/// batches.
const LEAST_BATCHES: f64 = 10.0;

/// The measurement of one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The value of the option `Backend`.
    pub backend: String,
    /// Search threads.
    pub threads: usize,
    /// Most positions that a thread gathers for a batch.
    pub batch: usize,
    /// The value of `MinibatchSize` to set for this batch size. On a CPU it is 0, the backend's choice, up to the size
    /// that the backend prefers: by its choice batches are smaller in small trees.
    #[serde(default)]
    pub minibatch_size: usize,
    /// Visits of the tree a second.
    pub visits_per_s: f64,
    /// Positions evaluated a second.
    pub evals_per_s: f64,
    /// Share of the requested evaluations that the cache answered.
    pub cache_hit_share: f64,
    /// Number of collisions (visits given up at a leaf that waits for its evaluation) for each visit made.
    pub collisions_per_visit: f64,
    /// Positions in the average batch.
    pub mean_batch: f64,
    /// Positions in the average batch, as a share of `batch`.
    pub batch_fill: f64,
    /// Share of the time in which a worker waited for a batch.
    #[serde(default)]
    pub busy_share: f64,
    /// What an evaluation costs the host of a card, measured apart.
    #[serde(default)]
    pub host: Option<HostCost>,
    /// Latency of a batch as its worker sees it, in milliseconds.
    pub batch_latency_ms: Latency,
    /// Mean time of a batch by its size, in milliseconds.
    #[serde(default)]
    pub batch_ms: Vec<(usize, f64)>,
    /// Mean time that a thread takes for a visit, without waiting for batches, in milliseconds.
    #[serde(default)]
    pub playout_ms: f64,
    /// Time from the start of the first search to its first evaluation, in milliseconds; `None` when none came.
    pub first_evaluation_ms: Option<f64>,
    /// Positions searched: fewer than asked for where each would have had time for only the first, small batches.
    pub positions: usize,
    /// Visits made.
    pub visits: u64,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Time searched, in seconds, without the workers' time on batches that ended after the answer.
    pub seconds: f64,
    /// The state of the graphics cards meanwhile, where their driver reports it.
    #[serde(default)]
    pub cards: Option<Vec<CardUse>>,
}

/// Why a setting cannot be measured. Displays as one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum BenchmarkError {
    /// The engine cannot search.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The time was too short for this network and device.
    #[error(
        "no evaluation ended in {seconds} s (threads {threads}, batch {batch}): a larger --seconds gives it the time"
    )]
    NothingEvaluated { threads: usize, batch: usize, seconds: f64 },
}

/// The number of positions that can be searched.
pub const BENCHMARK_POSITIONS: usize = BENCH_POSITIONS.len();

/// An engine that is being measured.
pub struct Benchmark {
    engine: Engine,
    meter: Arc<Meter>,
    host: Option<HostCost>,
    cards: Option<Arc<dyn CardSource>>,
    /// Time that loading took, in milliseconds.
    pub load_ms: f64,
}

impl Benchmark {
    /// Loads what the engine's options name, and turns off the options that would end a search early. `clock` must be
    /// the engine's clock.
    ///
    /// # Errors
    ///
    /// When something cannot be loaded.
    pub fn new(mut engine: Engine, clock: Arc<dyn Clock>) -> Result<Benchmark, EngineError> {
        let options =
            Options { move_overhead: 0, smart_pruning_factor: 0.0, minimum_kld_gain: 0.0, ..engine.options().clone() };
        engine.set_options(options).expect("these options take 0, and the others are the engine's own");
        let start_ms = clock.now_ms();
        engine.prepare()?;
        let load_ms = clock.now_ms() - start_ms;
        let bare = engine.backend().ok_or(EngineError::NothingLoaded)?;
        let meter = Arc::new(Meter::new(bare, clock));
        let decorator = Arc::clone(&meter);
        engine.decorate(|_| decorator)?;
        let host = HostCost::measure(meter.attributes(), &MonotonicClock::new()).map_err(EngineError::from)?;
        Ok(Benchmark { engine, meter, host, cards: None, load_ms })
    }

    /// The attributes of the measured backend.
    pub fn attributes(&self) -> Attributes {
        self.engine.attributes().cloned().expect("the engine was prepared")
    }

    /// The engine that is measured.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Sets the graphics cards that are read while settings are measured.
    pub fn watch_cards(&mut self, cards: Option<Arc<dyn CardSource>>) {
        self.cards = cards;
    }

    /// Measures `threads` threads with `batch` positions in a batch (0: as the backend prefers). After a search that
    /// warms up it searches the first `positions` of the bench's positions, each as a new game and for the same time,
    /// `seconds` in all. Where batches take long, fewer positions get the time.
    ///
    /// # Errors
    ///
    /// When a search cannot start or fails, or when nothing was evaluated.
    pub fn measure(
        &mut self,
        threads: usize,
        batch: usize,
        positions: usize,
        seconds: f64,
    ) -> Result<Measured, BenchmarkError> {
        let attributes = self.attributes();
        let options =
            Options { threads: threads as u64, minibatch_size: batch as u64, ..self.engine.options().clone() };
        self.engine.set_options(options).map_err(|error| EngineError::Search(error.to_string()))?;
        let or = |number, default| if number == 0 { default } else { number };
        let threads = or(threads, attributes.preferred_threads).max(1);
        let batch = or(batch, attributes.preferred_batch).min(attributes.maximum_batch).max(1);
        let asked_seconds = seconds;
        // Evaluators for new threads are made here and not on the clock.
        self.engine.prepare()?;
        let (first_evaluation_ms, warm_up) = self.warm_up((seconds * 1e3 * WARM_UP).max(LEAST_WARM_UP_MS))?;

        let positions = positions_in(seconds * 1e3, full_batch_ms(&warm_up, batch), positions);
        let each_ms = asked_seconds * 1e3 / positions as f64;
        let source = self.cards.clone();
        let all = || (0..positions).map(|position| self.search(position, each_ms)).collect::<Result<Vec<_>, _>>();
        let (samples, cards) = watch(source.as_deref(), all);
        let (mut visits, mut collisions, mut seconds, mut reading) = (0, 0, 0.0, Reading::default());
        let (mut busy_ms, mut searched_ms) = (0.0, 0.0);
        for sample in samples? {
            visits += sample.playouts;
            collisions += sample.collisions;
            seconds += counted_ms(&sample, threads) / 1e3;
            busy_ms += busy_ms_of(&sample);
            searched_ms += sample.answer_ms - sample.start_ms;
            let landed = sample.reading.batches.into_iter().filter(|batch| batch.end_ms <= sample.answer_ms);
            reading.batches.extend(landed);
        }
        let evaluations = reading.evaluations();
        if evaluations == 0 {
            return Err(BenchmarkError::NothingEvaluated { threads, batch, seconds: asked_seconds });
        }
        let asked = (evaluations + reading.cache_hits()) as f64;
        let mean_batch = rate(evaluations as f64, reading.batches.len() as f64);
        let in_batches_ms: f64 = reading.batches.iter().map(BatchRecord::ms).sum();
        let beside_ms = (seconds * 1e3 * threads as f64 - in_batches_ms).max(0.0);
        Ok(Measured {
            backend: self.engine.options().backend.clone(),
            threads,
            batch,
            minibatch_size: if attributes.is_cpu && batch <= attributes.preferred_batch { 0 } else { batch },
            visits_per_s: rate(visits as f64, seconds),
            evals_per_s: rate(evaluations as f64, seconds),
            cache_hit_share: rate(reading.cache_hits() as f64, asked),
            collisions_per_visit: rate(collisions as f64, visits as f64),
            mean_batch,
            batch_fill: mean_batch / batch as f64,
            busy_share: rate(busy_ms, searched_ms),
            host: self.host,
            batch_latency_ms: latency(&reading),
            batch_ms: mean_by_size(&reading),
            playout_ms: rate(beside_ms, visits as f64),
            first_evaluation_ms,
            positions,
            visits,
            evaluations,
            seconds,
            cards,
        })
    }

    /// Searches for `milliseconds`, and longer until something has been evaluated. Returns the time from the start of
    /// the first search to the first evaluation, and the batches of the last search.
    fn warm_up(&mut self, milliseconds: f64) -> Result<(Option<f64>, Reading), EngineError> {
        let start_ms = self.engine.now_ms();
        let mut reading = Reading::default();
        for attempt in 0..MOST_WARM_UPS {
            reading = self.search(0, milliseconds * f64::from(1 << attempt))?.reading;
            // A batch that ended after the answer counts, too.
            let first = reading.batches.iter().map(|batch| batch.end_ms - start_ms).min_by(f64::total_cmp);
            if first.is_some() {
                return Ok((first, reading));
            }
        }
        Ok((None, reading))
    }

    fn search(&mut self, position: usize, milliseconds: f64) -> Result<Sample, EngineError> {
        self.engine.new_game();
        self.engine.set_game(bench_game(position));
        let start_ms = self.engine.now_ms();
        let go = GoParams { movetime: Some(milliseconds), ..GoParams::default() };
        let report = self.engine.search_and_wait(&go, start_ms)?.0.report;
        // Batches that are still being evaluated must not count for the next search.
        self.engine.wait();
        let reading = self.meter.take();
        Ok(Sample {
            playouts: report.playouts,
            collisions: report.collisions,
            start_ms,
            answer_ms: start_ms + report.elapsed_ms,
            reading,
        })
    }
}

/// The counts of one search.
struct Sample {
    playouts: u64,
    collisions: u64,
    start_ms: f64,
    answer_ms: f64,
    /// All batches, also batches that ended after the answer.
    reading: Reading,
}

/// The time of a search that counts, in milliseconds: without the workers' mean time on batches that had not ended at
/// the answer. Visits and evaluations of these batches do not count either.
fn counted_ms(sample: &Sample, threads: usize) -> f64 {
    let Sample { start_ms, answer_ms, .. } = *sample;
    let in_flight = sample.reading.batches.iter().filter(|batch| batch.end_ms > answer_ms);
    let lost: f64 = in_flight.map(|batch| (answer_ms - batch.start_ms.max(start_ms)).max(0.0)).sum();
    (answer_ms - start_ms - lost / threads as f64).max(0.0)
}

/// The time until the answer in which at least one batch was with an evaluator, in milliseconds.
fn busy_ms_of(sample: &Sample) -> f64 {
    let mut spans: Vec<_> =
        sample.reading.batches.iter().map(|batch| (batch.start_ms, batch.end_ms.min(sample.answer_ms))).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut busy_ms, mut until_ms) = (0.0, sample.start_ms);
    for (start_ms, end_ms) in spans {
        busy_ms += (end_ms - until_ms.max(start_ms)).max(0.0);
        until_ms = until_ms.max(end_ms);
    }
    busy_ms
}

/// Expected latency of a full batch, in milliseconds: the median of the largest batches seen, scaled to its size.
fn full_batch_ms(reading: &Reading, batch: usize) -> f64 {
    let largest = reading.batches.iter().map(|batch| batch.size).max().unwrap_or(0);
    let of_largest = reading.batches.iter().filter(|batch| batch.size == largest);
    let latency = median(of_largest.map(|batch| batch.end_ms - batch.start_ms).collect());
    if largest == 0 { 0.0 } else { latency * batch as f64 / largest as f64 }
}

/// Number of positions that share this time: `asked`, or fewer, so that each has time for [`LEAST_BATCHES`].
fn positions_in(milliseconds: f64, full_batch_ms: f64, asked: usize) -> usize {
    let room = milliseconds / (LEAST_BATCHES * full_batch_ms);
    // Casts saturate: where a batch takes no time, there is room for all positions.
    (room as usize).clamp(1, asked.clamp(1, BENCHMARK_POSITIONS))
}

fn latency(reading: &Reading) -> Latency {
    Latency::of(reading.batches.iter().map(BatchRecord::ms).collect())
}

/// The mean time of the batches of each size, in milliseconds.
fn mean_by_size(reading: &Reading) -> Vec<(usize, f64)> {
    let mut times: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for batch in &reading.batches {
        times.entry(batch.size).or_default().push(batch.ms());
    }
    times.into_iter().map(|(size, times)| (size, mean(&times))).collect()
}

/// The setting to use: of the settings within 5 % of the most visits a second the one with the fewest positions in
/// flight (threads times batch), then with the smallest batch. That setting learns more from each visit, and
/// measurements differ by 5 % anyway. `None` without settings.
pub fn recommend(settings: &[Measured]) -> Option<&Measured> {
    let most = settings.iter().map(|setting| setting.visits_per_s).fold(0.0, f64::max);
    let good = settings.iter().filter(|setting| setting.visits_per_s >= most * (1.0 - GAIN));
    good.min_by(|a, b| {
        let size = |setting: &Measured| (setting.batch * setting.threads, setting.batch);
        size(a).cmp(&size(b)).then(b.visits_per_s.total_cmp(&a.visits_per_s))
    })
}

#[cfg(test)]
#[path = "benchmark_tests.rs"]
mod tests;
