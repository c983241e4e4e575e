//! Runs networks through ONNX Runtime.
//!
//! | file | what |
//! |---|---|
//! | this one | the backend: sessions and how workers share them, the worker's end |
//! | `session` | making a session: threads, optimisation, the execution provider and its settings |
//! | `bare_session` | a session with nothing around it, for measurements |
//! | `ready` | whether TensorRT's engines are built already |
//! | `model_io` | the inputs and outputs of a model |
//! | `fields` | the fields of a model's messages, without a schema |
//! | `external` | the files that the tensors of a model may lie in |
//! | `fixed_names` | models under fixed names, for those change while the network does not |
//! | `weights` | one copy of the weights for all sessions on a CPU |
//! | `run_buffers` | the tensors of runs, made once for each size |
//! | `outputs` | evaluations from the outputs of a run |
//! | `tensor` | the numbers of inputs and outputs, which may be narrower than float32 |

mod bare_session;
mod external;
mod fields;
mod fixed_names;
mod model_io;
mod outputs;
mod ready;
mod run_buffers;
mod session;
mod tensor;
mod weights;

use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::SessionBuilder;
use parking_lot::Mutex;

use super::{
    Attributes, Backend, BackendError, DeviceOptions, Evaluation, EvaluationCache, Evaluator, Query, Rows, Sharing,
    cpu_workers, saturation,
};
use crate::announcer::Announcer;
use crate::clock::{Clock as _, MonotonicClock};
use crate::network::{HistoryFill, Network, ValueOutput};
use crate::runtime::{Provider, Runtime, ort_log};
pub use bare_session::{BareInput, BareSession};
use model_io::ModelIo;
pub(super) use ready::engines_are_ready;
use run_buffers::{BufferPool, RunBuffers, host_allocator};
pub(super) use session::probe;
use session::{SessionPlan, can_be_compiled_long, load_error};
use weights::SharedWeights;

/// Workers for a device of its own: one gathers while the device works for the other.
const DEVICE_WORKERS: usize = 2;
/// Timed runs of each size while a network is loaded for a device; the fastest counts.
const TIMED_RUNS: usize = 3;
/// A run that takes longer than this is timed once.
const LONG_RUN_MS: f64 = 50.0;
/// The share of the most positions a second that a smaller batch reaches where the device is said to saturate.
const SATURATED: f64 = 0.95;

/// A network on a device, through one execution provider of ONNX Runtime.
pub struct OnnxRuntimeBackend {
    attributes: Attributes,
    shared: Arc<Shared>,
    sessions: Mutex<Sessions>,
    sharing: Sharing,
}

