//! Checks that the inputs and outputs of a session's model are those of a chess network.

use ort::session::Session;
use ort::value::{Outlet, TensorElementType, ValueType};

use super::{fixed_names, stem, tensor};
use crate::{BackendError, LARGEST_BATCH};
use zeitnot_network::{
    Conversion, Maia3Input, ModelInput, Network, OnnxModel, PLANES, Precision, without_default_inputs,
};
use zeitnot_runtime::Provider;

/// A network's name, and its model with the names of its inputs and outputs.
pub(super) struct ModelIo {
    pub(super) network: String,
    pub(super) model: OnnxModel,
}

impl ModelIo {
    /// The model of a network in the form that this provider gets.
    pub(super) fn new(network: &Network, provider: Provider, conversion: &Conversion) -> Result<ModelIo, BackendError> {
        let mut model = network.onnx(conversion)?;
        if let Some(bytes) = without_default_inputs(&model.bytes) {
            model.bytes = bytes;
        }
        if provider != Provider::Cpu
            && let Some(bytes) = fixed_names::model(&model.bytes)
        {
            model.bytes = bytes;
        }
        Ok(ModelIo { network: stem(network.name()).to_owned(), model })
    }

    /// The outputs that are read: name, numbers for each position, and type.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (&str, usize, Precision)> {
        let types = self.model.types;
        let (value, width) = self.model.value.end();
        let moves_left = self.model.moves_left.as_deref().map(|name| (name, 1, types.moves_left));
        let policy = (self.model.policy.as_str(), self.model.policy_size(), types.policy);
        [policy, (value, width, types.value)].into_iter().chain(moves_left)
    }

    /// Checks the inputs and outputs of the session. Returns the batch size where the model fixes it.
    pub(super) fn check(&self, session: &Session) -> Result<Option<usize>, BackendError> {
        let wrong = |problem| BackendError::Shape { network: self.network.clone(), problem };
        let batch = match &self.model.input {
            ModelInput::Dense(name) => {
                if let Some(other) = session.inputs().iter().find(|input| input.name() != name) {
                    return Err(wrong(format!("it wants a second input {}", other.name())));
                }
                let planes = [PLANES as i64, 8, 8];
                check_tensor(session.inputs(), "input", (name, tensor::element_type(self.model.types.input)), &planes)
                    .map_err(wrong)?
            }
            // Made here, with any batch.
            ModelInput::Packed { .. } => None,
            ModelInput::Maia3(input) => self.check_maia3(input, session.inputs()).map_err(wrong)?,
        };
        for (name, width, precision) in self.outputs() {
            let end = (name, tensor::element_type(precision));
            let rows = check_tensor(session.outputs(), "output", end, &[width as i64]).map_err(wrong)?;
            if let (Some(rows), Some(batch)) = (rows, batch)
                && rows != batch
            {
                return Err(wrong(format!("its output {name} has {rows} rows for {batch} positions")));
            }
        }
        Ok(batch)
    }

    /// Checks the inputs of a Maia-3, as [`ModelIo::check`] does.
    fn check_maia3(&self, input: &Maia3Input, inputs: &[Outlet]) -> Result<Option<usize>, String> {
        let rating = if input.whole_ratings { TensorElementType::Int64 } else { TensorElementType::Float32 };
        let types = [TensorElementType::Float32, rating, rating];
        let mut batch = None;
        for ((name, sizes), element) in input.tensors().into_iter().zip(types) {
            let sizes: Vec<i64> = sizes.into_iter().map(|size| size as i64).collect();
            let rows = check_tensor(inputs, "input", (name, element), &sizes)?;
            if let (Some(rows), Some(batch)) = (rows, batch)
                && rows != batch
            {
                return Err(format!("its input {name} has {rows} rows for {batch} positions"));
            }
            batch = batch.or(rows);
        }
        Ok(batch)
    }

    pub(super) fn run_error(&self, reason: String) -> BackendError {
        BackendError::Run { network: self.network.clone(), reason }
    }

    pub(super) fn bad_output(&self, problem: String) -> BackendError {
        BackendError::Output { network: self.network.clone(), problem }
    }
}

/// Checks that there is a tensor `[batch, shape...]` of this name and type; returns the batch size where it is fixed.
///
/// Dimensions that the model leaves open pass here; what comes out of a run is checked again by its length.
fn check_tensor(
    outlets: &[Outlet],
    what: &str,
    (name, element): (&str, TensorElementType),
    wanted: &[i64],
) -> Result<Option<usize>, String> {
    let end = outlets.iter().find(|end| end.name() == name).ok_or_else(|| format!("it has no {what} {name}"))?;
    let ValueType::Tensor { ty, shape, .. } = end.dtype() else {
        return Err(format!("its {what} {name} is not a tensor"));
    };
    if *ty != element {
        return Err(format!("its {what} {name} is of type {ty:?}, not {element:?}"));
    }
    // A model may leave the rank of an output open as well.
    if shape.is_empty() && what == "output" {
        return Ok(None);
    }
    let fits = |(&found, &wanted): (&i64, &i64)| found == wanted || found < 0;
    if shape.len() != 1 + wanted.len() || !shape[1..].iter().zip(wanted).all(fits) {
        let wanted = wanted.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!("its {what} {name} has the shape {shape:?}, not [batch, {wanted}]"));
    }
    fixed_batch(shape[0]).map_err(|problem| format!("its {what} {name} has {problem}"))
}

/// The batch size that the number of rows of an input or output fixes; `None` where it is open (negative).
fn fixed_batch(rows: i64) -> Result<Option<usize>, String> {
    match rows {
        0 => Err("no rows".to_owned()),
        // A run takes memory for all of them, also for those not asked for: a file must not choose how much.
        rows if rows > LARGEST_BATCH as i64 => Err(format!("a fixed batch of {rows}, more than {LARGEST_BATCH}")),
        rows => Ok(usize::try_from(rows).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_batch_has_its_limits() {
        assert_eq!([-1, 1, 1024].map(fixed_batch), [Ok(None), Ok(Some(1)), Ok(Some(1024))]);
        for (rows, problem) in [(0, "no rows"), (1025, "batch of 1025, more than 1024"), (1 << 50, "1125899906842624")]
        {
            let error = fixed_batch(rows).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
