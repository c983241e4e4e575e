//! Runs that a card has captured as graphs, one for each size: a graph is launched at once, where a run launches its
//! kernels one by one (nearly all of the 2.9 ms of a run of 16 rows of T1-256x10 on an H100, docs/gpu.md).
//!
//! A graph reads and writes the addresses that it was captured with. So inputs and outputs are tensors at fixed places
//! on the card, one set for each size, and are copied there and back around each run. ONNX Runtime keeps graphs in a
//! context of the thread that captured them, and looks for them under the calling thread, so a session runs on one
//! thread of its own. The copies have a stream of their own and are waited for: a run begins when its inputs are there,
//! and ONNX Runtime returns from it when it has ended.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ort::memory::{AllocationDevice, Allocator, AllocatorType, MemoryInfo, MemoryType};
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue};
use ort::value::{DynTensor, DynTensorValueType, ValueType};
use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::device_session::{alone_on_cards, beside_others_on_cards};
use super::first_line;
use super::run_buffers::OutputTensor;
use zeitnot_runtime::cuda_copies::CudaCopies;

/// ONNX Runtime's setting for the graph of a run: a number from 1 on, or the next for a run without a graph.
const GRAPH: &str = "gpu_graph_id";
const NO_GRAPH: &str = "-1";

/// The card under a session whose runs are captured.
pub(super) trait Card: Send {
    /// The allocator of the card's memory.
    fn allocator(&self, session: &Session) -> ort::Result<Allocator>;

    /// Begins to copy so many bytes between the host and the card.
    ///
    /// # Safety
    /// Both ends are that long, and nobody touches them before [`Card::wait`] has returned.
    unsafe fn copy(&mut self, from: *const c_void, to: *mut c_void, bytes: usize) -> Result<(), String>;

    /// Waits until all copies have ended.
    fn wait(&mut self) -> Result<(), String>;
}

/// A card of NVIDIA's.
pub(super) struct CudaCard {
    device: u32,
    copies: CudaCopies,
}

impl CudaCard {
    /// The card of this index, in a process with a session on it.
    pub(super) fn new(device: u32) -> Result<CudaCard, String> {
        Ok(CudaCard { device, copies: CudaCopies::new(device)? })
    }
}

impl Card for CudaCard {
    fn allocator(&self, session: &Session) -> ort::Result<Allocator> {
        let kind = (AllocatorType::Device, MemoryType::Default);
        Allocator::new(session, MemoryInfo::new(AllocationDevice::CUDA, self.device.cast_signed(), kind.0, kind.1)?)
    }

    unsafe fn copy(&mut self, from: *const c_void, to: *mut c_void, bytes: usize) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe { self.copies.begin(from, to, bytes) }
    }

    fn wait(&mut self) -> Result<(), String> {
        self.copies.wait()
    }
}

/// The captured runs of a session.
pub(super) struct CapturedRuns {
    /// The graphs, one for each size; dropped before the card whose memory they are in.
    graphs: Vec<Graph>,
    card: Box<dyn Card>,
    /// The only thread that runs the session.
    thread: ThreadPool,
}

/// The run of one size.
struct Graph {
    rows: usize,
    /// The inputs on the card, in the order of the model.
    inputs: Vec<DynTensor>,
    /// Options of a run, with the outputs on the card.
    options: RunOptions<HasSelectedOutputs>,
}

