//! Evaluates positions at random, but always the same for the same position.

use super::uniform::FREE_BATCH;
use super::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query, cpu_workers};
use zeitnot_base::splitmix::mix;

/// The largest magnitude of a logit: with some 30 moves, the best prior is then a few times the mean prior.
const LOGIT_RANGE: f32 = 2.0;
/// Upper bound of the moves left, in plies.
const MOVES_LEFT_RANGE: f32 = 200.0;

/// A backend whose evaluations depend on the position's key, the move's index and a seed alone: a search over them has
/// uneven trees, as with a network, and is the same on every machine.
#[derive(Debug)]
pub struct RandomBackend {
    attributes: Attributes,
    seed: u64,
}

impl RandomBackend {
    /// The backend with this seed.
    pub fn new(seed: u64) -> RandomBackend {
        let attributes = Attributes {
            name: format!("random, seed {seed}"),
            device: "no network".to_owned(),
            input: None,
            has_wdl: true,
            has_moves_left: true,
            preferred_batch: FREE_BATCH,
            smallest_batch: 1,
            maximum_batch: FREE_BATCH,
            preferred_threads: cpu_workers(),
            is_cpu: true,
            is_batch_invariant: true,
            maia: None,
        };
        RandomBackend { attributes, seed }
    }
}

impl Backend for RandomBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(Box::new(Random { seed: self.seed }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

struct Random {
    seed: u64,
}

impl Random {
    fn evaluate_one(&self, query: &Query) -> Evaluation {
        let position = mix(query.key ^ mix(self.seed));
        // Draws 0 to 2 are the position's own; the moves' come after them.
        let draw = |index: u64| unit(mix(position.wrapping_add(index)));
        let q = 2.0 * draw(0) - 1.0;
        let logit = |&index: &u16| LOGIT_RANGE * (2.0 * draw(3 + u64::from(index)) - 1.0);
        Evaluation {
            q,
            // What win and loss leave at most for a draw.
            d: draw(1) * (1.0 - q.abs()),
            m: Some(MOVES_LEFT_RANGE * draw(2)),
            logits: query.indices.iter().map(logit).collect(),
        }
    }
}

impl Evaluator for Random {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        Ok(batch.iter().map(|query| self.evaluate_one(query)).collect())
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// The top 24 bits as a number in 0..1; a float32 holds them exactly.
fn unit(bits: u64) -> f32 {
    const RANGE: f32 = (1 << 24) as f32;
    (bits >> 40) as f32 / RANGE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(seed: u64, key: u64, indices: &[u16]) -> Evaluation {
        let query = Query { key, planes: None, indices: indices.to_vec() };
        RandomBackend::new(seed).evaluator().unwrap().evaluate(&[query]).unwrap().remove(0)
    }

    #[test]
    fn depends_on_key_move_and_seed_alone() {
        let answer = ask(1, 7, &[5, 9, 12]);
        assert_eq!(answer, ask(1, 7, &[5, 9, 12]));
        assert_ne!(answer.q, ask(2, 7, &[5, 9, 12]).q);
        assert_ne!(answer.q, ask(1, 8, &[5, 9, 12]).q);
        let turned = ask(1, 7, &[12, 9, 5]);
        assert_eq!(answer.logits.iter().rev().collect::<Vec<_>>(), turned.logits.iter().collect::<Vec<_>>());
    }

    #[test]
    fn is_pinned_across_machines_and_versions() {
        // Signatures of searches rest on these numbers.
        let pinned =
            Evaluation { q: -0.722_581_27, d: 0.071_647_67, m: Some(114.968_09), logits: Box::new([1.262_766_8]) };
        assert_eq!(ask(0, 0, &[0]), pinned);
    }

    #[test]
    fn values_are_in_range_and_spread() {
        let answers: Vec<Evaluation> = (0..2000).map(|key| ask(3, key, &[0, 1857])).collect();
        for answer in &answers {
            assert!((-1.0..1.0).contains(&answer.q) && (0.0..=1.0).contains(&answer.d), "{answer:?}");
            assert!(answer.q.abs() + answer.d <= 1.0, "{answer:?}");
            assert!((0.0..MOVES_LEFT_RANGE).contains(&answer.m.unwrap()));
            assert!(answer.logits.iter().all(|logit| logit.abs() <= LOGIT_RANGE));
        }
        let mean = answers.iter().map(|answer| f64::from(answer.q)).sum::<f64>() / 2000.0;
        // Three standard errors of the mean of 2000 numbers, even in -1..1.
        assert!(mean.abs() < 3.0 / (3.0_f64.sqrt() * 2000.0_f64.sqrt()), "{mean}");
    }
}
