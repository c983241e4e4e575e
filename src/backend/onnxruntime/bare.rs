//! A session with a network in it and nothing around it: what ONNX Runtime itself can do, for measurements.

use std::sync::Arc;

use ort::session::Session;

use super::ends::Ends;
use super::session::SessionPlan;
use super::{first_line, tensor};
use crate::backend::{BackendError, DeviceOptions, Rows};
use crate::network::{Network, PLANES, SQUARES};
use crate::runtime::{Provider, Runtime};

/// A session like those of an [`OnnxRuntimeBackend`](super::OnnxRuntimeBackend), run on numbers that lie ready.
pub struct BareSession {
    session: Session,
    ends: Ends,
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
        let ends = Ends::new(network, provider, &options.conversion_of(network, provider))?;
        let plan = SessionPlan::new(provider, device, conversion.precision, options, &ends.model)?;
        let session = plan.commit(plan.builder(runtime, &ends)?, &ends)?;
        let rows = ends.check(&session)?.map_or(plan.rows, Rows::fixed);
        Ok(BareSession { session, device: plan.device_name(runtime), ends, rows })
    }

    /// The device and what drives it.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The most positions of a run.
    pub fn most(&self) -> usize {
        self.rows.most
    }

    /// The rows that a run of so many positions has, as the backend's would.
    pub fn rows(&self, positions: usize) -> usize {
        self.rows.of(positions)
    }

    /// Runs the network on dense planes, `[rows, 112, 8, 8]`, and lets go of what it says.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn run(&mut self, planes: &[f32]) -> Result<(), BackendError> {
        let model = &self.ends.model;
        let shape = [planes.len() / (PLANES * SQUARES), PLANES, 8, 8];
        let tensor = tensor::input(model.types.input, shape, planes);
        let outputs = tensor.and_then(|tensor| self.session.run(ort::inputs![model.input.as_str() => tensor]));
        let outputs = outputs.map_err(|error| self.ends.run_error(first_line(&error)))?;
        std::hint::black_box(&outputs);
        Ok(())
    }
}
