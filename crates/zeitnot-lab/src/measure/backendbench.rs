//! Measures the evaluator alone: positions a second, by batch size, and side by side with another evaluator.
//!
//! It times [`Evaluator::evaluate`](zeitnot_engine::backend::Evaluator::evaluate) from queries to evaluations: writing
//! the input tensor, running the network, checking and gathering its outputs. Positions, legal moves, planes and policy
//! indices are prepared beforehand; there is no cache and no search.

use std::sync::Arc;

use cpu_time::ProcessTime;
use serde::Serialize;

use super::card_use::{CardUse, watch};
use super::positions;
use super::saturation::Sizes;
use super::statistics::{Latency, median, rate};
use zeitnot_engine::backend::{Backend, BackendError, Evaluator, Query};
use zeitnot_engine::clock::Clock;
use zeitnot_engine::runtime::nvidia_readings::CardSource;

/// Number of different positions, which batches take in turn.
pub(super) const POSITIONS: usize = 256;
/// Seed of the random walk that gives these positions.
pub(super) const SEED: u64 = 1;
/// Longest time that one side runs before the other has its turn, in milliseconds: long enough for the clocks, short
/// enough that both see the same load of the machine.
const SLICE_MS: f64 = 100.0;
/// Least slices in the measured time of a side, unless a batch takes longer.
const SLICES: f64 = 4.0;
/// Least slices of a side, however long a batch takes.
const LEAST_SLICES: usize = 3;

/// A side of the measurement: something that evaluates batches.
pub trait Side {
    /// The description of the side, in one line.
    fn name(&self) -> &str;

    /// Makes a worker of the side, for batches of up to `largest` positions.
    ///
    /// # Errors
    ///
    /// When there is no room for another worker.
    fn runner(&self, largest: usize) -> Result<Box<dyn Runner>, BackendError>;
}

/// One worker of a side.
pub trait Runner: Send {
    /// Evaluates the next `batch` positions.
    ///
    /// # Errors
    ///
    /// When the device fails.
    fn run(&mut self, batch: usize) -> Result<(), BackendError>;
}

pub struct BackendSide {
    name: String,
    backend: Arc<dyn Backend>,
}

impl BackendSide {
    /// The side that `backend` makes up. The backend must have no cache, which would answer in the network's place.
    pub fn new(backend: Arc<dyn Backend>) -> BackendSide {
        BackendSide { name: backend.attributes().to_string(), backend }
    }
}

impl Side for BackendSide {
    fn name(&self) -> &str {
        &self.name
    }

    fn runner(&self, largest: usize) -> Result<Box<dyn Runner>, BackendError> {
        let games = positions::walk(POSITIONS, SEED);
        let mut queries = positions::queries(&games, self.backend.attributes());
        // Batches go round: one that begins near the end continues with the first positions.
        let wrapped: Vec<Query> = queries.iter().cycle().take(largest).cloned().collect();
        queries.extend(wrapped);
        Ok(Box::new(EvaluatorRunner { evaluator: self.backend.evaluator()?, queries, next: 0 }))
    }
}

struct EvaluatorRunner {
    evaluator: Box<dyn Evaluator>,
    queries: Vec<Query>,
    next: usize,
}

impl Runner for EvaluatorRunner {
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        let answers = self.evaluator.evaluate(&self.queries[self.next..][..batch])?;
        std::hint::black_box(answers);
        self.next = (self.next + batch) % POSITIONS;
        Ok(())
    }
}

/// The plan of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchPlan {
    /// Batch sizes in positions. Rising sizes go on while a larger one pays for at least one side.
    pub batch_sizes: Sizes,
    /// Workers of a side, each with a batch of its own.
    pub threads: usize,
    /// How long each side is measured at each batch size, in seconds.
    pub seconds: f64,
    /// How long a side warms up before that, in seconds; at least one batch.
    pub warm_up_seconds: f64,
    /// Whether each batch size is also measured in batches that follow one of the size before it.
    pub in_turn: bool,
}

