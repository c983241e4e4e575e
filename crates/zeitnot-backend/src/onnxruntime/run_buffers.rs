//! Keeps the input and output tensors of runs, which are made once for each size of a run.
//!
//! A run gets them as they are, so that nothing is allocated for it. On NVIDIA's cards inputs lie in pinned memory,
//! from which a card copies by itself. Outputs of plain runs do not: ONNX Runtime 1.31.1 ends a run whose output was
//! made there with `CopyTensorAsync ... dst_data != src_data was false` (seen on an H200; like its issue 29713). (ONNX
//! Runtime's `IoBinding` would copy an input to the card when it is bound, before the run and not in its stream, and
//! hand outputs over in newly made objects.)

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use ort::memory::{AllocationDevice, Allocator, AllocatorType, MemoryInfo, MemoryType};
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue};
use ort::value::{DynTensor, ValueType};

use super::captured_runs::CapturedRuns;
use super::device_session::in_turn;
use super::maia3_tensors::Maia3Tensors;
use super::outputs::Outputs;
use super::tensor::{self, HostTensor};
use super::{DeviceSession, ModelIo, first_line};
use crate::input_buffer::{HeldPlanes, InputBuffer};
use crate::{BackendError, Rows};
use zeitnot_network::{ModelInput, PLANES, Planes, Precision};
use zeitnot_runtime::Provider;

/// ONNX Runtime's setting for the devices whose unused memory is given back after a run.
const SHRINKAGE: &str = "memory.enable_memory_arena_shrinkage";
/// Bytes of a packed plane.
pub(super) const RANKS: usize = 8;

/// The tensors of runs of one size.
pub(super) struct RunBuffers {
    rows: usize,
    input: Input,
    way: Way,
}

/// The way of a run's outputs to the host.
enum Way {
    /// By ONNX Runtime: options of a run, with the output tensors whose shapes the model states.
    Plain(RunOptions<HasSelectedOutputs>),
    /// By [`CapturedRuns`](super::captured_runs::CapturedRuns), into tensors in the order of [`ModelIo::outputs`].
    Captured(Vec<OutputTensor>),
}

/// An output on the host.
pub(super) struct OutputTensor {
    pub(super) name: String,
    pub(super) tensor: DynTensor,
}

/// The input of a run.
enum Input {
    Dense {
        planes: HostTensor<f32>,
        held: HeldPlanes,
    },
    /// Planes for foreign models whose input is narrower than float32.
    Float16 {
        planes: HostTensor<f16>,
        wide: InputBuffer,
    },
    Bfloat16 {
        planes: HostTensor<bf16>,
        wide: InputBuffer,
    },
    Packed {
        boards: HostTensor<u8>,
        values: HostTensor<f32>,
    },
    Maia3(Maia3Tensors),
}

impl RunBuffers {
    /// The tensors for runs of `rows` in sessions of this model, with inputs in the memory of this allocator.
    fn new(allocator: &Allocator, session: &DeviceSession, model_io: &ModelIo, rows: usize) -> ort::Result<RunBuffers> {
        let dense = [rows, PLANES, 8, 8];
        let input = match (&model_io.model.input, model_io.model.types.input) {
            (ModelInput::Packed { .. }, _) => Input::Packed {
                boards: HostTensor::new(allocator, &[rows, PLANES, RANKS])?,
                values: HostTensor::new(allocator, &[rows, PLANES, 1, 1])?,
            },
            (ModelInput::Maia3(input), _) => Input::Maia3(Maia3Tensors::new(allocator, input, rows)?),
            (ModelInput::Dense(_), Precision::Float32) => {
                Input::Dense { planes: HostTensor::new(allocator, &dense)?, held: HeldPlanes::empty(rows) }
            }
            (ModelInput::Dense(_), Precision::Float16) => {
                Input::Float16 { planes: HostTensor::new(allocator, &dense)?, wide: InputBuffer::new(rows) }
            }
            (ModelInput::Dense(_), Precision::Bfloat16) => {
                Input::Bfloat16 { planes: HostTensor::new(allocator, &dense)?, wide: InputBuffer::new(rows) }
            }
        };
        let way = match session.is_captured() {
            true => Way::Captured(captured_outputs(allocator, session, model_io, rows)?),
            false => Way::Plain(RunOptions::new()?.with_outputs(plain_outputs(session, model_io, rows)?)),
        };
        Ok(RunBuffers { rows, input, way })
    }

