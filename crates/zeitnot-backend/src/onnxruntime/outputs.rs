//! Reads evaluations from the outputs of a run, and refuses infinity and not-a-number.

use std::ops::Deref;

use ort::session::SessionOutputs;
use ort::value::{DynTensor, DynTensorValueType};

use super::ModelIo;
use super::run_buffers::OutputTensor;
use super::tensor::Numbers;
use crate::{BackendError, Evaluation, Query};
use zeitnot_network::{Precision, ValueOutput};

/// Tolerated distance of probabilities from 0..1, and of their sum from 1: rounding of 32-bit floats, and half
/// precision inside foreign models. Logits in the place of probabilities do not pass.
const PROBABILITY_TOLERANCE: f32 = 0.01;

/// The outputs of one run, no longer bound to the session that made them, but to the buffers: the next run writes into
/// the same tensors.
pub(super) struct Outputs<'b> {
    policy: Output<'b>,
    value: Output<'b>,
    moves_left: Option<Output<'b>>,
    /// Rows of the run, those that were filled up included.
    rows: usize,
}

/// An output that ONNX Runtime handed over, or one of the buffers'.
enum Output<'b> {
    Own(DynTensor),
    Lent(&'b DynTensor),
}

impl Deref for Output<'_> {
    type Target = DynTensor;

    fn deref(&self) -> &DynTensor {
        match self {
            Output::Own(tensor) => tensor,
            Output::Lent(tensor) => tensor,
        }
    }
}

impl<'b> Outputs<'b> {
    /// Outputs in these tensors, which are in the order of [`ModelIo::outputs`].
    pub(super) fn lent(tensors: &'b [OutputTensor], rows: usize) -> Outputs<'b> {
        let of = |index: usize| tensors.get(index).map(|output| Output::Lent(&output.tensor));
        let always = |index| of(index).expect("every model has a policy and a value");
        Outputs { policy: always(0), value: always(1), moves_left: of(2), rows }
    }

    /// Takes the outputs that are read from all outputs of a run of `rows` positions.
    pub(super) fn take(
        model_io: &ModelIo,
        mut outputs: SessionOutputs<'_>,
        rows: usize,
    ) -> Result<Outputs<'b>, BackendError> {
        let mut take = |name: &str| -> Result<Output<'b>, BackendError> {
            let output = outputs.remove(name).ok_or_else(|| model_io.bad_output(format!("no output {name}")))?;
            let is_none = |error: ort::Error| model_io.bad_output(format!("{name}, which is no tensor ({error})"));
            output.downcast::<DynTensorValueType>().map(Output::Own).map_err(is_none)
        };
        let (value, _) = model_io.model.value.end();
        Ok(Outputs {
            policy: take(&model_io.model.policy)?,
            value: take(value)?,
            moves_left: model_io.model.moves_left.as_deref().map(take).transpose()?,
            rows,
        })
    }

    /// Adds the evaluations of the first rows, which are those of `batch`, to `answers`.
    pub(super) fn evaluations(
        &self,
        model_io: &ModelIo,
        batch: &[Query],
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), BackendError> {
        let bad = |problem| model_io.bad_output(problem);
        let types = model_io.model.types;
        let moves = model_io.model.policy_size();
        let policy = self.numbers(model_io, &self.policy, (&model_io.model.policy, types.policy), moves)?;
        let (value_name, value_width) = model_io.model.value.end();
        let value = self.numbers(model_io, &self.value, (value_name, types.value), value_width)?;
        let moves_left = self.moves_left.as_ref().zip(model_io.model.moves_left.as_deref());
        let moves_left = moves_left.map(|(output, name)| self.numbers(model_io, output, (name, types.moves_left), 1));
        let moves_left = moves_left.transpose()?;
        for (row, query) in batch.iter().enumerate() {
            let first = row * value_width;
            let numbers = || [0, 1, 2].map(|column| value.get(first + column));
            let (q, d) = match &model_io.model.value {
                ValueOutput::Wdl(_) => wdl(numbers()),
                ValueOutput::LossDrawWinLogits(_) => wdl(probabilities(numbers())),
                ValueOutput::Scalar(_) => scalar(value.get(first)),
            }
            .map_err(bad)?;
            let m = moves_left.as_ref().map(|numbers| finite(numbers.get(row), "moves left"));
            let m = m.transpose().map_err(bad)?;
            let logits = gather(|index| policy.get(row * moves + index), moves, &query.indices).map_err(bad)?;
            answers.push(Evaluation { q, d, m, logits });
        }
        Ok(())
    }

    /// The numbers of an output, which must be `width` for each row.
    fn numbers<'a>(
        &self,
        model_io: &ModelIo,
        output: &'a DynTensor,
        (name, precision): (&str, Precision),
        width: usize,
    ) -> Result<Numbers<'a>, BackendError> {
        let numbers = Numbers::of(precision, output)
            .ok_or_else(|| model_io.bad_output(format!("{name} of the type {:?}, not {precision}", output.dtype())))?;
        match numbers.len() == self.rows * width {
            true => Ok(numbers),
            false => Err(model_io.bad_output(format!(
                "{} numbers in {name} for {} positions of {width}",
                numbers.len(),
                self.rows
            ))),
        }
    }
}

