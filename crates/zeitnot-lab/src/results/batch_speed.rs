//! The result of `backendbench`.

use crate::measure::{BenchRow, CardUse};
use serde::{Deserialize, Serialize};

/// The speed of an evaluator at a batch size. Speeds are in evaluations a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSpeed {
    /// Positions in a batch.
    pub batch: usize,
    /// The median speed of the slices of time.
    pub evals_per_s: f64,
    pub mean_evals_per_s: f64,
    /// The speed that at least 95 % of the batches reach.
    pub p95_evals_per_s: f64,
    /// Evaluations for each second of processor time.
    pub evals_per_cpu_s: f64,
    /// The median time of a batch.
    pub latency_p50_ms: f64,
    /// The 95th percentile of the time of a batch.
    pub latency_p95_ms: f64,
    /// Batches measured.
    pub batches: usize,
    /// The median speed of the other side, if there is one.
    pub versus_evals_per_s: Option<f64>,
    /// The other side's evaluations for each second of processor time.
    pub versus_evals_per_cpu_s: Option<f64>,
    /// The speed as a multiple of the other side's.
    pub ratio: Option<f64>,
    /// The speed in each second of processor time, as a multiple of the other side's.
    pub cpu_ratio: Option<f64>,
    /// The median time of a batch right after one of the size before, where it was measured.
    pub in_turn_ms: Option<f64>,
    /// The state of the graphics cards meanwhile, where their driver reports it.
    pub cards: Option<Vec<CardUse>>,
    /// Threads of each side.
    pub threads: usize,
    /// The backend and its network.
    pub backend: String,
    /// The device of the backend.
    pub device: String,
    /// The version of this program.
    pub version: String,
}

impl BatchSpeed {
    /// The result of a row, measured with this number of threads.
    pub fn new(row: &BenchRow, threads: usize, backend: &str, device: &str) -> BatchSpeed {
        let (side, versus) = (&row.side, row.versus.as_ref());
        BatchSpeed {
            batch: row.batch,
            evals_per_s: side.evals_per_s,
            mean_evals_per_s: side.mean_evals_per_s,
            p95_evals_per_s: side.p95_evals_per_s,
            evals_per_cpu_s: side.evals_per_cpu_s,
            latency_p50_ms: side.latency_ms.p50,
            latency_p95_ms: side.latency_ms.p95,
            batches: side.batches,
            versus_evals_per_s: versus.map(|versus| versus.evals_per_s),
            versus_evals_per_cpu_s: versus.map(|versus| versus.evals_per_cpu_s),
            ratio: row.ratio(),
            cpu_ratio: row.cpu_ratio(),
            in_turn_ms: row.in_turn_ms,
            cards: row.cards.clone(),
            threads,
            backend: backend.to_owned(),
            device: device.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
