//! Trains the gain network to predict gains, and to stop searches where they lose least.

use crate::searches::{Moment, Search};
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_time::managers::price::gain::{GROWTH, GainNetwork, HIDDEN};
use zeitnot_time::managers::price::root_history::INPUTS;

/// Passes over the searches.
const EPOCHS: usize = 60;
/// Searches in each training step.
const BATCH: usize = 128;
/// Learning rate of the first step; the rate falls linearly to 0.
const RATE: f64 = 5e-3;
/// Weight decay, per step and unit of the learning rate.
const DECAY: f64 = 0.01;
/// Range of a move's nodes in the training, as the price has to be right for all of them.
const NODES: [f64; 2] = [40.0, 800.0];
/// Cost of all nodes of an average move, as a value.
const COST: f64 = 0.1;
/// Sharpness of stops: a search stops with a chance of 3/4 where the price is `3^(1 / SHARPNESS)` its gain.
const SHARPNESS: f64 = 3.0;
/// Price of a node times the nodes of a move, at the start of the training.
const FIRST_PRICE: f64 = 0.0015;

const OUTPUT: usize = HIDDEN * (INPUTS + 1);
const BIAS: usize = OUTPUT + HIDDEN;
/// Index of the logarithm of the price, which is learned with the network.
const PRICE: usize = BIAS + 1;
const NUMBERS: usize = PRICE + 1;

/// Trains by Adam on the sum of two losses.
///
/// - The squared error of the gain, over its variance.
/// - The regret and the cost of nodes of searches that stop at each moment with the chance
///   `1 / (1 + exp(-SHARPNESS ln(price / gain)))`. Predicting gains is not enough: small errors near the price matter
///   more than large errors far from it.
pub fn train(searches: &[&Search]) -> GainNetwork {
    let mut random = SplitMix64(28);
    let mut uniform = move || random.unit();
    let gains: Vec<f64> = searches.iter().flat_map(|search| &search.moments).filter_map(|moment| moment.gain).collect();
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / gains.len() as f64;

    let mut numbers = [0.0; NUMBERS];
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = match at {
            at if at < HIDDEN * INPUTS => (2.0 * uniform() - 1.0) / (INPUTS as f64).sqrt(),
            at if (OUTPUT..BIAS).contains(&at) => (2.0 * uniform() - 1.0) / (HIDDEN as f64).sqrt(),
            _ => 0.0,
        };
    }
    (numbers[BIAS], numbers[PRICE]) = (mean.max(1e-6).ln(), FIRST_PRICE.ln());
    let (mut first, mut second) = ([0.0; NUMBERS], [0.0; NUMBERS]);
    let batches = searches.len() / BATCH;
    let steps = EPOCHS * batches;
    let mut order: Vec<usize> = (0..searches.len()).collect();
    for step in 0..steps {
        let at = step % batches;
        if at == 0 {
            for place in (1..order.len()).rev() {
                order.swap(place, (uniform() * (place + 1) as f64) as usize);
            }
        }
        let network = network(&numbers);
        let batch: Vec<&Search> = order[at * BATCH..(at + 1) * BATCH].iter().map(|place| searches[*place]).collect();
        let known = batch.iter().flat_map(|search| &search.moments).filter(|moment| moment.gain.is_some()).count();
        let mut gradient = [0.0; NUMBERS];
        for search in &batch {
            let log_nodes = NODES[0].ln() + uniform() * (NODES[1] / NODES[0]).ln();
            let neurons: Vec<_> = search.moments.iter().map(|moment| network.neurons(&moment.inputs)).collect();
            let predicted: Vec<f64> = neurons.iter().map(|neurons| network.output(neurons)).collect();
            let stopping = stopping_slopes(&search.moments, &predicted, numbers[PRICE], log_nodes);
            for (index, moment) in search.moments.iter().enumerate() {
                let error = moment.gain.map_or(0.0, |gain| {
                    2.0 * (predicted[index] - gain) * predicted[index] / variance / known.max(1) as f64
                });
                let stopping = stopping[index] / BATCH as f64;
                add_gradient(&mut gradient, &network, &neurons[index], moment, error - stopping);
                gradient[PRICE] += stopping;
            }
        }
        let rate = RATE * (1.0 - step as f64 / steps as f64);
        let time = (step + 1) as i32;
        for at in 0..NUMBERS {
            first[at] = 0.9 * first[at] + 0.1 * gradient[at];
            second[at] = 0.999 * second[at] + 0.001 * gradient[at] * gradient[at];
            let (mean, spread) = (first[at] / (1.0 - 0.9_f64.powi(time)), second[at] / (1.0 - 0.999_f64.powi(time)));
            let decay = if at < BIAS { DECAY * numbers[at] } else { 0.0 };
            numbers[at] -= rate * (mean / (spread.sqrt() + 1e-8) + decay);
        }
    }
    // Rounded, as the file holds them.
    numbers.iter_mut().for_each(|number| *number = (*number * 1e4).round() / 1e4);
    network(&numbers)
}

