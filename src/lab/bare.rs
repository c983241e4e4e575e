//! A bare ONNX Runtime loop: the same model in the same runtime, run on a dense input that lies ready, and nothing else.
//! What an evaluator loses against it is the price of input tensors, checks and policy gathering.

use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::{AutoDevicePolicy, GraphOptimizationLevel};
use ort::value::TensorRef;

use super::backendbench::{POSITIONS, Runner, SEED, Side};
use super::positions;
use crate::backend::BackendError;
use crate::backend::runtime::Runtime;
use crate::network::{Conversion, HistoryFill, Network, OnnxModel, PLANES, SQUARES, encode};

/// Numbers of one position in the input.
const NUMBERS: usize = PLANES * SQUARES;

/// The bare loop as a side: the network in float32 on the CPU provider, one thread in each worker's session.
pub struct Bare {
    name: String,
    runtime: Arc<Runtime>,
    network: String,
    model: OnnxModel,
    /// The positions of [`POSITIONS`], dense, one after the other.
    input: Vec<f32>,
}

impl Bare {
    /// The bare loop over a network.
    ///
    /// # Errors
    ///
    /// When the network has no ONNX form.
    pub fn new(runtime: Arc<Runtime>, network: &Network) -> Result<Bare, BackendError> {
        let model = network.onnx(&Conversion::default())?;
        let format = network.description().input;
        let mut input = vec![0.0; POSITIONS * NUMBERS];
        for (game, row) in positions::walk(POSITIONS, SEED).iter().zip(input.chunks_exact_mut(NUMBERS)) {
            encode(game, format, HistoryFill::FenOnly).0.write_dense(row);
        }
        let name = format!("bare ONNX Runtime loop, {} (cpu, ONNX Runtime {})", network.name(), runtime.version);
        Ok(Bare { name, runtime, network: network.name().to_owned(), model, input })
    }

    fn session(&self) -> ort::Result<Session> {
        Session::builder(self.runtime.environment())?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            .with_auto_device(AutoDevicePolicy::PreferCPU)?
            .with_log_level(ort::logging::LogLevel::Error)?
            .commit_from_memory(&self.model.bytes)
    }
}

impl Side for Bare {
    fn name(&self) -> &str {
        &self.name
    }

    fn runner(&self, largest: usize) -> Result<Box<dyn Runner>, BackendError> {
        let session = self.session().map_err(|error| BackendError::Load {
            network: self.network.clone(),
            reason: error.message().lines().next().unwrap_or_default().to_owned(),
        })?;
        // Batches go round: what begins near the end continues with the first positions.
        let input = self.input.iter().copied().cycle().take((POSITIONS + largest) * NUMBERS).collect();
        Ok(Box::new(BareRunner {
            session,
            name: self.model.input.clone(),
            network: self.network.clone(),
            input,
            next: 0,
        }))
    }
}

struct BareRunner {
    session: Session,
    name: String,
    network: String,
    input: Vec<f32>,
    next: usize,
}

impl Runner for BareRunner {
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        let rows = &self.input[self.next * NUMBERS..][..batch * NUMBERS];
        let tensor = TensorRef::from_array_view(([batch, PLANES, 8, 8], rows));
        let outputs = tensor.and_then(|tensor| self.session.run(ort::inputs![self.name.as_str() => tensor]));
        let outputs = outputs.map_err(|error| BackendError::Run {
            network: self.network.clone(),
            reason: error.message().lines().next().unwrap_or_default().to_owned(),
        })?;
        std::hint::black_box(&outputs);
        self.next = (self.next + batch) % POSITIONS;
        Ok(())
    }
}
