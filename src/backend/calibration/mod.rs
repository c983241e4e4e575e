//! Calibration: what a network's activations look like on positions of games, so that they can be stored in 8 bits.
//!
//! The positions come from games that the network plays against itself, a share of the moves at random: no data is
//! needed, and both sensible positions and strange ones occur, as in a search. Two passes go over them: the first finds
//! the least and the largest number of each value of the graph, the second counts the numbers between. From the counts
//! follows the range that loses least ([`Histogram::best_range`]).

mod games;
mod histogram;

use std::collections::HashMap;
use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::TensorRef;

pub use games::sample_positions;
use histogram::Histogram;

use super::input::InputBuffer;
use super::onnxruntime::one_line;
use super::runtime::Runtime;
use super::{BackendError, OnnxRuntimeBackend, Query};
use crate::network::{ActivationRange, Conversion, HistoryFill, Network, OnnxModel, PLANES, Quantiser};

/// How activation ranges are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Positions that the network is shown.
    pub positions: usize,
    /// Seed of the games they come from.
    pub seed: u64,
}

impl Default for Calibration {
    /// 512 positions; more change no range by more than a hundredth.
    fn default() -> Calibration {
        Calibration { positions: 512, seed: 1 }
    }
}

/// Positions of one run: the intermediate values of a run are all held at once.
const BATCH: usize = 16;

/// Converts a network to an ONNX model in 8 bits.
///
/// # Errors
///
/// When the network cannot be converted, holds nothing that could run in 8 bits, or does not run.
pub fn quantise(
    runtime: &Arc<Runtime>,
    network: &Network,
    conversion: &Conversion,
    calibration: Calibration,
) -> Result<OnnxModel, BackendError> {
    let quantiser = Quantiser::new(network.onnx(conversion)?, network.name())?;
    let backend = OnnxRuntimeBackend::new(Arc::clone(runtime), network, 1, HistoryFill::FenOnly)?;
    let positions = sample_positions(&backend, calibration.positions, calibration.seed)?;
    let ranges = ranges(runtime, &quantiser, network, &positions)?;
    Ok(quantiser.quantise(&ranges))
}

fn ranges(
    runtime: &Runtime,
    quantiser: &Quantiser,
    network: &Network,
    positions: &[Query],
) -> Result<HashMap<String, ActivationRange>, BackendError> {
    let names = quantiser.observed();
    let mut observer = Observer::new(runtime, quantiser, network, &names)?;
    let mut extremes = vec![(f32::INFINITY, f32::NEG_INFINITY); names.len()];
    observer.run(positions, |index, values| {
        let (low, high) = &mut extremes[index];
        for &value in values {
            *low = low.min(value);
            *high = high.max(value);
        }
    })?;
    let mut histograms: Vec<Histogram> = extremes.iter().map(|&(low, high)| Histogram::new(low, high)).collect();
    observer.run(positions, |index, values| histograms[index].add(values))?;
    let full = std::env::var("Q_FULL").is_ok();
    let range = |(histogram, (low, high)): (&Histogram, (f32, f32))| {
        if full { ActivationRange { minimum: low, maximum: high } } else { histogram.best_range() }
    };
    let ranges = histograms.iter().zip(extremes).map(range);
    Ok(names.into_iter().zip(ranges).collect())
}

/// A session that shows intermediate values.
struct Observer<'a> {
    session: Session,
    quantiser: &'a Quantiser,
    names: &'a [String],
    network: String,
}

impl<'a> Observer<'a> {
    fn new(
        runtime: &Runtime,
        quantiser: &'a Quantiser,
        network: &Network,
        names: &'a [String],
    ) -> Result<Observer<'a>, BackendError> {
        let build = || -> ort::Result<Session> {
            Session::builder(runtime.environment())?
                // Values that a fusion swallows could not be seen.
                .with_optimization_level(GraphOptimizationLevel::Level1)?
                .with_intra_threads(1)?
                .with_log_level(ort::logging::LogLevel::Error)?
                .commit_from_memory(&quantiser.observable())
        };
        let name = network.name().to_owned();
        let session =
            build().map_err(|error| BackendError::Load { network: name.clone(), reason: one_line(&error) })?;
        Ok(Observer { session, quantiser, names, network: name })
    }

    /// Shows `look` every value of every batch: the index of its name, and its numbers.
    fn run(&mut self, positions: &[Query], mut look: impl FnMut(usize, &[f32])) -> Result<(), BackendError> {
        let mut buffer = InputBuffer::new();
        let error =
            |error: &ort::Error| BackendError::Run { network: self.network.clone(), reason: one_line(error) };
        let input_name = self.quantiser.input();
        for batch in positions.chunks(BATCH) {
            buffer.grow(batch.len());
            for (row, query) in batch.iter().enumerate() {
                if let Some(planes) = &query.planes {
                    buffer.set(row, planes);
                }
            }
            let dense = buffer.rows(batch.len());
            let input = TensorRef::from_array_view(([batch.len(), PLANES, 8, 8], dense)).map_err(|e| error(&e))?;
            let outputs = self.session.run(ort::inputs![input_name => input]).map_err(|e| error(&e))?;
            for (index, name) in self.names.iter().enumerate() {
                if name == input_name {
                    look(index, dense);
                } else if let Some(value) = outputs.get(name) {
                    let (_, numbers) = value.try_extract_tensor::<f32>().map_err(|e| error(&e))?;
                    look(index, numbers);
                }
            }
        }
        Ok(())
    }
}
