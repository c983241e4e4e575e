//! Runs a session with a network in it and nothing around it, to measure ONNX Runtime itself.

use std::sync::Arc;

use super::model_io::ModelIo;
use super::run_buffers::{BufferPool, RunBuffers};
use super::session::SessionPlan;
use super::{DeviceSession, in_fitting_type, with_fitting_runs};
use crate::{BackendError, DeviceOptions, Rows};
use zeitnot_base::announcer::Announcer;
use zeitnot_network::{Network, Planes};
use zeitnot_runtime::{Provider, Runtime};

/// A session like those of an `OnnxRuntimeBackend`, run on inputs that lie ready in the same kind of memory, into
/// outputs that were made before.
pub struct BareSession {
    /// The buffers, dropped before the session as they may lie in its memory: fields are dropped in this order.
    buffers: BufferPool,
    session: DeviceSession,
    model_io: ModelIo,
    rows: Rows,
    provider: Provider,
    device: u32,
}

impl BareSession {
    /// Loads the network as a backend with these options would.
    ///
    /// # Errors
    /// As for the backend.
    pub(crate) fn new(
        runtime: &Arc<Runtime>,
        provider: Provider,
        device: u32,
        network: &Network,
        options: &DeviceOptions,
    ) -> Result<BareSession, BackendError> {
        let load = |options: &DeviceOptions| {
            let conversion = options.conversion(provider);
            let model_io = ModelIo::new(network, provider, &options.conversion_of(network, provider))?;
            let mut plan = SessionPlan::new(provider, device, conversion.precision, options, &model_io.model)?;
            let builder = plan.builder(runtime, &model_io)?;
            let session = plan.first_session(runtime, builder, &model_io, &Announcer::default())?;
            let rows = model_io.check(&session)?.map_or(plan.rows, Rows::fixed);
            let is_captured = session.is_captured();
            let buffers = BufferPool::new(&rows);
            let mut bare = BareSession { buffers, session, model_io, rows, provider, device };
            if is_captured {
                // A capture that is refused says so in the first run.
                bare.run(&[], 1)?;
                // Its rows are empty, and are no positions to measure with.
                bare.buffers = BufferPool::new(&bare.rows);
            }
            Ok(bare)
        };
        in_fitting_type(provider, options, |_| (), |options| with_fitting_runs(provider, options, |_| (), load))
    }

    /// The most positions of a run.
    pub fn most(&self) -> usize {
        self.rows.most
    }

    /// Runs the network on as many rows as a backend takes for `positions`, and drops the outputs. The first run of
    /// each size fills the rows with `planes`, repeated as needed; later runs use those rows again.
    ///
    /// # Errors
    /// When the device fails.
    pub fn run(&mut self, planes: &[Planes], positions: usize) -> Result<(), BackendError> {
        let BareSession { session, model_io, provider, device, .. } = self;
        let rows = self.rows.of(positions);
        let buffers = self.buffers.of(rows, || {
            let mut buffers = RunBuffers::on(*provider, *device, session, model_io, rows)?;
            for (row, planes) in planes.iter().cycle().take(rows).enumerate() {
                buffers.set(row, planes);
            }
            Ok::<_, BackendError>(buffers)
        })?;
        let outputs = buffers.run(session, model_io)?;
        std::hint::black_box(&outputs);
        Ok(())
    }
}
