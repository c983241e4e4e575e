//! Checks that batches shrink near the deadline, so that the last one is over in time: on a clock that only evaluations
//! move.

use super::bare_tests::Uncached;
use crate::search::{EndReason, SearchParams};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use zeitnot_backend::{Backend, BackendError, Evaluation, Evaluator, Query};
use zeitnot_base::clock::Clock;
use zeitnot_time::{SearchLimits, StopReason, StopperParams};

/// Positions of a full batch.
const FULL: usize = 16;

/// Microseconds, as the evaluator counts them.
#[derive(Default)]
struct Counted(AtomicU64);

impl Clock for Counted {
    fn now_ms(&self) -> f64 {
        self.0.load(Ordering::SeqCst) as f64 / 1e3
    }

    fn pass(&self, ms: f64) {
        self.0.fetch_add((ms * 1e3) as u64, Ordering::SeqCst);
    }

    fn playout_ms(&self) -> f64 {
        0.0
    }
}

/// Takes these microseconds for a batch and for each position, and remembers the batches.
struct Paced {
    inner: Box<dyn Evaluator>,
    clock: Arc<Counted>,
    cost_us: (u64, u64),
    batches: Arc<Mutex<Vec<usize>>>,
}

impl Evaluator for Paced {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let (fixed, each) = self.cost_us;
        self.batches.lock().unwrap().push(batch.len());
        let evaluations = self.inner.evaluate(batch);
        self.clock.0.fetch_add(fixed + each * batch.len() as u64, Ordering::SeqCst);
        evaluations
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// Sizes of the batches of a search of `limit_ms`, and the end of the last one.
fn search(limit_ms: f64, cost_us: (u64, u64)) -> (Vec<usize>, f64) {
    let limits = SearchLimits { movetime_ms: Some(limit_ms), ..SearchLimits::default() };
    let params = StopperParams { overhead_ms: 0.0, smart_pruning_factor: 0.0, ..StopperParams::default() };
    let (clock, batches) = (Arc::new(Counted::default()), Arc::new(Mutex::new(Vec::new())));
    let inner = Uncached::new().evaluator().unwrap();
    let paced = Paced { inner, clock: Arc::clone(&clock), cost_us, batches: Arc::clone(&batches) };
    let search_params = SearchParams { minibatch_size: FULL, ..SearchParams::LC0 };
    let counted: Arc<dyn Clock> = Arc::clone(&clock) as _;
    let started = super::bare_tests::start(
        super::bare_tests::pool_of(Box::new(paced)),
        counted,
        limits,
        &params,
        search_params,
        None,
    );
    started.search.wait();
    let answer = started.answer;
    let end = answer.end.lock().take().unwrap();
    assert_eq!(end.reason, EndReason::Stopper(StopReason::MoveTime));
    let batches = batches.lock().unwrap().clone();
    (batches, clock.now_ms())
}

#[test]
fn the_last_batch_fits_into_the_time_that_is_left() {
    for limit_ms in [403.0, 407.0, 411.0, 415.0] {
        // 2 ms a batch and 1 ms a position: a full one would be up to 18 ms late.
        let (batches, over_ms) = search(limit_ms, (2_000, 1_000));
        let full = batches.iter().filter(|size| **size == FULL).count();
        assert!(full * 2 > batches.len() && batches.last().is_some_and(|size| *size < FULL), "{batches:?}");
        // Where not even one fits, one is evaluated: something may come before it is over.
        assert!(over_ms < limit_ms + 3.0, "{over_ms} of {limit_ms} ms: {batches:?}");
    }
}

#[test]
fn where_a_small_batch_takes_as_long_as_a_large_one_it_stays_large() {
    // The first batch, of the root alone, shows it; it is long forgotten in the longest of them.
    for limit_ms in [123.0, 503.0, 2003.0] {
        let (batches, _) = search(limit_ms, (10_000, 0));
        assert_eq!(batches.last(), Some(&FULL), "{batches:?}");
    }
}
