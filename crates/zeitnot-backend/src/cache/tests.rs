//! Tests the cache over a backend that counts its queries.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::RandomBackend;
use zeitnot_chess::Game;
use zeitnot_network::{HistoryFill, InputFormat};

/// The random backend, counting evaluations.
struct Counting {
    inner: RandomBackend,
    evaluations: Arc<AtomicUsize>,
}

struct CountingEvaluator {
    inner: Box<dyn Evaluator>,
    evaluations: Arc<AtomicUsize>,
}

impl Backend for Counting {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let evaluations = Arc::clone(&self.evaluations);
        Ok(Box::new(CountingEvaluator { inner: self.inner.evaluator()?, evaluations }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

impl Evaluator for CountingEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        self.evaluations.fetch_add(batch.len(), Ordering::Relaxed);
        self.inner.evaluate(batch)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// A backend that is decorated, and the number of evaluations that its inner one has made.
fn counted(decorate: impl Fn(Arc<dyn Backend>) -> Arc<dyn Backend>) -> (Arc<dyn Backend>, Arc<AtomicUsize>) {
    let evaluations = Arc::new(AtomicUsize::new(0));
    let inner = Counting { inner: RandomBackend::new(1), evaluations: Arc::clone(&evaluations) };
    (decorate(Arc::new(inner)), evaluations)
}

fn cached(capacity: usize) -> (Arc<dyn Backend>, Arc<AtomicUsize>) {
    counted(|inner| Arc::new(CachedBackend::new(inner, capacity)))
}

/// A query whose key is spread as real keys are.
fn query(number: u64) -> Query {
    let key = zeitnot_base::splitmix::mix(number);
    Query { key, planes: None, indices: (0..1 + (number % 30) as u16).collect() }
}

fn direct(number: u64) -> Evaluation {
    RandomBackend::new(1).evaluator().unwrap().evaluate(&[query(number)]).unwrap().remove(0)
}

#[test]
fn a_hit_is_the_stored_evaluation_bit_for_bit() {
    let (backend, evaluations) = cached(100);
    let mut evaluator = backend.evaluator().unwrap();
    let batch: Vec<Query> = (0..10).map(query).collect();
    let first = evaluator.evaluate(&batch).unwrap();
    let second = evaluator.evaluate(&batch).unwrap();
    assert_eq!(first, second);
    assert_eq!(evaluations.load(Ordering::Relaxed), 10);
    for number in 0..10 {
        assert_eq!(backend.cached(query(number).key), Some(direct(number)));
    }
    assert_eq!(backend.cached(query(10).key), None);
    let statistics = CacheStatistics { positions: 10, capacity: 100, hits: 20, misses: 10 };
    assert_eq!(backend.cache_statistics(), Some(statistics));
    assert_eq!(backend.cache_fill(), Some(100));
}

#[test]
fn what_repeats_within_a_batch_is_evaluated_once_and_order_is_kept() {
    let (backend, evaluations) = cached(100);
    let mut evaluator = backend.evaluator().unwrap();
    evaluator.evaluate(&[query(3)]).unwrap();
    let numbers = [5, 3, 5, 7, 3, 7, 5];
    let answers = evaluator.evaluate(&numbers.map(query)).unwrap();
    assert_eq!(evaluations.load(Ordering::Relaxed), 3);
    assert_eq!(answers, numbers.map(direct));
}

#[test]
fn the_capacity_holds() {
    for capacity in [1, 2, 10, 5000] {
        let (backend, _) = cached(capacity);
        let mut evaluator = backend.evaluator().unwrap();
        for number in 0..20_000 {
            evaluator.evaluate(&[query(number)]).unwrap();
        }
        let statistics = backend.cache_statistics().unwrap();
        assert_eq!((statistics.positions, statistics.capacity), (capacity, capacity));
        assert_eq!(backend.cache_fill(), Some(1000));
        assert!(backend.cached(query(19_999).key).is_some(), "the newest is there");
        assert!(backend.cached(query(0).key).is_none(), "the oldest is gone");
    }
}

#[test]
fn no_capacity_is_no_cache() {
    let (backend, evaluations) = cached(0);
    let mut evaluator = backend.evaluator().unwrap();
    for _ in 0..3 {
        assert_eq!(evaluator.evaluate(&[query(1)]).unwrap(), [direct(1)]);
    }
    assert_eq!(evaluations.load(Ordering::Relaxed), 3);
    assert_eq!(backend.cache_fill(), Some(0));
}

#[test]
fn what_is_asked_for_survives_what_is_not() {
    let (backend, _) = cached(10);
    let mut evaluator = backend.evaluator().unwrap();
    evaluator.evaluate(&(0..10).map(query).collect::<Vec<_>>()).unwrap();
    for number in 10..100 {
        assert!(backend.cached(query(4).key).is_some(), "before {number}");
        evaluator.evaluate(&[query(number)]).unwrap();
    }
    assert!(backend.cached(query(5).key).is_none());
}

#[test]
fn clearing_forgets_positions_and_counts() {
    let (backend, evaluations) = cached(100);
    let mut evaluator = backend.evaluator().unwrap();
    evaluator.evaluate(&[query(1)]).unwrap();
    backend.clear_cache();
    assert_eq!(backend.cache_statistics(), Some(CacheStatistics { capacity: 100, ..CacheStatistics::default() }));
    evaluator.evaluate(&[query(1)]).unwrap();
    assert_eq!(evaluations.load(Ordering::Relaxed), 2);
}

#[test]
fn another_number_of_moves_under_the_same_key_is_not_a_hit() {
    let (backend, evaluations) = cached(100);
    let mut evaluator = backend.evaluator().unwrap();
    let (one, mut other) = (query(1), query(1));
    other.indices.push(77);
    let answers = evaluator.evaluate(&[one.clone(), other.clone()]).unwrap();
    assert_eq!([answers[0].logits.len(), answers[1].logits.len()], [one.indices.len(), other.indices.len()]);
    assert_eq!(evaluator.evaluate(&[one]).unwrap()[0], answers[0]);
    assert_eq!(evaluations.load(Ordering::Relaxed), 3);
}

#[test]
fn workers_share_it() {
    const POSITIONS: u64 = 3000;
    let (backend, _) = cached(1500);
    std::thread::scope(|scope| {
        for worker in 0..4_u64 {
            let backend = &backend;
            scope.spawn(move || {
                let mut evaluator = backend.evaluator().unwrap();
                for step in 0..POSITIONS {
                    let numbers = [step, (step * 7 + worker) % POSITIONS, (step + worker) % 50];
                    assert_eq!(evaluator.evaluate(&numbers.map(query)).unwrap(), numbers.map(direct));
                }
            });
        }
    });
    let statistics = backend.cache_statistics().unwrap();
    assert_eq!(statistics.positions, 1500);
    assert!(statistics.hits > 0 && statistics.misses >= POSITIONS);
}

#[test]
fn without_memory_for_more_old_positions_are_replaced() {
    static QUESTIONS: AtomicUsize = AtomicUsize::new(0);
    let cache = Cache::new(20_000, |_| QUESTIONS.fetch_add(1, Ordering::Relaxed) < 2);
    let evaluation = direct(1);
    let mut positions = Vec::new();
    for number in 0..40_000 {
        cache.insert(query(number).key, evaluation.clone());
        positions.push(cache.statistics().positions);
    }
    assert_eq!(QUESTIONS.load(Ordering::Relaxed), 3, "at 0, 1 and 2 MB");
    let (most, bytes) = (positions[39_999], EvaluationCache::bytes(&cache));
    assert!((2 << 20..3 << 20).contains(&bytes), "{bytes}");
    assert!(most < 20_000 && positions[20_000..].iter().all(|positions| *positions == most), "{most}");
    assert_eq!(cache.get(query(39_999).key), Some(evaluation.clone()));
    assert_eq!(cache.get(query(0).key), None);
    // Emptied, it asks again; without memory from the beginning it holds nothing.
    cache.clear();
    cache.insert(query(1).key, evaluation);
    assert_eq!((cache.statistics().positions, QUESTIONS.load(Ordering::Relaxed)), (0, 4));
}

#[test]
fn a_slot_is_as_large_as_the_documentation_says() {
    assert_eq!(size_of::<storage::Slot>(), 48);
}

#[test]
fn shared_evaluations_are_told_apart_by_their_whole_input() {
    let (shared, evaluations) = counted(|inner| SharedEvaluations::around(inner, 1_000));
    assert!(shared.cache().is_none(), "a search has a cache of its own");
    let position = |rule50: f32| {
        let mut planes = zeitnot_network::encode(&Game::new(), InputFormat::Classical, HistoryFill::FenOnly).0;
        planes.values[109] = rule50;
        Query { planes: Some(Box::new(planes)), ..query(5) }
    };
    let batch = [position(1.0), position(2.0), query(5), position(1.0)];
    let mut one = shared.evaluator().unwrap();
    let answers = one.evaluate(&batch).unwrap();
    assert_eq!(evaluations.load(Ordering::Relaxed), 3, "equal keys, other planes");
    let mut other = shared.evaluator().unwrap();
    assert_eq!(other.evaluate(&batch).unwrap(), answers);
    assert_eq!(evaluations.load(Ordering::Relaxed), 3, "another engine asks the same");
    assert_eq!(answers[2], direct(5));
}

#[test]
fn evaluations_that_depend_on_their_batch_are_not_shared() {
    let attributes = Attributes { is_batch_invariant: false, ..RandomBackend::new(1).attributes().clone() };
    struct Varying(Attributes);
    impl Backend for Varying {
        fn attributes(&self) -> &Attributes {
            &self.0
        }
        fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
            RandomBackend::new(1).evaluator()
        }
        fn cache(&self) -> Option<&dyn EvaluationCache> {
            None
        }
    }
    let varying: Arc<dyn Backend> = Arc::new(Varying(attributes));
    assert!(Arc::ptr_eq(&SharedEvaluations::around(Arc::clone(&varying), 1_000), &varying));
}
