//! Runs a bare loop around ONNX Runtime: the same model in the same kind of session, on a dense input that lies ready, and
//! nothing else. An evaluator loses against it the price of input tensors, checks and policy gathering.

use super::backendbench::{POSITIONS, Runner, SEED, Side};
use super::positions;
use crate::backend::{self, BackendError, BackendOptions, BareSession};
use crate::network::{Network, PLANES, SQUARES, encode};
use crate::runtime::{self, Provider};

/// Numbers of one position in the input.
const NUMBERS: usize = PLANES * SQUARES;

/// The bare loop as a side. Each worker has a session of its own.
pub struct Bare {
    name: String,
    provider: Provider,
    network: Network,
    options: BackendOptions,
    /// [`POSITIONS`] positions, dense, one after the other.
    input: Vec<f32>,
}

impl Bare {
    /// The bare loop over a network, in sessions as a backend with this provider and these options has them.
    ///
    /// # Errors
    ///
    /// When there is no ONNX Runtime with this provider.
    pub fn new(provider: Provider, network: Network, options: BackendOptions) -> Result<Bare, BackendError> {
        let runtime = runtime::load_with(options.runtime.as_deref(), provider)?;
        let format = network.description().input;
        let mut input = vec![0.0; POSITIONS * NUMBERS];
        for (game, row) in positions::walk(POSITIONS, SEED).iter().zip(input.chunks_exact_mut(NUMBERS)) {
            encode(game, format, options.history_fill).0.write_dense(row);
        }
        let name = format!("a bare ONNX Runtime {} loop ({provider}) over {}", runtime.version, network.name());
        Ok(Bare { name, provider, network, options, input })
    }
}

impl Side for Bare {
    fn name(&self) -> &str {
        &self.name
    }

    fn runner(&self, largest: usize) -> Result<Box<dyn Runner>, BackendError> {
        let session = backend::bare_session(self.provider, &self.network, &self.options)?;
        // Batches go round: what begins near the end continues with the first positions.
        let rows = POSITIONS + session.rows(largest.min(session.most()));
        let input = self.input.iter().copied().cycle().take(rows * NUMBERS).collect();
        Ok(Box::new(BareRunner { session, input, next: 0 }))
    }
}

struct BareRunner {
    session: BareSession,
    input: Vec<f32>,
    next: usize,
}

impl Runner for BareRunner {
    /// A batch that does not fit into one run is several, as it is for the backend.
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        let mut left = batch;
        while left > 0 {
            let part = left.min(self.session.most());
            let rows = self.session.rows(part);
            self.session.run(&self.input[self.next * NUMBERS..][..rows * NUMBERS])?;
            self.next = (self.next + part) % POSITIONS;
            left -= part;
        }
        Ok(())
    }
}
