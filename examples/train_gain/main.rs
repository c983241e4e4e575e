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

mod searches;
mod training;

use anyhow::{Context as _, ensure};
use searches::{Moment, Search};
use zeitnot::time_manager::managers::price::gain::GainNetwork;

/// Fewest searches that a network is trained on.
const FEWEST: usize = 256;

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
    let searches = searches::read(&arguments)?;
    let (left_out, trained): (Vec<&Search>, Vec<&Search>) =
        searches.iter().partition(|search| held_out == Some(search.pair % 2));
    ensure!(trained.len() >= FEWEST, "{} searches are too few", trained.len());
    eprintln!("{} searches, {} of them left out", searches.len(), left_out.len());
    let network = training::train(&trained);
    calibration(&network, if left_out.is_empty() { &trained } else { &left_out });
    write(&network, price(&network, &trained));
    Ok(())
}

/// Tells the predicted and the realised gain of each third of the predictions, and the slope of one in the other.
fn calibration(network: &GainNetwork, searches: &[&Search]) {
    let told = |moment: &Moment| Some((network.gain(&moment.inputs), moment.gain?));
    let mut told: Vec<(f64, f64)> =
        searches.iter().flat_map(|search| &search.moments).filter_map(|moment| told(moment)).collect();
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
fn price(network: &GainNetwork, searches: &[&Search]) -> f64 {
    let gains: Vec<Vec<(f64, f64)>> = searches
        .iter()
        .map(|search| search.moments.iter().map(|moment| (moment.new_nodes, moment.gain_of_a_node(network))).collect())
        .collect();
    let mean_nodes = |price: f64| {
        let stop = |search: &Vec<(f64, f64)>| {
            let cheap = search.iter().find(|(_, gain)| *gain < price);
            cheap.or(search.last()).map_or(0.0, |stop| stop.0)
        };
        gains.iter().map(stop).sum::<f64>() / gains.len() as f64
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
    println!("//! Holds the numbers of the gain network and the price; `examples/train_gain` writes them.\n");
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