/// The sessions that are there. Where workers have one each, the one that was made to look at the network, until the first
/// worker takes it.
struct Sessions {
    ready: Vec<Arc<Mutex<Session>>>,
    /// The one of the next worker, where they are dealt out in turn.
    next: usize,
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
        let rows = plan.rows.clone();
        let device_name = plan.device_name(&runtime);
        let mut shared = Shared { runtime, model_io, plan, rows, weights: None };
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
        let preferred = shared.rows.preferred(provider);
        // Two ends say nothing of what lies between them.
        let saturated = saturation(&times, SATURATED).filter(|_| !shared.rows.are_any());
        let attributes = Attributes {
            name: format!("onnxruntime {}, {}", provider.name(), shared.model_io.network),
            device: device_name,
            input: Some((network.description().input, history_fill)),
            has_wdl: matches!(shared.model_io.model.value, ValueOutput::Wdl(_)),
            has_moves_left: shared.model_io.model.moves_left.is_some(),
            preferred_batch: saturated.map_or(preferred, |saturated| preferred.min(shared.rows.of(saturated))),
            smallest_batch: shared.rows.of(1),
            maximum_batch: shared.rows.most,
            preferred_threads: match sharing {
                Sharing::PerWorker => cpu_workers().div_ceil(threads),
                Sharing::InTurn(runs) => runs.max(DEVICE_WORKERS),
            },
            is_cpu: sharing == Sharing::PerWorker,
            // Its kernels are chosen by the size of a batch, and 8 bits are scaled by what is in it.
            is_batch_invariant: false,
        };
        let ready = sessions.into_iter().map(|session| Arc::new(Mutex::new(session))).collect();
        let sessions = Mutex::new(Sessions { ready, next: 0 });
        Ok(OnnxRuntimeBackend { attributes, shared: Arc::new(shared), sessions, sharing })
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
        let buffers = BufferPool::new(&self.shared.rows);
        Ok(Box::new(OnnxRuntimeEvaluator { buffers, session, shared: Arc::clone(&self.shared) }))
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

/// Milliseconds of a run by its rows.
type RunTimes = Vec<(usize, f64)>;

impl Shared {
    /// Makes the sessions that are there from the start, and lets the device get ready for them.
    fn prepare(
        &mut self,
        builder: SessionBuilder,
        announcer: &Announcer,
    ) -> Result<(Vec<Session>, RunTimes), BackendError> {
        let mut first = match self.plan.provider {
            Provider::Cpu => self.share_weights(builder)?,
            _ => self.plan.commit(builder, &self.model_io)?,
        };
        if let Some(fixed) = self.model_io.check(&first)? {
            self.rows = Rows::fixed(fixed);
        }
        let times = self.warm_up(&mut first)?;
        if let Some(&(largest, _)) = times.last() {
            if largest < self.rows.most {
                announcer.say(&format!("runs of at most {largest} positions: larger ones do not run on this device"));
            }
            self.rows = self.rows.up_to(largest).without_slower(&times);
        }
        let mut sessions = vec![first];
        if let Sharing::InTurn(runs) = self.plan.sharing() {
            for _ in 1..runs {
                match self.another_session() {
                    Ok(session) => sessions.push(session),
                    // A card without room for two works with one.
                    Err(error) => {
                        announcer.say(&format!("{} runs in flight instead of {runs}: {error}", sessions.len()));
                        break;
                    }
                }
            }
        }
        Ok((sessions, times))
    }

    /// A session that has run every size.
    fn another_session(&self) -> Result<Session, BackendError> {
        let mut session = self.session()?;
        for rows in self.rows.sizes() {
            self.buffers(&session, rows)?.run(&mut session, &self.model_io)?;
        }
        Ok(session)
    }

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

    /// Runs every size of batch where the first run of a size is slow: engines are built and plans made before a clock runs.
    /// Then it runs each again, and returns how long that takes; nothing on a CPU. A size that does not run, for want of memory,
    /// is the end: smaller ones do.
    fn warm_up(&self, session: &mut Session) -> Result<RunTimes, BackendError> {
        if self.plan.is_cpu() {
            return Ok(Vec::new());
        }
        let mut times = Vec::new();
        for rows in self.rows.sizes() {
            match self.time_of(session, rows) {
                Ok(time) => times.push((rows, time)),
                Err(error) if times.is_empty() || self.rows.are_any() => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, rows, "no larger runs than before");
                    break;
                }
            }
        }
        Ok(times)
    }

    /// Milliseconds of a run of this size, after a first one: the least of a few, or of one that takes long.
    fn time_of(&self, session: &mut Session, rows: usize) -> Result<f64, BackendError> {
        let mut buffers = self.buffers(session, rows)?;
        buffers.run(session, &self.model_io)?;
        let clock = MonotonicClock::new();
        let mut fastest = f64::INFINITY;
        for _ in 0..TIMED_RUNS {
            let start_ms = clock.now_ms();
            buffers.run(session, &self.model_io)?;
            fastest = fastest.min(clock.now_ms() - start_ms);
            if fastest > LONG_RUN_MS {
                break;
            }
        }
        Ok(fastest)
    }

    /// The tensors for runs of this size.
    fn buffers(&self, session: &Session, rows: usize) -> Result<RunBuffers, BackendError> {
        let allocator = host_allocator(self.plan.provider, self.plan.device, session);
        RunBuffers::new(&allocator, session, &self.model_io, rows)
            .map_err(|error| self.model_io.run_error(first_line(&error)))
    }
}

struct OnnxRuntimeEvaluator {
    /// Before the session, in whose memory they may lie: fields go in this order.
    buffers: BufferPool,
    /// The worker's own, or one of the device's, which serves one worker at a time.
    session: Arc<Mutex<Session>>,
    shared: Arc<Shared>,
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
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_endings_of_network_files() {
        assert_eq!(["maia-1900.pb.gz", "a.b.onnx", "744706"].map(stem), ["maia-1900", "a.b", "744706"]);
    }
}
