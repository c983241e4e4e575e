//! Evaluates predictions of the gain: the regret of recorded searches that all stop at one price of a node.

use crate::searches::{Moment, Search};
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_time::managers::price::gain::{GROWTH, GainNetwork};

/// Mean new nodes of a move at which regrets are printed.
const MEAN_NODES: [f64; 3] = [60.0, 130.0, 400.0];
/// Steps of the bisection for a price.
const HALVINGS: u32 = 50;
/// Variance of the value of one visit below a root move, for the closed form. Of 0.01, 0.03, 0.1 and 0.3, the value 0.1
/// loses least.
const VARIANCE: f64 = 0.1;

/// Prints the regret of stops by the network, by two simpler predictions, and at one size of the tree.
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

/// Prints the mean regret, in thousandths, at each of [`MEAN_NODES`].
fn row(name: &str, searches: &[&Search], gain: impl Fn(usize, &Moment) -> f64) {
    // For each moment: the gain of one more node, the new nodes and the regret.
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

/// The gain in closed form: `s phi(d / s) - d (1 - Phi(d / s))` for each rival, and the most of these. The change of
/// the lead `d` in value is normal with deviation `s`: `s^2` is the drop of its variance when visits grow by
/// [`GROWTH`].
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
