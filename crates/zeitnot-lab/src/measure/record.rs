//! Holds what a benchmark found, as one file that others can read, draw and compare with theirs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Machine, Measured, SearchSaturation, recommend};

/// The output of `benchmark --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchmarkRecord {
    /// The program's version; empty in files of versions that did not tell.
    #[serde(default)]
    pub version: String,
    /// The machine.
    pub machine: Machine,
    /// The network; `None` where the backend needs none.
    #[serde(default)]
    pub network: Option<NetworkFacts>,
    /// The backend of the first setting and its network, as the backend names itself.
    pub backend: String,
    /// Its device and what drives it.
    pub device: String,
    /// The ONNX Runtime that it uses.
    #[serde(default)]
    pub runtime: Option<serde_json::Value>,
    /// Time that loading took, in milliseconds.
    pub load_ms: f64,
    /// The engine as its options have it.
    pub measured: Measured,
    /// The other settings that were tried.
    #[serde(default)]
    pub grid: Vec<Measured>,
    /// The device of each backend in `grid`.
    #[serde(default)]
    pub devices: Vec<BackendDevice>,
    /// Where each backend of `grid` saturates.
    #[serde(default)]
    pub saturation: Vec<SearchSaturation>,
    /// Doubts about how steady the machine was.
    #[serde(default)]
    pub unsteady: Vec<String>,
    /// How larger batches than were tried can be run.
    #[serde(default)]
    pub larger_batches: Vec<String>,
    /// The backends that could not be measured.
    #[serde(default)]
    pub unavailable: Vec<Unavailable>,
    /// The setting to use.
    pub recommended: Recommended,
}

/// A network, by its name and its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkFacts {
    /// The name of its file, without the folder: that tells about a person's machine, and nothing about the network.
    pub name: String,
    /// The SHA-256 of the file, where it can be read.
    pub sha256: Option<String>,
}

/// The device that a backend runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendDevice {
    /// The backend's option.
    pub backend: String,
    /// The device and what drives it.
    pub device: String,
}

/// A backend that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unavailable {
    /// The backend's option.
    pub backend: String,
    /// Why, in one line.
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
    /// The backend.
    pub backend: String,
}

impl Recommended {
    /// The options of a setting.
    pub fn of(setting: &Measured) -> Recommended {
        let Measured { threads, minibatch_size, backend, .. } = setting;
        Recommended { threads: *threads, minibatch_size: *minibatch_size, backend: backend.clone() }
    }
}

/// A text that is no output of `benchmark --json`. Its own text is one line.
#[derive(Debug, Error)]
#[error("no output of benchmark --json: {0}")]
pub struct RecordError(String);

impl BenchmarkRecord {
    /// Reads an output of `benchmark --json`.
    ///
    /// # Errors
    ///
    /// When it is something else.
    pub fn from_json(text: &str) -> Result<BenchmarkRecord, RecordError> {
        serde_json::from_str(text).map_err(|error| RecordError(error.to_string()))
    }

    /// The settings to choose from: those of the grid, or the only one that was measured.
    pub fn settings(&self) -> &[Measured] {
        if self.grid.is_empty() { std::slice::from_ref(&self.measured) } else { &self.grid }
    }

    /// The setting to use.
    pub fn best(&self) -> &Measured {
        recommend(self.settings()).unwrap_or(&self.measured)
    }

    /// The machine, the device, the network and the program, in one line.
    pub fn title(&self) -> String {
        let version = if self.version.is_empty() { "of unknown version" } else { &self.version };
        let network = self.network.as_ref().map_or(String::new(), |network| format!("{}, ", network.name));
        let best = self.best();
        let device = self.devices.iter().find(|of| of.backend == best.backend).map_or(&self.device, |of| &of.device);
        format!("{network}{device}; {}; zeitnot {version}", self.machine)
    }
}

#[cfg(test)]
pub(in crate::measure) use tests::record;

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with these settings in its grid.
    pub(in crate::measure) fn record(grid: Vec<Measured>) -> BenchmarkRecord {
        let measured = grid.first().cloned().unwrap_or_default();
        BenchmarkRecord {
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
    fn a_record_is_read_as_it_was_written() {
        let setting = Measured {
            backend: "gpu".to_owned(),
            threads: 2,
            batch: 64,
            visits_per_s: 0.1 + 0.2,
            batch_ms: vec![(1, 0.5), (64, 2.0)],
            cards: Some(vec![Default::default()]),
            ..Measured::default()
        };
        let record = record(vec![setting]);
        let json = serde_json::to_string(&record).unwrap();
        let again = BenchmarkRecord::from_json(&json).unwrap();
        assert_eq!((&again.grid, &again.network, &again.devices), (&record.grid, &record.network, &record.devices));
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (value["recommended"]["Threads"].as_u64(), value["recommended"]["Backend"].as_str()),
            (Some(2), Some("gpu"))
        );
        assert!(value["grid"][0]["cards"][0]["during"]["power_w"].is_null(), "{value}");
        assert!(record.title().starts_with("t1, a card; ") && record.title().ends_with("; zeitnot 0.1.0"));
    }

    #[test]
    fn a_single_setting_is_the_one_to_use() {
        let mut alone = record(Vec::new());
        alone.measured.threads = 7;
        assert_eq!((alone.settings().len(), alone.best().threads), (1, 7));
        let numbers = serde_json::to_value(&alone).unwrap();
        assert!(numbers["measured"]["cards"].is_null() && numbers["runtime"].is_null(), "{numbers}");
    }

    #[test]
    fn files_of_older_versions_are_read() {
        let mut old = serde_json::to_value(record(vec![Measured::default()])).unwrap();
        for key in ["version", "network", "devices", "saturation"] {
            old.as_object_mut().unwrap().remove(key);
        }
        old["measured"].as_object_mut().unwrap().remove("cards");
        old["grid"][0].as_object_mut().unwrap().remove("cards");
        // Before the cards' compute capabilities were told.
        old["machine"]["nvidia"] = serde_json::json!({ "cuda": "13.0", "version": null, "cards": ["a card"] });
        let read = BenchmarkRecord::from_json(&old.to_string()).unwrap();
        assert!(read.version.is_empty() && read.title().contains("of unknown version"), "{}", read.title());
    }

    #[test]
    fn other_texts_are_refused_in_one_line() {
        for text in ["", "hello", "[]", "{}", "{\"summary\": 3}", "[{\"batch\": 1, \"evals_per_s\": 3}]"] {
            let error = BenchmarkRecord::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with("no output of benchmark --json: ") && !error.contains('\n'), "{error}");
        }
    }
}
