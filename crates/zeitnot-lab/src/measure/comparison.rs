//! Compares two benchmarks, setting by setting.

use serde::{Deserialize, Serialize};

use super::statistics::rate;
use super::{BenchmarkResult, Measured};

/// One setting in two benchmarks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedSetting {
    /// This benchmark's backend.
    pub backend: String,
    /// Search threads.
    pub threads: usize,
    /// Positions in a batch.
    pub batch: usize,
    /// Evaluations a second in this benchmark, and in the other.
    pub evals_per_s: [f64; 2],
    /// Evaluations a second in this benchmark as a multiple of the other's.
    pub evals_ratio: f64,
    /// Visits a second in this benchmark, and in the other.
    pub visits_per_s: [f64; 2],
    /// Visits a second in this benchmark as a multiple of the other's.
    pub visits_ratio: f64,
}

/// Two benchmarks beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// This benchmark's machine, device, network and version.
    pub this: String,
    /// The other benchmark's machine, device, network and version.
    pub other: String,
    /// Settings that both benchmarks have, in this benchmark's order.
    pub settings: Vec<ComparedSetting>,
    /// Number of settings that only one of the two has.
    pub unmatched: usize,
    /// The settings that the benchmarks recommend, compared; named by this benchmark's setting.
    pub recommended: ComparedSetting,
    /// Warnings that not only the machines differ, a line each.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// Compares `this` with `other`; backend, threads and batch make a setting.
    pub fn new(this: &BenchmarkResult, other: &BenchmarkResult) -> Comparison {
        let (mine, theirs) = (this.settings(), other.settings());
        let twin = |setting: &Measured| theirs.iter().find(|other| key(other) == key(setting));
        let pairs = mine.iter().filter_map(|setting| Some(compared(setting, twin(setting)?)));
        let settings: Vec<ComparedSetting> = pairs.collect();
        Comparison {
            this: this.title(),
            other: other.title(),
            unmatched: mine.len() + theirs.len() - 2 * settings.len(),
            settings,
            recommended: compared(this.best(), other.best()),
            warnings: warnings(this, other),
        }
    }
}

fn key(setting: &Measured) -> (&str, usize, usize) {
    (&setting.backend, setting.threads, setting.batch)
}

fn compared(setting: &Measured, other: &Measured) -> ComparedSetting {
    ComparedSetting {
        backend: setting.backend.clone(),
        threads: setting.threads,
        batch: setting.batch,
        evals_per_s: [setting.evals_per_s, other.evals_per_s],
        evals_ratio: rate(setting.evals_per_s, other.evals_per_s),
        visits_per_s: [setting.visits_per_s, other.visits_per_s],
        visits_ratio: rate(setting.visits_per_s, other.visits_per_s),
    }
}

fn warnings(this: &BenchmarkResult, other: &BenchmarkResult) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (Some(mine), Some(theirs)) = (&this.network, &other.network)
        && (mine.sha256 != theirs.sha256 || mine.sha256.is_none() && mine.name != theirs.name)
    {
        warnings.push(format!("the networks differ: {} and {}", mine.name, theirs.name));
    }
    if this.network.is_some() != other.network.is_some() {
        warnings.push("one of the two does not tell its network".to_owned());
    }
    if this.version != other.version {
        warnings.push("the versions differ".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::benchmark_result::result;
    use super::*;

    fn setting(threads: usize, batch: usize, evals_per_s: f64) -> Measured {
        let visits_per_s = 2.0 * evals_per_s;
        Measured { backend: "gpu".to_owned(), threads, batch, evals_per_s, visits_per_s, ..Measured::default() }
    }

    #[test]
    fn settings_that_both_have_are_compared() {
        let this = result(vec![setting(1, 64, 300.0), setting(2, 64, 500.0), setting(2, 128, 550.0)]);
        let other = result(vec![setting(2, 64, 250.0), setting(2, 256, 1000.0), setting(1, 64, 200.0)]);
        let compared = Comparison::new(&this, &other);
        let ratios: Vec<(usize, f64, f64)> = compared
            .settings
            .iter()
            .map(|setting| (setting.threads, setting.evals_ratio, setting.visits_ratio))
            .collect();
        assert_eq!(ratios, [(1, 1.5, 1.5), (2, 2.0, 2.0)]);
        assert_eq!(compared.unmatched, 2);
        assert_eq!((compared.recommended.evals_per_s, compared.recommended.batch), ([550.0, 1000.0], 128));
        assert!(compared.warnings.is_empty(), "{compared:?}");
        let back = Comparison::new(&other, &this);
        assert_eq!(back.settings[0].evals_ratio, 0.5);
    }

    #[test]
    fn what_differs_besides_the_machine_is_told() {
        let this = result(vec![setting(1, 64, 300.0)]);
        let mut other = result(vec![setting(1, 32, 0.0)]);
        other.version = "0.2.0".to_owned();
        other.network.as_mut().unwrap().name = "t2".to_owned();
        let compared = Comparison::new(&this, &other);
        assert_eq!(compared.warnings, ["the networks differ: t1 and t2", "the versions differ"]);
        assert!(compared.settings.is_empty() && compared.recommended.evals_ratio == 0.0, "{compared:?}");
        other.network = None;
        assert!(Comparison::new(&this, &other).warnings[0].contains("does not tell its network"));
    }
}
