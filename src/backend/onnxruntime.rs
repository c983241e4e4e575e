//! Networks through ONNX Runtime.

use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::{AutoDevicePolicy, GraphOptimizationLevel};
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};
use parking_lot::Mutex;

use super::input::InputBuffer;
use super::runtime::Runtime;
use super::{Attributes, Backend, BackendError, Evaluation, Evaluator, Query, cpu_workers};
use crate::network::{Conversion, HistoryFill, MOVES, Network, OnnxModel, PLANES, ValueOutput};

/// Positions from which a larger batch gains next to nothing on a CPU: evaluations per CPU-second of one thread were 2970,
/// 3480 and 3640 at 1, 8 and 64 positions for maia-1900 (6x64), and 480, 576 and 589 for a 10x128 network (see
/// `benches/backend.rs`). It is small on purpose: a search that gathers fewer positions before it learns anything
/// searches better. Lc0 takes 7 on BLAS.
const CPU_BATCH: usize = 8;
/// The most positions in one run, where the network does not say: bounds the memory of a run (0.5 MB of planes and
/// some MB for each layer of the largest networks).
const MAXIMUM_BATCH: usize = 256;
/// How far probabilities may lie outside 0..1 and their sum from 1: rounding of 32-bit floats, and half precision inside
/// foreign models. Logits in the place of probabilities do not pass.
const PROBABILITY_TOLERANCE: f32 = 0.01;

/// A network on ONNX Runtime's CPU provider: one session for each worker.
pub struct OnnxRuntimeBackend {
    attributes: Attributes,
    shared: Arc<Shared>,
    /// The session that was made to look at the network waits for the first worker.
    first: Mutex<Option<Session>>,
}

/// What all sessions of a network have in common.
struct Shared {
    runtime: Arc<Runtime>,
    network: String,
    model: OnnxModel,
    threads: usize,
    /// Rows of a run, where the model fixes them.
    fixed_batch: Option<usize>,
}

impl OnnxRuntimeBackend {
    /// Loads the network and checks that its inputs and outputs are those of a chess network.
    ///
    /// `threads` are ONNX Runtime's own in each worker's session.
    ///
    /// # Errors
    ///
    /// When the network has no ONNX form, or ONNX Runtime does not take it, or a shape is wrong.
    pub fn new(
        runtime: Arc<Runtime>,
        network: &Network,
        threads: usize,
        history_fill: HistoryFill,
    ) -> Result<OnnxRuntimeBackend, BackendError> {
        let model = network.onnx(&Conversion::default())?;
        let name = stem(network.name()).to_owned();
        let device = format!("cpu, ONNX Runtime {}", runtime.version);
        let mut shared = Shared { runtime, network: name, model, threads: threads.max(1), fixed_batch: None };
        let session = shared.session()?;
        shared.fixed_batch = shared.check(&session)?;
        let maximum_batch = shared.fixed_batch.unwrap_or(MAXIMUM_BATCH);
        let attributes = Attributes {
            name: format!("onnxruntime cpu, {}", shared.network),
            device,
            input: Some((network.description().input, history_fill)),
            has_wdl: matches!(shared.model.value, ValueOutput::Wdl(_)),
            has_moves_left: shared.model.moves_left.is_some(),
            // A fixed batch is run in full, whatever is in it.
            preferred_batch: shared.fixed_batch.unwrap_or(CPU_BATCH),
            maximum_batch,
            preferred_threads: cpu_workers().div_ceil(shared.threads),
            is_cpu: true,
        };
        Ok(OnnxRuntimeBackend { attributes, shared: Arc::new(shared), first: Mutex::new(Some(session)) })
    }
}

impl Backend for OnnxRuntimeBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let waiting = self.first.lock().take();
        let session = waiting.map_or_else(|| self.shared.session(), Ok)?;
        let (shared, maximum) = (Arc::clone(&self.shared), self.attributes.maximum_batch);
        Ok(Box::new(OnnxRuntimeEvaluator { session, shared, maximum, input: InputBuffer::new() }))
    }
}

