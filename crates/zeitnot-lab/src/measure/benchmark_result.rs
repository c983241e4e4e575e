//! Holds the result of a benchmark, as one file that others can read, draw and compare with their own.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{Machine, Measured, SearchSaturation, recommend};

/// The output of `benchmark --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchmarkResult {
    /// The program's version.
    pub version: String,
    pub machine: Machine,
    /// The network; `None` where the backend needs none.
    pub network: Option<NetworkFacts>,
    /// The name of the first setting's backend and its network, as the backend gives it.
    pub backend: String,
    /// The device of that backend, and its driver.
    pub device: String,
    /// The ONNX Runtime that the backend uses, if any.
    pub runtime: Option<serde_json::Value>,
    /// Time that loading took, in milliseconds.
    pub load_ms: f64,
    /// The measurement with the engine's own options.
    pub measured: Measured,
    /// The measurements of the other settings that were tried.
    pub grid: Vec<Measured>,
    /// The device of each backend that `grid` has.
    pub devices: Vec<BackendDevice>,
    /// The batch size at which each backend of `grid` saturates.
    pub saturation: Vec<SearchSaturation>,
    /// Doubts about how steady the machine was.
    pub unsteady: Vec<String>,
    /// Advice on how to run larger batches than were tried.
    pub larger_batches: Vec<String>,
    /// The backends that could not be measured.
    pub unavailable: Vec<Unavailable>,
    /// The setting to use.
    pub recommended: Recommended,
}

/// A benchmark with the key `kind`, as the JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged<T> {
    Benchmark(T),
}

/// A network, by its name and its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkFacts {
    /// The name of the network's file, without the folder, which would tell about a person's machine and not about the
    /// network.
    pub name: String,
    /// The SHA-256 of the file, where it can be read.
    pub sha256: Option<String>,
}

/// The device that a backend runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendDevice {
    /// The value of the option `Backend`.
    pub backend: String,
    /// The device, and its driver.
    pub device: String,
}

/// A backend that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unavailable {
    /// The value of the option `Backend`.
    pub backend: String,
    /// The reason, in one line.
    pub reason: String,
}

/// The setting to use, by the names of the options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Recommended {
    /// Search threads.
    pub threads: usize,
    /// The value of `MinibatchSize`.
    pub minibatch_size: usize,
    pub backend: String,
}

impl Recommended {
    /// The options that give a setting.
    pub fn of(setting: &Measured) -> Recommended {
        let Measured { threads, minibatch_size, backend, .. } = setting;
        Recommended { threads: *threads, minibatch_size: *minibatch_size, backend: backend.clone() }
    }
}

/// Why a text is no output of `benchmark --json`. Displays as one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ResultError {
    /// The text is no such output.
    #[error("no output of benchmark --json: {0}")]
    Other(String),
    /// The text has no kind.
    #[error(
        "no \"kind\", which outputs of benchmark --json have since version 0.1: make it again with benchmark --json"
    )]
    NoKind,
}

impl BenchmarkResult {
    /// The result as JSON.
    ///
    /// # Errors
    /// When a number is one that JSON does not have.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Tagged::Benchmark(self))
    }

    /// Reads an output of `benchmark --json`.
    ///
    /// # Errors
    /// [`ResultError`].
    pub fn from_json(text: &str) -> Result<BenchmarkResult, ResultError> {
        let other = |error: serde_json::Error| ResultError::Other(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(other)?;
        if value.is_object() && value.get("kind").is_none() {
            return Err(ResultError::NoKind);
        }
        let Tagged::Benchmark(result) = serde_json::from_value(value).map_err(other)?;
        Ok(result)
    }

    /// The settings to choose from: the settings of the grid, or the only one that was measured.
    pub fn settings(&self) -> &[Measured] {
        if self.grid.is_empty() { std::slice::from_ref(&self.measured) } else { &self.grid }
    }

    /// The setting to use.
    pub fn best(&self) -> &Measured {
        recommend(self.settings()).unwrap_or(&self.measured)
    }

    /// The machine, the device, the network and the program, in one line.
    pub fn title(&self) -> String {
        format!("{}; {}; zeitnot {}", self.subject(), self.machine, self.version)
    }

    /// The network and the device, in one line.
    pub fn subject(&self) -> String {
        let network = self.network.as_ref().map_or(String::new(), |network| format!("{}, ", network.name));
        let best = self.best();
        let device = self.devices.iter().find(|of| of.backend == best.backend).map_or(&self.device, |of| &of.device);
        format!("{network}{device}")
    }
}

