//! Reads the costs of batches and playouts from a benchmark's output, so that games on a virtual clock run at the speed
//! of the machine that it measured.

use super::{BenchmarkResult, ResultError};
use thiserror::Error;
use zeitnot_engine::backend::{CostError, CostModel};

/// The costs of one search thread.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredCosts {
    /// Time of a batch by its size.
    pub cost: CostModel,
    /// Milliseconds of a playout beside its batch.
    pub playout_ms: f64,
}

/// Why an output of `benchmark --json` gives no costs. Displays as one line.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CostsError {
    /// The text is no such output.
    #[error(transparent)]
    Other(#[from] ResultError),
    /// No setting with one thread has times of batches, as in outputs of older versions.
    #[error("no setting with one search thread and the times of its batches (benchmark --threads 1 --json)")]
    NoSingleThread,
    /// The times make no sense.
    #[error(transparent)]
    Cost(#[from] CostError),
}

impl MeasuredCosts {
    /// The costs in an output of `benchmark --json`, by its setting with one search thread and the most evaluations.
    ///
    /// # Errors
    /// [`CostsError`].
    pub fn from_benchmark(json: &str) -> Result<MeasuredCosts, CostsError> {
        let benchmark = BenchmarkResult::from_json(json)?;
        let settings = std::iter::once(&benchmark.measured).chain(&benchmark.grid);
        let single = settings.filter(|setting| setting.threads == 1 && !setting.batch_ms.is_empty());
        let setting = single.max_by_key(|setting| setting.evaluations).ok_or(CostsError::NoSingleThread)?;
        // A clock on which playouts take no time would stand still where nothing is evaluated.
        let playout_ms = setting.playout_ms.max(1e-6);
        Ok(MeasuredCosts { cost: CostModel::table(&setting.batch_ms)?, playout_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Measured;
    use super::super::benchmark_result::result;
    use super::*;

    fn setting(threads: usize, evaluations: u64, batch_ms: &[(usize, f64)]) -> Measured {
        Measured { threads, evaluations, batch_ms: batch_ms.to_vec(), playout_ms: 0.004, ..Measured::default() }
    }

    #[test]
    fn the_setting_with_one_thread_and_the_most_evaluations_has_the_costs() {
        let grid = [setting(1, 50, &[(1, 9.0)]), setting(1, 90, &[(1, 0.1), (8, 0.5)])];
        let benchmark = BenchmarkResult { measured: setting(2, 100, &[(1, 7.0)]), ..result(grid.to_vec()) };
        let costs = MeasuredCosts::from_benchmark(&benchmark.to_json().unwrap()).unwrap();
        assert_eq!((costs.cost.batch_ms(8), costs.cost.batch_ms(1), costs.playout_ms), (0.5, 0.1, 0.004));
    }

    #[test]
    fn outputs_without_costs_are_refused() {
        let json = result(vec![setting(2, 100, &[(1, 7.0)])]).to_json().unwrap();
        assert_eq!(MeasuredCosts::from_benchmark(&json), Err(CostsError::NoSingleThread));
        assert!(matches!(MeasuredCosts::from_benchmark("[]"), Err(CostsError::Other(_))));
    }
}
