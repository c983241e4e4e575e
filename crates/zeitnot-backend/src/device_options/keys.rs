//! Declares the keys of `BackendOptions`, each once.

use super::{Arithmetic, DeviceOptions, Graphs};
use crate::simulated::Card;
use zeitnot_base::files::named_path;
use zeitnot_network::{Conversion, InputFormat, Precision, ValueOutput, onnx_keys};
use zeitnot_runtime::Provider;

/// A key with the values that it takes, in words, and the providers that it means something to (empty: all).
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) expected: &'static str,
    pub(super) providers: &'static [Provider],
    pub(super) set: fn(&mut DeviceOptions, &str) -> bool,
}

const fn key(
    name: &'static str,
    expected: &'static str,
    providers: &'static [Provider],
    set: fn(&mut DeviceOptions, &str) -> bool,
) -> Key {
    Key { name, expected, providers, set }
}

const ALL: &[Provider] = &[];
/// The providers that have the fused operators; the CPU's for comparisons.
const FUSING: &[Provider] = &[Provider::Cpu, Provider::Cuda];
const CPU_LIKE: &[Provider] = &[Provider::Cpu, Provider::OpenVino];
const INDEXED: &[Provider] = &[
    Provider::Cuda,
    Provider::TensorRt,
    Provider::DirectMl,
    Provider::WebGpu,
    Provider::TensorRtRtx,
    Provider::MiGraphX,
];
const COMPILED: &[Provider] = &[Provider::TensorRt, Provider::TensorRtRtx, Provider::OpenVino, Provider::CoreMl];
/// All providers but the CPU's.
const DEVICES: &[Provider] = Provider::ALL.split_at(1).1;
const _: () = assert!(matches!(Provider::ALL[0], Provider::Cpu));
/// The providers whose own options a user can set by [`PROVIDER`]; ONNX Runtime gets them as they are.
const OPEN: &[Provider] = &[
    Provider::Cuda,
    Provider::TensorRt,
    Provider::OpenVino,
    Provider::CoreMl,
    Provider::WebGpu,
    Provider::TensorRtRtx,
];
/// The most runs in flight on one device: each takes a copy of the weights.
const MOST_RUNS: usize = 8;
/// The largest batch that can be asked for (Lc0's).
pub const LARGEST_BATCH: usize = 1024;
/// The most devices of one machine: indices are below this.
const MOST_DEVICES: u32 = 64;
/// The most threads of one session.
const MOST_THREADS: usize = 128;
const COUNT: &str = "a whole number from 1 to 1024";
const NAME: &str = "a name";

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

fn name(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Sets `place` to a value that was parsed and returns true; leaves it and returns false if there is no value.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let there = value.is_some();
    *place = value.or(place.take());
    there
}

/// The keys of `BackendOptions`.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("gpu", "the index of a device, from 0 to 63", INDEXED, |options, text| add_devices(options, text, false)),
    key("devices", "a list of device indices from 0 to 63, such as 0,1", INDEXED,
        |options, text| add_devices(options, text, true)),
    key("threads", "a whole number from 1 to 128", CPU_LIKE,
        |options, text| put(&mut options.threads, number(text, MOST_THREADS))),
    key("batch", COUNT, ALL, |options, text| put(&mut options.batch, number(text, LARGEST_BATCH))),
    key("steps", COUNT, ALL, |options, text| put(&mut options.steps, number(text, LARGEST_BATCH))),
    key("min_batch", COUNT, ALL, |options, text| put(&mut options.min_batch, number(text, LARGEST_BATCH))),
    key("runs", "a whole number from 1 to 8", DEVICES, |options, text| put(&mut options.runs, number(text, MOST_RUNS))),
    key("graphs", "one of on, off, auto", &[Provider::Cuda],
        |options, text| {
            let graphs = match text {
                "on" => Graphs::On,
                "off" => Graphs::Off,
                "auto" => Graphs::Auto,
                _ => return false,
            };
            options.graphs = graphs;
            true
        }),
    key("planes", "one of packed, dense", ALL,
        |options, text| {
            let packed = match text {
                "packed" => Some(true),
                "dense" => Some(false),
                _ => None,
            };
            put(&mut options.packed, packed)
        }),
    key("fused", "true or false", FUSING, |options, text| put(&mut options.fused, text.parse().ok())),
    key("optimize", "a whole number from 0 to 3", ALL,
        |options, text| put(&mut options.optimize, text.parse().ok().filter(|level| *level <= 3))),
    key("datatype", "one of f32, f16, bf16", ALL, |options, text| put(&mut options.datatype, precision(text))),
    key("fp16", "true or false", ALL,
        |options, text| {
            let chosen = match text {
                "true" => Some(Precision::Float16),
                "false" => Some(Precision::Float32),
                _ => None,
            };
            put(&mut options.datatype, chosen)
        }),
    key("opset", "a whole number from 17 to 22", ALL,
        |options, text| {
            put(&mut options.opset, text.parse().ok().filter(|opset| Conversion::OPSETS.contains(opset)))
        }),
    key(POLICY_HEAD, NAME, ALL, |options, text| put(&mut options.policy_head, name(text))),
    key(VALUE_HEAD, NAME, ALL, |options, text| put(&mut options.value_head, name(text))),
    key(INPUT_FORMAT, "one of classical, with-castling-plane, canonical, canonical-hectoplies, \
           canonical-hectoplies-armageddon, canonical-v2, canonical-v2-armageddon", ALL,
        |options, text| put(&mut options.interface.input_format, InputFormat::from_name(text))),
    key(onnx_keys::INPUT, NAME, ALL, |options, text| put(&mut options.interface.input, name(text))),
    key(onnx_keys::POLICY, NAME, ALL, |options, text| put(&mut options.interface.policy, name(text))),
    key(onnx_keys::WDL, NAME, ALL, |options, text| put(&mut options.interface.value, name(text).map(ValueOutput::Wdl))),
    key(onnx_keys::VALUE, NAME, ALL,
        |options, text| put(&mut options.interface.value, name(text).map(ValueOutput::Scalar))),
    key(onnx_keys::MOVES_LEFT, NAME, ALL, |options, text| put(&mut options.interface.moves_left, name(text))),
    key(PRECISION, "one of f32, f16, bf16, int8", &[Provider::OpenVino],
        |options, text| {
            let arithmetic = precision(text).map(Arithmetic::from);
            let int8 = text.eq_ignore_ascii_case("int8").then_some(Arithmetic::Int8);
            put(&mut options.arithmetic, arithmetic.or(int8))
        }),
    key("device", "a device of OpenVINO, such as CPU, GPU, GPU.1, NPU or 'HETERO:GPU,CPU'", &[Provider::OpenVino],
        |options, text| {
            let upper = text.to_ascii_uppercase();
            let plain = upper.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '_' | ','));
            let known = ["CPU", "GPU", "NPU", "AUTO", "HETERO", "MULTI"].iter().any(|kind| upper.starts_with(kind));
            put(&mut options.units, (plain && known).then_some(upper))
        }),
    key("units", "one of all, cpu, gpu, ane", &[Provider::CoreMl],
        |options, text| {
            let known = ["all", "cpu", "gpu", "ane"].contains(&text);
            put(&mut options.units, known.then(|| text.to_owned()))
        }),
    key("cache_dir", "a folder", COMPILED, |options, text| put(&mut options.cache_dir, named_path(text))),
    key(PROVIDER, "an option of the provider", OPEN,
        // `DeviceOptions` adds it under the name that stands in the place of KEY.
        |_, _| false),
    key(ISA, "one of avx512, avxvnni, avx2, i8mm, dotprod, neon, portable", ALL,
        |options, text| put(&mut options.isa, text.parse().ok())),
    key(CARD, "one of h100-t1, h100-20x256, h100-maia, none", ALL,
        |options, text| put(&mut options.card, Card::named(text))),
];

