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
#[cfg(not(windows))]
const LIBRARIES: [&str; 18] = [
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
#[cfg(windows)]
const LIBRARIES: [&str; 18] = [
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
        for path in LIBRARIES.map(|name| folder.join(name)).iter().filter(|path| path.is_file()) {
            if let Err(error) = ort::util::preload_dylib(path) {
                tracing::debug!(path = %path.display(), %error, "not preloaded");
            }
        }
    });
}
