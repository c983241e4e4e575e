//! Runs a session with a network in it and nothing around it, to measure ONNX Runtime itself.

use std::sync::Arc;

use ort::session::Session;

use super::model_io::ModelIo;
use super::session::SessionPlan;
use super::{first_line, tensor};
use crate::backend::{BackendError, DeviceOptions, Rows};
use crate::network::{Network, PLANES, SQUARES};
use crate::runtime::{Provider, Runtime};

/// A session like those of an [`OnnxRuntimeBackend`](super::OnnxRuntimeBackend), run on numbers that lie ready.
pub struct BareSession {
    session: Session,
    model_io: ModelIo,
    rows: Rows,
    device: String,
}

impl BareSession {
    /// Loads the network as a backend with these options would.
    ///
    /// # Errors
    ///
    /// As of the backend.
    pub(in crate::backend) fn new(
        runtime: &Arc<Runtime>,
        provider: Provider,
        device: u32,
        network: &Network,
        options: &DeviceOptions,
    ) -> Result<BareSession, BackendError> {
        let conversion = options.conversion(provider);
        let model_io = ModelIo::new(network, provider, &options.conversion_of(network, provider))?;
        let plan = SessionPlan::new(provider, device, conversion.precision, options, &model_io.model)?;
        let session = plan.commit(plan.builder(runtime, &model_io)?, &model_io)?;
        let rows = model_io.check(&session)?.map_or(plan.rows, Rows::fixed);
        Ok(BareSession { session, device: plan.device_name(runtime), model_io, rows })
    }

    /// The device and what drives it.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The most positions of a run.
    pub fn most(&self) -> usize {
        self.rows.most
    }

    /// The rows of a run of `positions`, as the backend's would be.
    pub fn rows(&self, positions: usize) -> usize {
        self.rows.of(positions)
    }

    /// Runs the network on dense planes, `[rows, 112, 8, 8]`, and drops the outputs.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn run(&mut self, planes: &[f32]) -> Result<(), BackendError> {
        let model = &self.model_io.model;
        let shape = [planes.len() / (PLANES * SQUARES), PLANES, 8, 8];
        let tensor = tensor::input(model.types.input, shape, planes);
        let outputs = tensor.and_then(|tensor| self.session.run(ort::inputs![model.input.as_str() => tensor]));
        let outputs = outputs.map_err(|error| self.model_io.run_error(first_line(&error)))?;
        std::hint::black_box(&outputs);
        Ok(())
    }
}
