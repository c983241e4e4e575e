//! The result of `time simulate`.

use crate::simulation::Simulation;
use serde::{Deserialize, Serialize};

/// A manager's simulated games. Intervals are of 95 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationResult {
    pub manager: String,
    pub tc: String,
    /// The digest of the recorded searches that the games were drawn from.
    pub traces: String,
    /// The digest of the journals that the model of the games was fitted to, if any.
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
    /// The regret per game that the manager saves compared with the first manager.
    pub gain: Option<f64>,
    pub gain_interval: Option<[f64; 2]>,
    /// Games simulated in a second.
    pub games_per_s: f64,
}