#[cfg(test)]
pub(in crate::measure) use tests::result;

#[cfg(test)]
mod tests {
    use super::*;

    /// A result with these settings in its grid.
    pub(in crate::measure) fn result(grid: Vec<Measured>) -> BenchmarkResult {
        let measured = grid.first().cloned().unwrap_or_default();
        BenchmarkResult {
            version: "0.1.0".to_owned(),
            machine: Machine::this(),
            network: Some(NetworkFacts { name: "t1".to_owned(), sha256: None }),
            backend: "native, t1".to_owned(),
            device: "cpu".to_owned(),
            runtime: None,
            load_ms: 5.0,
            saturation: Vec::new(),
            recommended: Recommended::of(recommend(&grid).unwrap_or(&measured)),
            measured,
            grid,
            devices: vec![BackendDevice { backend: "gpu".to_owned(), device: "a card".to_owned() }],
            unsteady: Vec::new(),
            larger_batches: Vec::new(),
            unavailable: vec![Unavailable { backend: "x".to_owned(), reason: "y".to_owned() }],
        }
    }

    #[test]
    fn a_result_is_read_as_it_was_written() {
        let setting = Measured {
            backend: "gpu".to_owned(),
            threads: 2,
            batch: 64,
            visits_per_s: 0.1 + 0.2,
            batch_ms: vec![(1, 0.5), (64, 2.0)],
            cards: Some(vec![Default::default()]),
            ..Measured::default()
        };
        let found = result(vec![setting]);
        let json = found.to_json().unwrap();
        let again = BenchmarkResult::from_json(&json).unwrap();
        assert_eq!((&again.grid, &again.network, &again.devices), (&found.grid, &found.network, &found.devices));
        assert_eq!(again.to_json().unwrap(), json);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["kind"], "benchmark");
        assert_eq!(
            (value["recommended"]["Threads"].as_u64(), value["recommended"]["Backend"].as_str()),
            (Some(2), Some("gpu"))
        );
        assert!(value["grid"][0]["cards"][0]["during"]["power_w"].is_null(), "{value}");
        assert!(found.title().starts_with("t1, a card; ") && found.title().ends_with("; zeitnot 0.1.0"));
    }

    #[test]
    fn a_single_setting_is_the_one_to_use() {
        let mut alone = result(Vec::new());
        alone.measured.threads = 7;
        assert_eq!((alone.settings().len(), alone.best().threads), (1, 7));
        let numbers = serde_json::to_value(&alone).unwrap();
        assert!(numbers["measured"]["cards"].is_null() && numbers["runtime"].is_null(), "{numbers}");
    }

    #[test]
    fn files_without_a_kind_are_refused() {
        let mut old = serde_json::to_value(result(vec![Measured::default()])).unwrap();
        let error = BenchmarkResult::from_json(&old.to_string()).unwrap_err();
        assert_eq!(error, ResultError::NoKind);
        assert!(error.to_string().ends_with("make it again with benchmark --json"), "{error}");
        old["kind"] = "replay".into();
        let error = BenchmarkResult::from_json(&old.to_string()).unwrap_err().to_string();
        assert!(error.contains("unknown variant `replay`, expected `benchmark`"), "{error}");
    }

    #[test]
    fn other_texts_are_refused_in_one_line() {
        for text in ["", "hello", "[]", "{\"kind\": \"benchmark\"}", "[{\"batch\": 1, \"evals_per_s\": 3}]"] {
            let error = BenchmarkResult::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with("no output of benchmark --json: ") && !error.contains('\n'), "{error}");
        }
    }
}
