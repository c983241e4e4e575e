//! Counts the batches and cache hits of a search, as a decorator of its backend: the search itself needs no
//! instruments.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use zeitnot_engine::backend::{
    Attributes, Backend, BackendError, CacheStatistics, Evaluation, EvaluationCache, Evaluator, Query,
};
use zeitnot_engine::clock::Clock;

/// One batch that was evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchRecord {
    /// Positions in the batch.
    pub size: usize,
    /// When the worker handed the batch over, in milliseconds on the meter's clock.
    pub start_ms: f64,
    /// When the evaluations were there.
    pub end_ms: f64,
    /// Positions that the cache answered, to any worker, since the batch before was handed over.
    pub cache_hits: u64,
}

impl BatchRecord {
    pub fn ms(&self) -> f64 {
        self.end_ms - self.start_ms
    }
}

/// The batches and cache hits since the last reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The batches of all workers, in the order they ended.
    pub batches: Vec<BatchRecord>,
    /// Positions that the cache answered after the last batch was handed over.
    pub later_cache_hits: u64,
}

impl Reading {
    /// Positions that were evaluated.
    pub fn evaluations(&self) -> u64 {
        self.batches.iter().map(|batch| batch.size as u64).sum()
    }

    /// Positions that the cache answered before these batches were handed over.
    pub(crate) fn cache_hits(&self) -> u64 {
        self.batches.iter().map(|batch| batch.cache_hits).sum()
    }
}

/// A backend that counts the batches and cache hits of another.
pub struct Meter {
    inner: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
    batches: Arc<Mutex<Vec<BatchRecord>>>,
    cache_hits: Arc<AtomicU64>,
}

impl Meter {
    /// Counts the batches of `inner`, with the times of `clock`.
    pub fn new(inner: Arc<dyn Backend>, clock: Arc<dyn Clock>) -> Meter {
        Meter { inner, clock, batches: Arc::default(), cache_hits: Arc::default() }
    }

    /// Takes the reading; the next reading begins with nothing.
    pub fn take(&self) -> Reading {
        let later_cache_hits = self.cache_hits.swap(0, Ordering::Relaxed);
        Reading { batches: std::mem::take(&mut self.batches.lock()), later_cache_hits }
    }
}

impl Backend for Meter {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let (clock, batches) = (Arc::clone(&self.clock), Arc::clone(&self.batches));
        let cache_hits = Arc::clone(&self.cache_hits);
        Ok(Box::new(MeteredEvaluator { inner: self.inner.evaluator()?, clock, batches, cache_hits }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        self.inner.cache().map(|_| self as &dyn EvaluationCache)
    }
}

/// The cache of the inner backend, with its answers counted. The meter gives itself out as a cache only where the inner
/// backend has one.
impl EvaluationCache for Meter {
    fn get(&self, key: u64) -> Option<Evaluation> {
        let known = self.inner.cached(key);
        self.cache_hits.fetch_add(u64::from(known.is_some()), Ordering::Relaxed);
        known
    }

    fn fill(&self) -> u32 {
        self.inner.cache_fill().unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.inner.cache_bytes()
    }

    fn clear(&self) {
        self.inner.clear_cache();
    }

    fn statistics(&self) -> CacheStatistics {
        self.inner.cache_statistics().unwrap_or_default()
    }
}

struct MeteredEvaluator {
    inner: Box<dyn Evaluator>,
    clock: Arc<dyn Clock>,
    batches: Arc<Mutex<Vec<BatchRecord>>>,
    cache_hits: Arc<AtomicU64>,
}

impl Evaluator for MeteredEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let start_ms = self.clock.now_ms();
        let cache_hits = self.cache_hits.swap(0, Ordering::Relaxed);
        let answers = self.inner.evaluate(batch)?;
        let end_ms = self.clock.now_ms();
        self.batches.lock().push(BatchRecord { size: batch.len(), start_ms, end_ms, cache_hits });
        Ok(answers)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        self.inner.modelled_cost_ms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::positions::{queries, walk};
    use zeitnot_engine::backend::{CachedBackend, RandomBackend};
    use zeitnot_engine::clock::MonotonicClock;

    #[test]
    fn batches_and_cache_hits_are_counted_and_answers_pass_through() {
        let bare = RandomBackend::new(1);
        let queries = queries(&walk(5, 1), bare.attributes());
        let expected = bare.evaluator().unwrap().evaluate(&queries).unwrap();
        let cached = Arc::new(CachedBackend::new(Arc::new(bare), 100));
        let meter = Meter::new(cached, Arc::new(MonotonicClock::new()));
        let mut evaluator = meter.evaluator().unwrap();
        assert_eq!(evaluator.evaluate(&queries[..2]).unwrap(), expected[..2]);
        assert_eq!(evaluator.evaluate(&queries).unwrap(), expected);
        let seen: &dyn Backend = &meter;
        assert_eq!(seen.cached(queries[4].key), Some(expected[4].clone()));
        assert_eq!(seen.cached(!queries[4].key), None);
        let reading = meter.take();
        let sizes: Vec<usize> = reading.batches.iter().map(|batch| batch.size).collect();
        assert_eq!(
            (sizes, reading.later_cache_hits, reading.cache_hits(), reading.evaluations()),
            (vec![2, 5], 1, 0, 7)
        );
        assert!(reading.batches.iter().all(|batch| batch.end_ms >= batch.start_ms));
        assert_eq!(meter.take(), Reading::default());
        // What the cache answered before a batch belongs to it.
        seen.cached(queries[4].key).unwrap();
        evaluator.evaluate(&queries[..1]).unwrap();
        let reading = meter.take();
        assert_eq!((reading.later_cache_hits, reading.cache_hits()), (0, 1));
        assert_eq!(seen.cache_statistics().unwrap().positions, 5);
    }

    /// A search with a memory limit gives the tree what the cache leaves.
    #[test]
    fn the_size_of_the_cache_is_told() {
        let bare = RandomBackend::new(1);
        let queries = queries(&walk(50, 1), bare.attributes());
        let cached: Arc<dyn Backend> = Arc::new(CachedBackend::new(Arc::new(bare), 100));
        let meter: &dyn Backend = &Meter::new(Arc::clone(&cached), Arc::new(MonotonicClock::new()));
        meter.evaluator().unwrap().evaluate(&queries).unwrap();
        assert!(cached.cache_bytes() > 0);
        assert_eq!(meter.cache_bytes(), cached.cache_bytes());
        let uncached: &dyn Backend = &Meter::new(Arc::new(RandomBackend::new(1)), Arc::new(MonotonicClock::new()));
        assert!(uncached.cache().is_none());
    }
}
