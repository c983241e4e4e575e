//! `BackendOptions`: how a network runs on its device, as `key=value,key=value,...` in Lc0's spelling where Lc0 has the key
//! (lc0.md D.7).

use std::path::PathBuf;
use std::str::FromStr;

use super::Isa;
use super::provider::{Provider, Rows};
use crate::network::{Conversion, Precision};

/// Why a text is no [`DeviceOptions`]. One line, without the option's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceOptionsError {
    /// No key has this name.
    #[error("unknown key \"{key}\"; there are: {known}")]
    Unknown {
        /// The key as it came.
        key: String,
        /// The keys that exist.
        known: String,
    },
    /// Something that is not `key=value`.
    #[error("\"{0}\" is not of the form key=value")]
    NoValue(String),
    /// The key does not take the value.
    #[error("{key}: \"{value}\" is not {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value as it came.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A key that stands twice, where the second would undo the first.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// A key that means nothing to the backend in use.
    #[error("the backend {backend} does not take {key}")]
    NotForBackend {
        /// The backend.
        backend: &'static str,
        /// The key.
        key: &'static str,
    },
}

/// What OpenVINO computes with inside, whatever the type of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// 32 bits.
    Float32,
    /// IEEE half precision: for Intel's graphics processors.
    Float16,
    /// 8 bits of mantissa: for processors with AVX-512 BF16 or AMX, twice as fast there.
    Bfloat16,
}

/// How a network runs on its device. What is `None` is left to the provider's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceOptions {
    /// The devices, by index; none means the first.
    pub devices: Vec<u32>,
    /// Threads of ONNX Runtime inside one session.
    pub threads: Option<usize>,
    /// The most positions in a run.
    pub batch: Option<usize>,
    /// How many sizes runs have up to the largest.
    pub steps: Option<usize>,
    /// The fewest rows of a run.
    pub min_batch: Option<usize>,
    /// The level of graph optimisation, 0 to 3.
    pub optimize: Option<u8>,
    /// The type of weights and arithmetic in the graph.
    pub datatype: Option<Precision>,
    /// The operator set of the graph.
    pub opset: Option<i64>,
    /// The policy head of a network with several.
    pub policy_head: Option<String>,
    /// The value head of a network with several.
    pub value_head: Option<String>,
    /// OpenVINO: what it computes with inside.
    pub arithmetic: Option<Arithmetic>,
    /// OpenVINO: the device, such as `CPU`, `GPU` or `NPU`. CoreML: the units, `all`, `cpu`, `gpu` or `ane`.
    pub units: Option<String>,
    /// The folder for what a provider compiles; the user's cache unless told.
    pub cache_dir: Option<PathBuf>,
    /// The backend native: its instruction set.
    pub isa: Option<Isa>,
    /// The keys that were given.
    given: Vec<&'static str>,
}

/// A key, what it takes, and which providers it means something to (all of them: none).
struct Key {
    name: &'static str,
    expected: &'static str,
    providers: &'static [Provider],
    set: fn(&mut DeviceOptions, &str) -> bool,
}

const CPU_LIKE: &[Provider] = &[Provider::Cpu, Provider::OpenVino];
const INDEXED: &[Provider] = &[Provider::Cuda, Provider::TensorRt, Provider::DirectMl];
const COMPILED: &[Provider] = &[Provider::TensorRt, Provider::OpenVino, Provider::CoreMl];
/// The largest batch that can be asked for (Lc0's).
const LARGEST_BATCH: usize = 1024;
/// Devices that one machine may have.
const MOST_DEVICES: u32 = 64;
/// Threads that one session may have.
const MOST_THREADS: usize = 128;
const COUNT: &str = "a whole number from 1 to 1024";

fn number(text: &str, most: usize) -> Option<usize> {
    text.parse().ok().filter(|number| (1..=most).contains(number))
}

fn precision(text: &str) -> Option<Precision> {
    match text.to_ascii_lowercase().as_str() {
        "f32" | "fp32" | "float32" => Some(Precision::Float32),
        "f16" | "fp16" | "float16" => Some(Precision::Float16),
        "bf16" | "bfloat16" => Some(Precision::Bfloat16),
        _ => None,
    }
}

/// Puts a parsed value into its place; whether there was one.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let there = value.is_some();
    *place = value.or(place.take());
    there
}