/// A network's name without the endings of network files.
fn stem(name: &str) -> &str {
    [".pb.gz", ".pb", ".onnx"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

impl Shared {
    fn session(&self) -> Result<Session, BackendError> {
        let build = || -> ort::Result<Session> {
            Session::builder(self.runtime.environment())?
                // The full level is 1.65 times as fast as none on a 6x64 network.
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_intra_threads(self.threads)?
                .with_inter_threads(1)?
                // Without a policy, ort lets ONNX Runtime pick a device by itself.
                .with_auto_device(AutoDevicePolicy::PreferCPU)?
                .with_log_level(ort::logging::LogLevel::Error)?
                .commit_from_memory(&self.model.bytes)
        };
        build().map_err(|error| BackendError::Load { network: self.network.clone(), reason: one_line(&error) })
    }

    /// The outputs that are read, with the numbers that each has for a position.
    fn outputs(&self) -> impl Iterator<Item = (&str, usize)> {
        let value = match &self.model.value {
            ValueOutput::Wdl(name) => (name.as_str(), 3),
            ValueOutput::Scalar(name) => (name.as_str(), 1),
        };
        let moves_left = self.model.moves_left.as_deref().map(|name| (name, 1));
        [(self.model.policy.as_str(), MOVES), value].into_iter().chain(moves_left)
    }

    /// Checks the ends of the network; the batch size where the model fixes it.
    fn check(&self, session: &Session) -> Result<Option<usize>, BackendError> {
        let wrong = |problem| BackendError::Shape { network: self.network.clone(), problem };
        if let Some(other) = session.inputs().iter().find(|input| input.name() != self.model.input) {
            return Err(wrong(format!("it wants a second input {}", other.name())));
        }
        let planes = [PLANES as i64, 8, 8];
        let batch = check_tensor(session.inputs(), "input", &self.model.input, &planes).map_err(wrong)?;
        for (name, width) in self.outputs() {
            let rows = check_tensor(session.outputs(), "output", name, &[width as i64]).map_err(wrong)?;
            if let (Some(rows), Some(batch)) = (rows, batch)
                && rows != batch
            {
                return Err(wrong(format!("its output {name} has {rows} rows for {batch} positions")));
            }
        }
        Ok(batch)
    }

    fn run_error(&self, error: &ort::Error) -> BackendError {
        BackendError::Run { network: self.network.clone(), reason: one_line(error) }
    }

    fn bad_output(&self, problem: String) -> BackendError {
        BackendError::Output { network: self.network.clone(), problem }
    }
}

/// Checks that there is a float32 tensor `[batch, shape...]` of this name; the batch size where it is fixed.
///
/// Dimensions that the model leaves open pass here; what comes out of a run is checked again by its length.
fn check_tensor(ends: &[Outlet], what: &str, name: &str, wanted: &[i64]) -> Result<Option<usize>, String> {
    let end = ends.iter().find(|end| end.name() == name).ok_or_else(|| format!("it has no {what} {name}"))?;
    let ValueType::Tensor { ty, shape, .. } = end.dtype() else {
        return Err(format!("its {what} {name} is not a tensor"));
    };
    if *ty != TensorElementType::Float32 {
        return Err(format!("its {what} {name} is of type {ty:?}, not float32"));
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
    match shape[0] {
        0 => Err(format!("its {what} {name} has no rows")),
        rows => Ok(usize::try_from(rows).ok()),
    }
}

/// The first line of what ONNX Runtime says; the others are its call stack.
pub(super) fn one_line(error: &ort::Error) -> String {
    error.message().lines().next().unwrap_or("no reason given").trim().to_owned()
}

struct OnnxRuntimeEvaluator {
    session: Session,
    shared: Arc<Shared>,
    maximum: usize,
    input: InputBuffer,
}

impl Evaluator for OnnxRuntimeEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(self.maximum) {
            self.run(part, &mut answers)?;
        }
        Ok(answers)
    }
}

impl OnnxRuntimeEvaluator {
    /// Evaluates at most `maximum` positions in one run.
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let shared = &*self.shared;
        // A model with a fixed batch gets rows that nobody asks for.
        let rows = shared.fixed_batch.unwrap_or(batch.len());
        self.input.grow(rows);
        for (row, query) in batch.iter().enumerate() {
            let planes = query.planes.as_deref().ok_or_else(|| BackendError::Query {
                network: shared.network.clone(),
                problem: "about a position without its planes".to_owned(),
            })?;
            self.input.set(row, planes);
        }
        let input = TensorRef::from_array_view(([rows, PLANES, 8, 8], self.input.rows(rows)))
            .map_err(|error| shared.run_error(&error))?;
        let outputs = (self.session.run(ort::inputs![shared.model.input.as_str() => input]))
            .map_err(|error| shared.run_error(&error))?;

        let read = |name: &str, width: usize| -> Result<&[f32], BackendError> {
            let value = outputs.get(name).ok_or_else(|| shared.bad_output(format!("no output {name}")))?;
            let (_, numbers) = value.try_extract_tensor::<f32>().map_err(|error| shared.run_error(&error))?;
            if numbers.len() != rows * width {
                let problem = format!("{} numbers in {name} for {rows} positions of {width}", numbers.len());
                return Err(shared.bad_output(problem));
            }
            Ok(numbers)
        };
        let policy = read(&shared.model.policy, MOVES)?;
        let moves_left = shared.model.moves_left.as_deref().map(|name| read(name, 1)).transpose()?;
        let (value, is_wdl) = match &shared.model.value {
            ValueOutput::Wdl(name) => (read(name, 3)?, true),
            ValueOutput::Scalar(name) => (read(name, 1)?, false),
        };
        for (row, query) in batch.iter().enumerate() {
            let (q, d) = if is_wdl { wdl(&value[3 * row..][..3]) } else { scalar(value[row]) }
                .map_err(|problem| shared.bad_output(problem))?;
            let m = moves_left.map(|numbers| finite(numbers[row], "moves left"));
            let m = m.transpose().map_err(|problem| shared.bad_output(problem))?;
            let logits = gather(&policy[row * MOVES..][..MOVES], &query.indices);
            let logits = logits.map_err(|problem| shared.bad_output(problem))?;
            answers.push(Evaluation { q, d, m, logits });
        }
        Ok(())
    }
}

