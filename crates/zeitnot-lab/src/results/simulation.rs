//! The result of `time simulate`.

use crate::simulation::Simulation;
use serde::{Deserialize, Serialize};

/// A manager's simulated games. Intervals are of 95 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationResult {
    pub manager: String,
    pub tc: String,
    /// The identity of the recordings.
    pub traces: String,
    /// The identity of the journals that the games were fitted to, if any.
    pub fit: Option<String>,
    /// Playouts a second, where they were given.
    pub nps: Option<f64>,
    /// Playouts of a batch.
    pub batch: u64,
    /// The lag as it was given, if any.
    pub lag: Option<String>,
    pub seed: u64,
    /// The games, summed up.
    #[serde(flatten)]
    pub simulation: Simulation,
    /// The regret of a game that the manager saves against the first manager.
    pub gain: Option<f64>,
    pub gain_interval: Option<[f64; 2]>,
    /// Games simulated in a second.
    pub games_per_s: f64,
}
