//! Runs networks through ONNX Runtime.
//!
//! | file | what |
//! |---|---|
//! | this one | the backend: sessions and how workers share them, the worker's end |
//! | `session` | making a session: threads, optimisation, the execution provider and its settings |
//! | `bare` | a session with nothing around it, for measurements |
//! | `model_io` | the inputs and outputs of a model |
//! | `fields` | the fields of a model's messages, without a schema |
//! | `external` | the files that the tensors of a model may lie in |
//! | `fixed_names` | models under fixed names, for those change while the network does not |
//! | `weights` | one copy of the weights for all sessions on a CPU |
//! | `outputs` | evaluations from the outputs of a run |
//! | `tensor` | the numbers of inputs and outputs, which may be narrower than float32 |

mod bare_session;
mod external;
mod fields;
mod fixed_names;
mod model_io;
mod outputs;
mod session;
mod tensor;
mod weights;

use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::SessionBuilder;
use parking_lot::Mutex;

use super::input_buffer::InputBuffer;
use super::{
    Attributes, Backend, BackendError, DeviceOptions, Evaluation, EvaluationCache, Evaluator, Query, Rows, Sharing,
    cpu_workers,
};
use crate::announcer::Announcer;
use crate::network::{HistoryFill, Network, PLANES, ValueOutput};
use crate::runtime::{Provider, Runtime, ort_log};
pub use bare_session::BareSession;
use model_io::ModelIo;
use outputs::Outputs;
pub(super) use session::probe;
use session::{SessionPlan, can_be_compiled_long, load_error};
use weights::SharedWeights;

/// Workers for a device of its own: one gathers while the device works for the other.
const DEVICE_WORKERS: usize = 2;

/// A network on a device, through one execution provider of ONNX Runtime.
pub struct OnnxRuntimeBackend {
    attributes: Attributes,
    shared: Arc<Shared>,
    /// Where all workers share a session, that one; else the one that was made to look at the network, until the first
    /// worker takes it.
    first: Mutex<Option<Arc<Mutex<Session>>>>,
    sharing: Sharing,
}

/// The common part of all sessions of a network.
struct Shared {
    runtime: Arc<Runtime>,
    model_io: ModelIo,
    plan: SessionPlan,
    rows: Rows,
    /// The weights, where sessions share them; then `model_io` has no model.
    weights: Option<SharedWeights>,
}

impl OnnxRuntimeBackend {
    /// Loads the network on the device of this index, checks that its inputs and outputs are those of a chess network, and
    /// lets the device prepare for the batches that it will see.
    ///
    /// # Errors
    ///
    /// When the provider or a library that it needs does not load (another provider is never taken in its place), the
    /// network has no ONNX form as asked for, ONNX Runtime does not take it, or a shape is wrong.
    pub fn new(
        runtime: Arc<Runtime>,
        provider: Provider,
        device: u32,
        network: &Network,
        options: &DeviceOptions,
        history_fill: HistoryFill,
        announcer: &Announcer,
    ) -> Result<OnnxRuntimeBackend, BackendError> {
        let conversion = options.conversion(provider);
        let model_io = ModelIo::new(network, provider, &options.conversion_of(network, provider))?;
        let plan = SessionPlan::new(provider, device, conversion.precision, options, &model_io.model)?;
        let rows = plan.rows;
        let device_name = plan.device_name(&runtime);
        let mut shared = Shared { runtime, model_io, plan, rows, weights: None };
        let threads = shared.plan.threads;
        // A provider that does not load says so before anything long begins.
        let builder = shared.plan.builder(&shared.runtime, &shared.model_io)?;
        let prepare = |shared: &mut Shared| -> Result<Session, BackendError> {
            let mut session = match shared.plan.provider {
                Provider::Cpu => shared.share_weights(builder)?,
                _ => shared.plan.commit(builder, &shared.model_io)?,
            };
            if let Some(fixed) = shared.model_io.check(&session)? {
                shared.rows = Rows::fixed(fixed);
            }
            shared.warm_up(&mut session)?;
            Ok(session)
        };
        let session = match can_be_compiled_long(&shared.plan) {
            Some(start) => announcer.during(&format!("{provider}"), &start, || prepare(&mut shared))?,
            None => prepare(&mut shared)?,
        };
        let sharing = shared.plan.sharing();
        if sharing == Sharing::Serialised {
            // There will be no second session.
            shared.model_io.model.bytes = Vec::new();
        }
        let attributes = Attributes {
            name: format!("onnxruntime {}, {}", provider.name(), shared.model_io.network),
            device: device_name,
            input: Some((network.description().input, history_fill)),
            has_wdl: matches!(shared.model_io.model.value, ValueOutput::Wdl(_)),
            has_moves_left: shared.model_io.model.moves_left.is_some(),
            preferred_batch: shared.rows.preferred(provider),
            smallest_batch: shared.rows.of(1),
            maximum_batch: shared.rows.most,
            preferred_threads: match sharing {
                Sharing::PerWorker => cpu_workers().div_ceil(threads),
                Sharing::Serialised => DEVICE_WORKERS,
            },
            is_cpu: sharing == Sharing::PerWorker,
            // Its kernels are chosen by the size of a batch, and 8 bits are scaled by what is in it.
            is_batch_invariant: false,
        };
        let first = Mutex::new(Some(Arc::new(Mutex::new(session))));
        Ok(OnnxRuntimeBackend { attributes, shared: Arc::new(shared), first, sharing })
    }
}

