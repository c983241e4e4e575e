//! Reads the costs of batches and playouts from a benchmark's output, so that games on a virtual clock run at the speed of the
//! machine that it measured.

use super::Measured;
use serde::Deserialize;
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

/// An output of `benchmark --json` without costs. Its text is one line.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CostsError {
    /// The text is something else.
    #[error("no output of benchmark --json: {0}")]
    Json(String),
    /// No setting has one thread, or what it has is of an older version.
    #[error("no setting with one search thread and the times of its batches (benchmark --threads 1 --json)")]
    NoSingleThread,
    /// The times make no sense.
    #[error(transparent)]
    Cost(#[from] CostError),
}

/// The part of the output that is read.
#[derive(Deserialize)]
struct Output {
    measured: Measured,
    #[serde(default)]
    grid: Vec<Measured>,
}

impl MeasuredCosts {
    /// The costs in an output of `benchmark --json`: of its settings with one search thread the one with the most evaluations.
    ///
    /// # Errors
    /// [`CostsError`].
    pub fn from_benchmark(json: &str) -> Result<MeasuredCosts, CostsError> {
        let output: Output = serde_json::from_str(json).map_err(|error| CostsError::Json(error.to_string()))?;
        let settings = std::iter::once(&output.measured).chain(&output.grid);
        let single = settings.filter(|setting| setting.threads == 1 && !setting.batch_ms.is_empty());
        let setting = single.max_by_key(|setting| setting.evaluations).ok_or(CostsError::NoSingleThread)?;
        // A clock on which playouts take no time would stand still where nothing is evaluated.
        let playout_ms = setting.playout_ms.max(1e-6);
        Ok(MeasuredCosts { cost: CostModel::table(&setting.batch_ms)?, playout_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setting(threads: usize, evaluations: u64, batch_ms: &[(usize, f64)]) -> Measured {
        Measured { threads, evaluations, batch_ms: batch_ms.to_vec(), playout_ms: 0.004, ..Measured::default() }
    }

    #[test]
    fn the_setting_with_one_thread_and_the_most_evaluations_has_the_costs() {
        let grid = [setting(1, 50, &[(1, 9.0)]), setting(1, 90, &[(1, 0.1), (8, 0.5)])];
        let json = json!({ "measured": setting(2, 100, &[(1, 7.0)]), "grid": grid }).to_string();
        let costs = MeasuredCosts::from_benchmark(&json).unwrap();
        assert_eq!((costs.cost.batch_ms(8), costs.cost.batch_ms(1), costs.playout_ms), (0.5, 0.1, 0.004));
    }

    #[test]
    fn outputs_without_costs_are_refused() {
        let json = json!({ "measured": setting(2, 100, &[(1, 7.0)]) }).to_string();
        assert_eq!(MeasuredCosts::from_benchmark(&json), Err(CostsError::NoSingleThread));
        assert!(matches!(MeasuredCosts::from_benchmark("[]"), Err(CostsError::Json(_))));
    }
}