fn finite(number: f32, what: &str) -> Result<f32, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("{number} as its {what}")) }
}

/// Probabilities of win, draw and loss from the logits of loss, draw and win.
fn probabilities([loss, draw, win]: [f32; 3]) -> [f32; 3] {
    let largest = loss.max(draw).max(win);
    let weights = [win, draw, loss].map(|logit| (logit - largest).exp());
    weights.map(|weight| weight / weights.iter().sum::<f32>())
}

/// Expected score and draw probability from probabilities of win, draw and loss.
fn wdl(numbers: [f32; 3]) -> Result<(f32, f32), String> {
    let [win, draw, loss] = numbers;
    let range = -PROBABILITY_TOLERANCE..=1.0 + PROBABILITY_TOLERANCE;
    // Not a number is outside every range.
    if !numbers.iter().all(|number| range.contains(number)) || (win + draw + loss - 1.0).abs() > PROBABILITY_TOLERANCE {
        return Err(format!("{win}, {draw}, {loss} as probabilities of win, draw and loss"));
    }
    Ok(((win - loss).clamp(-1.0, 1.0), draw.clamp(0.0, 1.0)))
}

/// Expected score and draw probability from a scalar value, which says nothing of draws.
fn scalar(value: f32) -> Result<(f32, f32), String> {
    if (-1.0 - PROBABILITY_TOLERANCE..=1.0 + PROBABILITY_TOLERANCE).contains(&value) {
        Ok((value.clamp(-1.0, 1.0), 0.0))
    } else {
        Err(format!("{value} as its value"))
    }
}

/// The logits of the moves with these indices, in their order.
fn gather(policy: impl Fn(usize) -> f32, moves: usize, indices: &[u16]) -> Result<Box<[f32]>, String> {
    let logit = |&index: &u16| match usize::from(index) {
        index if index < moves => finite(policy(index), "policy"),
        _ => Err(format!("no policy for the index {index}")),
    };
    // Collected through a result it would grow, and be copied, several times.
    let mut logits = Vec::with_capacity(indices.len());
    for index in indices {
        logits.push(logit(index)?);
    }
    Ok(logits.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_probabilities_are_refused() {
        assert_eq!(wdl([0.5, 0.25, 0.25]), Ok((0.25, 0.25)));
        for bad in [[f32::NAN, 0.5, 0.5], [2.0, -3.0, 2.0], [0.1, 0.1, 0.1], [f32::INFINITY, 0.0, 0.0]] {
            assert!(wdl(bad).is_err(), "{bad:?}");
        }
        assert_eq!(probabilities([1.0, 1.0 + 2f32.ln(), 1.0]), [0.25, 0.5, 0.25]);
        let [win, _, loss] = probabilities([-900.0, 900.0, 900.0]);
        assert_eq!((win, loss), (0.5, 0.0));
        for bad in [[f32::NAN, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0], [f32::NEG_INFINITY; 3]] {
            assert!(wdl(probabilities(bad)).is_err(), "{bad:?}");
        }
        assert_eq!(scalar(-0.5), Ok((-0.5, 0.0)));
        assert!(scalar(f32::NAN).is_err() && scalar(7.0).is_err());
    }

    #[test]
    fn logits_are_gathered_in_the_order_of_the_moves() {
        let policy = |index: usize| index as f32;
        assert_eq!(*gather(policy, 1858, &[1857, 0, 7]).unwrap(), [1857.0, 0.0, 7.0]);
        assert!(gather(policy, 1858, &[1858]).is_err());
        assert!(gather(|_| f32::NAN, 1858, &[0]).is_err());
    }
}