impl Backend for OnnxRuntimeBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let mut first = self.first.lock();
        let waiting = match self.sharing {
            Sharing::Serialised => first.clone(),
            Sharing::PerWorker => first.take(),
        };
        let session = match waiting {
            Some(session) => session,
            None => Arc::new(Mutex::new(self.shared.session()?)),
        };
        Ok(Box::new(OnnxRuntimeEvaluator { session, shared: Arc::clone(&self.shared), input: InputBuffer::new() }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

/// A network's name without the endings of network files.
fn stem(name: &str) -> &str {
    [".pb.gz", ".pb", ".onnx"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The message of ONNX Runtime's error, in one line without its call stack.
pub(super) fn first_line(error: &ort::Error) -> String {
    match ort_log::plain(error.message()) {
        empty if empty.is_empty() => "no reason given".to_owned(),
        line => line,
    }
}

impl Shared {
    fn session(&self) -> Result<Session, BackendError> {
        let builder = self.plan.builder(&self.runtime, &self.model_io)?;
        match &self.weights {
            Some(weights) => weights.session(builder).map_err(|error| load_error(&self.model_io, &error)),
            None => self.plan.commit(builder, &self.model_io),
        }
    }

    /// Makes the weights that all sessions share, and a first session of them. Where they cannot be shared, such as without
    /// a folder for temporary files, each session has its own.
    fn share_weights(&mut self, builder: SessionBuilder) -> Result<Session, BackendError> {
        match SharedWeights::new(builder, &self.model_io.model.bytes) {
            Ok(weights) => {
                self.weights = Some(weights);
                match self.session() {
                    Ok(session) => {
                        self.model_io.model.bytes = Vec::new();
                        return Ok(session);
                    }
                    Err(error) => tracing::debug!(%error, "weights are not shared"),
                }
                self.weights = None;
            }
            Err(error) => tracing::debug!(%error, "weights are not shared"),
        }
        self.session()
    }

    /// Runs every size of batch once where the first run of a size is slow: engines are built and plans made before a clock
    /// runs.
    fn warm_up(&self, session: &mut Session) -> Result<(), BackendError> {
        if self.plan.is_cpu() {
            return Ok(());
        }
        let mut input = InputBuffer::new();
        input.grow(self.rows.most);
        for rows in self.rows.sizes() {
            self.run(session, &input, rows)?;
        }
        Ok(())
    }

    fn run(&self, session: &mut Session, input: &InputBuffer, rows: usize) -> Result<Outputs, BackendError> {
        let failed = |error: ort::Error| self.model_io.run_error(first_line(&error));
        let model = &self.model_io.model;
        let tensor = tensor::input(model.types.input, [rows, PLANES, 8, 8], input.rows(rows)).map_err(failed)?;
        let outputs = session.run(ort::inputs![model.input.as_str() => tensor]).map_err(failed)?;
        Outputs::take(&self.model_io, outputs, rows)
    }
}

struct OnnxRuntimeEvaluator {
    /// The worker's own, or the device's one, which serves one worker at a time.
    session: Arc<Mutex<Session>>,
    shared: Arc<Shared>,
    input: InputBuffer,
}

impl Evaluator for OnnxRuntimeEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(self.shared.rows.most) {
            self.run(part, &mut answers)?;
        }
        Ok(answers)
    }

    fn told_ms(&self) -> Option<f64> {
        None
    }
}

impl OnnxRuntimeEvaluator {
    /// Evaluates positions that fit into one run. The session is held for the run alone, not while planes are written
    /// or answers read.
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let Shared { model_io, rows, .. } = &*self.shared;
        // Rows that nobody asks for hold what they held.
        let rows = rows.of(batch.len());
        self.input.grow(rows);
        for (row, query) in batch.iter().enumerate() {
            let planes = query.planes.as_deref().ok_or_else(|| BackendError::Query {
                network: model_io.network.clone(),
                problem: "about a position without its planes".to_owned(),
            })?;
            self.input.set(row, planes);
        }
        let outputs = self.shared.run(&mut self.session.lock(), &self.input, rows)?;
        outputs.evaluations(model_io, batch, answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_endings_of_network_files() {
        assert_eq!(["maia-1900.pb.gz", "a.b.onnx", "744706"].map(stem), ["maia-1900", "a.b", "744706"]);
    }
}
