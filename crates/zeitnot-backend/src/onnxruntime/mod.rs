//! Runs networks through ONNX Runtime.
//!
//! | file | what |
//! |---|---|
//! | this one | the backend: sessions and how workers share them, the worker's end |
//! | `shared` | the sessions of a network, and a device that gets ready for them |
//! | `session` | making a session: threads, optimisation, the execution provider and its settings |
//! | `device_session` | a session, and its turn where sessions may not work at once |
//! | `captured_runs` | runs that a card has captured as graphs |
//! | `bare_session` | a session with nothing around it, for measurements |
//! | `subject`, `prover` | what a device was given to compute, and the proof that it does |
//! | `ready` | whether TensorRT's engines are built already |
//! | `model_io` | the inputs and outputs of a model |
//! | `fixed_names` | models under fixed names, as their own may change while the network does not |
//! | `weights` | one copy of the weights for all sessions on a CPU |
//! | `run_buffers`, `maia3_tensors` | the tensors of runs, made once for each size; those of Maia-3 |
//! | `outputs` | evaluations from the outputs of a run |
//! | `tensor` | the numbers of inputs and outputs, which may be narrower than float32 |

mod bare_session;
mod captured_runs;
mod device_session;
mod fixed_names;
mod maia3_tensors;
mod model_io;
mod outputs;
mod prover;
mod ready;
mod run_buffers;
mod session;
mod shared;
mod subject;
mod tensor;
mod weights;

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    Attributes, Backend, BackendError, DeviceOptions, Evaluation, EvaluationCache, Evaluator, Query, Sharing,
    cpu_workers,
};
use crate::device_options::Graphs;
use crate::preferences;
pub use bare_session::BareSession;
use device_session::DeviceSession;
use model_io::ModelIo;
pub(super) use prover::Prover;
pub(super) use ready::engines_are_ready;
use run_buffers::BufferPool;
pub(super) use session::probe;
use session::{SessionPlan, can_be_compiled_long};
use shared::SharedModel;
use subject::Subject;
use zeitnot_base::announcer::Announcer;
use zeitnot_network::{HistoryFill, Network, Precision, ValueOutput};
use zeitnot_runtime::{Provider, Runtime, ort_log, vulkan};

/// A network on a device, through one execution provider of ONNX Runtime.
pub(crate) struct OnnxRuntimeBackend {
    attributes: Attributes,
    /// The work that the device was given; `None` on the CPU, which proves nothing.
    subject: Option<Subject>,
    shared: Arc<SharedModel>,
    sessions: Mutex<Sessions>,
    sharing: Sharing,
}

/// The sessions that are ready. Where each worker makes its own, only the one that was made to inspect the network is
/// here, until the first worker takes it.
struct Sessions {
    ready: Vec<Arc<Mutex<DeviceSession>>>,
    /// Number of sessions dealt out so far, where workers get them in turn.
    next: usize,
}

impl OnnxRuntimeBackend {
    /// Loads the network on the device of this index, checks that its inputs and outputs are those of a chess network,
    /// and lets the device prepare for the batches that it will see.
    ///
    /// # Errors
    /// When the provider or a library that it needs does not load (another provider is never taken in its place), the
    /// network cannot be converted to ONNX as asked, ONNX Runtime does not take it, or a shape is wrong.
    pub(crate) fn new(
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
        let rows = plan.rows.clone();
        let device_name = plan.device_name(&runtime);
        let subject = (provider != Provider::Cpu).then(|| Subject::new(provider, network, options, &model_io.model));
        let mut shared = SharedModel { runtime, model_io, plan, rows, weights: None };
        let threads = shared.plan.threads;
        // A provider that does not load says so before anything long begins.
        let builder = shared.plan.builder(&shared.runtime, &shared.model_io)?;
        let sharing = shared.plan.sharing();
        let (sessions, times) = match can_be_compiled_long(&shared.plan) {
            Some(start) => announcer.during(&format!("{provider}"), &start, || shared.prepare(builder, announcer))?,
            None => shared.prepare(builder, announcer)?,
        };
        if sharing != Sharing::PerWorker {
            // There will be no other session.
            shared.model_io.model.bytes = Vec::new();
        }
        let suited = |runs: usize| shared.rows.suited(provider, &times, runs);
        let attributes = Attributes {
            name: format!("onnxruntime {}, {}", provider.name(), shared.model_io.network),
            device: device_name,
            input: Some((network.description().input, history_fill)),
            has_wdl: !matches!(shared.model_io.model.value, ValueOutput::Scalar(_)),
            has_moves_left: shared.model_io.model.moves_left.is_some(),
            preferred_batch: suited(1).batch,
            smallest_batch: shared.rows.of(1),
            maximum_batch: shared.rows.most,
            preferred_threads: match sharing {
                Sharing::PerWorker => cpu_workers().div_ceil(threads),
                Sharing::InTurn(runs) => suited(runs).workers,
            },
            is_cpu: sharing == Sharing::PerWorker,
            // Its kernels are chosen by the size of a batch, and 8 bits are scaled by what is in it.
            is_batch_invariant: false,
            maia: network.maia(),
        };
        let ready = sessions.into_iter().map(|session| Arc::new(Mutex::new(session))).collect();
        let sessions = Mutex::new(Sessions { ready, next: 0 });
        Ok(OnnxRuntimeBackend { attributes, subject, shared: Arc::new(shared), sessions, sharing })
    }