/// The throughput of one side at one batch size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Evaluations a second: the median of the slices of time.
    pub evals_per_s: f64,
    /// Mean evaluations a second over the whole time.
    pub mean_evals_per_s: f64,
    /// Evaluations a second that at least 95 % of the batches reach.
    pub p95_evals_per_s: f64,
    /// Evaluations for each second of processor time of the whole process.
    pub evals_per_cpu_s: f64,
    /// The time of one batch, in milliseconds.
    pub latency_ms: Latency,
    /// Batches measured.
    pub batches: usize,
}

/// The result at one batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// Positions in a batch.
    pub batch: usize,
    /// The throughput of the first side.
    pub side: Throughput,
    /// The throughput of the other side, if there is one.
    pub versus: Option<Throughput>,
    /// The median time of a batch of the first side right after one of the size before, in milliseconds; `None` for the
    /// first size, or if it was not measured.
    pub in_turn_ms: Option<f64>,
    /// The state of the graphics cards meanwhile, where their driver reports it.
    pub cards: Option<Vec<CardUse>>,
}

impl BenchRow {
    /// Evaluations a second of the first side as a multiple of the other's; `None` without another side.
    pub fn ratio(&self) -> Option<f64> {
        self.versus.as_ref().map(|versus| rate(self.side.evals_per_s, versus.evals_per_s))
    }

    /// The ratio of evaluations for each second of processor time, which other programs disturb less.
    pub fn cpu_ratio(&self) -> Option<f64> {
        self.versus.as_ref().map(|versus| rate(self.side.evals_per_cpu_s, versus.evals_per_cpu_s))
    }
}

