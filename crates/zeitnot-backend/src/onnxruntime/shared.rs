//! Makes the sessions of a network, and lets the device get ready for the sizes of its runs.

use std::sync::Arc;

use ort::session::builder::SessionBuilder;

use super::model_io::ModelIo;
use super::run_buffers::{RunBuffers, pinned_allocator};
use super::session::SessionPlan;
use super::weights::SharedWeights;
use super::{DeviceSession, first_line};
use crate::{BackendError, Rows, Sharing};
use zeitnot_base::announcer::Announcer;
use zeitnot_base::clock::{Clock as _, MonotonicClock};
use zeitnot_runtime::{Provider, Runtime};

/// Timed runs of each size while a network is loaded for a device; the fastest counts.
const TIMED_RUNS: usize = 3;
/// Milliseconds of a run above which it is timed only once.
const LONG_RUN_MS: f64 = 50.0;
/// Milliseconds of a run that are too many for any move: a slow device gets no such run unless it is asked for.
const TOO_LONG_RUN_MS: f64 = 5_000.0;

/// The common part of all sessions of a network.
pub(super) struct SharedModel {
    pub(super) runtime: Arc<Runtime>,
    pub(super) model_io: ModelIo,
    pub(super) plan: SessionPlan,
    pub(super) rows: Rows,
    /// The weights, where sessions share them; then `model_io` has no model.
    pub(super) weights: Option<SharedWeights>,
}

/// Numbers of rows, and the milliseconds of a run of each.
pub(super) type RunTimes = Vec<(usize, f64)>;

impl SharedModel {
    /// Makes the first sessions and lets the device get ready for their runs; returns the sessions and the runs' times.
    pub(super) fn prepare(
        &mut self,
        builder: SessionBuilder,
        announcer: &Announcer,
    ) -> Result<(Vec<DeviceSession>, RunTimes), BackendError> {
        let mut first = match self.plan.provider {
            Provider::Cpu if self.plan.card.is_none() => self.share_weights(builder)?,
            _ => self.plan.first_session(&self.runtime, builder, &self.model_io, announcer)?,
        };
        if let Some(fixed) = self.model_io.check(&first)? {
            self.rows = Rows::fixed(fixed);
        }
        if self.plan.provider.is_nvidia()
            && let Err(error) = pinned_allocator(self.plan.device, &first)
        {
            announcer.say(&format!("no pinned memory for card {}, which slows copies: {error}", self.plan.device));
        }
        let times = self.warm_up(&mut first)?;
        self.check_that_graphs_pay(&mut first, &times)?;
        if let Some(&(largest, _)) = times.last() {
            if largest < self.rows.most {
                announcer.say(&format!(
                    "runs of at most {largest} position{}: larger ones do not run on this device, or take too long",
                    if largest == 1 { "" } else { "s" }
                ));
            }
            self.rows = self.rows.among(&times).without_slower(&times);
        }
        let mut sessions = vec![first];
        if let Sharing::InTurn(runs) = self.plan.sharing() {
            for _ in 1..runs {
                match self.another_session() {
                    Ok(session) => sessions.push(session),
                    // A card without room for two works with one.
                    Err(error) => {
                        announcer.say(&format!("{} runs in flight instead of {runs}: {error}", sessions.len()));
                        break;
                    }
                }
            }
        }
        Ok((sessions, times))
    }

    /// A further session, which has run every size once.
    fn another_session(&self) -> Result<DeviceSession, BackendError> {
        let mut session = self.session()?;
        // The largest first: smaller ones run in the memory that it took.
        for rows in self.rows.sizes().into_iter().rev() {
            self.buffers(&session, rows)?.run(&mut session, &self.model_io)?;
        }
        Ok(session)
    }

    pub(super) fn session(&self) -> Result<DeviceSession, BackendError> {
        let builder = self.plan.builder(&self.runtime, &self.model_io)?;
        match &self.weights {
            Some(weights) => DeviceSession::make(self.plan.provider, || weights.session(builder))
                .map_err(|error| self.plan.load_error(&self.model_io, &error)),
            None => self.plan.commit(builder, &self.model_io),
        }
    }

    /// Makes the weights that all sessions share, and a first session with them. Where weights cannot be shared, such
    /// as without a folder for temporary files, each session has its own.
    fn share_weights(&mut self, builder: SessionBuilder) -> Result<DeviceSession, BackendError> {
        match SharedWeights::new(builder, &self.model_io.model.bytes) {
            Ok(weights) => {
                self.weights = Some(weights);
                match self.session() {
                    Ok(session) => {
                        self.model_io.model.bytes = Vec::new();
                        return Ok(session);
                    }
                    Err(error) => tracing::debug!(%error, "weights are not shared"),
                }
                self.weights = None;
            }
            Err(error) => tracing::debug!(%error, "weights are not shared"),
        }
        self.session()
    }