impl CapturedRuns {
    /// Captured runs on this card, none of them made yet.
    pub(super) fn new(card: Box<dyn Card>) -> Result<CapturedRuns, String> {
        let thread = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "card".to_owned());
        let thread = thread.build().map_err(|error| format!("no thread for its runs: {error}"))?;
        Ok(CapturedRuns { graphs: Vec::new(), card, thread })
    }

    /// Runs the session on `inputs`, which have a name each and `rows` rows, and copies what comes out to `outputs`. The
    /// first run of a size captures it, while no other session of the process works on a card: a capture ends in an
    /// error if any thread allocates on a card or waits for one.
    pub(super) fn run(
        &mut self,
        session: &mut Session,
        rows: usize,
        inputs: &[(&str, &DynTensor)],
        outputs: &mut [OutputTensor],
    ) -> Result<(), String> {
        let CapturedRuns { graphs, card, thread } = self;
        let run = || match graphs.iter_mut().find(|graph| graph.rows == rows) {
            Some(graph) => beside_others_on_cards(|| graph.run(session, &mut **card, inputs, outputs)),
            None => alone_on_cards(|| {
                let mut graph = Graph::new(session, &**card, rows, inputs, outputs)?;
                graph.run(session, &mut **card, inputs, outputs)?;
                graphs.push(graph);
                Ok(())
            }),
        };
        let ended = thread.install(|| catch_unwind(AssertUnwindSafe(run)));
        ended.unwrap_or_else(|_| Err("its thread has panicked".to_owned()))
    }

    /// Runs a size that was captured once more without its graph, to compare.
    pub(super) fn run_plainly(
        &mut self,
        session: &mut Session,
        rows: usize,
        inputs: &[(&str, &DynTensor)],
        outputs: &mut [OutputTensor],
    ) -> Result<(), String> {
        let set = |graphs: &mut Vec<Graph>, id: &str| match graphs.iter_mut().find(|graph| graph.rows == rows) {
            Some(graph) => graph.options.set(GRAPH, id).map_err(|error| first_line(&error)),
            None => Err(format!("no captured run of {rows} positions")),
        };
        set(&mut self.graphs, NO_GRAPH)?;
        let ended = self.run(session, rows, inputs, outputs);
        set(&mut self.graphs, &rows.to_string())?;
        ended
    }
}

impl Graph {
    /// The tensors on the card for runs of `rows` with such inputs and outputs.
    fn new(
        session: &Session,
        card: &dyn Card,
        rows: usize,
        inputs: &[(&str, &DynTensor)],
        outputs: &[OutputTensor],
    ) -> Result<Graph, String> {
        let make = || -> ort::Result<Graph> {
            let allocator = card.allocator(session)?;
            let inputs = inputs.iter().map(|(_, host)| like(&allocator, host)).collect::<ort::Result<_>>()?;
            let mut selected = OutputSelector::no_default();
            for output in outputs {
                let on_card = like(&allocator, &output.tensor)?;
                selected = selected.with(&output.name).preallocate(&output.name, on_card);
            }
            let mut options = RunOptions::new()?.with_outputs(selected);
            options.set(GRAPH, rows.to_string())?;
            Ok(Graph { rows, inputs, options })
        };
        make().map_err(|error| first_line(&error))
    }

    fn run(
        &mut self,
        session: &mut Session,
        card: &mut dyn Card,
        inputs: &[(&str, &DynTensor)],
        outputs: &mut [OutputTensor],
    ) -> Result<(), String> {
        let copied = inputs.iter().zip(&mut self.inputs).try_for_each(|((_, host), on_card)| {
            // SAFETY: `like` made the tensor on the card as long as that of the host; both stay until `wait`.
            unsafe { card.copy(host.data_ptr(), on_card.data_ptr_mut(), bytes(host)) }
        });
        // What has begun is waited for also where another copy has not.
        card.wait().and(copied)?;
        let named = inputs.iter().zip(&self.inputs);
        let named: Vec<(&str, SessionInputValue<'_>)> =
            named.map(|((name, _), tensor)| (*name, tensor.into())).collect();
        let mut ran = session.run_with_options(named, &self.options).map_err(|error| first_line(&error))?;
        let copied = outputs.iter_mut().try_for_each(|output| {
            let on_card = ran.remove(&output.name).ok_or_else(|| format!("no output {}", output.name))?;
            let on_card = on_card.downcast::<DynTensorValueType>().map_err(|error| first_line(&error))?;
            if on_card.dtype() != output.tensor.dtype() {
                return Err(format!("{} is {:?}, not {:?}", output.name, on_card.dtype(), output.tensor.dtype()));
            }
            // SAFETY: as above; `self.options` keeps the tensor of the output.
            unsafe { card.copy(on_card.data_ptr(), output.tensor.data_ptr_mut(), bytes(&output.tensor)) }
        });
        card.wait().and(copied)
    }
}

/// A tensor of the same type and shape in the memory of this allocator.
fn like(allocator: &Allocator, tensor: &DynTensor) -> ort::Result<DynTensor> {
    match tensor.dtype() {
        ValueType::Tensor { ty, shape, .. } => DynTensor::new(allocator, *ty, shape.to_vec()),
        _ => Err(ort::Error::new("an input or output that is no tensor")),
    }
}

/// The length of a tensor.
fn bytes(tensor: &DynTensor) -> usize {
    match tensor.dtype() {
        ValueType::Tensor { ty, shape, .. } => ty.byte_size(shape.num_elements()).unwrap_or(0),
        _ => 0,
    }
}
