//! Runs networks: a batch of positions goes in; policy, value and moves left come out.
//!
//! A [`Backend`] is a network on a device, shared by all workers of a search. Each worker takes one [`Evaluator`] from
//! it. The input of a position is fixed in a [`Query`] before it is queued, so that a batch can travel
//! between threads and no evaluator knows the rules of chess. Decorators wrap a backend in another one
//! ([`CachedBackend`]); the search sees one trait.
//!
//! | file | what |
//! |---|---|
//! | `query` | a position for a network, and its key in the cache |
//! | `factory`, `names` | backends by name |
//! | `provider_preferences`, `rows` | batches, sizes of runs and sessions that each execution provider of ONNX Runtime prefers |
//! | `device_options` | the option `BackendOptions` |
//! | `onnxruntime`, `input_buffer` | networks through ONNX Runtime, and their input as a tensor |
//! | `native` | networks on the processor, by our own kernels |
//! | `several`, `side_by_side` | several devices behind one backend; work on threads of its own |
//! | `cache` | decorators that keep evaluations: by position for a search, by the whole input for several engines |
//! | `evaluator_pool` | the evaluators of a backend, lent to the threads that search |
//! | `proof` | sixteen positions by which a device proves that it computes a network rightly |
//! | `cost` | the cost of a batch on a virtual clock, as a decorator |
//! | `policy_sampling` | the softmax of logits, and a move drawn from it |
//! | `error` | errors |
//! | `uniform`, `random` | no network at all: for tests, and for measuring the search alone |
//! | `simulated` | no network either, but the times of a card: for measuring how a search fills it |
//!
//! ```
//! use zeitnot_backend::{BackendSettings, Query};
//! use zeitnot_chess::Game;
//!
//! let backend = zeitnot_backend::create("uniform", None, &BackendSettings::default())?;
//! let mut evaluator = backend.evaluator()?;
//! let game = Game::new();
//! let moves = game.current().legal_moves();
//! let answers = evaluator.evaluate(&[Query::new(&game, &moves, backend.attributes())])?;
//! assert_eq!(answers[0].logits.len(), 20);
//! # Ok::<(), zeitnot_backend::BackendError>(())
//! ```

#![cfg_attr(
    not(feature = "onnxruntime"),
    allow(dead_code, unused_imports, reason = "what only ONNX Runtime needs has no other use")
)]

use std::fmt;

use zeitnot_network::{HistoryFill, InputFormat};

mod cache;
mod cost;
mod device_options;
mod error;
mod evaluator_pool;
mod factory;
mod input_buffer;
mod names;
mod native;
#[cfg(feature = "onnxruntime")]
mod onnxruntime;
mod policy_sampling;
mod proof;
mod provider_preferences;
mod query;
mod random;
mod rows;
mod several;
mod side_by_side;
mod simulated;
mod uniform;

pub use cache::{CacheStatistics, CachedBackend, SharedEvaluations};
pub use cost::{CostError, CostModel, CostedBackend};
pub use device_options::{Arithmetic, DeviceOptions, DeviceOptionsError, LARGEST_BATCH};
pub use error::BackendError;
pub use evaluator_pool::EvaluatorPool;
pub use factory::{BackendSettings, create, needs_network, provider_of, takes_native};
#[cfg(feature = "onnxruntime")]
pub use factory::{bare_session, probe_provider};
pub use names::BACKENDS;
pub use native::{Isa, NativeBackend, NativeOptions, UnknownIsa};
#[cfg(feature = "onnxruntime")]
pub use onnxruntime::BareSession;
#[cfg(feature = "onnxruntime")]
pub(crate) use onnxruntime::OnnxRuntimeBackend;
pub use policy_sampling::{sample, softmax};
pub use proof::Proof;
pub(crate) use provider_preferences::{Compiled, CpuShare, Label, Sharing, preferences};
pub use query::{Query, cache_key};
pub use random::RandomBackend;
pub use rows::{Rows, saturation};
pub(crate) use several::SeveralDevices;
pub use uniform::UniformBackend;

/// A network's evaluation of one position, from the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The expected score, win minus loss: -1 (lost) to 1 (won).
    pub q: f32,
    /// The probability of a draw, 0 to 1; 0 from a network without a WDL head.
    pub d: f32,
    /// Plies left in the game; `None` from a network without a moves-left head.
    pub m: Option<f32>,
    /// The raw policy output of each legal move, in the order of the query. Softmax and the policy temperature belong
    /// to the search.
    pub logits: Box<[f32]>,
}

