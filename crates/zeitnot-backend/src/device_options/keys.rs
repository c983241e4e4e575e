//! Declares the keys of `BackendOptions`, each once.

use super::{Arithmetic, DeviceOptions};
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
const DEVICES: &[Provider] = &[
    Provider::Cuda,
    Provider::TensorRt,
    Provider::OpenVino,
    Provider::DirectMl,
    Provider::CoreMl,
    Provider::WebGpu,
    Provider::TensorRtRtx,
    Provider::MiGraphX,
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

/// Puts a parsed value into its place, if there is one; returns whether there is.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let there = value.is_some();
    *place = value.or(place.take());
    there
}

/// The keys of `BackendOptions`.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "gpu",
        expected: "the index of a device, from 0 to 63",
        providers: INDEXED,
        set: |options, text| add_devices(options, text, false),
    },
    Key {
        name: "devices",
        expected: "a list of device indices from 0 to 63, such as 0,1",
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
        name: "runs",
        expected: "a whole number from 1 to 8",
        providers: DEVICES,
        set: |options, text| put(&mut options.runs, number(text, MOST_RUNS)),
    },
    Key {
        name: "planes",
        expected: "one of packed, dense",
        providers: &[],
        set: |options, text| {
            let packed = match text {
                "packed" => Some(true),
                "dense" => Some(false),
                _ => None,
            };
            put(&mut options.packed, packed)
        },
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
        name: POLICY_HEAD,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.policy_head, name(text)),
    },
    Key {
        name: VALUE_HEAD,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.value_head, name(text)),
    },
    Key {
        name: INPUT_FORMAT,
        expected: "one of classical, with-castling-plane, canonical, canonical-hectoplies, \
                   canonical-hectoplies-armageddon, canonical-v2, canonical-v2-armageddon",
        providers: &[],
        set: |options, text| put(&mut options.interface.input_format, InputFormat::from_name(text)),
    },
    Key {
        name: onnx_keys::INPUT,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.interface.input, name(text)),
    },
    Key {
        name: onnx_keys::POLICY,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.interface.policy, name(text)),
    },
    Key {
        name: onnx_keys::WDL,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.interface.value, name(text).map(ValueOutput::Wdl)),
    },
    Key {
        name: onnx_keys::VALUE,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.interface.value, name(text).map(ValueOutput::Scalar)),
    },
    Key {
        name: onnx_keys::MOVES_LEFT,
        expected: NAME,
        providers: &[],
        set: |options, text| put(&mut options.interface.moves_left, name(text)),
    },
    Key {
        name: PRECISION,
        expected: "one of f32, f16, bf16, int8",
        providers: &[Provider::OpenVino],
        set: |options, text| {
            let arithmetic = precision(text).map(|precision| match precision {
                Precision::Float32 => Arithmetic::Float32,
                Precision::Float16 => Arithmetic::Float16,
                Precision::Bfloat16 => Arithmetic::Bfloat16,
            });
            let int8 = text.eq_ignore_ascii_case("int8").then_some(Arithmetic::Int8);
            put(&mut options.arithmetic, arithmetic.or(int8))
        },
    },
    Key {
        name: "device",
        expected: "a device of OpenVINO, such as CPU, GPU, GPU.1, NPU or 'HETERO:GPU,CPU'",
        providers: &[Provider::OpenVino],
        set: |options, text| {
            let upper = text.to_ascii_uppercase();
            let plain = upper.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '_' | ','));
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
        set: |options, text| put(&mut options.cache_dir, named_path(text)),
    },
    Key {
        name: PROVIDER,
        expected: "an option of the provider",
        providers: &[
            Provider::Cuda,
            Provider::TensorRt,
            Provider::OpenVino,
            Provider::CoreMl,
            Provider::WebGpu,
            Provider::TensorRtRtx,
        ],
        // `DeviceOptions` adds it under the name that stands in the place of KEY.
        set: |_, _| false,
    },
    Key {
        name: ISA,
        expected: "one of avx512, avxvnni, avx2, i8mm, dotprod, neon, portable",
        providers: &[],
        set: |options, text| put(&mut options.isa, text.parse().ok()),
    },
];

/// Key of a provider's own option, with ONNX Runtime's name: `provider.prefer_nhwc=1`.
pub(super) const PROVIDER: &str = "provider.KEY";
pub(super) const PROVIDER_PREFIX: &str = "provider.";
/// Beginnings of provider options that a user may not set: those that the engine sets by other keys (the device, shapes
/// and folders), and those that are addresses in this process.
pub(super) const OWN: [&str; 16] = [
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
/// The options of WebGPU, which itself passes over a name that it does not know. Not `forceCpuNodeNames`: nothing is left
/// to the CPU.
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
/// Provider options that replay a run at its old addresses on the card. They do not work here: inputs and outputs lie
/// on the host, and are copied to other addresses each time.
pub(super) const CUDA_GRAPHS: [&str; 3] = ["enable_cuda_graph", "trt_cuda_graph_enable", "enableGraphCapture"];
/// The key of the instruction set, which only the backend native takes.
pub(super) const ISA: &str = "isa";
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
