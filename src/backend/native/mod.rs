//! Runs residual networks on the processor by our own kernels: no library is needed.
//!
//! A network is made ready once and shared by all workers ([`prepared`]); each worker has its own buffers and evaluates its own
//! batches on its own thread ([`evaluator`]). Most of the time goes into 3x3 convolutions; Winograd's filtering leaves a
//! quarter of their multiplications (F(4x4, 3x3), [`kernels`]). Two layers that frameworks compute in full are not: the
//! first convolution adds up the weights of the set squares, and the last layer of the policy is computed for the legal
//! moves alone.
//!
//! | file | what |
//! |---|---|
//! | `isa` | the instruction sets |
//! | `prepared`, `packer` | a network prepared for the kernels |
//! | `evaluator`, `tower` | the forward pass |
//! | `kernels` | the arithmetic, and all that is unsafe |
//! | `buffer` | numbers that begin on a cache line |

use std::sync::Arc;

use super::{Attributes, Backend, BackendError, EvaluationCache, Evaluator, cpu_workers};
use crate::network::{Architecture, HistoryFill, Network};
use evaluator::{MAXIMUM_BATCH, NativeEvaluator};
use kernels::Kernels;
use prepared::{Plan, Shared};

mod buffer;
mod evaluator;
mod isa;
mod kernels;
mod packer;
mod prepared;
mod tower;

pub use isa::{Isa, UnknownIsa};

/// Positions from which a larger batch gains little (see `benches/native.rs`).
const PREFERRED_BATCH: usize = 8;

/// A residual network on the processor.
pub struct NativeBackend {
    attributes: Attributes,
    shared: Arc<Shared>,
}

impl NativeBackend {
    /// Makes a network ready for the fastest instruction set of this processor, or for the one that is forced.
    ///
    /// # Errors
    ///
    /// When it is not a residual network in Lc0's format, or the processor does not have the forced instruction set.
    pub fn new(
        network: &Network,
        forced: Option<Isa>,
        history_fill: HistoryFill,
    ) -> Result<NativeBackend, BackendError> {
        let name = network.name().trim_end_matches(".gz").trim_end_matches(".pb").to_owned();
        let wrong = |problem: &str| BackendError::Shape { network: name.clone(), problem: problem.to_owned() };
        let weights = network.weights().ok_or_else(|| {
            let reason = match network.description().architecture {
                Architecture::Onnx { .. } => "it came as ONNX",
                _ => "it has attention",
            };
            wrong(&format!(
                "{reason}, and the backend native runs Lc0's residual networks alone: auto and onnxruntime run it"
            ))
        })?;
        let isa = forced.unwrap_or_else(Isa::best);
        let kernels = Kernels::new(isa).ok_or_else(|| {
            wrong(&format!("this processor does not have the instructions {isa} that were asked for"))
        })?;
        let activation = weights.activation;
        let plan = Plan::new(weights, &kernels)
            .ok_or_else(|| wrong(&format!("the backend native does not have its activation, {activation}")))?;
        let attributes = Attributes {
            name: format!("native, {name}"),
            device: format!("cpu, {isa}"),
            input: Some((network.description().input, history_fill)),
            has_wdl: plan.value_outputs == 3,
            has_moves_left: weights.moves_left.is_some(),
            preferred_batch: PREFERRED_BATCH,
            smallest_batch: 1,
            maximum_batch: MAXIMUM_BATCH,
            preferred_threads: cpu_workers(),
            is_cpu: true,
            is_batch_invariant: true,
        };
        Ok(NativeBackend { attributes, shared: Arc::new(Shared { network: name, plan, kernels }) })
    }

    /// Whether it can run this network: a residual one without attention, in Lc0's format.
    pub fn can_run(network: &Network) -> bool {
        network.weights().is_some_and(|weights| prepared::nonlinearity(weights.activation).is_some())
    }

    /// The instruction set that it runs on.
    pub fn isa(&self) -> Isa {
        self.shared.kernels.isa()
    }
}

impl Backend for NativeBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(Box::new(NativeEvaluator::new(Arc::clone(&self.shared))))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}
