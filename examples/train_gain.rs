//! Trains the network by which the time manager `price` predicts the gain of more nodes, from recorded searches, and writes its
//! numbers as Rust:
//!
//! ```sh
//! cargo run --release --example train_gain -- TRACES.zt... > src/time_manager/managers/price/gain_weights.rs
//! ```
//!
//! `--hold-out 0` or `--hold-out 1` leaves out every second pair of games, and tells the calibration of those alone on standard error.
//! The same files give the same numbers on one machine.

#![allow(clippy::print_stdout, reason = "an example prints")]

use anyhow::{Context as _, ensure};
use std::path::Path;
use zeitnot::lab::traces::{SearchTrace, read_traces};
use zeitnot::splitmix::SplitMix64;
use zeitnot::time_manager::managers::price::gain::{GROWTH, GainNetwork, HIDDEN};
use zeitnot::time_manager::managers::price::root_history::{INPUTS, RootHistory};

/// Passes over the samples.
const EPOCHS: usize = 15;
/// Samples of a step.
const BATCH: usize = 512;
/// The first step's rate; it falls to nothing in a line.
const RATE: f64 = 3e-3;
/// Pull of the weights towards 0.
const DECAY: f64 = 1e-3;
/// New nodes before which no search stops.
const LEAST_NODES: u64 = 16;
/// Numbers of the network.
const NUMBERS: usize = HIDDEN * (INPUTS + 2) + 1;

/// A moment of a search.
struct Moment {
    inputs: [f64; INPUTS],
    new_nodes: f64,
    total_nodes: f64,
    /// What the choice gains when the tree grows by [`GROWTH`], where the record goes on so far.
    gain: Option<f64>,
}

fn main() -> anyhow::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let held_out = match arguments.iter().position(|argument| argument == "--hold-out") {
        Some(at) => {
            ensure!(at + 1 < arguments.len(), "--hold-out needs 0 or 1");
            Some(arguments.drain(at..at + 2).nth(1).context("--hold-out")?.parse::<u32>().context("--hold-out")?)
        }
        None => None,
    };
    ensure!(!arguments.is_empty(), "name files of traces, as `zeitnot time record` writes them");
    let mut traces = Vec::new();
    for path in &arguments {
        traces.extend(read_traces(Path::new(path))?.1);
    }
    let is_held_out = |trace: &SearchTrace| held_out == Some(trace.pair() % 2);
    let moments: Vec<Vec<Moment>> = traces.iter().map(moments).collect();
    let samples: Vec<(&Moment, f64)> = traces
        .iter()
        .zip(&moments)
        .filter(|(trace, _)| !is_held_out(trace))
        .flat_map(|(_, moments)| moments.iter().filter_map(|moment| Some((moment, moment.gain?))))
        .collect();
    ensure!(samples.len() >= BATCH, "{} samples are too few", samples.len());
    eprintln!("{} samples of {} searches", samples.len(), traces.len());
    let network = train(&samples);
    let told: Vec<(f64, f64)> = traces
        .iter()
        .zip(&moments)
        .filter(|(trace, _)| held_out.is_none() || is_held_out(trace))
        .flat_map(|(_, moments)| moments.iter().filter_map(|moment| Some((network.gain(&moment.inputs), moment.gain?))))
        .collect();
    calibration(told);
    write(&network, price(&network, &moments));
    Ok(())
}

/// The moments of a search at which it has inputs.
fn moments(trace: &SearchTrace) -> Vec<Moment> {
    let (mut history, priors) = (RootHistory::default(), trace.priors());
    let regret_at = |total: f64| {
        let later = trace.snapshots.iter().find(|later| later.total_nodes as f64 >= total)?;
        Some(trace.regret(later.best_move? as usize))
    };
    let moment = |snapshot: &zeitnot::lab::traces::TraceSnapshot| {
        let inputs = history.inputs(&snapshot.snapshot(&priors, snapshot.new_nodes, 0.0, None))?;
        let (total_nodes, now) = (snapshot.total_nodes as f64, trace.regret(snapshot.best_move? as usize));
        let gain = regret_at(total_nodes * GROWTH * 0.97).map(|later| now - later);
        Some(Moment { inputs, new_nodes: snapshot.new_nodes as f64, total_nodes, gain })
    };
    trace.snapshots.iter().filter_map(moment).collect()
}

