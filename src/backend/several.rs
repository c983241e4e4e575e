//! Spreads workers over several devices behind one backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Attributes, Backend, BackendError, EvaluationCache, Evaluator};

/// The same network on several devices. Workers are dealt out to them in turn, so that each device is kept busy by workers
/// of its own and no batch waits for the slowest part of itself (Lc0's `roundrobin`). A search needs at least as many
/// threads as there are devices; [`Attributes::preferred_threads`] is the sum.
pub struct SeveralDevices {
    attributes: Attributes,
    devices: Vec<Arc<dyn Backend>>,
    next: AtomicUsize,
}

impl SeveralDevices {
    /// Puts devices with the same network behind one backend; `None` without any.
    pub fn new(devices: Vec<Arc<dyn Backend>>) -> Option<SeveralDevices> {
        let first = devices.first()?.attributes();
        let all = || devices.iter().map(|device| device.attributes());
        let attributes = Attributes {
            device: all().map(|attributes| attributes.device.as_str()).collect::<Vec<_>>().join(" and "),
            preferred_threads: all().map(|attributes| attributes.preferred_threads).sum(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Query, RandomBackend};

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

    #[test]
    fn none_are_no_backend() {
        assert!(SeveralDevices::new(Vec::new()).is_none());
    }
}
