//! Loads NVIDIA's libraries by path from beside ONNX Runtime.
//!
//! ONNX Runtime's CUDA provider names the libraries it needs without saying where they are, so the system's loader
//! would look in its own folders only. A library that is loaded already answers to its name from anywhere. (`ort` has
//! such a list as well; it knows other folders and stops at the first library that is not there.)

use std::path::Path;
use std::sync::Once;

/// The libraries that the CUDA and TensorRT providers need or open later, each after those that it needs itself: for
/// CUDA 13 and for CUDA 12, though a folder has only those of one CUDA. `runtime install --gpu` does not obtain
/// TensorRT's own, but a user may put them there.
const LIBRARIES: &[&str] = if cfg!(windows) { WINDOWS } else { LINUX };

/// [`LIBRARIES`] under Linux. Of cuDNN's parts only one is listed: those opened later are found by their `RUNPATH`.
const LINUX: &[&str] = &[
    "libcudart.so.13",
    "libcudart.so.12",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvJitLink.so.13",
    "libnvJitLink.so.12",
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublas.so.13",
    "libcublas.so.12",
    "libcurand.so.10",
    "libcufft.so.12",
    "libcufft.so.11",
    "libcudnn_graph.so.9",
    "libcudnn.so.9",
    "libnvinfer.so.10",
    "libnvinfer_plugin.so.10",
    "libnvonnxparser.so.10",
];

/// [`LIBRARIES`] under Windows, with all parts of cuDNN: it opens them by name alone, and Windows' loader does not look
/// in the folder of the library that asks. cuDNN for CUDA 12 has no `tensor_ir` and no `ext`.
const WINDOWS: &[&str] = &[
    "cudart64_13.dll",
    "cudart64_12.dll",
    "nvrtc64_130_0.dll",
    "nvrtc64_120_0.dll",
    "nvJitLink_130_0.dll",
    "nvJitLink_120_0.dll",
    "cublasLt64_13.dll",
    "cublasLt64_12.dll",
    "cublas64_13.dll",
    "cublas64_12.dll",
    "curand64_10.dll",
    "cufft64_12.dll",
    "cufft64_11.dll",
    "cudnn_graph64_9.dll",
    "cudnn_ops64_9.dll",
    "cudnn_cnn64_9.dll",
    "cudnn_adv64_9.dll",
    "cudnn_heuristic64_9.dll",
    "cudnn_engines_precompiled64_9.dll",
    "cudnn_engines_runtime_compiled64_9.dll",
    "cudnn_engines_tensor_ir64_9.dll",
    "cudnn_ext64_9.dll",
    "cudnn64_9.dll",
    "nvinfer_10.dll",
    "nvinfer_plugin_10.dll",
    "nvonnxparser_10.dll",
];

/// Loads NVIDIA's libraries in the folder of the ONNX Runtime at `library`, once for the process; they stay loaded. A
/// library that is missing or fails to load is left to the provider, whose error names it.
pub(super) fn load(library: &Path) {
    static ONCE: Once = Once::new();
    let Some(folder) = library.parent().filter(|folder| folder.is_absolute()) else { return };
    ONCE.call_once(|| {
        for path in LIBRARIES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()) {
            if let Err(error) = ort::util::preload_dylib(&path) {
                tracing::debug!(path = %path.display(), %error, "not preloaded");
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of cuDNN 9.27 for Windows, each with those that its own list of imports names (`objdump -p`).
    #[test]
    fn every_part_of_cudnn_comes_after_those_that_it_needs() {
        let place =
            |name: &str| WINDOWS.iter().position(|library| *library == name).unwrap_or_else(|| panic!("{name}"));
        let needs_graph =
            ["ops", "heuristic", "engines_precompiled", "engines_runtime_compiled", "engines_tensor_ir", "ext"];
        let needs_ops = ["cnn", "adv"].map(|part| (part, "ops"));
        for (part, needed) in needs_graph.map(|part| (part, "graph")).into_iter().chain(needs_ops) {
            assert!(place(&format!("cudnn_{needed}64_9.dll")) < place(&format!("cudnn_{part}64_9.dll")), "{part}");
        }
    }
}
