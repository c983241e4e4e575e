//! Proves that a device computes a network rightly: sixteen positions are evaluated by the device and by the CPU.
//!
//! A provider may bind inputs in a wrong order (KataGo's issue 1222), a compiled engine may be bad, float16 may overflow:
//! all of it plays on, and badly. Each position therefore comes in runs of the smallest size and in full ones, in other
//! rows each time, and no difference may be beyond what the type of the arithmetic can make.
//!
//! | file | what |
//! |---|---|
//! | `positions` | the positions, and the rows in which a batch has them |
//! | `bounds` | two evaluations, and how far they may be apart |
//! | `record` | proofs that were made, in the user's cache |

use super::side_by_side::in_parts;
use super::{Arithmetic, Attributes, Backend, BackendError, Evaluation, Evaluator, Query};
use bounds::{Bounds, Difference, What};
use positions::COUNT;
use zeitnot_base::clock::{Clock, MonotonicClock};
use zeitnot_chess::to_uci;

mod bounds;
mod positions;
mod record;

pub(super) use positions::usual_games;
pub(super) use record::Record;

/// Batches of the largest size, each with other positions in its rows; a device that gives the answers of the run before
/// shows it in the second.
const FULL_BATCHES: usize = 3;
/// Batches of the smallest size that are run however long they take.
const NEEDED_SMALL: usize = 2;
/// Milliseconds after which a slow device skips the batches that are not needed. Its full batch is made small enough to
/// take about as long at most.
const PATIENCE_MS: f64 = 15_000.0;
/// Share of a batch's positions, as numerator and denominator, in which the device must prefer the move that the CPU
/// does. Batches smaller than the denominator are not judged by it.
const SAME_CHOICES: (usize, usize) = (14, 16);

/// The evaluations that a device must give.
pub struct Proof {
    queries: Vec<Query>,
    expected: Vec<Evaluation>,
}

