//! Tests of the benchmark of the whole engine.

use std::time::Duration;

use super::*;
use crate::measure::card_use::FixedCard;
use crate::measure::meter::BatchRecord;
use zeitnot_engine::backend::{Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Options, RuntimePolicy};
use zeitnot_engine::runtime::nvidia_readings::CardReading;

#[test]
fn a_small_batch_is_preferred_to_a_little_speed() {
    let setting = |threads, batch, visits_per_s| Measured {
        backend: "x".to_owned(),
        threads,
        batch,
        minibatch_size: batch,
        visits_per_s,
        ..Measured::default()
    };
    let settings = [setting(1, 8, 500.0), setting(2, 8, 980.0), setting(2, 32, 1000.0), setting(4, 4, 960.0)];
    let best = recommend(&settings).unwrap();
    // Both hold 16 positions at a time: the smaller batch.
    assert_eq!((best.threads, best.batch), (4, 4));
    assert!(recommend(&[]).is_none());
}

fn sample(batches: &[(usize, f64, f64)]) -> Sample {
    let batch = |&(size, start_ms, end_ms)| BatchRecord { size, start_ms, end_ms, cache_hits: 0 };
    let reading = Reading { batches: batches.iter().map(batch).collect(), later_cache_hits: 0 };
    Sample { playouts: 0, collisions: 0, start_ms: 100.0, answer_ms: 200.0, reading }
}

#[test]
fn what_is_in_flight_at_the_answer_takes_its_time_with_it() {
    let sample = sample(&[(1, 100.0, 160.0), (8, 110.0, 170.0), (8, 160.0, 220.0), (8, 180.0, 230.0)]);
    // 40 ms of one worker and 20 of the other.
    assert_eq!(counted_ms(&sample, 2), 70.0);
    assert_eq!(full_batch_ms(&sample.reading, 16), 2.0 * 60.0);
    assert_eq!(busy_ms_of(&sample), 100.0);
}

#[test]
fn a_device_is_busy_from_its_first_batch_to_its_last_without_the_gaps() {
    let sample =
        sample(&[(8, 110.0, 130.0), (8, 120.0, 140.0), (8, 125.0, 128.0), (8, 150.0, 160.0), (8, 190.0, 230.0)]);
    assert_eq!(busy_ms_of(&sample), 30.0 + 10.0 + 10.0);
}

#[test]
fn slow_batches_get_fewer_positions() {
    assert_eq!(positions_in(6000.0, 20.0, 6), 6);
    assert_eq!(positions_in(6000.0, 200.0, 6), 3);
    assert_eq!(positions_in(6000.0, 9000.0, 6), 1);
    assert_eq!(positions_in(1.0, full_batch_ms(&Reading::default(), 8), 99), BENCHMARK_POSITIONS);
}

/// Takes its time for each batch.
struct Slow(Arc<dyn Backend>, Duration);

impl Backend for Slow {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(Box::new(SlowEvaluator(self.0.evaluator()?, self.1)))
    }
    fn cache(&self) -> Option<&dyn EvaluationCache> {
        self.0.cache()
    }
}

struct SlowEvaluator(Box<dyn Evaluator>, Duration);

impl Evaluator for SlowEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        std::thread::sleep(self.1);
        self.0.evaluate(batch)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

#[test]
fn a_slow_network_is_measured_on_one_position() {
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
    let mut engine = Engine::new(Options::default(), Arc::clone(&clock), RuntimePolicy::FindOnly);
    engine.set_option("Backend", "random").unwrap();
    engine.prepare().unwrap();
    engine.decorate(|inner| Arc::new(Slow(inner, Duration::from_millis(300)))).unwrap();
    let mut benchmark = Benchmark::new(engine, clock).unwrap();
    // The first evaluation comes after the 200 ms of warming up.
    let measured = benchmark.measure(1, 4, 6, 0.8).unwrap();
    assert!(measured.first_evaluation_ms.unwrap() >= 300.0, "{measured:?}");
    assert_eq!(measured.positions, 1, "{measured:?}");
    // Two batches of 300 ms, and not the third that was in flight.
    assert!(measured.batch_latency_ms.p50 >= 300.0 && measured.seconds >= 0.3, "{measured:?}");
    let batches = measured.evaluations as f64 / measured.mean_batch;
    assert!(measured.seconds / batches >= 0.299, "{measured:?}");
}

#[test]
fn a_measurement_counts_what_the_search_did() {
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
    let mut engine = Engine::new(Options::default(), Arc::clone(&clock), RuntimePolicy::FindOnly);
    engine.set_option("Backend", "random").unwrap();
    let mut benchmark = Benchmark::new(engine, clock).unwrap();
    assert_eq!(benchmark.measure(1, 4, 1, 0.05).unwrap().cards, None);
    let card = CardReading { temperature_c: Some(41.0), ..CardReading::default() };
    benchmark.watch_cards(Some(Arc::new(FixedCard(vec![card]))));
    let measured = benchmark.measure(2, 4, 2, 0.2).unwrap();
    assert_eq!(measured.cards.as_ref().unwrap()[0].during, card);
    assert_eq!((measured.threads, measured.batch, measured.backend.as_str()), (2, 4, "random"));
    assert!((0.1..3.0).contains(&measured.seconds), "{measured:?}");
    assert!(measured.visits > 0 && measured.evaluations > 0 && measured.visits_per_s > 0.0, "{measured:?}");
    assert!(measured.mean_batch <= 4.0 && measured.batch_fill <= 1.0, "{measured:?}");
    assert!((0.0..1.0).contains(&measured.cache_hit_share), "{measured:?}");
    assert!(measured.busy_share > 0.0 && measured.busy_share <= 1.0 && measured.host.is_none(), "{measured:?}");
    assert!(
        measured.first_evaluation_ms.unwrap() > 0.0 && measured.batch_latency_ms.p99 >= measured.batch_latency_ms.p50
    );
}