/// The properties and preferences of a backend. Displays as one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    /// The backend and its network, such as `onnxruntime cpu, maia-1900`.
    pub name: String,
    /// The device and its driver, such as `cpu, ONNX Runtime 1.31.1`.
    pub device: String,
    /// The planes that a query must carry; `None` for a backend that does not look at the board.
    pub input: Option<(InputFormat, HistoryFill)>,
    /// Whether [`Evaluation::d`] comes from the network.
    pub has_wdl: bool,
    /// Whether evaluations have [`Evaluation::m`].
    pub has_moves_left: bool,
    /// The batch size, in positions, above which speed gains little: the size that a search should gather.
    pub preferred_batch: usize,
    /// The smallest batch, in positions, that is run: a smaller one is filled up to this size and takes as long.
    pub smallest_batch: usize,
    /// The largest batch, in positions, that is run in one piece; a larger one is split.
    pub maximum_batch: usize,
    /// Number of workers that keep the device busy.
    pub preferred_threads: usize,
    /// Whether evaluating costs the cores that the search runs on.
    pub is_cpu: bool,
    /// Whether an evaluation is the same to the bit in every batch.
    pub is_batch_invariant: bool,
    /// The rating on lichess of the players whose moves the network learned, if it is a Maia ([`Network::maia`](zeitnot_network::Network::maia)).
    pub maia: Option<u32>,
}

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attributes { name, device, preferred_batch, preferred_threads, .. } = self;
        write!(f, "{name} ({device}; suits batches of {preferred_batch} and {preferred_threads} threads)")
    }
}

/// A network on a device, shared by all workers.
pub trait Backend: Send + Sync {
    /// Properties and preferences; they never change.
    fn attributes(&self) -> &Attributes;

    /// A new evaluator, for one worker.
    ///
    /// # Errors
    /// When the device has no room for another one.
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError>;

    /// The cache in front of the network; `None` without one. A backend around another one answers with the other's
    /// cache, or with a decorator of that cache.
    fn cache(&self) -> Option<&dyn EvaluationCache>;
}

/// Evaluations kept in memory, as a search sees them. No method has a default, so that no decorator can forget one.
pub trait EvaluationCache: Send + Sync {
    /// The evaluation of the position with this key, if it is held.
    fn get(&self, key: u64) -> Option<Evaluation>;

    /// Fill of the cache in permille (UCI's `hashfull`).
    fn fill(&self) -> u32;

    /// Memory that the cache takes, in bytes.
    fn bytes(&self) -> usize;

    /// Forgets all evaluations: between games, and before a measurement that must repeat.
    fn clear(&self);

    /// Counts of positions, hits and misses since the cache was last emptied.
    fn statistics(&self) -> CacheStatistics;
}

/// Shorthands for the cache. They are not methods of the trait, so that no backend can answer otherwise than its cache.
impl dyn Backend + '_ {
    /// The evaluation of the position with this key, if a cache holds it; a search asks before it queues a query. Two
    /// positions may share a key: reject an evaluation whose number of logits is not the number of legal moves.
    pub fn cached(&self, key: u64) -> Option<Evaluation> {
        self.cache()?.get(key)
    }

    /// Fill of the cache in permille (UCI's `hashfull`); `None` without a cache.
    pub fn cache_fill(&self) -> Option<u32> {
        self.cache().map(EvaluationCache::fill)
    }

    /// Memory that the cache takes, in bytes; 0 without one.
    pub fn cache_bytes(&self) -> usize {
        self.cache().map_or(0, EvaluationCache::bytes)
    }

    /// Empties the cache, if there is one.
    pub fn clear_cache(&self) {
        if let Some(cache) = self.cache() {
            cache.clear();
        }
    }

    /// Counts of positions, hits and misses since the cache was last emptied; `None` without a cache.
    pub fn cache_statistics(&self) -> Option<CacheStatistics> {
        self.cache().map(EvaluationCache::statistics)
    }
}

/// One worker's part of a backend, which evaluates batches.
pub trait Evaluator: Send {
    /// One evaluation for each query, in their order. Any number of queries is allowed, also 0.
    ///
    /// # Errors
    /// When the device fails, or the network's answer is not an evaluation (not a number, say).
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError>;

    /// Milliseconds that the last batch cost by a cost model ([`CostedBackend`]); `None` without a model, where the
    /// clock has to be asked.
    fn modelled_cost_ms(&self) -> Option<f64>;
}

/// Number of workers that keep the cores busy: the physical cores that this process may use. A second hyperthread of a
/// core adds next to nothing to a matrix product.
fn cpu_workers() -> usize {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    num_cpus::get_physical().clamp(1, available)
}
