//! Defines the clock of a match.

use serde_json::Value;
use zeitnot_engine::backend::CostModel;

#[derive(Clone)]
pub enum MatchClock {
    /// The machine's clock.
    Real,
    /// A virtual clock, on which batches and playouts cost modelled times.
    Virtual {
        /// The cost of batches.
        cost: CostModel,
        /// Milliseconds of a playout beside the network's time.
        playout_ms: f64,
    },
}

impl MatchClock {
    /// The clock as a setting of a match.
    pub fn settings(&self) -> Value {
        match self {
            MatchClock::Real => "real".into(),
            MatchClock::Virtual { cost, playout_ms } => format!("{cost:?}, {playout_ms} ms a playout").into(),
        }
    }

    /// Whether games on this clock are computations that give the same moves again.
    pub fn is_virtual(&self) -> bool {
        matches!(self, MatchClock::Virtual { .. })
    }
}