const KEYS: &[Key] = &[
    Key {
        name: "gpu",
        expected: "the index of a device, from 0 to 63",
        providers: INDEXED,
        set: |options, text| add_devices(options, text, false),
    },
    Key {
        name: "devices",
        expected: "a list of different device indices from 0 to 63, such as 0,1",
        providers: INDEXED,
        set: |options, text| add_devices(options, text, true),
    },
    Key {
        name: "threads",
        expected: "a whole number from 1 to 128",
        providers: CPU_LIKE,
        set: |options, text| put(&mut options.threads, number(text, MOST_THREADS)),
    },
    Key {
        name: "batch",
        expected: COUNT,
        providers: &[],
        set: |options, text| put(&mut options.batch, number(text, LARGEST_BATCH)),
    },
    Key {
        name: "steps",
        expected: COUNT,
        providers: &[],
        set: |options, text| put(&mut options.steps, number(text, LARGEST_BATCH)),
    },
    Key {
        name: "min_batch",
        expected: COUNT,
        providers: &[],
        set: |options, text| put(&mut options.min_batch, number(text, LARGEST_BATCH)),
    },
    Key {
        name: "optimize",
        expected: "a whole number from 0 to 3",
        providers: &[],
        set: |options, text| put(&mut options.optimize, text.parse().ok().filter(|level| *level <= 3)),
    },
    Key {
        name: "datatype",
        expected: "one of f32, f16, bf16",
        providers: &[],
        set: |options, text| put(&mut options.datatype, precision(text)),
    },
    Key {
        name: "fp16",
        expected: "true or false",
        providers: &[],
        set: |options, text| {
            let chosen = match text {
                "true" => Some(Precision::Float16),
                "false" => Some(Precision::Float32),
                _ => None,
            };
            put(&mut options.datatype, chosen)
        },
    },
    Key {
        name: "opset",
        expected: "a whole number from 17 to 22",
        providers: &[],
        set: |options, text| {
            put(&mut options.opset, text.parse().ok().filter(|opset| Conversion::OPSETS.contains(opset)))
        },
    },
    Key {
        name: "policy_head",
        expected: "a name",
        providers: &[],
        set: |options, text| put(&mut options.policy_head, (!text.is_empty()).then(|| text.to_owned())),
    },
    Key {
        name: "value_head",
        expected: "a name",
        providers: &[],
        set: |options, text| put(&mut options.value_head, (!text.is_empty()).then(|| text.to_owned())),
    },
    Key {
        name: "precision",
        expected: "one of f32, f16, bf16",
        providers: &[Provider::OpenVino],
        set: |options, text| {
            let arithmetic = precision(text).map(|precision| match precision {
                Precision::Float32 => Arithmetic::Float32,
                Precision::Float16 => Arithmetic::Float16,
                Precision::Bfloat16 => Arithmetic::Bfloat16,
            });
            put(&mut options.arithmetic, arithmetic)
        },
    },
    Key {
        name: "device",
        expected: "a device of OpenVINO, such as CPU, GPU, GPU.1 or NPU",
        providers: &[Provider::OpenVino],
        set: |options, text| {
            let upper = text.to_ascii_uppercase();
            let plain = upper.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '_'));
            let known = ["CPU", "GPU", "NPU", "AUTO", "HETERO", "MULTI"].iter().any(|kind| upper.starts_with(kind));
            put(&mut options.units, (plain && known).then_some(upper))
        },
    },
    Key {
        name: "units",
        expected: "one of all, cpu, gpu, ane",
        providers: &[Provider::CoreMl],
        set: |options, text| {
            let known = ["all", "cpu", "gpu", "ane"].contains(&text);
            put(&mut options.units, known.then(|| text.to_owned()))
        },
    },
    Key {
        name: "cache_dir",
        expected: "a folder",
        providers: COMPILED,
        set: |options, text| put(&mut options.cache_dir, (!text.is_empty()).then(|| PathBuf::from(text))),
    },
    Key {
        name: ISA,
        expected: "one of avx512, avx2, portable",
        providers: &[],
        set: |options, text| put(&mut options.isa, text.parse().ok()),
    },
];

/// The one key of the backend native, and of no provider.
const ISA: &str = "isa";

fn add_devices(options: &mut DeviceOptions, text: &str, several: bool) -> bool {
    for index in text.split(',').map(str::trim) {
        match index.parse() {
            Ok(index) if index < MOST_DEVICES && !options.devices.contains(&index) => options.devices.push(index),
            _ => return false,
        }
    }
    several || options.devices.len() == 1
}

/// Splits at commas that stand outside quotation marks. What is a number alone continues the value before it, so that
/// `devices=0,1` is one item.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut item = String::new();
    let mut quote = None;
    let mut finish = |item: &mut String| {
        let done = std::mem::take(item).trim().to_owned();
        match items.last_mut() {
            Some(last) if last.contains('=') && !done.is_empty() && done.bytes().all(|b| b.is_ascii_digit()) => {
                *last = format!("{last},{done}");
            }
            _ => items.push(done),
        }
    };
    for c in text.chars() {
        match (quote, c) {
            (None, ',') => finish(&mut item),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (_, c) => item.push(c),
        }
    }
    finish(&mut item);
    // A trailing comma is accepted, as Lc0 does.
    items.retain(|item| !item.is_empty());
    items
}

