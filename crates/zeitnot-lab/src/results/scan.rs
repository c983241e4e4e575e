//! The result of a scan of search parameters.

use serde::{Deserialize, Serialize};

/// A value of the scanned parameters. Regrets are mean losses of a position in value, -1 to 1; intervals are of 95 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanPoint {
    /// The options that were set, such as `CPuct=1.5`.
    pub with: String,
    /// Positions that were searched.
    pub positions: usize,
    /// Playouts of a search.
    pub playouts: u64,
    /// The regret of this point.
    pub regret: f64,
    /// The interval of the regret.
    pub regret_interval: Option<[f64; 2]>,
    /// The share of positions in which the long search would have played the same move.
    pub agreement: f64,
    /// The regret that this point saves against the unchanged options.
    pub gain: f64,
    /// The interval of the gain.
    pub gain_interval: Option<[f64; 2]>,
}
