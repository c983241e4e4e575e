//! Measures what each evaluation of a card costs the host, apart from search and card.

use serde::{Deserialize, Serialize};
use zeitnot_engine::backend::{self, Attributes, BackendError, BackendSettings};
use zeitnot_engine::clock::Clock;

use super::backendbench::{POSITIONS, SEED};
use super::positions;
use super::statistics::median;

/// Rounds over all positions, of which the median counts.
const ROUNDS: usize = 21;

/// Microseconds of a processor for one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCost {
    /// The query: planes and policy indices.
    pub query_us: f64,
    /// The planes packed for the card, and the answer read from its 16-bit outputs.
    pub transfer_us: f64,
}

impl HostCost {
    /// Measures the cost for a backend of these attributes; `None` where the host computes the network itself.
    ///
    /// # Errors
    /// When the backend without a card cannot be made.
    pub(super) fn measure(attributes: &Attributes, clock: &dyn Clock) -> Result<Option<HostCost>, BackendError> {
        if attributes.is_cpu {
            return Ok(None);
        }
        let games = positions::walk(POSITIONS, SEED);
        let device = "card=none".parse()?;
        let card = backend::create(
            "simulated",
            None,
            &BackendSettings { cache_size: 0, device, ..BackendSettings::default() },
        )?;
        let mut evaluator = card.evaluator()?;
        let (mut queries_ms, mut transfers_ms) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let start_ms = clock.now_ms();
            let queries = positions::queries(&games, card.attributes());
            let made_ms = clock.now_ms();
            std::hint::black_box(evaluator.evaluate(&queries)?);
            queries_ms.push(made_ms - start_ms);
            transfers_ms.push(clock.now_ms() - made_ms);
        }
        let each_us = |times: Vec<f64>| median(times) * 1e3 / POSITIONS as f64;
        Ok(Some(HostCost { query_us: each_us(queries_ms), transfer_us: each_us(transfers_ms) }))
    }
}
