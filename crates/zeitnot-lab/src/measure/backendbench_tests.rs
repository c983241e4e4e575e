use super::*;
use crate::measure::card_use::FixedCard;
use zeitnot_engine::backend::UniformBackend;
use zeitnot_engine::clock::{MonotonicClock, VirtualClock};
use zeitnot_engine::runtime::nvidia_readings::CardReading;

/// Takes a fixed time for each position and batch.
struct Fixed(Arc<VirtualClock>, f64);

impl Side for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }
    fn runner(&self, _: usize) -> Result<Box<dyn Runner>, BackendError> {
        Ok(Box::new(Fixed(Arc::clone(&self.0), self.1)))
    }
}

impl Runner for Fixed {
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        self.0.pass(1.0 + self.1 * batch as f64);
        Ok(())
    }
}

fn plan(batch_sizes: &[usize]) -> BenchPlan {
    let batch_sizes = Sizes::Listed(batch_sizes.to_vec());
    BenchPlan { batch_sizes, threads: 1, seconds: 1.0, warm_up_seconds: 0.1, in_turn: false }
}

/// Plans for one size at a time, as cuDNN's provider does.
struct Planning(Arc<VirtualClock>, usize);

impl Side for Planning {
    fn name(&self) -> &str {
        "planning"
    }
    fn runner(&self, _: usize) -> Result<Box<dyn Runner>, BackendError> {
        Ok(Box::new(Planning(Arc::clone(&self.0), 0)))
    }
}

impl Runner for Planning {
    fn run(&mut self, batch: usize) -> Result<(), BackendError> {
        let changes = std::mem::replace(&mut self.1, batch) != batch;
        self.0.pass(if changes { 50.0 } else { 2.0 });
        Ok(())
    }
}

#[test]
fn a_change_of_the_size_is_measured_where_it_is_asked_for() {
    let clock = Arc::new(VirtualClock::default());
    let measure = |in_turn: bool| {
        let plan = BenchPlan { in_turn, ..plan(&[1, 9]) };
        let rows = backendbench(&Planning(Arc::clone(&clock), 0), None, &plan, None, &*clock, |_| ()).unwrap();
        assert!(rows.iter().all(|row| row.side.latency_ms.p50 == 2.0), "{rows:?}");
        rows.iter().map(|row| row.in_turn_ms).collect::<Vec<_>>()
    };
    assert_eq!((measure(false), measure(true)), (vec![None, None], vec![None, Some(50.0)]));
}

#[test]
fn rates_and_ratios_are_those_of_the_clock() {
    let clock = Arc::new(VirtualClock::default());
    let (fast, slow) = (Fixed(Arc::clone(&clock), 1.0), Fixed(Arc::clone(&clock), 3.0));
    let mut seen = Vec::new();
    let rows = backendbench(&fast, Some(&slow), &plan(&[1, 9]), None, &*clock, |row| seen.push(row.batch)).unwrap();
    assert_eq!(seen, [1, 9]);
    // One position in 2 ms against 4, nine in 10 ms against 28.
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    assert!(close(rows[0].side.evals_per_s, 500.0) && close(rows[0].ratio().unwrap(), 2.0), "{rows:?}");
    assert!(close(rows[1].side.mean_evals_per_s, 900.0) && close(rows[1].ratio().unwrap(), 2.8), "{rows:?}");
    assert!(close(rows[1].side.p95_evals_per_s, 900.0) && close(rows[1].side.latency_ms.p50, 10.0), "{rows:?}");
    // Both sides got the same time, a second each.
    let counts = rows.iter().map(|row| (row.side.batches, row.versus.as_ref().unwrap().batches));
    for (first, other) in counts {
        assert!(first > other && first <= 600, "{first} {other}");
    }
}

#[test]
fn a_short_time_is_kept_to() {
    let clock = Arc::new(VirtualClock::default());
    let short = BenchPlan { seconds: 0.08, warm_up_seconds: 0.0, ..plan(&[1]) };
    let rows = backendbench(&Fixed(Arc::clone(&clock), 1.0), None, &short, None, &*clock, |_| ()).unwrap();
    // Batches of 2 ms: 80 ms of them, and not slices of 100.
    assert!((36..=44).contains(&rows[0].side.batches), "{rows:?}");
}

#[test]
fn a_batch_longer_than_the_time_is_measured_all_the_same() {
    let clock = Arc::new(VirtualClock::default());
    let rows = backendbench(&Fixed(Arc::clone(&clock), 5000.0), None, &plan(&[2]), None, &*clock, |_| ()).unwrap();
    assert!(rows[0].side.batches >= LEAST_SLICES && rows[0].ratio().is_none(), "{rows:?}");
}

#[test]
fn batches_rise_while_they_pay_for_one_side() {
    let clock = Arc::new(VirtualClock::default());
    let (fast, slow) = (Fixed(Arc::clone(&clock), 0.01), Fixed(Arc::clone(&clock), 1.0));
    let rising = BenchPlan { batch_sizes: Sizes::doubling(1, 64), ..plan(&[]) };
    let sizes = |side, versus| -> Vec<usize> {
        let rows = backendbench(side, versus, &rising, None, &*clock, |_| ()).unwrap();
        rows.iter().map(|row| row.batch).collect()
    };
    // In 1 ms and 1 ms a position: 500, 667, 800, 889, 941, 970 and 985 a second.
    assert_eq!(sizes(&slow, None), [1, 2, 4, 8, 16, 32, 64]);
    let slower = Fixed(Arc::clone(&clock), 9.0);
    // 100, 105, 108 and 110 a second.
    assert_eq!(sizes(&slower, None), [1, 2, 4, 8]);
    assert_eq!(sizes(&slower, Some(&fast)), [1, 2, 4, 8, 16, 32, 64]);
}

#[test]
fn cards_are_asked_meanwhile() {
    let clock = Arc::new(VirtualClock::default());
    let card = FixedCard(vec![CardReading { power_w: Some(300.0), ..CardReading::default() }]);
    let rows = backendbench(&Fixed(Arc::clone(&clock), 1.0), None, &plan(&[1]), Some(&card), &*clock, |_| ()).unwrap();
    let cards = rows[0].cards.as_ref().unwrap();
    assert_eq!((cards.len(), cards[0].during.power_w, cards[0].during.sm_clock_mhz), (1, Some(300.0), None));
}

#[test]
fn a_backend_is_a_side_for_several_workers() {
    let side = BackendSide::new(Arc::new(UniformBackend::new()));
    assert!(side.name().contains("uniform"), "{}", side.name());
    let plan = BenchPlan { threads: 2, seconds: 0.01, warm_up_seconds: 0.0, ..plan(&[1, 300]) };
    let rows = backendbench(&side, None, &plan, None, &MonotonicClock::new(), |_| ()).unwrap();
    for row in rows {
        let Throughput { evals_per_s, mean_evals_per_s, p95_evals_per_s, evals_per_cpu_s, .. } = row.side;
        let all = [evals_per_s, mean_evals_per_s, p95_evals_per_s, evals_per_cpu_s];
        assert!(all.iter().all(|&rate| rate.is_finite() && rate > 0.0), "{row:?}");
    }
}
