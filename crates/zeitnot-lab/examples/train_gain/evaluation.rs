//! Evaluates predictions of the gain over searches: what is lost when all of them stop at one price of a node.

use crate::searches::{Moment, Search};
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_time::managers::price::gain::{GROWTH, GainNetwork};

/// Mean nodes of a move.
const MEAN_NODES: [f64; 3] = [60.0, 130.0, 400.0];
/// Halvings of the range of prices.
const HALVINGS: u32 = 50;
/// Variance of the value of a visit below a root move, for the closed form: it loses least with 0.1 of 0.01, 0.03, 0.1
/// and 0.3.
const VARIANCE: f64 = 0.1;

/// Prints what searches lose that are stopped by the network, by less than the network, and with equal trees.
pub fn tell(network: &GainNetwork, searches: &[&Search]) {
    let mut random = SplitMix64(28);
    let others: Vec<usize> = searches.iter().map(|_| random.below(searches.len())).collect();
    let predicted = |_: usize, moment: &Moment| network.gain(&moment.inputs);
    let shuffled = |search: usize, moment: &Moment| {
        let other = &searches[others[search]].moments;
        let distance = |other: &&Moment| (other.total_nodes / moment.total_nodes).ln().abs();
        let nearest = other.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(0.0, |nearest| network.gain(&nearest.inputs))
    };
    row("network", searches, predicted);
    row("closed form", searches, |_, moment| closed_form(moment));
    row("features of another search", searches, shuffled);
    row("trees of one size", searches, |_, _| 1.0);
}

/// Prints the regret, in thousandths, at each of the mean nodes.
fn row(name: &str, searches: &[&Search], gain: impl Fn(usize, &Moment) -> f64) {
    // The gain of one more node at each moment, its nodes and its regret.
    let moments: Vec<Vec<(f64, f64, f64)>> = searches
        .iter()
        .enumerate()
        .map(|(index, search)| {
            let moment = |moment: &Moment| {
                let node = gain(index, moment) / (moment.total_nodes * (GROWTH - 1.0));
                (node, moment.new_nodes, moment.regret)
            };
            search.moments.iter().map(moment).collect()
        })
        .collect();
    let at = |price: f64| {
        let stop = |moments: &Vec<(f64, f64, f64)>| {
            let cheap = moments.iter().find(|moment| moment.0 < price);
            cheap.or(moments.last()).map_or((0.0, 0.0), |stop| (stop.1, stop.2))
        };
        let sum = moments.iter().map(stop).fold((0.0, 0.0), |sum, stop| (sum.0 + stop.0, sum.1 + stop.1));
        (sum.0 / moments.len() as f64, sum.1 / moments.len() as f64)
    };
    let regret = |nodes: f64| {
        let (mut low, mut high) = (-60.0_f64, 5.0_f64);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if at(middle.exp()).0 > nodes { low = middle } else { high = middle }
        }
        1e3 * at(high.exp()).1
    };
    let regrets: Vec<String> =
        MEAN_NODES.iter().map(|nodes| format!("{:.2} at {nodes} nodes", regret(*nodes))).collect();
    eprintln!("{name}: {}", regrets.join(", "));
}

/// The expected gain over each rival whose difference in value is normal: `s phi(d / s) - d (1 - Phi(d / s))`, the most
/// of all of them. The difference `d` is expected to change by `s`, whose square is the variance that [`GROWTH`] times
/// the visits take off.
fn closed_form(moment: &Moment) -> f64 {
    let (visits, value) = moment.best;
    let of_rival = |(rival_visits, rival_value): &(f64, f64)| {
        let spread = (VARIANCE * (1.0 - 1.0 / GROWTH) * (1.0 / visits.max(1.0) + 1.0 / rival_visits.max(1.0))).sqrt();
        let gap = (value - rival_value) / spread;
        let density = (-gap * gap / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let beyond = 0.5 * libm::erfc(gap / std::f64::consts::SQRT_2);
        spread * (density - gap * beyond)
    };
    moment.rivals.iter().map(of_rival).fold(0.0, f64::max)
}