/// Key of a provider's own option, with ONNX Runtime's name: `provider.prefer_nhwc=1`.
pub(super) const PROVIDER: &str = "provider.KEY";
pub(super) const PROVIDER_PREFIX: &str = "provider.";
/// Prefixes of the provider options that a user may not set: the engine sets them by other keys (the device, shapes and
/// folders), or they are addresses in this process.
pub(super) const OWN: [&str; 17] = [
    "enable_cuda_graph",
    "device_id",
    "device_type",
    "user_compute_stream",
    "has_user_compute_stream",
    "gpu_external_",
    "user_aux_stream_array",
    "trt_profile_",
    "nv_profile_",
    "nv_runtime_cache_path",
    "nv_length_aux_stream_array",
    "trt_engine_cache_",
    "trt_timing_cache_path",
    "cache_dir",
    "deviceId",
    "webgpu",
    "dawnProcTable",
];
/// The options of WebGPU that a user can set, listed because WebGPU ignores names that it does not know.
/// `forceCpuNodeNames` is left out: no operator may run on the CPU.
pub(super) const WEBGPU: [&str; 10] = [
    "dawnBackendType",
    "defaultBufferCacheMode",
    "maxStorageBufferBindingSize",
    POWER,
    "preferredLayout",
    "preserveDevice",
    "queryResolveBufferCacheMode",
    "storageBufferCacheMode",
    "uniformBufferCacheMode",
    "validationMode",
];
/// The option of WebGPU that chooses its card, and its values.
pub(super) const POWER: &str = "powerPreference";
pub(super) const POWERS: [&str; 2] = ["high-performance", "low-power"];
/// Provider options that replay a run at its old addresses on the card. They do not work with these providers: inputs
/// and outputs lie on the host, and are copied to other addresses each time. (CUDA has the key `graphs`.)
pub(super) const GRAPHS: [&str; 2] = ["trt_cuda_graph_enable", "enableGraphCapture"];
/// The key of the instruction set, which only the backend native takes.
pub(super) const ISA: &str = "isa";
/// The key of the card, which only the backend simulated takes.
pub(super) const CARD: &str = "card";
/// The key of the arithmetic, which OpenVINO and the backend native take.
pub(super) const PRECISION: &str = "precision";
/// The keys that name heads, which every backend takes.
pub(super) const POLICY_HEAD: &str = "policy_head";
pub(super) const VALUE_HEAD: &str = "value_head";
pub(super) const INPUT_FORMAT: &str = "input_format";

/// The keys of a network's interface: they say how its file is read on any device.
pub(super) const INTERFACE: [&str; 6] =
    [INPUT_FORMAT, onnx_keys::INPUT, onnx_keys::POLICY, onnx_keys::WDL, onnx_keys::VALUE, onnx_keys::MOVES_LEFT];

/// Pairs of keys of which only one can be given, for the second would repeat or undo the first: one device or several,
/// one type, one value output.
pub(super) const RIVALS: [[&str; 2]; 3] =
    [["gpu", "devices"], ["datatype", "fp16"], [onnx_keys::WDL, onnx_keys::VALUE]];

fn add_devices(options: &mut DeviceOptions, text: &str, several: bool) -> bool {
    for index in text.split(',').map(str::trim) {
        match index.parse() {
            Ok(index) if index < MOST_DEVICES => options.devices.push(index),
            _ => return false,
        }
    }
    several || options.devices.len() == 1
}