/// Slopes of a search's loss in the logarithm of price over gain, one for each moment.
///
/// With `s` the chance of a stop at a moment that is reached with the chance `r`, `c` the loss of a stop there and `v`
/// the loss of going on, the slope is `SHARPNESS r s (1 - s) (c - v)`. The last moment always stops.
fn stopping_slopes(moments: &[Moment], predicted: &[f64], log_price: f64, log_nodes: f64) -> Vec<f64> {
    // Regret falls about with the root of the nodes: with this weight all counts of nodes weigh alike.
    let weight = (log_nodes / 2.0).exp();
    let loss = |moment: &Moment| weight * moment.regret + COST * moment.new_nodes / log_nodes.exp();
    let chance = |(moment, gain): (&Moment, &f64)| {
        let below = log_price + (moment.total_nodes * (GROWTH - 1.0)).ln() - log_nodes - gain.ln();
        1.0 / (1.0 + (-SHARPNESS * below).exp())
    };
    let chances: Vec<f64> = moments.iter().zip(predicted).map(chance).collect();
    let mut reached = 1.0;
    let mut slopes: Vec<f64> = chances
        .iter()
        .map(|chance| {
            let slope = SHARPNESS * reached * chance * (1.0 - chance);
            reached *= 1.0 - chance;
            slope
        })
        .collect();
    let (mut going_on, last) = (moments.last().map_or(0.0, loss), moments.len() - 1);
    slopes[last] = 0.0;
    for at in (0..last).rev() {
        let stop = loss(&moments[at]);
        slopes[at] *= stop - going_on;
        going_on += chances[at] * (stop - going_on);
    }
    slopes
}

/// Adds the slopes of a loss to `gradient`; `slope` is the loss's slope in the logarithm of the predicted gain.
fn add_gradient(
    gradient: &mut [f64; NUMBERS],
    network: &GainNetwork,
    neurons: &[f64; HIDDEN],
    moment: &Moment,
    slope: f64,
) {
    for (neuron, activation) in neurons.iter().enumerate() {
        let inner = slope * network.output[neuron] * (1.0 - activation * activation);
        for (input, value) in moment.inputs.iter().enumerate() {
            gradient[neuron * INPUTS + input] += inner * value;
        }
        gradient[HIDDEN * INPUTS + neuron] += inner;
        gradient[OUTPUT + neuron] += slope * activation;
    }
    gradient[BIAS] += slope;
}

fn network(numbers: &[f64; NUMBERS]) -> GainNetwork {
    GainNetwork {
        hidden: std::array::from_fn(|neuron| std::array::from_fn(|input| numbers[neuron * INPUTS + input])),
        hidden_biases: std::array::from_fn(|neuron| numbers[HIDDEN * INPUTS + neuron]),
        output: std::array::from_fn(|neuron| numbers[OUTPUT + neuron]),
        output_bias: numbers[BIAS],
    }
}
