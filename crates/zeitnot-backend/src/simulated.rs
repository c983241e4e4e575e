//! Simulates a graphics card: costs the host what a card's backend costs it, and takes the times that a card took.

use std::sync::Arc;
use std::time::{Duration, Instant};

use half::f16;
use parking_lot::Mutex;

use super::rows::Suited;
use super::{
    Attributes, Backend, BackendError, CostModel, Evaluation, EvaluationCache, Evaluator, Query, Rows, preferences,
};
use zeitnot_base::splitmix::mix;
use zeitnot_network::{HistoryFill, InputFormat, MOVES, PLANES};
use zeitnot_runtime::Provider;

/// Bytes of a packed plane.
const RANKS: usize = 8;
/// Milliseconds of a wait that is left out: a sleep takes longer.
const LEAST_SLEEP_MS: f64 = 0.01;
/// Different policies that the card answers with, among which a position's key chooses.
const POLICIES: usize = 1024;
/// The largest magnitude of a logit.
const LOGIT_RANGE: f32 = 4.0;
/// The largest magnitude of q.
const Q_RANGE: f32 = 0.25;

/// A card with a network.
#[derive(Debug, PartialEq)]
pub(crate) struct Card {
    pub(crate) name: &'static str,
    /// Rows of a run, and the evaluations a second of two threads that filled such runs, or a smaller batch: the card's
    /// arithmetic, as copies go beside it.
    rates: &'static [(usize, usize, f64)],
    /// Sizes of runs, if not the provider's: one with CUDA and convolutions (docs/gpu.md, Sizes).
    only: Option<usize>,
    /// Milliseconds of a run that go beside the arithmetic of another: copies and the calls that start kernels.
    beside_ms: f64,
}

/// The known cards, from docs/results/2026-11-h100.md.
pub(crate) const CARDS: [Card; 4] = [
    // The table of evaluations a second; one position is a run of 16. With `runs=1` 256 make 38,613: 1.2 ms more a run.
    Card {
        name: "h100-t1",
        rates: &[(16, 1, 340.0), (32, 32, 8_740.0), (256, 256, 47_027.0), (1024, 1024, 52_363.0)],
        only: None,
        beside_ms: 1.2,
    },
    // The same table; what goes beside was not measured.
    Card { name: "h100-20x256", rates: &[(256, 256, 44_780.0)], only: Some(256), beside_ms: 0.0 },
    Card { name: "h100-maia", rates: &[(256, 256, 251_320.0)], only: Some(256), beside_ms: 0.0 },
    // The host alone.
    Card { name: "none", rates: &[(256, 256, 1e9)], only: Some(256), beside_ms: 0.0 },
];

impl Card {
    /// The card of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Card> {
        CARDS.iter().find(|card| card.name == name)
    }

    fn rows(&self) -> Rows {
        self.only.map_or_else(|| Rows::of_provider(Provider::Cuda), Rows::fixed)
    }

    /// Milliseconds of the arithmetic of runs.
    fn arithmetic(&self) -> CostModel {
        let times: Vec<_> = self.rates.iter().map(|&(rows, batch, rate)| (rows, batch as f64 * 1e3 / rate)).collect();
        CostModel::table(&times).expect("the rates are above 0")
    }
}

/// The arithmetic of a card, which is that of one run after another.
struct Arithmetic {
    cost: CostModel,
    free_ms: Mutex<f64>,
}

impl Arithmetic {
    /// The end of a run that reaches the card at `now_ms`, in milliseconds.
    fn end_ms(&self, now_ms: f64, rows: usize) -> f64 {
        let mut free_ms = self.free_ms.lock();
        *free_ms = free_ms.max(now_ms) + self.cost.batch_ms(rows);
        *free_ms
    }
}

/// A backend without a network that is as slow as a card: its threads sleep while the card would compute. Input and
/// policy lie in buffers as with a card, packed and in 16 bits.
pub(crate) struct SimulatedBackend {
    attributes: Attributes,
    device: Arc<Device>,
    next: Mutex<usize>,
}

struct Device {
    rows: Rows,
    arithmetic: Arithmetic,
    beside_ms: f64,
    began: Instant,
    /// A session serves one worker at a time.
    sessions: Vec<Mutex<()>>,
    policies: Vec<f16>,
}

