//! Runs networks on the processor by our own kernels ([`zeitnot_kernels`]): no library is needed.
//!
//! A network is prepared once and shared by all workers ([`prepared`], [`transformer`]); each worker has its own
//! buffers and evaluates its own batches on its own thread. Most of the time of a residual network goes into 3x3
//! convolutions; Winograd's filtering leaves a quarter of their multiplications (F(4x4, 3x3)). Most of the
//! time of a transformer goes into products of the squares' rows with the weights of dense layers. Unlike in
//! frameworks, two layers are not computed in full: the first convolution or embedding adds up the weights of the set
//! squares, and the last layer of the policy is computed for the legal moves alone.
//!
//! | file | what |
//! |---|---|
//! | `prepared`, `packer` | a residual network prepared for the kernels |
//! | `evaluator`, `tower` | its forward pass |
//! | `transformer` | networks with attention |

use std::sync::Arc;

use super::{Arithmetic, Attributes, Backend, BackendError, EvaluationCache, Evaluator, Query, cpu_workers, proof};
use evaluator::{MAXIMUM_BATCH, NativeEvaluator};
use prepared::ResidualPlan;
use transformer::{TransformerEvaluator, TransformerPlan};
use zeitnot_chess::Game;
use zeitnot_kernels::Kernels;
use zeitnot_network::layers::{Layers, Policy};
use zeitnot_network::{HistoryFill, Network, encode};

mod evaluator;
mod packer;
mod prepared;
mod tower;
mod transformer;

pub use zeitnot_kernels::{Isa, UnknownIsa};

/// Positions from which a larger batch gains little (see `benches/native.rs`).
const PREFERRED_BATCH: usize = 8;

/// The width of the widest transformer that was tested in games with 8 bits, T1-256x10. (Wider ones may have larger
/// outliers.)
const WIDEST_IN_8_BITS: usize = 256;

/// Options for running a network on the backend native.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeOptions<'a> {
    /// The instruction set; `None` for the fastest of this processor.
    pub isa: Option<Isa>,
    /// The arithmetic of the large layers of a transformer, [`Arithmetic::Float32`] or [`Arithmetic::Int8`]; `None` for
    /// the one of the two that plays best (`default_arithmetic`).
    pub arithmetic: Option<Arithmetic>,
    /// Name of the policy head; `None` for the first.
    pub policy_head: Option<&'a str>,
    /// Name of the value head; `None` for the first.
    pub value_head: Option<&'a str>,
}

/// A backend that runs a network on the processor.
pub struct NativeBackend {
    attributes: Attributes,
    isa: Isa,
    shared: PreparedNetwork,
}

/// A network that is ready to run.
enum PreparedNetwork {
    Residual(Arc<prepared::ResidualNetwork>),
    Transformer(Arc<transformer::TransformerNetwork>),
}

impl NativeBackend {
    /// Prepares a network with these options.
    ///
    /// # Errors
    /// When the network came as ONNX or does not have a head that was asked for, or the processor does not have the
    /// instruction set.
    pub fn new(
        network: &Network,
        options: &NativeOptions<'_>,
        history_fill: HistoryFill,
    ) -> Result<NativeBackend, BackendError> {
        let name = network.name().trim_end_matches(".gz").trim_end_matches(".pb").to_owned();
        let wrong = |problem: &str| BackendError::Shape { network: name.clone(), problem: problem.to_owned() };
        let layers = network.layers().ok_or_else(|| {
            wrong("it came as ONNX, and the backend native runs networks in Lc0's format alone: auto and onnxruntime run it")
        })?;
        let isa = options.isa.unwrap_or_else(Isa::best);
        let kernels = Kernels::new(isa).ok_or_else(|| {
            wrong(&format!("this processor does not have the instructions {isa} that were asked for"))
        })?;
        let arithmetic = options.arithmetic.unwrap_or_else(|| default_arithmetic(network, isa));
        let (mut shared, value_outputs) = prepare(network, layers, options, kernels, &name)?;
        let input = network.description().input;
        if let (Arithmetic::Int8, PreparedNetwork::Transformer(shared)) = (arithmetic, &mut shared) {
            let planes = |game: &Game| Some(Box::new(encode(game, input, history_fill).0));
            let query = |game| Query { planes: planes(&game), ..Query::default() };
            transformer::quantise(shared, &proof::usual_games().map(query).collect::<Vec<_>>())?;
        }
        let attributes = Attributes {
            name: format!("native, {name}"),
            device: match (arithmetic, &shared) {
                (Arithmetic::Int8, PreparedNetwork::Transformer(_)) => format!("cpu, {isa}, int8"),
                _ => format!("cpu, {isa}"),
            },
            input: Some((input, history_fill)),
            has_wdl: value_outputs == 3,
            has_moves_left: layers.moves_left.is_some(),
            preferred_batch: PREFERRED_BATCH,
            smallest_batch: 1,
            maximum_batch: MAXIMUM_BATCH,
            preferred_threads: cpu_workers(),
            is_cpu: true,
            is_batch_invariant: true,
            maia: network.maia(),
        };
        Ok(NativeBackend { attributes, isa, shared })
    }