fn finite(number: f32, what: &str) -> Result<f32, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("{number} as its {what}")) }
}

/// Expected score and draw probability from probabilities of win, draw and loss.
fn wdl(numbers: &[f32]) -> Result<(f32, f32), String> {
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

fn gather(policy: &[f32], indices: &[u16]) -> Result<Box<[f32]>, String> {
    let logit = |&index: &u16| match policy.get(usize::from(index)) {
        Some(&logit) => finite(logit, "policy"),
        None => Err(format!("no policy for the index {index}")),
    };
    indices.iter().map(logit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_probabilities_are_refused() {
        assert_eq!(wdl(&[0.5, 0.25, 0.25]), Ok((0.25, 0.25)));
        for bad in [[f32::NAN, 0.5, 0.5], [2.0, -3.0, 2.0], [0.1, 0.1, 0.1], [f32::INFINITY, 0.0, 0.0]] {
            assert!(wdl(&bad).is_err(), "{bad:?}");
        }
        assert_eq!(scalar(-0.5), Ok((-0.5, 0.0)));
        assert!(scalar(f32::NAN).is_err() && scalar(7.0).is_err());
    }

    #[test]
    fn logits_are_gathered_in_the_order_of_the_moves() {
        let policy: Vec<f32> = (0..MOVES).map(|index| index as f32).collect();
        assert_eq!(*gather(&policy, &[1857, 0, 7]).unwrap(), [1857.0, 0.0, 7.0]);
        assert!(gather(&policy, &[1858]).is_err());
        assert!(gather(&[f32::NAN], &[0]).is_err());
    }

    #[test]
    fn names_lose_the_endings_of_network_files() {
        assert_eq!(["maia-1900.pb.gz", "a.b.onnx", "744706"].map(stem), ["maia-1900", "a.b", "744706"]);
    }
}