/// Fits the squared error of the gain by Adam.
fn train(samples: &[(&Moment, f64)]) -> GainNetwork {
    let mut random = SplitMix64(28);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0;
    let mean = samples.iter().map(|sample| sample.1).sum::<f64>() / samples.len() as f64;
    let variance = samples.iter().map(|sample| (sample.1 - mean).powi(2)).sum::<f64>() / samples.len() as f64;
    let mut numbers = [0.0; NUMBERS];
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = match at {
            at if at < HIDDEN * INPUTS => uniform() * (3.0 / INPUTS as f64).sqrt(),
            at if (HIDDEN * (INPUTS + 1)..HIDDEN * (INPUTS + 2)).contains(&at) => 0.3 * uniform(),
            _ => 0.0,
        };
    }
    numbers[NUMBERS - 1] = mean.max(1e-6).ln();
    let (mut first, mut second) = ([0.0; NUMBERS], [0.0; NUMBERS]);
    let steps = EPOCHS * (samples.len() / BATCH);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    for step in 0..steps {
        let at = step % (samples.len() / BATCH);
        if at == 0 {
            for place in (1..order.len()).rev() {
                order.swap(place, random.below(place + 1));
            }
        }
        let network = network(&numbers);
        let mut gradient = [0.0; NUMBERS];
        for &index in &order[at * BATCH..(at + 1) * BATCH] {
            let (moment, gain) = samples[index];
            let neurons = network.neurons(&moment.inputs);
            let predicted = network.output(&neurons);
            let slope = 4.0 * (predicted - gain) * predicted / variance / BATCH as f64;
            for (neuron, activation) in neurons.iter().enumerate() {
                let inner = slope * network.output[neuron] * (1.0 - activation * activation);
                for (input, value) in moment.inputs.iter().enumerate() {
                    gradient[neuron * INPUTS + input] += inner * value;
                }
                gradient[HIDDEN * INPUTS + neuron] += inner;
                gradient[HIDDEN * (INPUTS + 1) + neuron] += slope * activation;
            }
            gradient[NUMBERS - 1] += slope;
        }
        let rate = RATE * (1.0 - step as f64 / steps as f64);
        let time = (step + 1) as i32;
        for at in 0..NUMBERS {
            let is_weight = at < HIDDEN * INPUTS || (HIDDEN * (INPUTS + 1)..NUMBERS - 1).contains(&at);
            let slope = gradient[at] + if is_weight { DECAY * numbers[at] } else { 0.0 };
            first[at] = 0.9 * first[at] + 0.1 * slope;
            second[at] = 0.999 * second[at] + 0.001 * slope * slope;
            let (mean, spread) = (first[at] / (1.0 - 0.9_f64.powi(time)), second[at] / (1.0 - 0.999_f64.powi(time)));
            numbers[at] -= rate * mean / (spread.sqrt() + 1e-8);
        }
    }
    // As they are written.
    numbers.iter_mut().for_each(|number| *number = (*number * 1e4).round() / 1e4);
    network(&numbers)
}

fn network(numbers: &[f64; NUMBERS]) -> GainNetwork {
    GainNetwork {
        hidden: std::array::from_fn(|neuron| std::array::from_fn(|input| numbers[neuron * INPUTS + input])),
        hidden_biases: std::array::from_fn(|neuron| numbers[HIDDEN * INPUTS + neuron]),
        output: std::array::from_fn(|neuron| numbers[HIDDEN * (INPUTS + 1) + neuron]),
        output_bias: numbers[NUMBERS - 1],
    }
}

/// Tells the predicted and the realised gain of each third of the predictions, and the slope of one in the other.
fn calibration(mut told: Vec<(f64, f64)>) {
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    for third in told.chunks(told.len().div_ceil(3).max(1)) {
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| third.iter().map(of).sum::<f64>() / third.len() as f64;
        let (predicted, realised) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let covariance = mean(&|pair| (pair.0 - predicted) * (pair.1 - realised));
        let slope = covariance / mean(&|pair| (pair.0 - predicted).powi(2));
        eprintln!("predicted {predicted:.4}, realised {realised:.4}, slope in this third {slope:.2}");
    }
}

/// The price: the value that the mean number of new nodes has to gain, on average over moves of 40 to 800 nodes.
fn price(network: &GainNetwork, searches: &[Vec<Moment>]) -> f64 {
    let gains: Vec<Vec<(f64, f64)>> = searches
        .iter()
        .filter(|moments| !moments.is_empty())
        .map(|moments| {
            let gain = |moment: &Moment| network.gain(&moment.inputs) / (moment.total_nodes * (GROWTH - 1.0));
            moments.iter().map(|moment| (moment.new_nodes, gain(moment))).collect()
        })
        .collect();
    let mean_nodes = |price: f64| {
        let stop = |search: &Vec<(f64, f64)>| {
            let stops = |(nodes, gain): &&(f64, f64)| *nodes >= LEAST_NODES as f64 && *gain < price;
            search.iter().find(stops).or(search.last()).map_or(0.0, |stop| stop.0)
        };
        gains.iter().map(stop).sum::<f64>() / gains.len().max(1) as f64
    };
    let points: Vec<(f64, f64)> = (0..200)
        .map(|step| 10_f64.powf(-8.0 + 0.03 * f64::from(step)))
        .map(|price| (mean_nodes(price).ln(), price.ln()))
        .filter(|(nodes, _)| (40_f64.ln()..800_f64.ln()).contains(nodes))
        .collect();
    // Twice the nodes, half the gain of each.
    let logarithms = points.iter().map(|(nodes, price)| nodes + price);
    let price = (logarithms.sum::<f64>() / points.len().max(1) as f64).exp();
    for (nodes, node) in points.iter().step_by(points.len().div_ceil(6).max(1)) {
        eprintln!("{:.0} nodes a move: they have to gain {:.5}", nodes.exp(), (nodes + node).exp());
    }
    price
}

fn write(network: &GainNetwork, price: f64) {
    let row = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
    println!("//! Holds the numbers of the gain network and the price; `examples/train_gain.rs` writes them.\n");
    println!("use super::gain::HIDDEN;\nuse super::root_history::INPUTS;\n");
    println!("pub(super) const HIDDEN_WEIGHTS: [[f64; INPUTS]; HIDDEN] = [");
    network.hidden.iter().for_each(|weights| println!("    [{}],", row(weights)));
    println!("];");
    println!("pub(super) const HIDDEN_BIASES: [f64; HIDDEN] = [{}];", row(&network.hidden_biases));
    println!("pub(super) const OUTPUT_WEIGHTS: [f64; HIDDEN] = [{}];", row(&network.output));
    println!("pub(super) const OUTPUT_BIAS: f64 = {:?};", network.output_bias);
    println!("/// The value that the nodes of an average move have to gain.");
    println!("pub(super) const PRICE: f64 = {price:.3e};");
}