    /// Whether this backend is the fastest on this processor for a network: a residual one in Lc0's format, and with
    /// AVX2 also one with an attention policy. (T1-256x10 in float32: 1.05 times ONNX Runtime at a batch of 1, 1.06 times
    /// at 8 and 16 with AVX-512, Zen 4; 1.09 and 1.04 times at 1 and 8 with AVX2, Zen 3.)
    pub(crate) fn is_fastest(network: &Network) -> bool {
        let has_attention = |layers: &Layers| matches!(layers.policy(None, network.name()), Ok(Policy::Attention(_)));
        network.weights().is_some()
            || matches!(Isa::best(), Isa::Avx512 | Isa::AvxVnni | Isa::Avx2)
                && network.layers().is_some_and(has_attention)
    }

    /// The instruction set that the network runs with.
    pub fn isa(&self) -> Isa {
        self.isa
    }
}

/// The arithmetic that a network plays best with on this processor: 8 bits if the processor is fast with them and the
/// network is a transformer no wider than [`WIDEST_IN_8_BITS`], else float32.
///
/// T1-256x10 in 8 bits makes 2.7 times the evaluations of float32, with AVX2 alone 1.9 times, and wins at equal time
/// (docs/low-precision.md).
fn default_arithmetic(network: &Network, isa: Isa) -> Arithmetic {
    let body = network.layers().and_then(|layers| layers.body.as_ref());
    if body.is_some_and(|body| body.embedding.outputs <= WIDEST_IN_8_BITS) && isa.is_fast_in_8_bits() {
        Arithmetic::Int8
    } else {
        Arithmetic::Float32
    }
}

/// The prepared network, and the number of outputs of its value head.
fn prepare(
    network: &Network,
    layers: &Layers,
    options: &NativeOptions<'_>,
    kernels: Kernels,
    name: &str,
) -> Result<(PreparedNetwork, usize), BackendError> {
    let policy = layers.policy(options.policy_head, network.name())?;
    let value = layers.value(options.value_head, network.name())?;
    if let Policy::Attention(policy) = policy {
        let plan = TransformerPlan::new(kernels, layers, policy, value);
        let outputs = plan.value_outputs();
        let shared = transformer::TransformerNetwork { network: name.to_owned(), plan, kernels };
        return Ok((PreparedNetwork::Transformer(Arc::new(shared)), outputs));
    }
    let chosen = match (options.policy_head, options.value_head) {
        (None, None) => None,
        _ => layers.decode_with(policy, value),
    };
    let weights = chosen.as_ref().or_else(|| network.weights()).ok_or_else(|| {
        let problem = "its policy of planes stands on a transformer, or its heads are not of one kind".to_owned();
        BackendError::Shape { network: name.to_owned(), problem }
    })?;
    let plan = ResidualPlan::new(weights, &kernels);
    let outputs = plan.value_outputs;
    Ok((
        PreparedNetwork::Residual(Arc::new(prepared::ResidualNetwork { network: name.to_owned(), plan, kernels })),
        outputs,
    ))
}

impl Backend for NativeBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(match &self.shared {
            PreparedNetwork::Residual(shared) => Box::new(NativeEvaluator::new(Arc::clone(shared))),
            PreparedNetwork::Transformer(shared) => Box::new(TransformerEvaluator::new(Arc::clone(shared))),
        })
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}
