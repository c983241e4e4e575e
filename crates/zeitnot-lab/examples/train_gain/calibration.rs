//! Compares the gains that the network predicts with the gains that searches realised.

use crate::searches::Search;
use std::collections::BTreeMap;
use zeitnot_charts::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Reference, Spread};
use zeitnot_games::bootstrap::mean_and_interval;
use zeitnot_lab::report::{Figure, Table};
use zeitnot_time::managers::price::gain::GainNetwork;

/// Number of points in the figure.
const POINTS: usize = 15;
/// Factor from a gain to the thousandths that the figure shows.
const SHOWN: f64 = 1e3;

/// The gain at one moment of a search, predicted and realised.
pub struct Gain {
    predicted: f64,
    realised: f64,
    /// Number of the pair of games that the search is from.
    pair: u32,
}

/// Gains at all moments with a realised gain, sorted by the predicted gain.
pub fn gains(network: &GainNetwork, searches: &[&Search]) -> Vec<Gain> {
    let of_search = |search: &&Search| {
        let pair = search.pair;
        let moments = search.moments.iter();
        let gains = moments.filter_map(|moment| Some((network.gain(&moment.inputs), moment.gain?)));
        gains.map(|(predicted, realised)| Gain { predicted, realised, pair }).collect::<Vec<_>>()
    };
    let mut gains: Vec<Gain> = searches.iter().flat_map(of_search).collect();
    gains.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    gains
}

/// The mean predicted gain, the mean realised gain, and the least-squares slope of realised over predicted gain.
fn summary(gains: &[Gain]) -> (f64, f64, f64) {
    let mean = |of: &dyn Fn(&Gain) -> f64| gains.iter().map(of).sum::<f64>() / gains.len() as f64;
    let (predicted, realised) = (mean(&|gain| gain.predicted), mean(&|gain| gain.realised));
    let covariance = mean(&|gain| (gain.predicted - predicted) * (gain.realised - realised));
    (predicted, realised, covariance / mean(&|gain| (gain.predicted - predicted).powi(2)))
}

/// The 95 % interval of the mean realised gain, by bootstrap over whole pairs of games: the some thirty moments of a
/// search are alike, and so are the searches of a game.
fn interval(gains: &[Gain]) -> [f64; 2] {
    let mut pairs: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for gain in gains {
        let sums = pairs.entry(gain.pair).or_default();
        *sums = (sums.0 + gain.realised, sums.1 + 1.0);
    }
    mean_and_interval(&pairs.into_values().collect::<Vec<_>>()).1
}

/// Prints the means and the slope of each third of the gains, in order of prediction.
pub fn tell(gains: &[Gain]) {
    for third in gains.chunks(gains.len().div_ceil(3).max(1)) {
        let (predicted, realised, slope) = summary(third);
        eprintln!("predicted {predicted:.4}, realised {realised:.4}, slope in this third {slope:.2}");
    }
}

/// Draws the calibration in `POINTS` parts of equal size, with 95 % intervals by bootstrap over pairs of games.
pub fn figure(gains: &[Gain]) -> Figure {
    let mut table = Table::new(&["predicted", "realised", "95 % interval", "moments"]);
    let (mut points, mut bars) = (Vec::new(), Vec::new());
    for part in gains.chunks(gains.len().div_ceil(POINTS).max(1)) {
        let (predicted, realised, _) = summary(part);
        let [low, high] = interval(part).map(|end| SHOWN * end);
        points.push((SHOWN * predicted, SHOWN * realised));
        bars.push((SHOWN * predicted, low, high));
        table.row(vec![
            format!("{:.1}", SHOWN * predicted),
            format!("{:.1}", SHOWN * realised),
            format!("{low:.1} to {high:.1}"),
            part.len().to_string(),
        ]);
    }
    let curve = Curve {
        name: "moments of searches".to_owned(),
        color: 0,
        mark: Mark::Points,
        points,
        spread: Spread::Bars(bars),
    };
    Figure {
        name: "price-calibration".to_owned(),
        title: "Predicted and realised gain".to_owned(),
        caption: format!(
            "{} moments in {POINTS} parts of equal size, in thousandths of a value. Bars are 95 % intervals by bootstrap over pairs of games.",
            gains.len()
        ),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("predicted gain (thousandths)", Quantity::Number),
            y: Axis::new("realised gain (thousandths)", Quantity::Number),
            curves: vec![curve],
            references: vec![Reference::Diagonal("as predicted".to_owned())],
        }),
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_one_search_do_not_narrow_the_interval() {
        let width = |moments: u32| {
            let gain = |pair: u32| Gain { predicted: 0.0, realised: f64::from(pair % 5), pair };
            let gains: Vec<Gain> = (0..50).flat_map(|pair| (0..moments).map(move |_| gain(pair))).collect();
            let [low, high] = interval(&gains);
            high - low
        };
        assert!((width(1) - width(30)).abs() < 1e-9);
    }
}
