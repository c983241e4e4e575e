//! Lists the names of backends, Lc0's among them, and what each stands for.

use crate::BackendError;
use zeitnot_runtime::Provider;

/// The kind of a backend.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum BackendKind {
    Auto,
    Native,
    OnnxRuntime(Provider),
    Uniform,
    Random,
    /// For measurements alone, and in no list.
    Simulated,
}

/// The names of each kind of backend, Zeitnot's own first and then Lc0's (docs/lc0.md, 5.2). Lc0's names of CPU
/// backends mean `native`, which runs the same networks.
#[rustfmt::skip]
const NAMES: [(BackendKind, &[&str]); 13] = [
    (BackendKind::Auto, &["auto"]),
    (BackendKind::Native, &["native", "blas", "eigen", "onednn", "dnnl"]),
    (BackendKind::OnnxRuntime(Provider::Cpu), &["onnxruntime", "onnxruntime-cpu", "onnx", "onnx-cpu", "cpu"]),
    (BackendKind::OnnxRuntime(Provider::Cuda), &["cuda", "cuda-auto", "cuda-fp16", "cudnn", "cudnn-auto", "cudnn-fp16", "onnx-cuda"]),
    (BackendKind::OnnxRuntime(Provider::TensorRt), &["tensorrt", "trt", "onnx-trt"]),
    (BackendKind::OnnxRuntime(Provider::OpenVino), &["openvino", "onnx-openvino"]),
    (BackendKind::OnnxRuntime(Provider::CoreMl), &["coreml", "onnx-coreml"]),
    (BackendKind::OnnxRuntime(Provider::DirectMl), &["directml", "dml", "onnx-dml"]),
    (BackendKind::OnnxRuntime(Provider::WebGpu), &["webgpu", "onnx-webgpu"]),
    (BackendKind::OnnxRuntime(Provider::TensorRtRtx), &["tensorrt-rtx"]),
    (BackendKind::OnnxRuntime(Provider::MiGraphX), &["migraphx", "onnx-migraphx"]),
    (BackendKind::Uniform, &["uniform", "trivial"]),
    (BackendKind::Random, &["random"]),
];

/// The names that [`create`](super::create) takes, besides aliases.
pub const BACKENDS: [&str; NAMES.len()] = {
    let mut first = [""; NAMES.len()];
    let mut index = 0;
    while index < first.len() {
        first[index] = NAMES[index].1[0];
        index += 1;
    }
    first
};

/// The name of the backend that no list names.
pub(crate) const SIMULATED: &str = "simulated";

const SEVERAL: &str = "BackendOptions devices=0,1 serves several cards";

/// Backends that are not in this program, by names that Lc0 has or that people try. Each group follows the advice that
/// the error gives.
#[rustfmt::skip]
const ABSENT: [(&str, &[&str]); 11] = [
    ("take auto", &["gpu"]),
    ("take webgpu", &["vulkan", "opencl"]),
    ("take migraphx or webgpu", &["rocm", "onnx-rocm"]),
    ("take coreml or webgpu", &["metal"]),
    ("take openvino or webgpu", &["sycl", "sycl-auto", "sycl-fp16"]),
    ("take directml or webgpu", &["dx12"]),
    ("take cuda or native", &["xla", "tensorflow-cc"]),
    ("take native", &["tensorflow-cc-cpu"]),
    (SEVERAL, &["multiplexing", "demux", "roundrobin"]),
    ("zeitnot backendbench --versus compares two backends", &["check"]),
    ("nothing records evaluations", &["recordreplay"]),
];

/// The kind of the backend of this name, in upper or lower case.
pub(crate) fn kind(name: &str) -> Result<BackendKind, BackendError> {
    let lower = name.to_ascii_lowercase();
    if let Some((kind, _)) = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str())) {
        return Ok(*kind);
    }
    if lower == SIMULATED {
        return Ok(BackendKind::Simulated);
    }
    let (name, known) = (name.to_owned(), BACKENDS.join(", "));
    Err(match ABSENT.iter().find(|(_, names)| names.contains(&lower.as_str())) {
        Some((instead, _)) => BackendError::Absent { name, instead, known },
        None => BackendError::Unknown { name, known },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_known() {
        for name in BACKENDS {
            assert!(kind(name).is_ok() && kind(&name.to_uppercase()).is_ok(), "{name}");
        }
        for name in ABSENT.iter().flat_map(|(_, names)| *names) {
            assert!(kind(name).is_err(), "{name}");
        }
    }

    // docs/lc0.md, 5.2.
    #[test]
    fn lc0s_names_are_ours_or_name_the_nearest_of_ours() {
        for (names, ours) in [
            (&["blas", "eigen", "onednn", "dnnl"][..], BackendKind::Native),
            (&["cuda-auto", "cuda-fp16", "cudnn-auto", "onnx-cuda"], BackendKind::OnnxRuntime(Provider::Cuda)),
            (&["onnx-trt"], BackendKind::OnnxRuntime(Provider::TensorRt)),
            (&["trivial"], BackendKind::Uniform),
        ] {
            for name in names {
                assert!(kind(name).is_ok_and(|kind| kind == ours), "{name}");
            }
        }
        for (name, nearest) in [
            ("metal", "coreml"),
            ("dx12", "directml"),
            ("sycl-auto", "openvino or webgpu"),
            ("vulkan", "webgpu"),
            ("gpu", "auto"),
            ("xla", "native"),
            ("demux", "devices=0,1"),
            ("check", "backendbench --versus"),
        ] {
            let text = kind(name).err().unwrap().to_string();
            assert!(text.split("; there are: ").next().unwrap().contains(nearest), "{text}");
        }
    }
}
