//! Models the cost of each batch, for games on a virtual clock: a decorator below the cache, so that a position from
//! the cache costs nothing.

use super::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand_distr::{Distribution as _, LogNormal};
use std::sync::Arc;
use thiserror::Error;

/// Milliseconds that a batch takes, by its size.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    curve: Curve,
    /// Standard deviation of the logarithm of a batch's time; 0: no jitter.
    jitter: f64,
    seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Curve {
    /// Milliseconds for each position.
    Each(f64),
    /// Batch sizes in rising order, and the milliseconds of each.
    Table(Vec<(usize, f64)>),
}

/// An error in the numbers of a cost model. Its text is one line.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CostError {
    /// The speed is not a number above 0.
    #[error("{0} evaluations a second: a speed is a number above 0")]
    Speed(f64),
    /// The jitter is not from 0 to 1.
    #[error("jitter {0}: it is a share of a batch's time, from 0 to 1")]
    Jitter(f64),
    /// An entry of the table has the size 0, the size of another entry, or no time above 0.
    #[error("a batch of {0} in {1} ms: sizes begin at 1, each is given once, and a batch takes a time above 0")]
    Entry(usize, f64),
    /// The table has no entry.
    #[error("a table of batch times needs an entry")]
    Empty,
    /// The text is not the output of `backendbench --json`.
    #[error("no output of backendbench --json: {0}")]
    Json(String),
}

impl CostModel {
    /// A model in which every position takes the same time.
    ///
    /// # Errors
    /// [`CostError::Speed`] unless `evals_per_s` is a number above 0.
    pub fn constant(evals_per_s: f64) -> Result<CostModel, CostError> {
        let is_speed = evals_per_s > 0.0 && evals_per_s.is_finite();
        if !is_speed {
            return Err(CostError::Speed(evals_per_s));
        }
        Ok(CostModel { curve: Curve::Each(1e3 / evals_per_s), jitter: 0.0, seed: 0 })
    }

    /// A model from a table of sizes and milliseconds, which is interpolated linearly. A batch below the smallest size
    /// takes as long as that size; above the largest size the time grows in proportion to the batch.
    ///
    /// # Errors
    /// [`CostError`] when the table is empty or an entry makes no sense.
    pub fn table(entries: &[(usize, f64)]) -> Result<CostModel, CostError> {
        let mut table = entries.to_vec();
        table.sort_by_key(|entry| entry.0);
        for (index, &(size, ms)) in table.iter().enumerate() {
            let twice = index > 0 && table[index - 1].0 == size;
            let is_time = ms > 0.0 && ms.is_finite();
            if size == 0 || twice || !is_time {
                return Err(CostError::Entry(size, ms));
            }
        }
        if table.is_empty() {
            return Err(CostError::Empty);
        }
        Ok(CostModel { curve: Curve::Table(table), jitter: 0.0, seed: 0 })
    }

    /// A model from the table that `backendbench --json` measured: an array of objects with `batch` and `evals_per_s`.
    ///
    /// # Errors
    /// [`CostError::Json`] when the text is something else, and those of [`CostModel::table`].
    pub fn from_backendbench(json: &str) -> Result<CostModel, CostError> {
        #[derive(serde::Deserialize)]
        struct Row {
            batch: usize,
            evals_per_s: f64,
        }
        let rows: Vec<Row> = serde_json::from_str(json).map_err(|error| CostError::Json(error.to_string()))?;
        let entries: Vec<_> = rows.iter().map(|row| (row.batch, row.batch as f64 * 1e3 / row.evals_per_s)).collect();
        CostModel::table(&entries)
    }

    /// Lets the time of a batch vary around its mean: the time's logarithm is normal with the standard deviation
    /// `jitter`. The draw depends on `seed` and the batch alone, not on the batches before it.
    ///
    /// # Errors
    /// [`CostError::Jitter`] unless `jitter` is from 0 to 1.
    pub fn with_jitter(self, jitter: f64, seed: u64) -> Result<CostModel, CostError> {
        if (0.0..=1.0).contains(&jitter) {
            Ok(CostModel { jitter, seed, ..self })
        } else {
            Err(CostError::Jitter(jitter))
        }
    }

    /// Milliseconds of a batch of `size` positions, without jitter.
    pub fn batch_ms(&self, size: usize) -> f64 {
        let table = match &self.curve {
            Curve::Each(each_ms) => return each_ms * size as f64,
            Curve::Table(table) => table,
        };
        match table.iter().position(|entry| entry.0 >= size) {
            _ if size == 0 => 0.0,
            Some(0) => table[0].1,
            Some(next) => {
                let ((from, from_ms), (to, to_ms)) = (table[next - 1], table[next]);
                from_ms + (to_ms - from_ms) * (size - from) as f64 / (to - from) as f64
            }
            None => table.last().map_or(0.0, |&(largest, ms)| ms * size as f64 / largest as f64),
        }
    }