impl Proof {
    /// The proof by the evaluations of `reference`, which computes the same network on the CPU in float32.
    ///
    /// # Errors
    /// As for the reference.
    pub fn new(reference: &dyn Backend) -> Result<Proof, BackendError> {
        let queries = positions::queries(reference.attributes());
        let evaluate = |_, part: &[Query]| match reference.evaluator().and_then(|mut it| it.evaluate(part)) {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        let expected = in_parts(&queries, evaluate).into_iter().collect::<Result<_, _>>()?;
        Ok(Proof { queries, expected })
    }

    /// Checks an evaluator of a backend with these attributes, whose network computes in this arithmetic.
    ///
    /// # Errors
    /// [`BackendError::Wrong`] with the first number that is wrong, and the evaluator's own errors.
    pub fn check(
        &self,
        evaluator: &mut dyn Evaluator,
        attributes: &Attributes,
        arithmetic: Arithmetic,
    ) -> Result<(), BackendError> {
        self.check_by(&MonotonicClock::new(), evaluator, attributes, arithmetic).map_err(|problem| match problem {
            Problem::Wrong(problem) => {
                let Attributes { name, device, .. } = attributes;
                BackendError::Wrong { backend: format!("{name} ({device})"), problem }
            }
            Problem::Fails(error) => error,
        })
    }

    fn check_by(
        &self,
        clock: &dyn Clock,
        evaluator: &mut dyn Evaluator,
        attributes: &Attributes,
        arithmetic: Arithmetic,
    ) -> Result<(), Problem> {
        let start_ms = clock.now_ms();
        let spent_ms = || clock.now_ms() - start_ms;
        let bounds = Bounds::of(arithmetic);
        let (order, mut evaluated) = (positions::order(0, COUNT), 0);
        for (index, rows) in order.chunks(attributes.smallest_batch.clamp(1, COUNT)).enumerate() {
            if index < NEEDED_SMALL || spent_ms() < PATIENCE_MS {
                self.check_batch(evaluator, rows, bounds)?;
                evaluated += rows.len();
            }
        }
        // On a CPU no size of a run is special, and the largest is only a limit of memory.
        let full = if attributes.is_cpu { COUNT } else { attributes.maximum_batch };
        let affordable = (PATIENCE_MS / spent_ms() * evaluated as f64) as usize;
        let full = full.min(affordable).max(COUNT);
        for round in 1..=FULL_BATCHES {
            if round == 1 || spent_ms() < PATIENCE_MS {
                self.check_batch(evaluator, &positions::order(round, full), bounds)?;
            }
        }
        Ok(())
    }

    /// Evaluates a batch with the positions of these indices, and compares the answers.
    fn check_batch(&self, evaluator: &mut dyn Evaluator, rows: &[usize], bounds: Bounds) -> Result<(), Problem> {
        let batch: Vec<Query> = rows.iter().map(|&index| self.queries[index].clone()).collect();
        let size = rows.len();
        let answers = evaluator.evaluate(&batch).map_err(|error| match error {
            BackendError::Output { problem, .. } => Problem::Wrong(format!("{problem}, in a batch of {size}")),
            error => Problem::Fails(error),
        })?;
        let has_shape = |(answer, &index): (&Evaluation, &usize)| {
            let expected = &self.expected[index];
            answer.logits.len() == expected.logits.len() && answer.m.is_some() == expected.m.is_some()
        };
        if answers.len() != size || !answers.iter().zip(rows).all(has_shape) {
            return Err(Problem::Wrong(format!("answers of another shape, in a batch of {size}")));
        }
        for (answer, &index) in answers.iter().zip(rows) {
            if let Some(difference) = bounds.difference(answer, &self.expected[index]) {
                return Err(Problem::Wrong(in_words(&difference, index, size)));
            }
        }
        let is_same = |(answer, index): &(&Evaluation, &usize)| bounds.is_first_choice(answer, &self.expected[**index]);
        let same = answers.iter().zip(rows).filter(is_same).count();
        let (least, of) = SAME_CHOICES;
        // In a batch of one or two positions a single one decides nothing.
        match size >= of && same * of < size * least {
            true => Err(Problem::Wrong(format!("its first choice is the CPU's in {same} of {size} positions alone"))),
            false => Ok(()),
        }
    }
}

/// The reason why a batch proves nothing.
enum Problem {
    Wrong(String),
    Fails(BackendError),
}

/// A difference with both numbers, in a batch of this size, at the position with this index.
fn in_words(difference: &Difference, index: usize, size: usize) -> String {
    let Difference { what, found, expected, allowed } = difference;
    let (game, moves) = positions::game(index);
    let what = match what {
        What::Q => "q".to_owned(),
        What::Draw => "the probability of a draw".to_owned(),
        What::MovesLeft => "the moves left".to_owned(),
        What::Logit(mv) => format!("the policy of {}", to_uci(moves[*mv], false)),
    };
    let fen = game.fen();
    format!(
        "{what} is {found:.4} and {expected:.4} on the CPU ({allowed} may be between them), in a batch of {size}: {fen}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NativeBackend, NativeOptions};
    use zeitnot_base::clock::VirtualClock;
    use zeitnot_network::testing::random_network;
    use zeitnot_network::{HistoryFill, Network};

    /// A device that takes so many milliseconds a run of eight, and the sizes of its batches.
    struct Slow<'a>(Box<dyn Evaluator>, &'a VirtualClock, f64, Vec<usize>);

    impl Evaluator for Slow<'_> {
        fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
            self.1.pass(self.2 * batch.len().div_ceil(8) as f64);
            self.3.push(batch.len());
            self.0.evaluate(batch)
        }

        fn modelled_cost_ms(&self) -> Option<f64> {
            None
        }
    }

    #[test]
    fn a_slow_device_runs_what_is_needed_alone() {
        let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
        let backend = NativeBackend::new(&network, &NativeOptions::default(), HistoryFill::FenOnly).unwrap();
        let proof = Proof::new(&backend).unwrap();
        let full = |most: &str| most.split(' ').map(|size| size.parse().unwrap()).collect::<Vec<usize>>();
        for (smallest_batch, maximum_batch, run_ms, expected) in [
            (8, 256, 1.0, full("8 8 256 256 256")),
            (16, 256, 1.0, full("16 256 256 256")),
            (256, 256, 1.0, full("16 256 256 256")),
            (8, 256, 2e3, full("8 8 60")),
            (8, 8, 2e3, full("8 8 16 16 16")),
            (1, 8, 15e3, full("1 1 16")),
            (4, 64, 1e6, full("4 4 16")),
        ] {
            let clock = VirtualClock::default();
            clock.pass(1e9);
            let mut device = Slow(backend.evaluator().unwrap(), &clock, run_ms, Vec::new());
            let attributes =
                Attributes { is_cpu: false, smallest_batch, maximum_batch, ..backend.attributes().clone() };
            assert!(proof.check_by(&clock, &mut device, &attributes, Arithmetic::Float32).is_ok());
            assert_eq!(device.3, expected, "{run_ms} ms");
        }
    }
}