impl SimulatedBackend {
    /// The backend that simulates `card`.
    pub(crate) fn new(card: &Card) -> SimulatedBackend {
        let (rows, cost) = (card.rows(), card.arithmetic());
        let times: Vec<_> = rows.sizes().into_iter().map(|size| (size, cost.batch_ms(size))).collect();
        let runs = preferences(Provider::Cuda).runs_in_flight;
        let Suited { batch, workers } = rows.suited(Provider::Cuda, &times, runs);
        let attributes = Attributes {
            name: format!("simulated, {}", card.name),
            device: "times of docs/results, no network".to_owned(),
            input: Some((InputFormat::Classical, HistoryFill::FenOnly)),
            has_wdl: true,
            has_moves_left: false,
            preferred_batch: batch,
            smallest_batch: rows.of(1),
            maximum_batch: rows.most,
            preferred_threads: workers,
            is_cpu: false,
            is_batch_invariant: true,
            maia: None,
        };
        let logit = |index: usize| f16::from_f32(LOGIT_RANGE * signed(mix(index as u64)));
        let device = Device {
            rows,
            arithmetic: Arithmetic { cost, free_ms: Mutex::new(0.0) },
            beside_ms: card.beside_ms,
            began: Instant::now(),
            sessions: (0..runs).map(|_| Mutex::new(())).collect(),
            policies: (0..POLICIES * MOVES).map(logit).collect(),
        };
        SimulatedBackend { attributes, device: Arc::new(device), next: Mutex::new(0) }
    }
}

impl Backend for SimulatedBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let mut next = self.next.lock();
        let session = *next % self.device.sessions.len();
        *next += 1;
        let most = self.device.rows.most * PLANES;
        let (boards, values) = (vec![0; most * RANKS], vec![0.0; most]);
        Ok(Box::new(SimulatedEvaluator { device: Arc::clone(&self.device), session, boards, values }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

struct SimulatedEvaluator {
    device: Arc<Device>,
    session: usize,
    boards: Vec<u8>,
    values: Vec<f32>,
}

impl SimulatedEvaluator {
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) {
        for (row, planes) in batch.iter().filter_map(|query| query.planes.as_deref()).enumerate() {
            let boards = &mut self.boards[row * PLANES * RANKS..][..PLANES * RANKS];
            planes.write_packed(boards, &mut self.values[row * PLANES..][..PLANES]);
        }
        std::hint::black_box((&self.boards, &self.values));
        let device = &*self.device;
        let session = device.sessions[self.session].lock();
        let now_ms = || device.began.elapsed().as_secs_f64() * 1e3;
        let reaches_ms = now_ms() + device.beside_ms;
        let end_ms = device.arithmetic.end_ms(reaches_ms, device.rows.of(batch.len()));
        let left_ms = end_ms - now_ms();
        if left_ms > LEAST_SLEEP_MS {
            std::thread::sleep(Duration::from_secs_f64(left_ms / 1e3));
        }
        drop(session);
        answers.extend(batch.iter().map(|query| device.answer(query)));
    }
}

impl Device {
    fn answer(&self, query: &Query) -> Evaluation {
        let policy = &self.policies[query.key as usize % POLICIES * MOVES..][..MOVES];
        Evaluation {
            q: Q_RANGE * signed(mix(query.key)),
            d: 0.5,
            m: None,
            logits: query.indices.iter().map(|&index| policy[usize::from(index)].to_f32()).collect(),
        }
    }
}

impl Evaluator for SimulatedEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(self.device.rows.most) {
            self.run(part, &mut answers);
        }
        Ok(answers)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// Random bits as a number in -1..1.
fn signed(bits: u64) -> f32 {
    (bits as i64 >> 40) as f32 / (1 << 23) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arithmetic(name: &str) -> Arithmetic {
        Arithmetic { cost: Card::named(name).unwrap().arithmetic(), free_ms: Mutex::new(0.0) }
    }

    #[test]
    fn times_are_those_of_the_h100_and_lie_between_them() {
        let t1 = Card::named("h100-t1").unwrap();
        let ms = |size| (t1.arithmetic().batch_ms(size) * 10.0).round() / 10.0;
        assert_eq!([16, 32, 256, 1024].map(ms), [2.9, 3.7, 5.4, 19.6]);
        // Halfway between 32 and 256, and a third of the way from 256 to 1,024.
        assert_eq!([144, 512].map(ms), [4.6, 10.1]);
        assert_eq!((t1.rows().of(1), t1.rows().of(257)), (16, 384));
        assert_eq!(Card::named("h100-maia").unwrap().rows(), Rows::fixed(256));
    }

    #[test]
    fn a_card_computes_one_run_after_another() {
        let card = arithmetic("h100-20x256");
        let one_ms = card.cost.batch_ms(256);
        let ends = [0.0, 1.0, 2.0, 100.0].map(|now_ms| card.end_ms(now_ms, 256));
        assert_eq!(ends, [one_ms, one_ms + one_ms, one_ms + one_ms + one_ms, 100.0 + one_ms]);
    }

    #[test]
    fn a_positions_answer_does_not_depend_on_its_row() {
        let backend = SimulatedBackend::new(Card::named("none").unwrap());
        let query = |key| Query { key, planes: None, indices: vec![0, 7, 1857] };
        let mut evaluator = backend.evaluator().unwrap();
        let answers = evaluator.evaluate(&[query(5), query(6)]).unwrap();
        assert_eq!(evaluator.evaluate(&[query(6)]).unwrap()[0], answers[1]);
        assert_ne!(answers[0], answers[1]);
    }
}
