//! Names the library that a provider misses, from the message of the system's loader, and says how a user gets it.

use super::{CudaVersion, Provider};

/// The library that the system's loader did not find, from its message:
/// `libcudnn.so.9: cannot open shared object file: No such file or directory` on Linux,
/// `Library not loaded: @rpath/libx.dylib` on macOS. `None` where the message names none, as on Windows.
pub fn name_in(said: &str) -> Option<String> {
    const LINUX: &str = ": cannot open shared object file";
    const MACOS: &str = "Library not loaded: ";
    let path = match (said.find(LINUX), said.split_once(MACOS)) {
        (Some(end), _) => said[..end].rsplit([' ', '\t', '\n']).next()?,
        (None, Some((_, rest))) => rest.split_whitespace().next()?,
        (None, None) => return None,
    };
    let name = path.rsplit('/').next().unwrap_or(path).trim_matches(['\'', '"', '`']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Advice on how to get a library that a provider needs.
pub fn advice(library: &str, provider: Provider) -> String {
    let name = library.trim_start_matches("lib").to_ascii_lowercase();
    let is = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if is(&["cuda.", "nvcuda", "nvidia-ml", "nvml"]) {
        format!(
            "it comes with NVIDIA's driver: on a machine with an NVIDIA card install version {} or later, which CUDA 13 needs, \
             or {} or later for CUDA 12 (`{}`)",
            CudaVersion::Thirteen.oldest_driver(),
            CudaVersion::Twelve.oldest_driver(),
            CudaVersion::Twelve.variant().command()
        )
    } else if is(&["nvinfer", "nvonnxparser"]) {
        "it is part of TensorRT 10, which NVIDIA distributes (tensorrt-cu13-libs 10.16 of its own Python index, with CUDA 12 \
         tensorrt-cu12-libs 10.16, or libnvinfer10 and libnvonnxparsers10 of its Linux repositories): put its folder into \
         the system's library path"
            .to_owned()
    } else if is(&["migraphx", "amdhip", "hip", "hsa", "roc"]) {
        "it is part of AMD's ROCm 7, whose packages migraphx and hip-runtime-amd have it".to_owned()
    } else if is(&["opencl", "ze_loader"]) {
        "it comes with Intel's driver for compute".to_owned()
    } else if is(&["stdc++", "gcc_s", "z.", "c.", "m."]) {
        "it is part of the system".to_owned()
    } else {
        format!("`{}` obtains it", provider.command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words_name_the_library() {
        // As ONNX Runtime 1.31.1 reports them.
        let linux = "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:2289 onnxruntime::Provider& \
            onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library \
            /home/x/libonnxruntime_providers_cuda.so with error: libcudnn.so.9: cannot open shared object file: No such \
            file or directory";
        assert_eq!(name_in(linux).as_deref(), Some("libcudnn.so.9"));
        let path = "error: /usr/lib/libnvinfer.so.10: cannot open shared object file";
        assert_eq!(name_in(path).as_deref(), Some("libnvinfer.so.10"));
        let macos = "dlopen(x, 1): Library not loaded: @rpath/libfoo.1.dylib\n  Referenced from: x";
        assert_eq!(name_in(macos).as_deref(), Some("libfoo.1.dylib"));
        assert_eq!(name_in("Failed to load library x.dll with error 126"), None);
    }

    #[test]
    fn every_library_has_its_source() {
        for (library, provider, part) in [
            ("libcuda.so.1", Provider::Cuda, "NVIDIA's driver"),
            ("nvcuda.dll", Provider::Cuda, "version 580"),
            ("libcuda.so.1", Provider::Cuda, "525 or later for CUDA 12"),
            ("libcudart.so.13", Provider::Cuda, "`zeitnot runtime install --gpu`"),
            ("libcublasLt.so.12", Provider::Cuda, "`zeitnot runtime install --gpu`"),
            ("libcudnn.so.9", Provider::Cuda, "`zeitnot runtime install --gpu`"),
            ("libnvinfer.so.10", Provider::TensorRt, "TensorRT 10"),
            ("libnvonnxparser.so.10", Provider::TensorRt, "tensorrt-cu12-libs"),
            ("libopenvino.so.2541", Provider::OpenVino, "`zeitnot runtime install --openvino`"),
            ("libtensorrt_rtx.so.1", Provider::TensorRtRtx, "`zeitnot runtime install --tensorrt-rtx`"),
            ("libnvidia-ml.so.1", Provider::TensorRtRtx, "NVIDIA's driver"),
            ("libmigraphx_c.so.3", Provider::MiGraphX, "AMD's ROCm 7"),
            ("libOpenCL.so.1", Provider::OpenVino, "Intel's driver"),
            ("libstdc++.so.6", Provider::Cuda, "the system"),
        ] {
            assert!(advice(library, provider).contains(part), "{library}: {}", advice(library, provider));
        }
    }
}
