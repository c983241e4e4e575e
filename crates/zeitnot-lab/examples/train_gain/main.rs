//! Trains the network that predicts the gain of more nodes for the time manager `price`, from recorded searches, and
//! writes its numbers as Rust:
//!
//! ```sh
//! cargo run --release -p zeitnot-lab --example train_gain -- --out crates/zeitnot-time/src/managers/price/gain_weights.rs RECORDING.zt...
//! cargo fmt
//! ```
//!
//! The file is written at the end, as the example is built with the old one. Without `--out` its text is printed.
//!
//! `--hold-out 0` or `--hold-out 1` leaves every second pair of games out of the training; the calibration and losses
//! on standard error are of these pairs alone. The same files give the same numbers on one machine. `--evaluate` trains
//! nothing: it prints the regret of stops by the program's own network and by simpler predictions. `--svg FILE` draws
//! the calibration of that network.

#![allow(clippy::print_stdout, reason = "an example prints")]

mod calibration;
mod evaluation;
mod searches;
mod training;

use anyhow::{Context as _, ensure};
use searches::Search;
use zeitnot_time::managers::price::gain::{GAIN, GainNetwork};

/// Fewest searches that a network is trained on.
const FEWEST: usize = 256;

fn main() -> anyhow::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let held_out = value_of(&mut arguments, "--hold-out")?.map(|text| text.parse::<u32>()).transpose();
    let held_out = held_out.context("--hold-out needs 0 or 1")?;
    ensure!(matches!(held_out, None | Some(0 | 1)), "--hold-out needs 0 or 1");
    let out = value_of(&mut arguments, "--out")?;
    let svg = value_of(&mut arguments, "--svg")?;
    let evaluates = arguments.iter().position(|argument| argument == "--evaluate").map(|at| arguments.remove(at));
    ensure!(!arguments.is_empty(), "name recordings, as `zeitnot time record` writes them");
    let searches = searches::read(&arguments)?;
    if evaluates.is_some() {
        let all: Vec<&Search> = searches.iter().collect();
        let gains = calibration::gains(&GAIN, &all);
        calibration::tell(&gains);
        if let Some(path) = svg {
            std::fs::write(&path, calibration::figure(&gains).svg_file()).with_context(|| path.clone())?;
        }
        evaluation::tell(&GAIN, &all);
        return Ok(());
    }
    let (left_out, trained): (Vec<&Search>, Vec<&Search>) =
        searches.iter().partition(|search| held_out == Some(search.pair % 2));
    ensure!(trained.len() >= FEWEST, "{} searches are too few", trained.len());
    eprintln!("{} searches, {} of them left out", searches.len(), left_out.len());
    let network = training::train(&trained);
    let judged = if left_out.is_empty() { &trained } else { &left_out };
    calibration::tell(&calibration::gains(&network, judged));
    evaluation::tell(&network, judged);
    let text = source(&network, price(&network, &trained));
    match out {
        Some(path) => std::fs::write(&path, text).with_context(|| path.clone())?,
        None => print!("{text}"),
    }
    Ok(())
}

/// Removes a flag and its value from the arguments and returns the value; `None` where the flag is missing.
fn value_of(arguments: &mut Vec<String>, flag: &str) -> anyhow::Result<Option<String>> {
    let Some(at) = arguments.iter().position(|argument| argument == flag) else { return Ok(None) };
    ensure!(at + 1 < arguments.len(), "{flag} needs a value");
    Ok(arguments.drain(at..at + 2).nth(1))
}

/// The price: mean new nodes of a move times the price of one node, a mean over prices that give 40 to 800 nodes.
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
    // Twice the nodes halve the gain of each, so that the product is about constant.
    let logarithms = points.iter().map(|(nodes, price)| nodes + price);
    let price = (logarithms.sum::<f64>() / points.len().max(1) as f64).exp();
    for (nodes, node) in points.iter().step_by(points.len().div_ceil(6).max(1)) {
        eprintln!("{:.0} nodes a move: they have to gain {:.5}", nodes.exp(), (nodes + node).exp());
    }
    price
}

/// Rust source of the file that holds the network's numbers and the price.
fn source(network: &GainNetwork, price: f64) -> String {
    let row = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
    let weights: String = network.hidden.iter().map(|weights| format!("    [{}],\n", row(weights))).collect();
    format!(
        "//! Holds the numbers of the gain network and the price; `train_gain`, an example of zeitnot-lab, writes them.\n\n\
         use super::gain::HIDDEN;\nuse super::root_history::INPUTS;\n\n\
         pub(super) const HIDDEN_WEIGHTS: [[f64; INPUTS]; HIDDEN] = [\n{weights}];\n\
         pub(super) const HIDDEN_BIASES: [f64; HIDDEN] = [{}];\n\
         pub(super) const OUTPUT_WEIGHTS: [f64; HIDDEN] = [{}];\n\
         pub(super) const OUTPUT_BIAS: f64 = {:?};\n\
         /// The value that the nodes of an average move have to gain.\n\
         pub(super) const PRICE: f64 = {price:.3e};\n",
        row(&network.hidden_biases),
        row(&network.output),
        network.output_bias,
    )
}