    /// The tensors for runs of so many rows on this device, inputs in pinned memory where it has any.
    pub(super) fn on(
        provider: Provider,
        device: u32,
        session: &DeviceSession,
        model_io: &ModelIo,
        rows: usize,
    ) -> Result<RunBuffers, BackendError> {
        let make = || RunBuffers::new(&input_allocator(provider, device, session), session, model_io, rows);
        in_turn(provider, make).map_err(|error| model_io.run_error(first_line(&error)))
    }

    /// Lets the session give back memory of the device that it does not use, after each run with these buffers. `memory` is
    /// ONNX Runtime's name for the device, such as `gpu:0`.
    pub(super) fn shrink_after_runs(&mut self, memory: &str) -> ort::Result<()> {
        match &mut self.way {
            Way::Plain(options) => options.set(SHRINKAGE, memory),
            // Graphs have the addresses of all memory that they have used.
            Way::Captured(_) => Ok(()),
        }
    }

    /// Puts a position into a row.
    pub(super) fn set(&mut self, row: usize, planes: &Planes) {
        match &mut self.input {
            Input::Dense { planes: tensor, held } => held.set(tensor.numbers_mut(), row, planes),
            Input::Float16 { wide, .. } | Input::Bfloat16 { wide, .. } => wide.set(row, planes),
            Input::Packed { boards, values } => {
                let boards = &mut boards.numbers_mut()[row * PLANES * RANKS..][..PLANES * RANKS];
                planes.write_packed(boards, &mut values.numbers_mut()[row * PLANES..][..PLANES]);
            }
            Input::Maia3(tensors) => tensors.set(row, planes),
        }
    }

    /// Runs the network on all rows; rows that were not set keep their content.
    pub(super) fn run<'b>(
        &'b mut self,
        session: &mut DeviceSession,
        model_io: &ModelIo,
    ) -> Result<Outputs<'b>, BackendError> {
        self.run_by(session, model_io, CapturedRuns::run)
    }

    /// Runs the network as [`RunBuffers::run`] does, on a session with captured runs without the graph.
    pub(super) fn run_plainly(&mut self, session: &mut DeviceSession, model_io: &ModelIo) -> Result<(), BackendError> {
        self.run_by(session, model_io, CapturedRuns::run_plainly).map(drop)
    }

    fn run_by<'b>(
        &'b mut self,
        session: &mut DeviceSession,
        model_io: &ModelIo,
        captured_run: CapturedRun,
    ) -> Result<Outputs<'b>, BackendError> {
        let RunBuffers { rows, input, way } = self;
        input.narrow();
        match way {
            Way::Plain(options) => session.work(|session| {
                // Nothing is allocated here but for Maia-3, whose inputs have names: exporters need not keep an order.
                let outputs = match &*input {
                    Input::Dense { planes, .. } => session.run_with_options(ort::inputs![planes.tensor()], options),
                    Input::Float16 { planes, .. } => session.run_with_options(ort::inputs![planes.tensor()], options),
                    Input::Bfloat16 { planes, .. } => session.run_with_options(ort::inputs![planes.tensor()], options),
                    Input::Packed { boards, values } => {
                        session.run_with_options(ort::inputs![boards.tensor(), values.tensor()], options)
                    }
                    Input::Maia3(_) => {
                        let named = input.tensors(model_io).into_iter().map(|(name, tensor)| (name, tensor.into()));
                        session.run_with_options(named.collect::<Vec<(&str, SessionInputValue<'_>)>>(), options)
                    }
                };
                Outputs::take(model_io, outputs.map_err(|error| model_io.run_error(first_line(&error)))?, *rows)
            }),
            Way::Captured(outputs) => {
                let (runs, session) =
                    session.captured().ok_or_else(|| model_io.run_error("its runs are not captured".to_owned()))?;
                captured_run(runs, session, *rows, &input.tensors(model_io), outputs)
                    .map_err(|reason| model_io.run_error(reason))?;
                Ok(Outputs::lent(outputs, *rows))
            }
        }
    }
}

/// [`CapturedRuns::run`] or [`CapturedRuns::run_plainly`].
type CapturedRun =
    fn(&mut CapturedRuns, &mut Session, usize, &[(&str, &DynTensor)], &mut [OutputTensor]) -> Result<(), String>;

impl Input {
    /// Rounds planes to the type of the tensor where it is narrower than float32.
    fn narrow(&mut self) {
        match self {
            Input::Float16 { planes, wide } => planes.numbers_mut().convert_from_f32_slice(wide.rows()),
            Input::Bfloat16 { planes, wide } => planes.numbers_mut().convert_from_f32_slice(wide.rows()),
            Input::Dense { .. } | Input::Packed { .. } | Input::Maia3(_) => (),
        }
    }

