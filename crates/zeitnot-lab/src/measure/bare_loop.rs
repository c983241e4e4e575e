//! Runs a bare loop around ONNX Runtime: the same model in the same kind of session and memory, on an input that lies
//! ready, and nothing else. An evaluator is slower by the time that it takes for input tensors, checks and gathering
//! the policy.

use std::sync::Arc;

use super::backendbench::{POSITIONS, Runner, SEED, Side};
use super::positions;
use zeitnot_engine::backend::{self, BackendError, BackendSettings, BareSession};
use zeitnot_engine::network::{Network, Planes, encode};
use zeitnot_engine::runtime::{self, Provider};

/// The bare loop as a side. Each worker has a session of its own.
pub struct Bare {
    name: String,
    provider: Provider,
    network: Network,
    options: BackendSettings,
    /// The input planes of [`POSITIONS`] positions.
    positions: Arc<Vec<Planes>>,
}

impl Bare {
    /// The bare loop over a network, in sessions like those of a backend with this provider and these options.
    ///
    /// # Errors
    ///
    /// When there is no ONNX Runtime with this provider.
    pub fn new(provider: Provider, network: Network, options: BackendSettings) -> Result<Bare, BackendError> {
        let runtime = runtime::load_with(options.runtime.as_deref(), provider)?;
        let format = network.description().input;
        let games = positions::walk(POSITIONS, SEED);
        let positions = Arc::new(games.iter().map(|game| encode(game, format, options.history_fill).0).collect());
        let name = format!("a bare ONNX Runtime {} loop ({provider}) over {}", runtime.version, network.name());
        Ok(Bare { name, provider, network, options, positions })
    }
}

impl Side for Bare {
    fn name(&self) -> &str {
        &self.name
    }

    fn runner(&self, _largest: usize) -> Result<Box<dyn Runner>, BackendError> {
        let session = backend::bare_session(self.provider, &self.network, &self.options)?;
        Ok(Box::new(BareRunner { session, positions: Arc::clone(&self.positions) }))
    }
}

struct BareRunner {
    session: BareSession,
    positions: Arc<Vec<Planes>>,
}

impl Runner for BareRunner {
    /// Runs a batch; one that does not fit into one run becomes several, as in the backend.
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        let mut left = batch;
        while left > 0 {
            let part = left.min(self.session.most());
            self.session.run(&self.positions, part)?;
            left -= part;
        }
        Ok(())
    }
}
