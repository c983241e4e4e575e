//! Calibrates networks for 8 bits: it finds the ranges of their activations on positions of games.
//!
//! The positions come from games that the network plays against itself, a share of the moves at random: no data is
//! needed, and both sensible positions and strange ones occur, as in a search.

mod games;

use std::collections::HashMap;
use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::{AutoDevicePolicy, GraphOptimizationLevel};
use ort::value::TensorRef;

pub use games::self_play;

use super::input_buffer::{InputBuffer, POSITION};
use super::onnxruntime::first_line;
use super::{BackendError, DeviceOptions, OnnxRuntimeBackend, Query};
use crate::announcer::Announcer;
use crate::network::{ActivationRange, Conversion, HistoryFill, Network, OnnxModel, PLANES, Quantiser};
use crate::runtime::{Provider, Runtime};

/// Positions in one run: few, as all intermediate values of a run are held at once.
const BATCH: usize = 16;

/// Settings for finding activation ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Number of positions that the network is run on.
    pub positions: usize,
    /// Seed of the games that the positions come from.
    pub seed: u64,
}

impl Calibration {
    /// Default number of positions: with 2048 instead, agreement is the same within its error.
    pub const DEFAULT_POSITIONS: usize = 512;
}

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration { positions: Calibration::DEFAULT_POSITIONS, seed: 1 }
    }
}

/// Converts a network to an ONNX model whose convolutions and dense layers run in 8 bits on a CPU (see `Quantiser`).
/// The model is the same for the same network and calibration on one machine; on another machine, rounding may lead to
/// other games.
///
/// # Errors
/// When the network cannot be converted, holds nothing that could run in 8 bits, or does not run.
pub fn quantise(
    runtime: &Arc<Runtime>,
    network: &Network,
    conversion: &Conversion,
    calibration: Calibration,
) -> Result<OnnxModel, BackendError> {
    let quantiser = Quantiser::new(network.onnx(conversion)?, network.name())?;
    let backend = OnnxRuntimeBackend::new(
        Arc::clone(runtime),
        Provider::Cpu,
        0,
        network,
        &DeviceOptions::default(),
        HistoryFill::FenOnly,
        &Announcer::default(),
    )?;
    let positions = self_play(&backend, calibration.positions.max(1), calibration.seed)?;
    let ranges = Observer::new(runtime, &quantiser, network.name())?.ranges(&positions)?;
    Ok(quantiser.quantise(&ranges)?)
}

/// A session whose outputs are the intermediate values to observe.
struct Observer<'a> {
    session: Session,
    input: &'a str,
    network: &'a str,
    names: Vec<String>,
}

impl<'a> Observer<'a> {
    fn new(runtime: &Runtime, quantiser: &'a Quantiser, network: &'a str) -> Result<Observer<'a>, BackendError> {
        let build = || -> ort::Result<Session> {
            Session::builder(runtime.environment())?
                // More would be lost on a few batches.
                .with_optimization_level(GraphOptimizationLevel::Level1)?
                .with_intra_threads(1)?
                .with_inter_threads(1)?
                .with_auto_device(AutoDevicePolicy::PreferCPU)?
                .with_log_level(ort::logging::LogLevel::Error)?
                .commit_from_memory(&quantiser.observable())
        };
        let load = |error| BackendError::Load { network: network.to_owned(), reason: first_line(&error) };
        let session = build().map_err(load)?;
        Ok(Observer { session, input: quantiser.input(), network, names: quantiser.observed() })
    }

    /// The range of every value over these positions.
    fn ranges(&mut self, positions: &[Query]) -> Result<HashMap<String, ActivationRange>, BackendError> {
        let nothing = ActivationRange { minimum: f32::INFINITY, maximum: f32::NEG_INFINITY };
        let mut ranges: HashMap<String, ActivationRange> =
            self.names.iter().map(|name| (name.clone(), nothing)).collect();
        let failed = |error| BackendError::Run { network: self.network.to_owned(), reason: first_line(&error) };
        let mut buffer = InputBuffer::new(BATCH);
        for batch in positions.chunks(BATCH) {
            for (row, query) in batch.iter().enumerate() {
                if let Some(planes) = &query.planes {
                    buffer.set(row, planes);
                }
            }
            let dense = &buffer.rows()[..batch.len() * POSITION];
            let input = TensorRef::from_array_view(([batch.len(), PLANES, 8, 8], dense)).map_err(failed)?;
            let outputs = self.session.run(ort::inputs![self.input => input]).map_err(failed)?;
            for (name, range) in &mut ranges {
                let numbers = match outputs.get(name) {
                    Some(value) => value.try_extract_tensor::<f32>().map_err(failed)?.1,
                    // The input is the only value that is no output.
                    None => dense,
                };
                range.minimum = numbers.iter().copied().fold(range.minimum, f32::min);
                range.maximum = numbers.iter().copied().fold(range.maximum, f32::max);
            }
        }
        Ok(ranges)
    }
}
