//! Names the execution providers of ONNX Runtime: each is the part that drives one kind of device.

use std::fmt;

use super::pins::Variant;

/// An execution provider of ONNX Runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Any processor.
    Cpu,
    /// NVIDIA's graphics processors, through CUDA and cuDNN.
    Cuda,
    /// NVIDIA cards, through engines that TensorRT builds for one network and card.
    TensorRt,
    /// Intel's processors, graphics processors and NPUs.
    OpenVino,
    /// Apple's processors, graphics processors and Neural Engine.
    CoreMl,
    /// Any graphics processor under Windows.
    DirectMl,
    /// Any graphics processor, through Vulkan, Direct3D 12 or Metal.
    WebGpu,
    /// NVIDIA's RTX cards, through engines that TensorRT for RTX builds for one network and card.
    TensorRtRtx,
    /// AMD's graphics processors, through programs that MIGraphX compiles for one network and card.
    MiGraphX,
}

impl Provider {
    /// All providers, in the order they are listed to the user.
    pub const ALL: [Provider; 9] = [
        Provider::Cpu,
        Provider::Cuda,
        Provider::TensorRt,
        Provider::OpenVino,
        Provider::CoreMl,
        Provider::DirectMl,
        Provider::WebGpu,
        Provider::TensorRtRtx,
        Provider::MiGraphX,
    ];

    /// The backend's name.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Cpu => "cpu",
            Provider::Cuda => "cuda",
            Provider::TensorRt => "tensorrt",
            Provider::OpenVino => "openvino",
            Provider::CoreMl => "coreml",
            Provider::DirectMl => "directml",
            Provider::WebGpu => "webgpu",
            Provider::TensorRtRtx => "tensorrt-rtx",
            Provider::MiGraphX => "migraphx",
        }
    }

    /// ONNX Runtime's name for the provider, without `ExecutionProvider`.
    pub fn runtime_name(self) -> &'static str {
        match self {
            Provider::Cpu => "CPU",
            Provider::Cuda => "CUDA",
            Provider::TensorRt => "Tensorrt",
            Provider::OpenVino => "OpenVINO",
            Provider::CoreMl => "CoreML",
            Provider::DirectMl => "Dml",
            Provider::WebGpu => "WebGpu",
            Provider::TensorRtRtx => "NvTensorRTRTX",
            Provider::MiGraphX => "MIGraphX",
        }
    }

    /// The variants of ONNX Runtime that have this provider.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            // The package for macOS has CoreML in it.
            Provider::Cpu | Provider::CoreMl => &[Variant::Cpu],
            Provider::Cuda | Provider::TensorRt => &[Variant::Gpu, Variant::GpuCuda12],
            Provider::OpenVino => &[Variant::OpenVino],
            Provider::DirectMl => &[Variant::DirectMl],
            Provider::WebGpu => &[Variant::WebGpu],
            Provider::TensorRtRtx => &[Variant::TensorRtRtx],
            Provider::MiGraphX => &[Variant::MiGraphX],
        }
    }

    /// The command that obtains a runtime with this provider: of several, the one that suits the machine.
    pub fn command(self) -> &'static str {
        match self {
            Provider::Cuda | Provider::TensorRt => "zeitnot runtime install --gpu",
            Provider::Cpu | Provider::CoreMl => Variant::Cpu.command(),
            Provider::OpenVino => Variant::OpenVino.command(),
            Provider::DirectMl => Variant::DirectMl.command(),
            Provider::WebGpu => Variant::WebGpu.command(),
            Provider::TensorRtRtx => Variant::TensorRtRtx.command(),
            Provider::MiGraphX => Variant::MiGraphX.command(),
        }
    }

    /// Whether the provider drives NVIDIA's cards.
    pub fn is_nvidia(self) -> bool {
        self.needs_cuda() || self == Provider::TensorRtRtx
    }

    /// Whether the provider needs the libraries of NVIDIA's packages for CUDA.
    pub fn needs_cuda(self) -> bool {
        matches!(self, Provider::Cuda | Provider::TensorRt)
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Provider::TensorRt => "TensorRT",
            Provider::DirectMl => "DirectML",
            Provider::WebGpu => "WebGPU",
            Provider::TensorRtRtx => "TensorRT for RTX",
            other => other.runtime_name(),
        })
    }
}
