//! Reads `BackendOptions`: how a network runs on its device, as `key=value,key=value,...` in Lc0's spelling where Lc0
//! has the key (docs/lc0.md, 4.9).

mod keys;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::str::FromStr;

use super::names::SIMULATED;
use super::simulated::Card;
use super::{Isa, Rows, preferences};
use crate::provider_preferences::SMALL_SIZES;
pub use keys::LARGEST_BATCH;
use keys::{
    CARD, GRAPHS, INPUT_FORMAT, INTERFACE, ISA, KEYS, OWN, POLICY_HEAD, POWER, POWERS, PRECISION, PROVIDER,
    PROVIDER_PREFIX, RIVALS, VALUE_HEAD, WEBGPU,
};
use zeitnot_network::{Architecture, Conversion, Network, OnnxInterface, Precision, ValueOutput, onnx_keys};
use zeitnot_runtime::Provider;

/// An error in a text of [`DeviceOptions`]. It displays as one line, without the option's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum DeviceOptionsError {
    /// No key has this name.
    #[error("unknown key \"{key}\"; there are: {known}")]
    Unknown { key: String, known: String },
    /// Something that is not `key=value`.
    #[error("\"{0}\" is not of the form key=value")]
    NoValue(String),
    /// The key does not take the value.
    #[error("{key}: \"{value}\" is not {expected}")]
    Value { key: &'static str, value: String, expected: &'static str },
    /// A key that is given twice: the second would undo the first.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// Two keys that exclude each other: the second would undo the first.
    #[error("{0} and {1} exclude each other")]
    Rivals(&'static str, &'static str),
    /// A key that means nothing to the backend in use.
    #[error("the backend {backend} does not take {key}")]
    NotForBackend { backend: &'static str, key: &'static str },
}

/// The arithmetic that OpenVINO or the backend native computes with; the weights may have another type. In the order of
/// what rounding may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arithmetic {
    /// 32 bits.
    Float32,
    /// IEEE half precision: for Intel's graphics processors.
    Float16,
    /// 8 bits of mantissa: for processors with AVX-512 BF16 or AMX, twice as fast there.
    Bfloat16,
    /// Whole numbers of 8 bits in the large layers of a transformer: for the backend native alone.
    Int8,
}

impl From<Precision> for Arithmetic {
    fn from(precision: Precision) -> Arithmetic {
        match precision {
            Precision::Float32 => Arithmetic::Float32,
            Precision::Float16 => Arithmetic::Float16,
            Precision::Bfloat16 => Arithmetic::Bfloat16,
        }
    }
}

/// The choice between runs that are captured as graphs and plain ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Graphs {
    /// Plain runs: the default until a card has run graphs.
    #[default]
    Off,
    /// Captured runs.
    On,
    /// Captured runs where they work, compute rightly and are faster.
    Auto,
}

/// Options for running a network on its device; the provider's default where an option is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceOptions {
    /// Indices of the devices; empty for the first device alone.
    pub devices: Vec<u32>,
    /// Threads of ONNX Runtime inside one session.
    pub threads: Option<usize>,
    /// The most positions in a run.
    pub batch: Option<usize>,
    /// Number of sizes that runs have, up to the largest.
    pub steps: Option<usize>,
    /// The fewest rows of a run.
    pub min_batch: Option<usize>,
    /// Runs in flight on one device.
    pub runs: Option<usize>,
    /// Whether runs are captured as CUDA graphs.
    pub(crate) graphs: Graphs,
    /// Whether planes go to the device packed.
    pub packed: Option<bool>,
    /// Whether operators of ONNX Runtime's own stand for several ([`Conversion::fused`]), and CUDA adds the biases of
    /// convolutions within them.
    pub fused: Option<bool>,
    /// Options of the provider by ONNX Runtime's own names, in addition to the engine's.
    pub provider: Vec<(String, String)>,
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
    /// The input format, and the names of inputs and outputs, of a model whose file does not state them: for reading
    /// the file ([`zeitnot_network::load`]), not for running it.
    pub interface: OnnxInterface,
    /// OpenVINO and the backend native: the arithmetic.
    pub arithmetic: Option<Arithmetic>,
    /// OpenVINO: the device, such as `CPU`, `GPU` or `NPU`. CoreML: the units, `all`, `cpu`, `gpu` or `ane`.
    pub units: Option<String>,
    /// Folder for networks that a provider has compiled; by default in the user's cache.
    pub cache_dir: Option<PathBuf>,
    /// The backend native: its instruction set.
    pub isa: Option<Isa>,
    /// The backend simulated: its card.
    pub(crate) card: Option<&'static Card>,
    /// The keys that were given.
    given: Vec<&'static str>,
}

