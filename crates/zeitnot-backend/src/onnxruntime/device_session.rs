//! Keeps a session together with its provider's rules: which sessions may work at once, and which runs are captured.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::time::Duration;

use ort::session::Session;
use parking_lot::{Mutex, MutexGuard, RecursiveRwLock, RecursiveRwLockReadGuard};

use super::captured_runs::{CapturedRuns, Card};
use zeitnot_runtime::Provider;

/// A session; with WebGPU one that works in turn with all others.
///
/// All sessions of WebGPU in a process share one device and what is recorded for it, without a lock: two that run at
/// once take the process down (ONNX Runtime 1.27.0, its issue 32561).
pub(super) struct DeviceSession {
    session: ManuallyDrop<Session>,
    provider: Provider,
    /// The runs that the card has captured; `None` for a session without.
    captured: Option<CapturedRuns>,
}

/// A session's turn to work, which lasts while this is held.
enum Turn {
    /// A turn alone among WebGPU's sessions.
    WebGpu { _lock: MutexGuard<'static, ()> },
    /// A turn beside others on NVIDIA's cards, but beside no capture.
    Nvidia { _lock: RecursiveRwLockReadGuard<'static, ()> },
    /// Providers whose sessions need not take turns.
    Free,
}

static WEBGPU: Mutex<()> = Mutex::new(());
/// Recursive, so that runs do not stand behind a session that waits to be alone: TensorRT may build an engine for minutes.
static NVIDIA: RecursiveRwLock<()> = RecursiveRwLock::new(());

/// Waits for the turn of a session of this provider.
fn turn_of(provider: Provider) -> Turn {
    match provider {
        Provider::WebGpu => Turn::WebGpu { _lock: WEBGPU.lock() },
        _ if provider.is_nvidia() => Turn::Nvidia { _lock: NVIDIA.read() },
        _ => Turn::Free,
    }
}

/// Works on a card of NVIDIA's while others may, too.
pub(super) fn beside_others_on_cards<T>(work: impl FnOnce() -> T) -> T {
    let _turn = NVIDIA.read();
    work()
}

/// Works on a card of NVIDIA's while no other thread of this process does.
///
/// # Errors
/// When others work all the time that it waits, or one hangs on a lost card.
pub(super) fn alone_on_cards<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let Some(_turn) = NVIDIA.try_write_for(PATIENCE) else {
        return Err(format!("no turn alone on the cards within {PATIENCE:?}: other sessions work"));
    };
    work()
}

/// Does what allocates on a device of this provider, in its turn.
pub(super) fn in_turn<T>(provider: Provider, work: impl FnOnce() -> T) -> T {
    let _turn = turn_of(provider);
    work()
}

/// Time that a capture or the end of a session waits for its turn. A device that was lost may hang in the run of another
/// session.
const PATIENCE: Duration = Duration::from_secs(5);

impl DeviceSession {
    /// Makes a session of this provider, in its turn.
    pub(super) fn make<E>(provider: Provider, make: impl FnOnce() -> Result<Session, E>) -> Result<DeviceSession, E> {
        let _turn = turn_of(provider);
        Ok(DeviceSession { session: ManuallyDrop::new(make()?), provider, captured: None })
    }

    /// The session with its runs captured by this card.
    pub(super) fn captured_by(mut self, card: Box<dyn Card>) -> Result<DeviceSession, String> {
        self.captured = Some(CapturedRuns::new(card)?);
        Ok(self)
    }

    /// The captured runs with the session that they run; `None` for a session without.
    pub(super) fn captured(&mut self) -> Option<(&mut CapturedRuns, &mut Session)> {
        Some((self.captured.as_mut()?, &mut self.session))
    }

    /// Whether runs are captured.
    pub(super) fn is_captured(&self) -> bool {
        self.captured.is_some()
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
        let turn = match self.provider {
            Provider::WebGpu => WEBGPU.try_lock_for(PATIENCE).map(|lock| Turn::WebGpu { _lock: lock }),
            _ if self.provider.is_nvidia() => NVIDIA.try_read_for(PATIENCE).map(|lock| Turn::Nvidia { _lock: lock }),
            _ => Some(Turn::Free),
        };
        let Some(_turn) = turn else {
            // Its memory is lost, and play goes on.
            std::mem::forget(self.captured.take());
            return;
        };
        // They lie in the session's memory.
        self.captured = None;
        // SAFETY: nothing uses the session after this.
        unsafe { ManuallyDrop::drop(&mut self.session) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_on_while_a_capture_waits() {
        let long_work = NVIDIA.read();
        let capture = std::thread::spawn(|| alone_on_cards(|| Ok(())));
        // The capture begins to wait during one of these; a lock that is fair would hold the next until it gives up.
        for _ in 0..100 {
            beside_others_on_cards(|| std::thread::sleep(Duration::from_micros(100)));
        }
        drop(long_work);
        assert_eq!(capture.join().unwrap(), Ok(()));
    }
}
