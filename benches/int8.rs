//! How far a network in 8 bits agrees with itself in float32, and how much faster it is:
//! `cargo bench --bench int8 -- NETWORK...`.
//!
//! Both run on one thread of ONNX Runtime's CPU provider, in turns, on positions of games that the network plays with
//! itself (other ones than those it is calibrated on).
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::path::Path;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use zeitnot::backend::{self, BackendError, BackendOptions, Calibration, Evaluation, Evaluator, Query, runtime};
use zeitnot::network::{Conversion, Network};

/// Positions that are compared.
const POSITIONS: usize = 3008;
/// Positions of one run.
const BATCH: usize = 16;
/// Their seed, other than that of the calibration.
const SEED: u64 = 20_261_120;

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
    let start = ThreadTime::now();
    let answers = evaluator.evaluate(batch)?;
    Ok((answers, start.elapsed()))
}

/// The time that a tenth of the runs undercut: what a run takes when no other program takes its core.
fn undisturbed(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 10].as_secs_f64()
}

fn compare(path: &Path) -> anyhow::Result<()> {
    let network = Network::load(path)?;
    let runtime = runtime::ensure_installed(&|line| eprintln!("{line}"))?;
    let start = Instant::now();
    let model = backend::quantise(&runtime, &network, &Conversion::default(), Calibration::default())?;
    let calibration = start.elapsed();
    let small = Network::from_bytes(&model.bytes, "int8.onnx")?;
    let options = BackendOptions { cache_size: 0, ..BackendOptions::default() };
    let [reference, quantised] =
        [&network, &small].map(|network| backend::create("onnxruntime", Some(network), &options));
    let (reference, quantised) = (reference?, quantised?);
    let positions = backend::self_play(&*reference, POSITIONS, SEED)?;
    let (mut a, mut b) = (reference.evaluator()?, quantised.evaluator()?);
    let (mut agreed, mut divergence, mut value) = (0, 0.0, 0.0);
    let (mut slow_times, mut fast_times) = (Vec::new(), Vec::new());
    for batch in positions.chunks(BATCH) {
        let (wanted, slow) = timed(&mut *a, batch)?;
        let (found, fast) = timed(&mut *b, batch)?;
        if batch.len() == BATCH {
            slow_times.push(slow);
            fast_times.push(fast);
        }
        for (wanted, found) in wanted.iter().zip(&found) {
            agreed += usize::from(first_choice(wanted) == first_choice(found));
            let pairs = priors(wanted).into_iter().zip(priors(found));
            divergence += pairs.map(|(p, q)| if p > 0.0 { p * (p / q).ln() } else { 0.0 }).sum::<f64>();
            value += f64::from((wanted.q - found.q).abs());
        }
    }
    let count = positions.len() as f64;
    println!(
        "{}: top-1 {:.1} %, KL {:.4}, |q| {:.4}, speed {:.2} at batch {BATCH}; {:.1} s of calibration, {} kB",
        network.name(),
        100.0 * agreed as f64 / count,
        divergence / count,
        value / count,
        undisturbed(slow_times) / undisturbed(fast_times),
        calibration.as_secs_f64(),
        model.bytes.len() / 1000,
    );
    Ok(())
}

fn main() -> anyhow::Result<()> {
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        compare(Path::new(&argument))?;
    }
    Ok(())
}