/// Splits a text at commas outside quotation marks. A part that is a mere number continues the value before it, so that
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
            if let Some(key) = name.strip_prefix(PROVIDER_PREFIX) {
                options.add_provider_option(key, value)?;
                continue;
            }
            let spelled = name.to_ascii_lowercase().replace('-', "_");
            let key = KEYS.iter().find(|key| key.name == spelled).ok_or_else(|| DeviceOptionsError::Unknown {
                key: name.to_owned(),
                known: KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", "),
            })?;
            if options.given.contains(&key.name) {
                return Err(DeviceOptionsError::Twice(key.name));
            }
            let are_rivals = |other: &str| RIVALS.iter().any(|pair| pair.contains(&other) && pair.contains(&key.name));
            if let Some(other) = options.given.iter().find(|other| are_rivals(other)) {
                return Err(DeviceOptionsError::Rivals(other, key.name));
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
    /// Adds an option of the provider, which ONNX Runtime checks when the provider is loaded.
    fn add_provider_option(&mut self, key: &str, value: &str) -> Result<(), DeviceOptionsError> {
        let refused = |expected| Err(DeviceOptionsError::Value { key: PROVIDER, value: key.to_owned(), expected });
        if key.is_empty() {
            return refused("the name of an option");
        }
        if GRAPHS.contains(&key) && value != "0" {
            return refused("one that works with inputs and outputs in the memory of the host");
        }
        if OWN.iter().any(|own| key.starts_with(own)) {
            return refused("one that is free: the engine sets it, or it is an address");
        }
        if self.provider.iter().any(|(other, _)| other == key) {
            return refused("given once");
        }
        self.provider.push((key.to_owned(), value.to_owned()));
        if !self.given.contains(&PROVIDER) {
            self.given.push(PROVIDER);
        }
        Ok(())
    }

    /// Checks that the keys mean something to this provider.
    ///
    /// # Errors
    /// [`DeviceOptionsError::NotForBackend`] names the first key that does not, and [`DeviceOptionsError::Value`] a value
    /// that WebGPU does not take.
    pub(crate) fn check_for(&self, provider: Provider) -> Result<(), DeviceOptionsError> {
        let foreign = |name: &&&'static str| {
            let key = KEYS.iter().find(|key| key.name == **name);
            key.is_some_and(|key| {
                [ISA, CARD].contains(&key.name) || !key.providers.is_empty() && !key.providers.contains(&provider)
            })
        };
        let narrow = (self.arithmetic == Some(Arithmetic::Int8)).then_some("precision=int8");
        match self.given.iter().find(foreign).copied().or(narrow) {
            Some(key) => Err(DeviceOptionsError::NotForBackend { backend: provider.name(), key }),
            None if provider == Provider::WebGpu => self.check_for_webgpu(),
            None => Ok(()),
        }
    }

    /// Checks for values that WebGPU passes over, or refuses in words of its own after a long load.
    fn check_for_webgpu(&self) -> Result<(), DeviceOptionsError> {
        let without_kernel = |key| Err(DeviceOptionsError::NotForBackend { backend: Provider::WebGpu.name(), key });
        let refused = |key, value, expected| Err(DeviceOptionsError::Value { key, value, expected });
        if self.datatype == Some(Precision::Bfloat16) {
            return without_kernel("datatype=bf16");
        }
        if self.packed == Some(true) {
            return without_kernel("planes=packed");
        }
        if self.devices.iter().any(|&device| device != 0) {
            let key = if self.given.contains(&"gpu") { "gpu" } else { "devices" };
            let indices = self.devices.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            return refused(key, indices, "0: ONNX Runtime chooses WebGPU's card itself, and a process has one");
        }
        for (key, value) in &self.provider {
            if !WEBGPU.contains(&key.as_str()) {
                return refused(PROVIDER, key.clone(), "an option of WebGPU that it takes here (docs/gpu.md)");
            }
            if key == POWER && !POWERS.contains(&value.as_str()) {
                return refused("provider.powerPreference", value.clone(), "one of high-performance, low-power");
            }
        }
        Ok(())
    }

    /// Checks that the keys mean something to the backend native.
    ///
    /// # Errors
    /// [`DeviceOptionsError::NotForBackend`] names the first key that does not.
    pub(crate) fn check_for_native(&self) -> Result<(), DeviceOptionsError> {
        let is_known = |key: &&str| [ISA, PRECISION, POLICY_HEAD, VALUE_HEAD].contains(key) || INTERFACE.contains(key);
        let half = match self.arithmetic {
            Some(Arithmetic::Float16) => Some("precision=f16"),
            Some(Arithmetic::Bfloat16) => Some("precision=bf16"),
            _ => None,
        };
        match self.given.iter().find(|key| !is_known(key)).copied().or(half) {
            Some(key) => Err(DeviceOptionsError::NotForBackend { backend: "native", key }),
            None => Ok(()),
        }
    }

    /// Checks that the keys mean something to the backend simulated.
    ///
    /// # Errors
    /// [`DeviceOptionsError::NotForBackend`] names the first key that does not.
    pub(crate) fn check_for_simulated(&self) -> Result<(), DeviceOptionsError> {
        match self.given.iter().find(|key| **key != CARD) {
            Some(key) => Err(DeviceOptionsError::NotForBackend { backend: SIMULATED, key }),
            None => Ok(()),
        }
    }

    /// The text of the keys of [`DeviceOptions::interface`] alone: for another backend that is to run the same network.
    pub fn interface_text(&self) -> String {
        let OnnxInterface { input_format, input, policy, value, moves_left } = &self.interface;
        let format = input_format.map(|format| format.to_string().replace(' ', "-"));
        let value = value.as_ref().map(|value| match value {
            ValueOutput::Wdl(name) => (onnx_keys::WDL, name),
            ValueOutput::Scalar(name) | ValueOutput::LossDrawWinLogits(name) => (onnx_keys::VALUE, name),
        });
        let named = [(onnx_keys::INPUT, input), (onnx_keys::POLICY, policy), (onnx_keys::MOVES_LEFT, moves_left)];
        let named = named.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
        let heads = [(POLICY_HEAD, &self.policy_head), (VALUE_HEAD, &self.value_head)];
        let heads = heads.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
        let all =
            format.as_ref().map(|format| (INPUT_FORMAT, format)).into_iter().chain(named).chain(value).chain(heads);
        // A quotation mark stands in marks of the other kind.
        let quoted = all.map(|(key, name)| format!("{key}=\"{}\"", name.replace('"', "\"'\"'\"")));
        quoted.collect::<Vec<_>>().join(",")
    }

    /// The rows of runs on this provider. Lc0's `batch`, `steps` and `min_batch` are the largest number of rows, the
    /// number of sizes up to it, and the smallest number of rows.
    pub fn rows(&self, provider: Provider) -> Rows {
        self.rows_of(&Rows::of_provider(provider))
    }

    /// The rows of runs where these are usual.
    fn rows_of(&self, usual: &Rows) -> Rows {
        let most = self.batch.unwrap_or(usual.most);
        let least = self.min_batch.unwrap_or(usual.least).min(most);
        if let Some(steps) = self.steps {
            let step = most.div_ceil(steps).max(1);
            if step == 1 {
                return Rows::any(least, most);
            }
            let sizes: Vec<usize> = (1..).map(|index| index * step).take_while(|&size| size < most).collect();
            return Rows::sizes_between(&sizes, least.max(step.min(most)), most);
        }
        match usual.only() {
            // A fixed size stays as it is.
            Some(_) if self.min_batch.is_none() => Rows::fixed(most),
            _ if usual.are_any() => Rows::any(least, most),
            _ => Rows::sizes_between(&usual.sizes(), least, most),
        }
    }

    /// The rows of runs where changing their size costs much: a single size, which is `batch` or the provider's
    /// preferred batch, unless `steps` or `min_batch` ask for more sizes.
    ///
    /// A change costs much with CUDA for networks with convolutions: ONNX Runtime keeps cuDNN's plans for the last size
    /// alone (its issue 23006). On an H200 a change took 913 ms with a 20x256 network, 108 ms with
    /// `provider.cudnn_conv_algo_search=HEURISTIC`; in `go movetime 1000` its search made 15 visits at most with eleven
    /// sizes, and 78,664 at least with one (docs/gpu.md).
    pub(crate) fn one_size(&self, provider: Provider) -> Rows {
        match self.steps.or(self.min_batch) {
            None => Rows::fixed(self.batch.unwrap_or(preferences(provider).batch)),
            Some(_) => self.rows(provider),
        }
    }

    /// Whether runs on this provider are captured as graphs.
    pub(crate) fn captures(&self, provider: Provider) -> bool {
        provider == Provider::Cuda && self.graphs != Graphs::Off
    }

    /// The rows of runs that are captured as graphs: also of few rows, as a launch takes next to nothing and changing the
    /// size nothing at all. Never of any size, which would be captured in play.
    ///
    /// A network with convolutions has one size whatever the user asks for. ONNX Runtime keeps cuDNN's plan for the last
    /// size alone, and cuDNN unloads with a plan the kernels that it compiled for it, which the graphs of other sizes
    /// would still launch. (NVIDIA's cudnn-frontend of 2026 keeps plans for graphs, by CUDA's user objects; the provider
    /// of ONNX Runtime 1.31.1 was built with an older one, and has none.)
    pub(crate) fn captured_rows(&self, provider: Provider, has_convolutions: bool) -> Rows {
        if has_convolutions {
            return Rows::fixed(self.batch.unwrap_or(preferences(provider).batch));
        }
        let usual = Rows::of_provider(provider).sizes();
        let sizes: Vec<usize> = SMALL_SIZES.into_iter().chain(usual).collect();
        let rows = self.rows_of(&Rows::sizes_between(&sizes, 1, preferences(provider).rows.1));
        if rows.are_any() { Rows::sizes_between(&sizes, rows.least, rows.most) } else { rows }
    }

    /// The rows of runs on a device that is no faster than a CPU and takes long for each position: by default a single
    /// one, or eight.
    pub(crate) fn few_sizes(&self) -> Rows {
        self.rows_of(&Rows::sizes_between(&[], 1, 8))
    }

    /// The conversion of a network for this provider, with the batch size left open.
    pub(crate) fn conversion(&self, provider: Provider) -> Conversion {
        let usual = Conversion::default();
        let precision = self.datatype.unwrap_or(preferences(provider).precision);
        // Convolutions of bfloat16 need the newest operator set.
        let least = if precision == Precision::Bfloat16 { *Conversion::OPSETS.end() } else { usual.opset };
        Conversion {
            opset: self.opset.unwrap_or(least),
            precision,
            policy_head: self.policy_head.clone(),
            value_head: self.value_head.clone(),
            batch: None,
            packed: self.packed.unwrap_or(preferences(provider).packed),
            mish: preferences(provider).mish,
            fused: self.fused.unwrap_or_default(),
        }
    }

    /// [`DeviceOptions::conversion`] for this network. For a model that came as ONNX it asks only for what the keys ask
    /// for, so that [`Network::onnx`] can refuse that. (TensorRT computes in `datatype` for a model of any type.)
    pub(crate) fn conversion_of(&self, network: &Network, provider: Provider) -> Conversion {
        let wanted = self.conversion(provider);
        if !matches!(network.description().architecture, Architecture::Onnx { .. }) {
            return wanted;
        }
        let usual = Conversion::default();
        let precision = self.datatype.filter(|_| provider != Provider::TensorRt).unwrap_or(usual.precision);
        let packed = self.packed.unwrap_or(usual.packed);
        Conversion { opset: self.opset.unwrap_or(usual.opset), precision, packed, mish: usual.mish, ..wanted }
    }
}