    /// The tensors with their names, in the order of the model.
    fn tensors<'a>(&'a self, model_io: &'a ModelIo) -> Vec<(&'a str, &'a DynTensor)> {
        let tensors = match self {
            Input::Dense { planes, .. } => vec![planes.tensor()],
            Input::Float16 { planes, .. } => vec![planes.tensor()],
            Input::Bfloat16 { planes, .. } => vec![planes.tensor()],
            Input::Packed { boards, values } => vec![boards.tensor(), values.tensor()],
            Input::Maia3(tensors) => tensors.tensors().to_vec(),
        };
        model_io.model.input.tensors().into_iter().map(|(name, _)| name).zip(tensors).collect()
    }
}

/// The outputs of a plain run, those whose shapes the model states made ahead.
fn plain_outputs(session: &Session, model_io: &ModelIo, rows: usize) -> ort::Result<OutputSelector> {
    let mut outputs = OutputSelector::no_default();
    for (name, _, precision) in model_io.outputs() {
        outputs = outputs.with(name);
        if let Some(shape) = stated_shape(session, name, rows) {
            let tensor = DynTensor::new(&Allocator::default(), tensor::element_type(precision), shape)?;
            outputs = outputs.preallocate(name, tensor);
        }
    }
    Ok(outputs)
}

/// The outputs of a captured run on the host, in the memory of this allocator.
fn captured_outputs(
    allocator: &Allocator,
    session: &Session,
    model_io: &ModelIo,
    rows: usize,
) -> ort::Result<Vec<OutputTensor>> {
    let make = |(name, width, precision): (&str, usize, Precision)| {
        let shape = stated_shape(session, name, rows).unwrap_or_else(|| vec![rows as i64, width as i64]);
        let tensor = DynTensor::new(allocator, tensor::element_type(precision), shape)?;
        Ok(OutputTensor { name: name.to_owned(), tensor })
    };
    model_io.outputs().map(make).collect()
}

/// The shape of an output of a run of `rows`; `None` unless the model states all sizes after the batch.
fn stated_shape(session: &Session, name: &str, rows: usize) -> Option<Vec<i64>> {
    let outlet = session.outputs().iter().find(|output| output.name() == name)?;
    let ValueType::Tensor { shape, .. } = outlet.dtype() else { return None };
    let (_, rest) = shape.split_first()?;
    rest.iter().all(|&size| size > 0).then(|| std::iter::once(rows as i64).chain(rest.iter().copied()).collect())
}

/// The allocator of the inputs of runs on a provider: pinned memory where it has any.
fn input_allocator(provider: Provider, device: u32, session: &Session) -> Allocator {
    match provider.is_nvidia() {
        true => pinned_allocator(device, session).unwrap_or_default(),
        false => Allocator::default(),
    }
}

/// The allocator of memory of the host that an NVIDIA card reads by itself. ONNX Runtime has called it by the card's
/// number, and also by 0 on any card: CUDA lets every card read what was pinned for one.
pub(super) fn pinned_allocator(device: u32, session: &Session) -> ort::Result<Allocator> {
    let of = |device: u32| {
        let kind = (AllocatorType::Device, MemoryType::CPUInput);
        let info = MemoryInfo::new(AllocationDevice::CUDA_PINNED, device.cast_signed(), kind.0, kind.1)?;
        Allocator::new(session, info)
    };
    of(device).or_else(|_| of(0))
}

/// The buffers of one worker, for each size of runs; the one last used is at the end.
pub(super) struct BufferPool {
    kept: Vec<RunBuffers>,
    /// The most rows that all buffers have together.
    limit: usize,
}

impl BufferPool {
    /// A pool that can keep the buffers of all these sizes or, if any size will do, of twice the largest.
    pub(super) fn new(rows: &Rows) -> BufferPool {
        BufferPool { kept: Vec::new(), limit: rows.sizes().iter().sum::<usize>().max(2 * rows.most) }
    }

    /// The buffers for runs of `rows`, made by `make` if there are none; those used longest ago are dropped where
    /// buffers would be too many.
    pub(super) fn of<E>(
        &mut self,
        rows: usize,
        make: impl FnOnce() -> Result<RunBuffers, E>,
    ) -> Result<&mut RunBuffers, E> {
        match self.kept.iter().position(|buffers| buffers.rows == rows) {
            Some(index) => self.kept[index..].rotate_left(1),
            None => {
                while !self.kept.is_empty() && self.kept.iter().map(|kept| kept.rows).sum::<usize>() + rows > self.limit
                {
                    self.kept.remove(0);
                }
                self.kept.push(make()?);
            }
        }
        Ok(self.kept.last_mut().expect("one has just been put there"))
    }
}