    fn modelled_cost_ms(&self, batch: &[Query]) -> f64 {
        let ms = self.batch_ms(batch.len());
        // The mean of such a distribution is exp(mu + sigma^2 / 2).
        match LogNormal::new(-self.jitter * self.jitter / 2.0, self.jitter) {
            Ok(factor) if self.jitter > 0.0 => {
                let keys = batch.iter().fold(batch.len() as u64, |sum, query| sum.rotate_left(7) ^ query.key);
                ms * factor.sample(&mut Xoshiro256PlusPlus::seed_from_u64(self.seed ^ keys))
            }
            _ => ms,
        }
    }
}

/// A backend whose evaluators model the cost of each batch. It belongs below the cache.
pub struct CostedBackend {
    inner: Arc<dyn Backend>,
    model: Arc<CostModel>,
}

impl CostedBackend {
    /// Lets `model` state the cost of the batches of `inner`.
    pub fn new(inner: Arc<dyn Backend>, model: CostModel) -> CostedBackend {
        CostedBackend { inner, model: Arc::new(model) }
    }
}

impl Backend for CostedBackend {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let inner = self.inner.evaluator()?;
        Ok(Box::new(CostedEvaluator { inner, model: Arc::clone(&self.model), modelled_cost_ms: 0.0 }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        self.inner.cache()
    }
}

struct CostedEvaluator {
    inner: Box<dyn Evaluator>,
    model: Arc<CostModel>,
    modelled_cost_ms: f64,
}

impl Evaluator for CostedEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        self.modelled_cost_ms = self.model.modelled_cost_ms(batch);
        self.inner.evaluate(batch)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        Some(self.modelled_cost_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CachedBackend, RandomBackend};

    #[test]
    fn a_table_is_read_between_and_beyond_its_sizes() {
        let model = CostModel::table(&[(16, 20.0), (1, 5.0), (32, 30.0)]).unwrap();
        for (size, ms) in [(0, 0.0), (1, 5.0), (2, 6.0), (16, 20.0), (24, 25.0), (32, 30.0), (64, 60.0)] {
            assert_eq!(model.batch_ms(size), ms, "{size}");
        }
        let alone = CostModel::table(&[(8, 4.0)]).unwrap();
        assert_eq!((alone.batch_ms(1), alone.batch_ms(16)), (4.0, 8.0));
        assert_eq!(CostModel::constant(2_000.0).unwrap().batch_ms(10), 5.0);
    }

    #[test]
    fn what_backendbench_prints_is_a_table() {
        let json = r#"[{"batch":1,"evals_per_s":100.0,"evals_per_cpu_s":50.0},{"batch":16,"evals_per_s":800}]"#;
        let model = CostModel::from_backendbench(json).unwrap();
        assert_eq!((model.batch_ms(1), model.batch_ms(16)), (10.0, 20.0));
        assert!(matches!(CostModel::from_backendbench("{}"), Err(CostError::Json(_))));
    }

    #[test]
    fn bad_models_are_named() {
        for (error, text) in [
            (CostModel::constant(0.0), "0 evaluations a second"),
            (CostModel::constant(f64::NAN), "NaN evaluations a second"),
            (CostModel::table(&[]), "needs an entry"),
            (CostModel::table(&[(0, 1.0)]), "a batch of 0 in 1 ms"),
            (CostModel::table(&[(2, 1.0), (2, 3.0)]), "a batch of 2 in"),
            (CostModel::table(&[(2, -1.0)]), "a batch of 2 in -1 ms"),
            (CostModel::constant(1.0).and_then(|model| model.with_jitter(1.5, 0)), "jitter 1.5"),
        ] {
            let said = error.unwrap_err().to_string();
            assert!(said.contains(text) && !said.contains('\n'), "{said}");
        }
    }

    fn queries(keys: std::ops::Range<u64>) -> Vec<Query> {
        keys.map(|key| Query { key, planes: None, indices: vec![1] }).collect()
    }

    #[test]
    fn jitter_depends_on_the_seed_and_the_batch_alone_and_keeps_the_mean() {
        let model = |seed| CostModel::constant(1_000.0).unwrap().with_jitter(0.3, seed).unwrap();
        let ms = |seed, from: u64| model(seed).modelled_cost_ms(&queries(from..from + 8));
        assert_eq!(ms(1, 5), ms(1, 5));
        assert_ne!(ms(1, 5), ms(2, 5));
        assert_ne!(ms(1, 5), ms(1, 6));
        let mean = (0..20_000).map(|from| ms(3, 1_000 * from)).sum::<f64>() / 20_000.0;
        assert!((mean - 8.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn positions_from_the_cache_cost_nothing() {
        let costed = CostedBackend::new(Arc::new(RandomBackend::new(1)), CostModel::constant(100.0).unwrap());
        let cached = CachedBackend::new(Arc::new(costed), 1_000);
        let mut evaluator = cached.evaluator().unwrap();
        let mut modelled = |keys| {
            evaluator.evaluate(&queries(keys)).unwrap();
            evaluator.modelled_cost_ms()
        };
        assert_eq!(modelled(0..4), Some(40.0));
        assert_eq!(modelled(0..4), Some(0.0), "all of them are in the cache");
        assert_eq!(modelled(2..5), Some(10.0), "one is new");
    }
}
