//! What a run says, made into evaluations; nothing that is none passes.

use ndarray::{ArrayView1, CowArray, Ix2};
use ort::session::SessionOutputs;
use ort::value::DynValue;

use super::{Ends, first_line, tensor};
use crate::backend::{BackendError, Evaluation, Query};
use crate::network::{MOVES, Precision, ValueOutput};

/// How far probabilities may lie outside 0..1 and their sum from 1: rounding of 32-bit floats, and half precision inside
/// foreign models. Logits in the place of probabilities do not pass.
const PROBABILITY_TOLERANCE: f32 = 0.01;

/// The outputs of one run, no longer bound to the session that made them.
pub(super) struct Outputs {
    policy: DynValue,
    value: DynValue,
    moves_left: Option<DynValue>,
    /// Rows of the run, asked for or not.
    rows: usize,
}

impl Outputs {
    /// Takes the outputs that are read out of a run of `rows` positions.
    pub(super) fn take(ends: &Ends, mut outputs: SessionOutputs<'_>, rows: usize) -> Result<Outputs, BackendError> {
        let mut take = |name: &str| outputs.remove(name).ok_or_else(|| ends.bad_output(format!("no output {name}")));
        let (ValueOutput::Wdl(value) | ValueOutput::Scalar(value)) = &ends.model.value;
        Ok(Outputs {
            policy: take(&ends.model.policy)?,
            value: take(value)?,
            moves_left: ends.model.moves_left.as_deref().map(take).transpose()?,
            rows,
        })
    }

    /// The evaluations of the first rows, which are those of `batch`.
    pub(super) fn evaluations(
        &self,
        ends: &Ends,
        batch: &[Query],
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), BackendError> {
        let bad = |problem| ends.bad_output(problem);
        let types = ends.model.types;
        let policy = self.numbers(ends, &self.policy, (&ends.model.policy, types.policy), MOVES)?;
        let value = match &ends.model.value {
            ValueOutput::Wdl(name) => self.numbers(ends, &self.value, (name, types.value), 3)?,
            ValueOutput::Scalar(name) => self.numbers(ends, &self.value, (name, types.value), 1)?,
        };
        let moves_left = self.moves_left.as_ref().zip(ends.model.moves_left.as_deref());
        let moves_left = moves_left.map(|(output, name)| self.numbers(ends, output, (name, types.moves_left), 1));
        let moves_left = moves_left.transpose()?;
        for (row, query) in batch.iter().enumerate() {
            let numbers = value.row(row);
            let (q, d) = if numbers.len() == 3 { wdl(numbers) } else { scalar(numbers[0]) }.map_err(bad)?;
            let m = moves_left.as_ref().map(|numbers| finite(numbers[[row, 0]], "moves left"));
            let m = m.transpose().map_err(bad)?;
            let logits = gather(policy.row(row), &query.indices).map_err(bad)?;
            answers.push(Evaluation { q, d, m, logits });
        }
        Ok(())
    }

    /// The numbers of an output that has `width` of them for each row.
    fn numbers<'a>(
        &self,
        ends: &Ends,
        output: &'a DynValue,
        (name, precision): (&str, Precision),
        width: usize,
    ) -> Result<CowArray<'a, f32, Ix2>, BackendError> {
        let numbers = tensor::output(precision, output, (self.rows, width));
        numbers.map_err(|error| ends.run_error(first_line(&error)))?.map_err(|count| {
            ends.bad_output(format!("{count} numbers in {name} for {} positions of {width}", self.rows))
        })
    }
}

fn finite(number: f32, what: &str) -> Result<f32, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("{number} as its {what}")) }
}

/// Expected score and draw probability from probabilities of win, draw and loss.
fn wdl(numbers: ArrayView1<'_, f32>) -> Result<(f32, f32), String> {
    let (win, draw, loss) = (numbers[0], numbers[1], numbers[2]);
    let range = -PROBABILITY_TOLERANCE..=1.0 + PROBABILITY_TOLERANCE;
    // Not a number is outside every range.
    if !numbers.iter().all(|number| range.contains(number)) || (win + draw + loss - 1.0).abs() > PROBABILITY_TOLERANCE {
        return Err(format!("{win}, {draw}, {loss} as probabilities of win, draw and loss"));
    }
    Ok(((win - loss).clamp(-1.0, 1.0), draw.clamp(0.0, 1.0)))
}

/// A scalar value is the expected score; it says nothing of draws.
fn scalar(value: f32) -> Result<(f32, f32), String> {
    if (-1.0 - PROBABILITY_TOLERANCE..=1.0 + PROBABILITY_TOLERANCE).contains(&value) {
        Ok((value.clamp(-1.0, 1.0), 0.0))
    } else {
        Err(format!("{value} as its value"))
    }
}

fn gather(policy: ArrayView1<'_, f32>, indices: &[u16]) -> Result<Box<[f32]>, String> {
    let logit = |&index: &u16| match policy.get(usize::from(index)) {
        Some(&logit) => finite(logit, "policy"),
        None => Err(format!("no policy for the index {index}")),
    };
    indices.iter().map(logit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::aview1;

    #[test]
    fn values_that_are_no_probabilities_are_refused() {
        assert_eq!(wdl(aview1(&[0.5, 0.25, 0.25])), Ok((0.25, 0.25)));
        for bad in [[f32::NAN, 0.5, 0.5], [2.0, -3.0, 2.0], [0.1, 0.1, 0.1], [f32::INFINITY, 0.0, 0.0]] {
            assert!(wdl(aview1(&bad)).is_err(), "{bad:?}");
        }
        assert_eq!(scalar(-0.5), Ok((-0.5, 0.0)));
        assert!(scalar(f32::NAN).is_err() && scalar(7.0).is_err());
    }

    #[test]
    fn logits_are_gathered_in_the_order_of_the_moves() {
        let policy: Vec<f32> = (0..MOVES).map(|index| index as f32).collect();
        assert_eq!(*gather(aview1(&policy), &[1857, 0, 7]).unwrap(), [1857.0, 0.0, 7.0]);
        assert!(gather(aview1(&policy), &[1858]).is_err());
        assert!(gather(aview1(&[f32::NAN]), &[0]).is_err());
    }
}