impl FromStr for DeviceOptions {
    type Err = DeviceOptionsError;

    fn from_str(text: &str) -> Result<DeviceOptions, DeviceOptionsError> {
        let mut options = DeviceOptions::default();
        for item in items(text) {
            let (name, value) = item.split_once('=').ok_or_else(|| DeviceOptionsError::NoValue(item.clone()))?;
            let (name, value) = (name.trim(), value.trim());
            let spelled = name.to_ascii_lowercase().replace('-', "_");
            let key = KEYS.iter().find(|key| key.name == spelled).ok_or_else(|| DeviceOptionsError::Unknown {
                key: name.to_owned(),
                known: KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", "),
            })?;
            // One device or several, one type: the second key of a pair would contradict the first.
            let pairs = [["gpu", "devices"], ["datatype", "fp16"]];
            let is_rival = |other: &str| {
                other == key.name || pairs.iter().any(|pair| pair.contains(&other) && pair.contains(&key.name))
            };
            if options.given.iter().any(|other| is_rival(other)) {
                return Err(DeviceOptionsError::Twice(key.name));
            }
            if !(key.set)(&mut options, value) {
                let value = value.to_owned();
                return Err(DeviceOptionsError::Value { key: key.name, value, expected: key.expected });
            }
            options.given.push(key.name);
        }
        if options.min_batch > options.batch && options.batch.is_some() {
            let (key, expected) = ("min_batch", "at most batch");
            let value = options.min_batch.unwrap_or_default().to_string();
            return Err(DeviceOptionsError::Value { key, value, expected });
        }
        Ok(options)
    }
}

impl DeviceOptions {
    /// Checks that the keys mean something to this provider.
    ///
    /// # Errors
    ///
    /// [`DeviceOptionsError::NotForBackend`] names the first that does not.
    pub fn check_for(&self, provider: Provider) -> Result<(), DeviceOptionsError> {
        let foreign = |name: &&&'static str| {
            let key = KEYS.iter().find(|key| key.name == **name);
            key.is_some_and(|key| key.name == ISA || !key.providers.is_empty() && !key.providers.contains(&provider))
        };
        match self.given.iter().find(foreign) {
            Some(key) => Err(DeviceOptionsError::NotForBackend { backend: provider.name(), key }),
            None => Ok(()),
        }
    }

    /// Checks that the keys mean something to the backend native.
    ///
    /// # Errors
    ///
    /// [`DeviceOptionsError::NotForBackend`] names the first that does not.
    pub fn check_for_native(&self) -> Result<(), DeviceOptionsError> {
        match self.given.iter().find(|key| **key != ISA) {
            Some(key) => Err(DeviceOptionsError::NotForBackend { backend: "native", key }),
            None => Ok(()),
        }
    }

    /// Whether any key was given that belongs to one kind of device.
    pub fn first_key(&self) -> Option<&'static str> {
        self.given.first().copied()
    }

    /// The rows of runs on this provider, Lc0's `batch`, `steps` and `min_batch` being the largest run, how many sizes
    /// there are up to it, and the smallest.
    pub fn rows(&self, provider: Provider) -> Rows {
        let usual = provider.rows();
        let most = self.batch.unwrap_or(usual.most);
        let step = match (self.steps, self.batch) {
            (Some(steps), _) => most.div_ceil(steps),
            (None, Some(batch)) if usual.step == usual.most => batch,
            (None, _) => usual.step,
        };
        let least = self.min_batch.unwrap_or(usual.least);
        Rows { least: least.min(most), step: step.clamp(1, most), most }
    }

    /// The conversion of a network for this provider; of a fixed size where there is one.
    pub fn conversion(&self, provider: Provider) -> Conversion {
        let usual = Conversion::default();
        let precision = self.datatype.unwrap_or(provider.precision());
        // Convolutions of bfloat16 need the newest operator set.
        let least = if precision == Precision::Bfloat16 { *Conversion::OPSETS.end() } else { usual.opset };
        Conversion {
            opset: self.opset.unwrap_or(least),
            precision,
            policy_head: self.policy_head.clone(),
            value_head: self.value_head.clone(),
            batch: None,
        }
    }
}

#[cfg(test)]
#[path = "device_options_tests.rs"]
mod tests;
