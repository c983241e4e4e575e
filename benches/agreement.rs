//! How far a network in lower precision agrees with itself in float32 on ONNX Runtime's CPU provider, and how much
//! faster it is:
//!
//! ```text
//! cargo bench --bench agreement -- NETWORK...                  in 8 bits, as `net convert --int8` makes it for ONNX Runtime
//! cargo bench --bench agreement -- --backend native --backend-options precision=int8 NETWORK...
//! cargo bench --bench agreement -- --backend openvino --backend-options precision=bf16 --onnxruntime LIBRARY NETWORK...
//! ```
//!
//! Both run on one thread, in turns, on positions of games that the network plays with itself (other ones than those it
//! is calibrated on). Times are those that the process spends on a core, so that other programs disturb little.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use cpu_time::ProcessTime;
use zeitnot_engine::backend::{
    self, Backend, BackendError, BackendOptions, Calibration, DeviceOptions, Evaluation, Evaluator, Query,
};
use zeitnot_engine::network::{Conversion, Network};
use zeitnot_engine::runtime;

/// Positions of one run.
const BATCH: usize = 16;
/// The seed of the positions, other than that of the calibration.
const SEED: u64 = 20_261_120;

#[derive(Parser)]
struct Arguments {
    /// The networks.
    #[arg(required = true)]
    networks: Vec<PathBuf>,
    /// Backend of lower precision; without it, the CPU provider in 8 bits.
    #[arg(long)]
    backend: Option<String>,
    /// Options of that backend.
    #[arg(long, default_value = "")]
    backend_options: DeviceOptions,
    /// The library of ONNX Runtime for both sides.
    #[arg(long)]
    onnxruntime: Option<PathBuf>,
    /// Positions that are compared.
    #[arg(long, default_value_t = 3008)]
    positions: usize,
    /// Passed by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Result of a comparison, as sums over its positions.
#[derive(Default)]
struct Comparison {
    positions: usize,
    agreed: usize,
    divergence: f64,
    value: f64,
    float32: Vec<Duration>,
    other: Vec<Duration>,
}

impl Comparison {
    fn add(&mut self, wanted: &Evaluation, found: &Evaluation) {
        self.positions += 1;
        self.agreed += usize::from(first_choice(wanted) == first_choice(found));
        let pairs = priors(wanted).into_iter().zip(priors(found));
        self.divergence += pairs.map(|(p, q)| if p > 0.0 { p * (p / q).ln() } else { 0.0 }).sum::<f64>();
        self.value += f64::from((wanted.q - found.q).abs());
    }

    fn print(self, name: &str) {
        let count = self.positions as f64;
        println!(
            "{name}: first choice {:.1} %, KL {:.4}, value {:.4}; {:.2} times the speed at batch {BATCH} ({} positions)",
            100.0 * self.agreed as f64 / count,
            self.divergence / count,
            self.value / count,
            median(self.float32) / median(self.other),
            self.positions,
        );
    }
}

/// Softmax of raw logits.
fn priors(evaluation: &Evaluation) -> Vec<f64> {
    let largest = evaluation.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = evaluation.logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn first_choice(evaluation: &Evaluation) -> Option<usize> {
    (0..evaluation.logits.len()).max_by(|&a, &b| evaluation.logits[a].total_cmp(&evaluation.logits[b]))
}

fn timed(evaluator: &mut dyn Evaluator, batch: &[Query]) -> Result<(Vec<Evaluation>, Duration), BackendError> {
    let start = ProcessTime::now();
    let answers = evaluator.evaluate(batch)?;
    Ok((answers, start.elapsed()))
}

/// Median in seconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// The backend whose agreement is asked for.
fn other(arguments: &Arguments, network: &Network, options: &BackendOptions) -> anyhow::Result<Arc<dyn Backend>> {
    if let Some(name) = &arguments.backend {
        let options = BackendOptions { device: arguments.backend_options.clone(), ..options.clone() };
        return Ok(backend::create(name, Some(network), &options)?);
    }
    let runtime = runtime::load(arguments.onnxruntime.as_deref())?;
    let model = backend::quantise(&runtime, network, &Conversion::default(), Calibration::default())?;
    let small = Network::from_bytes(&model.bytes, "int8.onnx")?;
    Ok(backend::create("onnxruntime", Some(&small), options)?)
}

fn compare(arguments: &Arguments, path: &Path) -> anyhow::Result<()> {
    let network = Network::load_with(path, &arguments.backend_options.interface)?;
    let options = BackendOptions { cache_size: 0, runtime: arguments.onnxruntime.clone(), ..BackendOptions::default() };
    let float32 = backend::create("onnxruntime", Some(&network), &options)?;
    let other = other(arguments, &network, &options)?;
    let positions = backend::self_play(&*float32, arguments.positions, SEED)?;
    let (mut float32, mut other) = (float32.evaluator()?, other.evaluator()?);
    let mut comparison = Comparison::default();
    for batch in positions.chunks_exact(BATCH) {
        let (wanted, time) = timed(&mut *float32, batch)?;
        comparison.float32.push(time);
        let (found, time) = timed(&mut *other, batch)?;
        comparison.other.push(time);
        wanted.iter().zip(&found).for_each(|(wanted, found)| comparison.add(wanted, found));
    }
    comparison.print(network.name());
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.onnxruntime.is_none() {
        runtime::ensure_installed(&|line| eprintln!("{line}"))?;
    }
    for path in &arguments.networks {
        compare(&arguments, path)?;
    }
    Ok(())
}
