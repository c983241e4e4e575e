//! Caches evaluations as a decorator of a backend: by position for a search, or by a network's whole input for engines
//! whose play must stay the same.
//!
//! Memory: a slot is 48 bytes and its place in the index 19 to 39; the logits of an average position (31 moves) take
//! 124 bytes and the allocator's share. That is about 0.2 kB a position: 2,000,000 positions, Lc0's default, are 0.4 to
//! 0.5 GB when full. Nothing is allocated before it is used. When the system is short of memory, the cache is as full
//! as it gets: new positions replace old ones.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use zeitnot_base::memory;

use super::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
use storage::{Cache, KeyHasher};

mod storage;

/// Counts of a cache since it was last emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Positions held.
    pub positions: usize,
    /// The most positions that the cache may hold.
    pub capacity: usize,
    /// Evaluations that were found in the cache.
    pub hits: u64,
    /// Evaluations that were not found and had to be made.
    pub misses: u64,
}

/// A backend with a cache in front. One cache belongs to one loaded network, because keys do not distinguish networks.
pub struct CachedBackend {
    inner: Arc<dyn Backend>,
    cache: Arc<Cache>,
}

impl CachedBackend {
    /// Puts a cache of `capacity` positions (Lc0's `NNCacheSize`) in front of `inner`.
    pub fn new(inner: Arc<dyn Backend>, capacity: usize) -> CachedBackend {
        CachedBackend { inner, cache: Arc::new(Cache::new(capacity, memory::has_headroom)) }
    }
}

impl Backend for CachedBackend {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let inner = self.inner.evaluator()?;
        Ok(Box::new(CachedEvaluator { inner, cache: Arc::clone(&self.cache), key: |query| query.key }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        Some(self.cache.as_ref())
    }
}

/// A backend that keeps its last evaluations for several engines on one network. Its answers equal the network's to the
/// bit, and [`Backend::cache`] does not offer it to a search: below a [`CostedBackend`](super::CostedBackend) the
/// engines of games on virtual clocks save each other's computing, and still play the same games.
pub struct SharedEvaluations {
    inner: Arc<dyn Backend>,
    cache: Arc<Cache>,
}

impl SharedEvaluations {
    /// Keeps `capacity` evaluations of `inner`. Where an evaluation depends on what else is in its batch
    /// ([`Attributes::is_batch_invariant`]), `inner` is returned as it is.
    pub fn around(inner: Arc<dyn Backend>, capacity: usize) -> Arc<dyn Backend> {
        if !inner.attributes().is_batch_invariant {
            return inner;
        }
        Arc::new(SharedEvaluations { inner, cache: Arc::new(Cache::new(capacity, memory::has_headroom)) })
    }
}

impl Backend for SharedEvaluations {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let inner = self.inner.evaluator()?;
        Ok(Box::new(CachedEvaluator { inner, cache: Arc::clone(&self.cache), key: input_key }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        self.inner.cache()
    }
}

/// A hash of all that an evaluation depends on, which unlike [`cache_key`](super::cache_key) includes the history and
/// the exact fifty-move counter.
fn input_key(query: &Query) -> u64 {
    let mut hasher = DefaultHasher::new();
    query.key.hash(&mut hasher);
    query.indices.hash(&mut hasher);
    if let Some(planes) = &query.planes {
        planes.masks.hash(&mut hasher);
        planes.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    }
    hasher.finish()
}

struct CachedEvaluator {
    inner: Box<dyn Evaluator>,
    cache: Arc<Cache>,
    key: fn(&Query) -> u64,
}

/// Source of the answer to one query of a batch.
enum Source {
    Held(Evaluation),
    /// Not in the cache: the index among the queries of the batch that the network evaluates.
    Fresh(usize),
}

impl Evaluator for CachedEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        // Queries that the cache does not answer, without repetitions, and their keys.
        let mut asked: Vec<&Query> = Vec::with_capacity(batch.len());
        let mut keys: Vec<u64> = Vec::with_capacity(batch.len());
        let mut places: HashMap<u64, usize, KeyHasher> =
            HashMap::with_capacity_and_hasher(batch.len(), KeyHasher::default());
        let mut sources = Vec::with_capacity(batch.len());
        for query in batch {
            let key = (self.key)(query);
            let same = |&place: &usize| asked[place].indices == query.indices;
            if let Some(place) = places.get(&key).copied().filter(same) {
                sources.push(Source::Fresh(place));
            } else if let Some(evaluation) = self.cache.find(key, Some(query.indices.len())) {
                sources.push(Source::Held(evaluation));
            } else {
                places.insert(key, asked.len());
                sources.push(Source::Fresh(asked.len()));
                asked.push(query);
                keys.push(key);
            }
        }
        // The batch as it came, or copies of what is left of it: a copy costs nothing beside an evaluation.
        let fresh = if asked.len() == batch.len() {
            self.inner.evaluate(batch)?
        } else {
            let rest: Vec<Query> = asked.iter().map(|&query| query.clone()).collect();
            self.inner.evaluate(&rest)?
        };
        for (key, evaluation) in keys.into_iter().zip(&fresh) {
            self.cache.insert(key, evaluation.clone());
        }
        let answer = |source| match source {
            Source::Held(evaluation) => evaluation,
            Source::Fresh(place) => Evaluation::clone(&fresh[place]),
        };
        Ok(sources.into_iter().map(answer).collect())
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        // Of the rest that the cache did not hold, or of an empty batch.
        self.inner.modelled_cost_ms()
    }
}

#[cfg(test)]
mod tests;