/// Measures one side, or two that take turns in slices of time. `cards` are asked for their state meanwhile.
///
/// # Errors
///
/// The errors of the backends.
pub fn backendbench(
    side: &dyn Side,
    versus: Option<&dyn Side>,
    plan: &BenchPlan,
    cards: Option<&dyn CardSource>,
    clock: &dyn Clock,
    mut on_row: impl FnMut(&BenchRow),
) -> Result<Vec<BenchRow>, BackendError> {
    let largest = plan.batch_sizes.largest();
    let sides = std::iter::once(side).chain(versus);
    let mut teams = sides.map(|side| Team::new(side, plan.threads, largest)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    while let Some(batch) = next_batch(&plan.batch_sizes, &rows) {
        for team in &mut teams {
            team.slice(batch, plan.warm_up_seconds * 1e3, clock)?;
            team.slices.clear();
        }
        let (measured, cards) = watch(cards, || in_turns(&mut teams, batch, plan.seconds * 1e3, clock));
        measured?;
        let mut results = teams.iter_mut().map(|team| team.throughput(batch));
        let (side, versus) = (results.next().expect("there is a first side"), results.next());
        let before = rows.last().filter(|_| plan.in_turn).map(|row: &BenchRow| row.batch);
        let in_turn_ms = before.map(|before| teams[0].in_turn(before, batch, plan.seconds * 1e3, clock)).transpose()?;
        let row = BenchRow { batch, side, versus, in_turn_ms, cards };
        on_row(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// The batch size to measure after these rows; `None` at the end.
fn next_batch(sizes: &Sizes, rows: &[BenchRow]) -> Option<usize> {
    let rates = |side: fn(&BenchRow) -> Option<&Throughput>| -> Vec<(usize, f64)> {
        rows.iter().filter_map(|row| Some((row.batch, side(row)?.evals_per_s))).collect()
    };
    let versus = rates(|row| row.versus.as_ref());
    let of_versus = if versus.is_empty() { None } else { sizes.after(&versus) };
    sizes.after(&rates(|row| Some(&row.side))).or(of_versus)
}

/// Lets the sides' teams measure slices in turn, until each has had `milliseconds`.
fn in_turns(teams: &mut [Team], batch: usize, milliseconds: f64, clock: &dyn Clock) -> Result<(), BackendError> {
    let slice_ms = SLICE_MS.min(milliseconds / SLICES);
    let end_ms = clock.now_ms() + milliseconds * teams.len() as f64;
    while teams[0].slices.len() < LEAST_SLICES || clock.now_ms() < end_ms {
        // Each side leads once: neither always meets what the other left in caches and clocks.
        teams.iter_mut().try_for_each(|team| team.slice(batch, slice_ms, clock))?;
        teams.iter_mut().rev().try_for_each(|team| team.slice(batch, slice_ms, clock))?;
    }
    Ok(())
}

/// The workers of a side.
struct Team {
    runners: Vec<Box<dyn Runner>>,
    slices: Vec<Slice>,
}

/// Measurements of the batches that a side ran in one slice of time.
struct Slice {
    /// Latency of each batch, in milliseconds.
    latencies: Vec<f64>,
    /// Batches a second of all workers together.
    batches_per_s: f64,
    /// Length of the slice, in seconds.
    seconds: f64,
    cpu_seconds: f64,
}

impl Team {
    fn new(side: &dyn Side, threads: usize, largest: usize) -> Result<Team, BackendError> {
        let runners = (0..threads.max(1)).map(|_| side.runner(largest)).collect::<Result<_, _>>()?;
        Ok(Team { runners, slices: Vec::new() })
    }

    /// Runs batches for `milliseconds`, at least one batch of each worker, and keeps the slice.
    fn slice(&mut self, batch: usize, milliseconds: f64, clock: &dyn Clock) -> Result<(), BackendError> {
        let (cpu, start_ms) = (ProcessTime::now(), clock.now_ms());
        let work = |runner: &mut Box<dyn Runner>| -> Result<Vec<f64>, BackendError> {
            let mut latencies = Vec::new();
            let mut now_ms = clock.now_ms();
            let end_ms = now_ms + milliseconds;
            while latencies.is_empty() || now_ms < end_ms {
                runner.run(batch)?;
                let done_ms = clock.now_ms();
                latencies.push(done_ms - now_ms);
                now_ms = done_ms;
            }
            Ok(latencies)
        };
        let results: Vec<Result<Vec<f64>, BackendError>> = match self.runners.as_mut_slice() {
            [runner] => vec![work(runner)],
            runners => std::thread::scope(|scope| {
                let threads: Vec<_> = runners.iter_mut().map(|runner| scope.spawn(|| work(runner))).collect();
                let join = |thread: std::thread::ScopedJoinHandle<_>| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                threads.into_iter().map(join).collect()
            }),
        };
        let seconds = (clock.now_ms() - start_ms) / 1e3;
        let cpu_seconds = cpu.elapsed().as_secs_f64();
        let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        let speed = |times: &Vec<f64>| rate(times.len() as f64, times.iter().sum::<f64>() / 1e3);
        let batches_per_s = results.iter().map(speed).sum();
        self.slices.push(Slice { latencies: results.concat(), batches_per_s, seconds, cpu_seconds });
        Ok(())
    }

    /// The median time of a batch of the first worker right after one of the size `before`.
    fn in_turn(
        &mut self,
        before: usize,
        batch: usize,
        milliseconds: f64,
        clock: &dyn Clock,
    ) -> Result<f64, BackendError> {
        let end_ms = clock.now_ms() + milliseconds;
        let mut latencies = Vec::new();
        while latencies.len() < LEAST_SLICES || clock.now_ms() < end_ms {
            self.runners[0].run(before)?;
            let start_ms = clock.now_ms();
            self.runners[0].run(batch)?;
            latencies.push(clock.now_ms() - start_ms);
        }
        Ok(median(latencies))
    }

    /// The throughput over all slices that were kept, which are then dropped.
    fn throughput(&mut self, batch: usize) -> Throughput {
        let slices = std::mem::take(&mut self.slices);
        let size = batch as f64;
        let batches: usize = slices.iter().map(|slice| slice.latencies.len()).sum();
        let evaluations = size * batches as f64;
        let cpu_seconds: f64 = slices.iter().map(|slice| slice.cpu_seconds).sum();
        let rates: Vec<f64> = slices.iter().map(|slice| size * slice.batches_per_s).collect();
        let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
        let latency_ms = Latency::of(slices.into_iter().flat_map(|slice| slice.latencies).collect());
        Throughput {
            evals_per_s: median(rates),
            mean_evals_per_s: rate(evaluations, seconds),
            p95_evals_per_s: rate(size * self.runners.len() as f64, latency_ms.p95 / 1e3),
            evals_per_cpu_s: rate(evaluations, cpu_seconds),
            latency_ms,
            batches,
        }
    }
}

#[cfg(test)]
#[path = "backendbench_tests.rs"]
mod tests;
