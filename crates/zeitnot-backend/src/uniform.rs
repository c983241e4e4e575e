//! Evaluates every position as even and every move as equally good.

use super::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query, cpu_workers};

/// Batch size of backends that cost nothing: Lc0's default for backends without a preference.
pub(super) const FREE_BATCH: usize = 256;

/// A backend that gives q 0, d 0, no moves left and equal logits for every position. With it, a benchmark measures the
/// search alone, and a search is the same on every machine.
#[derive(Debug)]
pub struct UniformBackend {
    attributes: Attributes,
}

impl UniformBackend {
    /// The backend.
    pub fn new() -> UniformBackend {
        let attributes = Attributes {
            name: "uniform".to_owned(),
            device: "no network".to_owned(),
            input: None,
            has_wdl: false,
            has_moves_left: false,
            preferred_batch: FREE_BATCH,
            smallest_batch: 1,
            maximum_batch: FREE_BATCH,
            preferred_threads: cpu_workers(),
            is_cpu: true,
            is_batch_invariant: true,
            maia: None,
        };
        UniformBackend { attributes }
    }
}

impl Default for UniformBackend {
    fn default() -> UniformBackend {
        UniformBackend::new()
    }
}

impl Backend for UniformBackend {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(Box::new(Uniform))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

struct Uniform;

impl Evaluator for Uniform {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let even =
            |query: &Query| Evaluation { q: 0.0, d: 0.0, m: None, logits: vec![0.0; query.indices.len()].into() };
        Ok(batch.iter().map(even).collect())
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_even() {
        let query = |key, moves| Query { key, planes: None, indices: vec![0; moves] };
        let answers = UniformBackend::new().evaluator().unwrap().evaluate(&[query(1, 3), query(2, 0)]).unwrap();
        assert_eq!(answers[0], Evaluation { q: 0.0, d: 0.0, m: None, logits: Box::new([0.0; 3]) });
        assert!(answers[1].logits.is_empty());
    }
}