    /// An evaluator for each session that is ready, to test it; the sessions stay available to workers.
    fn trials(&self) -> Vec<Box<dyn Evaluator>> {
        self.sessions.lock().ready.iter().map(|session| self.on(Arc::clone(session))).collect()
    }

    fn on(&self, session: Arc<Mutex<DeviceSession>>) -> Box<dyn Evaluator> {
        let buffers = BufferPool::new(&self.shared.rows);
        Box::new(OnnxRuntimeEvaluator { buffers, session, shared: Arc::clone(&self.shared) })
    }
}

impl Backend for OnnxRuntimeBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let mut sessions = self.sessions.lock();
        let session = match self.sharing {
            Sharing::InTurn(_) => {
                let turn = sessions.next % sessions.ready.len();
                sessions.next += 1;
                Arc::clone(&sessions.ready[turn])
            }
            Sharing::PerWorker => match sessions.ready.pop() {
                Some(session) => session,
                None => Arc::new(Mutex::new(self.shared.session()?)),
            },
        };
        Ok(self.on(session))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

/// Calls `load` with the options, and again with float32 if the provider's default is float16 and fails. It does on a
/// device of WebGPU without float16, which ONNX Runtime finds out when it compiles the first pipeline (software gets
/// float32 at once), and where the proof finds float16 wrong ([`Prover`]; NVIDIA's Vulkan driver sums in float16, and a
/// 20x256 network with random weights was off by 0.8 in a logit). A type that the user chose is never replaced.
pub(super) fn in_fitting_type<T>(
    provider: Provider,
    options: &DeviceOptions,
    say: impl Fn(&str),
    load: impl Fn(&DeviceOptions) -> Result<T, BackendError>,
) -> Result<T, BackendError> {
    /// Part of ONNX Runtime's words for a device without float16.
    const NO_FLOAT16: &str = "requires f16 but the device does not support it";
    const NONE: &str = "the device has no float16";
    let in_float32 = |reason: &str| {
        let mut options = options.clone();
        options.datatype = Some(Precision::Float32);
        let loaded = load(&options)?;
        say(&format!("{provider}: float32, for {reason}"));
        Ok(loaded)
    };
    let is_free = options.datatype.is_none() && preferences(provider).precision == Precision::Float16;
    if is_free && provider == Provider::WebGpu && vulkan::is_software() {
        // Known without a trial: processors compute in float32.
        return in_float32(NONE);
    }
    match load(options) {
        Err(BackendError::Load { reason, .. } | BackendError::Run { reason, .. }) if reason.contains(NO_FLOAT16) => {
            if is_free {
                return in_float32(NONE);
            }
            let name = vulkan::device().map_or(String::new(), |device| format!(" ({})", device.name));
            let reason = format!("the device{name} has no float16; leave out datatype=f16");
            Err(BackendError::Provider { backend: provider.name(), reason })
        }
        Err(BackendError::Wrong { problem, .. }) if is_free => in_float32(&format!("in float16 {problem}")),
        loaded => loaded,
    }
}

/// Calls `load` with the options and, if `graphs=auto` fails with captured runs, again with plain ones: where the card or
/// the runtime refuses a capture, computes wrongly in it, or gains nothing by it.
pub(super) fn with_fitting_runs<T>(
    provider: Provider,
    options: &DeviceOptions,
    say: impl Fn(&str),
    load: impl Fn(&DeviceOptions) -> Result<T, BackendError>,
) -> Result<T, BackendError> {
    let is_free = options.graphs == Graphs::Auto && options.captures(provider);
    match load(options) {
        Err(
            error @ (BackendError::Load { .. }
            | BackendError::Run { .. }
            | BackendError::Output { .. }
            | BackendError::Wrong { .. }),
        ) if is_free => {
            let mut plain = options.clone();
            plain.graphs = Graphs::Off;
            let loaded = load(&plain)?;
            say(&format!("{provider}: without CUDA graphs, for with them {error}"));
            Ok(loaded)
        }
        loaded => loaded,
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

struct OnnxRuntimeEvaluator {
    /// The buffers, dropped before the session as they may lie in its memory: fields are dropped in this order.
    buffers: BufferPool,
    /// The worker's own session, or a shared one, which serves one worker at a time.
    session: Arc<Mutex<DeviceSession>>,
    shared: Arc<SharedModel>,
}

impl Evaluator for OnnxRuntimeEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(self.shared.rows.most) {
            self.run(part, &mut answers)?;
        }
        Ok(answers)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

impl OnnxRuntimeEvaluator {
    /// Evaluates positions that fit into one run. The session is held for the run alone, not while planes are written
    /// or answers read.
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let shared = &*self.shared;
        let model_io = &shared.model_io;
        let rows = shared.rows.of(batch.len());
        let buffers = self.buffers.of(rows, || shared.buffers(&self.session.lock(), rows))?;
        // Rows that nobody asks for hold what they held.
        for (row, query) in batch.iter().enumerate() {
            let planes = query.planes.as_deref().ok_or_else(|| BackendError::Query {
                network: model_io.network.clone(),
                problem: "about a position without its planes".to_owned(),
            })?;
            buffers.set(row, planes);
        }
        let outputs = buffers.run(&mut self.session.lock(), model_io)?;
        outputs.evaluations(model_io, batch, answers)
    }
}

#[cfg(test)]
mod captured_tests;
#[cfg(test)]
mod tests;
