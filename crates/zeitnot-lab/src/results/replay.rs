//! The result of `time replay`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A manager replayed over recorded searches. Regrets are mean losses of a move in value, -1 to 1; intervals are of
/// 95 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayResult {
    pub manager: String,
    /// The digest of the recorded searches that were replayed.
    pub traces: String,
    pub tc: String,
    /// Playouts of a batch.
    pub batch: u64,
    pub moves: usize,
    /// Mean playouts of a move.
    pub mean_nodes: f64,
    /// The speed that gives these playouts, in playouts a second.
    pub nps: f64,
    /// The regret of the manager.
    pub regret: f64,
    pub regret_interval: Option<[f64; 2]>,
    /// The share of moves for which the long search would have played the same.
    pub agreement: f64,
    /// The regret that the manager saves compared with the first manager.
    pub gain: f64,
    pub gain_interval: Option<[f64; 2]>,
    /// The share of the way from the first manager's regret to the oracle's.
    pub oracle_share: Option<f64>,
    /// Moves that used more than their clock.
    pub forfeits: u64,
    /// How often each reason stopped a search.
    pub stops: BTreeMap<String, u64>,
    /// The regret of the best stops in hindsight with as many playouts.
    pub oracle_regret: f64,
}
