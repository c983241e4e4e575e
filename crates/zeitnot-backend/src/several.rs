//! Spreads workers over several devices behind one backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::side_by_side::side_by_side;
use super::{Attributes, Backend, BackendError, EvaluationCache, Evaluator};

/// One network on several devices. Workers are dealt out to the devices in turn (Lc0's `roundrobin`), so that each
/// device is kept busy by workers of its own and no batch is split and waits for the slowest device. A search needs at
/// least as many threads as there are devices; [`Attributes::preferred_threads`] is the sum over them.
pub(crate) struct SeveralDevices {
    attributes: Attributes,
    devices: Vec<Arc<dyn Backend>>,
    next: AtomicUsize,
}

impl SeveralDevices {
    /// Puts devices with the same network behind one backend; `None` without any device.
    pub(crate) fn new(devices: Vec<Arc<dyn Backend>>) -> Option<SeveralDevices> {
        let first = devices.first()?.attributes();
        let all = || devices.iter().map(|device| device.attributes());
        let attributes = Attributes {
            device: all().map(|attributes| attributes.device.as_str()).collect::<Vec<_>>().join(" and "),
            preferred_threads: all().map(|attributes| attributes.preferred_threads).sum(),
            // What suits the fastest to be full suits no slower one less.
            preferred_batch: all().map(|attributes| attributes.preferred_batch).max().unwrap_or(first.preferred_batch),
            smallest_batch: all().map(|attributes| attributes.smallest_batch).max().unwrap_or(first.smallest_batch),
            maximum_batch: all().map(|attributes| attributes.maximum_batch).min().unwrap_or(first.maximum_batch),
            is_batch_invariant: first.is_batch_invariant && devices.len() == 1,
            ..first.clone()
        };
        Some(SeveralDevices { attributes, devices, next: AtomicUsize::new(0) })
    }
}

impl Backend for SeveralDevices {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        self.devices[turn % self.devices.len()].evaluator()
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

/// Calls `load` for several devices: for the first `alone` of them one after another, then for the rest side by side,
/// as loading takes seconds a device. The results are in the order of the devices.
///
/// # Errors
/// The error itself, if there is only one device or all devices fail alike side by side; else
/// [`BackendError::Devices`], which names each device that fails. If one of the first fails, the rest is not tried.
pub(super) fn load_side_by_side<T: Send>(
    devices: &[u32],
    alone: usize,
    load: impl Fn(u32) -> Result<T, BackendError> + Sync,
) -> Result<Vec<T>, BackendError> {
    let named = |device: u32, error: BackendError| match devices {
        [_] => error,
        _ => BackendError::Devices(format!("device {device}: {error}")),
    };
    let (first, rest) = devices.split_at(alone.min(devices.len()));
    let mut loaded = Vec::with_capacity(devices.len());
    for &device in first {
        loaded.push(load(device).map_err(|error| named(device, error))?);
    }
    let results = side_by_side(rest.iter().copied(), load);
    let mut errors = Vec::new();
    for (&device, result) in rest.iter().zip(results) {
        match result {
            Ok(device) => loaded.push(device),
            Err(error) => errors.push((device, error)),
        }
    }
    let lines: Vec<String> = errors.iter().map(|(device, error)| format!("device {device}: {error}")).collect();
    let is_same = errors.windows(2).all(|two| two[0].1.to_string() == two[1].1.to_string());
    match errors.pop() {
        None => Ok(loaded),
        // Such as a library that is missing for all.
        Some((_, error)) if is_same && lines.len() == devices.len() => Err(error),
        Some(_) => Err(BackendError::Devices(lines.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use parking_lot::{Condvar, Mutex};

    use super::*;
    use crate::{Query, RandomBackend, UniformBackend};

    #[test]
    fn workers_are_dealt_out_in_turn() {
        let devices: Vec<Arc<dyn Backend>> = (1..=2).map(|seed| Arc::new(RandomBackend::new(seed)) as _).collect();
        let alone = devices[0].attributes().preferred_threads;
        let several = SeveralDevices::new(devices).unwrap();
        assert_eq!(several.attributes().preferred_threads, 2 * alone);
        assert_eq!(several.attributes().device, "no network and no network");
        let query = [Query { key: 7, planes: None, indices: vec![1] }];
        let answers: Vec<_> = (0..4).map(|_| several.evaluator().unwrap().evaluate(&query).unwrap()).collect();
        assert_eq!((&answers[0], &answers[1]), (&answers[2], &answers[3]));
        assert_ne!(answers[0], answers[1], "each has its own device");
    }

    /// Each device waits until all are being loaded.
    #[test]
    fn devices_are_loaded_side_by_side_and_stay_in_order() {
        let (loading, all) = (Mutex::new(0), Condvar::new());
        let load = |device: u32| -> Result<(u32, Arc<dyn Backend>), BackendError> {
            let mut count = loading.lock();
            *count += 1;
            all.notify_all();
            let wait = all.wait_while_for(&mut count, |count| *count < 3, Duration::from_secs(60));
            assert!(!wait.timed_out(), "device {device} waits for the others");
            Ok((device, Arc::new(UniformBackend::new())))
        };
        let (order, devices): (Vec<u32>, Vec<_>) = load_side_by_side(&[2, 0, 1], 0, load).unwrap().into_iter().unzip();
        assert_eq!(order, [2, 0, 1]);
        assert!(SeveralDevices::new(devices).is_some());
    }

    #[test]
    fn the_first_may_be_loaded_alone() {
        let done = Mutex::new(Vec::new());
        let load = |device: u32| {
            let before = done.lock().clone();
            assert!(device == 5 || before.contains(&5), "{before:?}");
            done.lock().push(device);
            Ok(device)
        };
        assert_eq!(load_side_by_side(&[5, 6, 7], 1, load).unwrap(), [5, 6, 7]);
        assert_eq!(load_side_by_side(&[5], 3, load).unwrap(), [5]);
    }

    #[test]
    fn each_device_that_fails_is_named() {
        let fail = |reason: String| BackendError::Provider { backend: "cuda", reason };
        let line = |devices: &[u32], alone, load: &(dyn Fn(u32) -> Result<u32, BackendError> + Sync)| {
            load_side_by_side(devices, alone, load).unwrap_err().to_string()
        };
        let own = |device: u32| if device == 0 { Ok(0) } else { Err(fail(format!("no card {device}"))) };
        let cuda = "the backend cuda cannot be used";
        assert_eq!(line(&[0, 1, 3], 0, &own), format!("device 1: {cuda}: no card 1; device 3: {cuda}: no card 3"));
        assert_eq!(line(&[0, 1, 3], 2, &own), format!("device 1: {cuda}: no card 1"), "the rest was not tried");
        assert_eq!(line(&[1], 0, &own), format!("{cuda}: no card 1"));
        let same = |_: u32| Err(fail("no library".to_owned()));
        assert_eq!(line(&[0, 1], 0, &same), format!("{cuda}: no library"), "said once");
    }

    #[test]
    fn none_are_no_backend() {
        assert!(SeveralDevices::new(Vec::new()).is_none());
    }
}
