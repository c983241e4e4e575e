//! Runs a session with a network in it and nothing around it, to measure ONNX Runtime itself.

use std::sync::Arc;

use half::vec::HalfFloatVecExt as _;
use half::{bf16, f16};
use ort::session::SessionInputValue;
use ort::value::{PrimitiveTensorElementType, TensorRef};

use super::model_io::ModelIo;
use super::run_buffers::RANKS;
use super::session::SessionPlan;
use super::{DeviceSession, first_line, in_fitting_type};
use crate::announcer::Announcer;
use crate::backend::{BackendError, DeviceOptions, Rows};
use crate::network::{ModelInput, Network, PLANES, Planes, Precision, SQUARES};
use crate::runtime::{Provider, Runtime};

/// A session like those of an `OnnxRuntimeBackend`, run on numbers that lie ready.
pub struct BareSession {
    session: DeviceSession,
    model_io: ModelIo,
    rows: Rows,
}

/// The input of a [`BareSession`] as its model takes it: positions one after the other.
pub struct BareInput(Numbers);

enum Numbers {
    Float32(Vec<f32>),
    Float16(Vec<f16>),
    Bfloat16(Vec<bf16>),
    Packed { boards: Vec<u8>, values: Vec<f32> },
}

impl BareSession {
    /// Loads the network as a backend with these options would.
    ///
    /// # Errors
    /// Those of the backend.
    pub(in crate::backend) fn new(
        runtime: &Arc<Runtime>,
        provider: Provider,
        device: u32,
        network: &Network,
        options: &DeviceOptions,
    ) -> Result<BareSession, BackendError> {
        in_fitting_type(
            provider,
            options,
            |_| (),
            |options| {
                let conversion = options.conversion(provider);
                let model_io = ModelIo::new(network, provider, &options.conversion_of(network, provider))?;
                let mut plan = SessionPlan::new(provider, device, conversion.precision, options, &model_io.model)?;
                let builder = plan.builder(runtime, &model_io)?;
                let session = plan.first_session(runtime, builder, &model_io, &Announcer::default())?;
                let rows = model_io.check(&session)?.map_or(plan.rows, Rows::fixed);
                Ok(BareSession { session, model_io, rows })
            },
        )
    }

    /// The most positions of a run.
    pub fn most(&self) -> usize {
        self.rows.most
    }

    /// The rows of a run of `positions`, as in the backend.
    pub fn rows(&self, positions: usize) -> usize {
        self.rows.of(positions)
    }

    /// The input of these positions.
    pub fn input<'a>(&self, positions: impl Iterator<Item = &'a Planes>) -> BareInput {
        if let ModelInput::Packed { .. } = self.model_io.model.input {
            let (mut boards, mut values) = (Vec::new(), Vec::new());
            for planes in positions {
                let (first_board, first_value) = (boards.len(), values.len());
                boards.resize(first_board + PLANES * RANKS, 0);
                values.resize(first_value + PLANES, 0.0);
                planes.write_packed(&mut boards[first_board..], &mut values[first_value..]);
            }
            return BareInput(Numbers::Packed { boards, values });
        }
        let mut dense = Vec::new();
        for planes in positions {
            let start = dense.len();
            dense.resize(start + PLANES * SQUARES, 0.0);
            planes.write_dense(&mut dense[start..]);
        }
        BareInput(match self.model_io.model.types.input {
            Precision::Float32 => Numbers::Float32(dense),
            Precision::Float16 => Numbers::Float16(Vec::from_f32_slice(&dense)),
            Precision::Bfloat16 => Numbers::Bfloat16(Vec::from_f32_slice(&dense)),
        })
    }

    /// Runs the network on `rows` positions of the input from the one at `first` on, and drops the outputs.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// If the input has fewer than `first + rows` positions.
    pub fn run(&mut self, input: &BareInput, first: usize, rows: usize) -> Result<(), BackendError> {
        let dense = &[PLANES, 8, 8];
        let BareSession { session, model_io, .. } = self;
        session.work(|session| {
            let outputs = match &input.0 {
                Numbers::Float32(numbers) => view(numbers, first, rows, dense).and_then(|input| session.run([input])),
                Numbers::Float16(numbers) => view(numbers, first, rows, dense).and_then(|input| session.run([input])),
                Numbers::Bfloat16(numbers) => view(numbers, first, rows, dense).and_then(|input| session.run([input])),
                Numbers::Packed { boards, values } => {
                    let boards = view(boards, first, rows, &[PLANES, RANKS]);
                    let values = view(values, first, rows, &[PLANES, 1, 1]);
                    boards.and_then(|boards| session.run([boards, values?]))
                }
            };
            let outputs = outputs.map_err(|error| model_io.run_error(first_line(&error)))?;
            std::hint::black_box(&outputs);
            Ok(())
        })
    }
}

/// A tensor of `rows` positions of `shape` each, from the one at `first` on.
fn view<'a, T: PrimitiveTensorElementType + std::fmt::Debug + Clone + 'static>(
    numbers: &'a [T],
    first: usize,
    rows: usize,
    shape: &[usize],
) -> ort::Result<SessionInputValue<'a>> {
    let position: usize = shape.iter().product();
    let shape: Vec<usize> = std::iter::once(rows).chain(shape.iter().copied()).collect();
    Ok(TensorRef::from_array_view((shape, &numbers[first * position..][..rows * position]))?.into())
}