    /// Runs every size of batch on a device whose first run of a size is slow, so that engines are built and plans made
    /// before a clock runs; does nothing on a CPU. It times further runs of each, one of them where any size will do.
    /// Sizes that do not run, for want of memory, or that take too long, are left out.
    fn warm_up(&self, session: &mut DeviceSession) -> Result<RunTimes, BackendError> {
        if self.plan.is_cpu() {
            return Ok(Vec::new());
        }
        let timed = if self.rows.are_any() { 1 } else { TIMED_RUNS };
        let mut sizes = self.rows.sizes();
        let least = sizes[0];
        // With CUDA smaller sizes run in the memory that the largest took. Other devices may be slow, and are spared the
        // sizes that would take too long by the one before.
        let falls = self.plan.provider.is_nvidia() || self.plan.card.is_some();
        if falls {
            sizes.reverse();
        }
        let mut times: RunTimes = Vec::new();
        for &rows in &sizes {
            let is_too_long = |&(smaller, time): &(usize, f64)| time * rows as f64 / smaller as f64 > TOO_LONG_RUN_MS;
            if !falls && self.plan.may_leave_out_sizes && times.last().is_some_and(is_too_long) {
                break;
            }
            match self.time_of(session, rows, timed) {
                Ok(time) => times.push((rows, time)),
                Err(error) if rows == least && times.is_empty() || self.rows.are_any() => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, rows, "no runs of this size");
                    if !falls {
                        break;
                    }
                }
            }
        }
        if falls {
            times.reverse();
            // What the sizes took that did not fit is given back, so that another session finds room.
            if times.len() < sizes.len()
                && !session.is_captured()
                && let Err(error) = self.shrink(session, times[0].0)
            {
                tracing::debug!(%error, "no memory given back");
            }
        }
        Ok(times)
    }

    /// Runs a size, after which the session gives back the memory of its device that it does not use.
    pub(super) fn shrink(&self, session: &mut DeviceSession, rows: usize) -> Result<(), BackendError> {
        let mut buffers = self.buffers(session, rows)?;
        let shrinking = buffers.shrink_after_runs(&self.plan.memory());
        shrinking.map_err(|error| self.model_io.run_error(first_line(&error)))?;
        buffers.run(session, &self.model_io).map(drop)
    }

    /// Milliseconds of a run of this size, after a first one: the least of `timed` runs, or of fewer if one takes long.
    fn time_of(&self, session: &mut DeviceSession, rows: usize, timed: usize) -> Result<f64, BackendError> {
        let mut buffers = self.buffers(session, rows)?;
        buffers.run(session, &self.model_io)?;
        fastest(timed, || buffers.run(session, &self.model_io).map(drop))
    }

    /// Checks that captured runs are faster than plain ones, unless the user wants them in any case.
    fn check_that_graphs_pay(&self, session: &mut DeviceSession, times: &RunTimes) -> Result<(), BackendError> {
        if !session.is_captured() || self.plan.wants_captures {
            return Ok(());
        }
        let rows = self.rows.preferred(self.plan.provider);
        let Some(&(rows, captured)) = times.iter().rfind(|&&(size, _)| size <= rows) else { return Ok(()) };
        let mut buffers = self.buffers(session, rows)?;
        let plain = fastest(TIMED_RUNS + 1, || buffers.run_plainly(session, &self.model_io))?;
        if captured <= plain {
            return Ok(());
        }
        let reason = format!("a run of {rows} positions takes {captured:.2} ms, and without them {plain:.2} ms");
        Err(BackendError::Load { network: self.model_io.network.clone(), reason })
    }

    /// The tensors for runs of this size.
    pub(super) fn buffers(&self, session: &DeviceSession, rows: usize) -> Result<RunBuffers, BackendError> {
        RunBuffers::on(self.plan.provider, self.plan.device, session, &self.model_io, rows)
    }
}

/// Milliseconds of the fastest of so many runs, or of fewer if one takes long.
fn fastest(runs: usize, mut run: impl FnMut() -> Result<(), BackendError>) -> Result<f64, BackendError> {
    let clock = MonotonicClock::new();
    let mut fastest = f64::INFINITY;
    for _ in 0..runs {
        let start_ms = clock.now_ms();
        run()?;
        fastest = fastest.min(clock.now_ms() - start_ms);
        if fastest > LONG_RUN_MS {
            break;
        }
    }
    Ok(fastest)
}
