//! Compares predicted gains with those that searches realised.

use crate::searches::{Moment, Search};
use zeitnot::lab::report::svg::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Reference, Spread};
use zeitnot::lab::report::{Figure, Table};
use zeitnot::time_manager::managers::price::gain::GainNetwork;

/// Points of the figure.
const POINTS: usize = 15;
/// Gains are shown in thousandths.
const SHOWN: f64 = 1e3;

/// The predicted and the realised gain of every moment whose search grew enough, in the order of the predictions.
pub fn pairs(network: &GainNetwork, searches: &[&Search]) -> Vec<(f64, f64)> {
    let pair = |moment: &Moment| Some((network.gain(&moment.inputs), moment.gain?));
    let mut pairs: Vec<(f64, f64)> = searches.iter().flat_map(|search| &search.moments).filter_map(pair).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}

/// The means of both, and the slope of the realised gain in the predicted one.
fn summary(pairs: &[(f64, f64)]) -> (f64, f64, f64) {
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    let (predicted, realised) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let covariance = mean(&|pair| (pair.0 - predicted) * (pair.1 - realised));
    (predicted, realised, covariance / mean(&|pair| (pair.0 - predicted).powi(2)))
}

/// Tells each third of the predictions.
pub fn tell(pairs: &[(f64, f64)]) {
    for third in pairs.chunks(pairs.len().div_ceil(3).max(1)) {
        let (predicted, realised, slope) = summary(third);
        eprintln!("predicted {predicted:.4}, realised {realised:.4}, slope in this third {slope:.2}");
    }
}

/// Draws parts of equal size, with the 95 % error of each mean as if all moments were independent.
pub fn figure(pairs: &[(f64, f64)]) -> Figure {
    let mut table = Table::new(&["predicted", "realised", "moments"]);
    let (mut points, mut bars) = (Vec::new(), Vec::new());
    for part in pairs.chunks(pairs.len().div_ceil(POINTS).max(1)) {
        let (predicted, realised, _) = summary(part);
        let variance = part.iter().map(|pair| (pair.1 - realised).powi(2)).sum::<f64>() / part.len() as f64;
        let error = 1.96 * (variance / part.len() as f64).sqrt();
        points.push((SHOWN * predicted, SHOWN * realised));
        bars.push((SHOWN * predicted, SHOWN * (realised - error), SHOWN * (realised + error)));
        table.row(vec![
            format!("{:.1}", SHOWN * predicted),
            format!("{:.1}", SHOWN * realised),
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
        caption: format!("{} moments in {POINTS} parts of equal size, in thousandths of a value.", pairs.len()),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("predicted gain (thousandths)", Quantity::Number),
            y: Axis::new("realised gain (thousandths)", Quantity::Number),
            curves: vec![curve],
            references: vec![Reference::Diagonal("as predicted".to_owned())],
            marker: None,
        }),
        table,
    }
}
