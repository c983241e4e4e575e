//! Quantises the large layers of a network to 8 bits, after a look at their inputs in float32.
//!
//! The inputs are those of a few positions that are built in, so that no data is needed to calibrate on. With T1-256x10
//! the divergence is a third of what moments from the weights alone gave (docs/results/2026-11-low-precision.md).

use std::sync::Arc;

use super::dense::DensePlan;
use super::evaluator::{CHUNK, TransformerEvaluator};
use super::plan::TransformerNetwork;
use crate::side_by_side::in_parts;
use crate::{BackendError, Query};
use zeitnot_kernels::RowShape;

/// Lower bound of an input place's mean square, as a share of the average over all places: an input that was small in
/// the positions looked at may be large in others. (T1-256x10: KL 0.0009 with each of 0.03, 0.1, 0.3 and 1, 0.0010 with
/// 0.01, 0.0035 with 0.)
const LEAST_SQUARE: f64 = 0.3;

/// Sums of the numbers at each place of a layer's input rows, and of their squares.
#[derive(Clone, Default)]
pub(super) struct Moments {
    rows: usize,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Adds the rows of an input of this shape.
    pub(super) fn add(&mut self, shape: &RowShape, lanes: usize, input: &[f32]) {
        let places = shape.inner * lanes;
        self.sums.resize(places, 0.0);
        self.squares.resize(places, 0.0);
        self.rows += shape.groups * shape.rows;
        for group in input.chunks_exact(places * shape.pitch).take(shape.groups) {
            for (vector, rows) in group.chunks_exact(shape.pitch * lanes).enumerate() {
                for (at, &number) in rows[..shape.rows * lanes].iter().enumerate() {
                    let (place, number) = (vector * lanes + at % lanes, f64::from(number));
                    self.sums[place] += number;
                    self.squares[place] += number * number;
                }
            }
        }
    }

    /// Adds the sums of other rows of the same layer.
    fn merge(&mut self, other: &Moments) {
        self.rows += other.rows;
        for (to, from) in [(&mut self.sums, &other.sums), (&mut self.squares, &other.squares)] {
            to.resize(to.len().max(from.len()), 0.0);
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }

    /// Whether the layer ran, and all of its inputs were numbers.
    fn is_finite(&self) -> bool {
        self.rows > 0 && self.squares.iter().all(|square| square.is_finite())
    }

    /// The mean number at a place.
    pub(super) fn mean(&self, place: usize) -> f32 {
        (self.sums[place] / self.rows as f64) as f32
    }

    /// The factor for each place's weights, by which the input is divided: the root of the input's magnitude over
    /// `largest`, the largest of the weights, so that inputs and weights of all places become about as large (Xiao et
    /// al., "SmoothQuant", arXiv:2211.10438).
    pub(super) fn smoothing(&self, largest: impl Fn(usize) -> f32) -> Vec<f32> {
        let floor = LEAST_SQUARE * self.squares.iter().sum::<f64>() / self.squares.len() as f64;
        let factor = |(place, squares): (usize, &f64)| {
            let magnitude = (squares.max(floor) / self.rows as f64).sqrt() as f32;
            let factor = (magnitude / largest(place)).sqrt();
            if factor.is_normal() { factor } else { 1.0 }
        };
        self.squares.iter().enumerate().map(factor).collect()
    }
}

/// Quantises the layers of a network that no evaluator uses yet, by their inputs in these positions.
///
/// # Errors
/// When a query has no planes, or an input is no number: a byte would hide it.
pub(in super::super) fn quantise(shared: &mut Arc<TransformerNetwork>, queries: &[Query]) -> Result<(), BackendError> {
    let unshared = "no evaluator is left";
    let plan = &mut Arc::get_mut(shared).expect(unshared).plan;
    let mut count = 0;
    for layer in plan.layers() {
        layer.number = Some(count);
        count += 1;
    }
    // Parts of one size, merged in their order: the sums do not depend on the number of threads.
    let parts: Vec<&[Query]> = queries.chunks(CHUNK).collect();
    let looked_at = in_parts(&parts, |_, parts| {
        let mut evaluator = TransformerEvaluator::new(Arc::clone(shared));
        parts.iter().map(|queries| evaluator.moments(queries, count)).collect()
    });
    let mut moments = vec![Moments::default(); count];
    for part in looked_at {
        moments.iter_mut().zip(&part?).for_each(|(to, from)| to.merge(from));
    }
    if !moments.iter().all(Moments::is_finite) {
        let problem = "an input of its layers that is no number".to_owned();
        return Err(BackendError::Output { network: shared.network.clone(), problem });
    }
    let shared = Arc::get_mut(shared).expect(unshared);
    let mut layers: Vec<&mut DensePlan> = shared.plan.layers().collect();
    let quantised = in_parts(&layers, |first, part| {
        let layers = part.iter().zip(&moments[first..]);
        layers.map(|(layer, moments)| layer.quantised(shared.kernels, moments)).collect()
    });
    layers.iter_mut().zip(quantised).for_each(|(layer, quantised)| **layer = quantised);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_all_rows_and_of_no_room_between() {
        let (lanes, shape) = (4, RowShape { groups: 2, rows: 3, pitch: 5, inner: 2, columns: 1 });
        let mut input = vec![f32::NAN; shape.groups * shape.inner * shape.pitch * lanes];
        for group in 0..shape.groups {
            for place in 0..shape.inner * lanes {
                for row in 0..shape.rows {
                    let at = ((group * shape.inner + place / lanes) * shape.pitch + row) * lanes + place % lanes;
                    input[at] = (10 * place + 3 * group + row) as f32;
                }
            }
        }
        let [mut moments, mut merged] = [Moments::default(), Moments::default()];
        moments.add(&shape, lanes, &input);
        assert!(moments.is_finite() && !merged.is_finite());
        merged.merge(&moments);
        merged.merge(&moments);
        for place in 0..shape.inner * lanes {
            assert_eq!(merged.mean(place), 10.0 * place as f32 + 2.5, "0 to 5 in each place");
        }
        let largest = |place| if place == 7 { 0.0 } else { 2.0 };
        let smoothing = merged.smoothing(largest);
        let square =
            |place: usize| (0..6).map(|number| (10.0 * place as f64 + f64::from(number)).powi(2) / 6.0).sum::<f64>();
        assert!((f64::from(smoothing[6]) - (square(6).sqrt() / 2.0).sqrt()).abs() < 1e-5);
        let least = LEAST_SQUARE * (0..8).map(square).sum::<f64>() / 8.0;
        assert!((f64::from(smoothing[0]) - (least.sqrt() / 2.0).sqrt()).abs() < 1e-5, "small inputs count for more");
        assert_eq!(smoothing[7], 1.0, "nothing reads this place");
        input[0] = f32::NAN;
        moments.add(&shape, lanes, &input);
        assert!(!moments.is_finite());
    }
}
