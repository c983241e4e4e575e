//! Keeps a session together with its provider's rule on how many sessions may work at once.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::time::Duration;

use ort::session::Session;
use parking_lot::{Mutex, MutexGuard};

use zeitnot_runtime::Provider;

/// A session; with WebGPU one that works in turn with all others.
///
/// All sessions of WebGPU in a process share one device and what is recorded for it, without a lock: two that run at
/// once take the process down (ONNX Runtime 1.27.0, its issue 32561).
pub(super) struct DeviceSession {
    session: ManuallyDrop<Session>,
    provider: Provider,
}

/// A session's turn to work: WebGPU's lock while it is held; `None` for providers whose sessions need not take turns.
type Turn = Option<MutexGuard<'static, ()>>;

static WEBGPU: Mutex<()> = Mutex::new(());

/// Waits for the turn of a session of this provider.
fn turn_of(provider: Provider) -> Turn {
    (provider == Provider::WebGpu).then(|| WEBGPU.lock())
}

/// Time that the end of a session waits for its turn. A device that was lost may hang in the run of another session.
const PATIENCE: Duration = Duration::from_secs(5);

impl DeviceSession {
    /// Makes a session of this provider, in its turn.
    pub(super) fn make<E>(provider: Provider, make: impl FnOnce() -> Result<Session, E>) -> Result<DeviceSession, E> {
        let _turn = turn_of(provider);
        Ok(DeviceSession { session: ManuallyDrop::new(make()?), provider })
    }

    /// Lets the session work, in its turn.
    pub(super) fn work<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> T {
        let _turn = turn_of(self.provider);
        work(&mut self.session)
    }
}

impl Deref for DeviceSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Drop for DeviceSession {
    fn drop(&mut self) {
        let turn = (self.provider == Provider::WebGpu).then(|| WEBGPU.try_lock_for(PATIENCE));
        if matches!(turn, Some(None)) {
            // Its memory is lost, and play goes on.
            return;
        }
        // SAFETY: nothing uses the session after this.
        unsafe { ManuallyDrop::drop(&mut self.session) };
    }
}
