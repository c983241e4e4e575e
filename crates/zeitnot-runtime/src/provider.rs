//! Names the execution providers of ONNX Runtime: each is the part that drives one kind of device.

use std::fmt;

use super::pins::Variant::{self, Cpu, DirectMl, Gpu, GpuCuda12, MiGraphX, OpenVino, TensorRtRtx, WebGpu};

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

/// A row of the table of providers.
struct Row {
    provider: Provider,
    name: &'static str,
    runtime_name: &'static str,
    title: &'static str,
    variants: &'static [Variant],
    command: &'static str,
    maker: Maker,
}

/// The maker of a provider's devices, as far as it matters here.
#[derive(Clone, Copy, PartialEq)]
enum Maker {
    /// NVIDIA, with the libraries of its packages for CUDA.
    NvidiaWithCuda,
    Nvidia,
    Other,
}

const fn row(
    provider: Provider,
    [name, runtime_name, title]: [&'static str; 3],
    variants: &'static [Variant],
    command: &'static str,
    maker: Maker,
) -> Row {
    Row { provider, name, runtime_name, title, variants, command, maker }
}

/// The command that installs the package for CUDA 13 or the one for CUDA 12, whichever suits the machine.
const FOR_CARDS: &str = "zeitnot runtime install --gpu";

/// The table of providers, in the order of [`Provider`] and in which they are listed to the user.
#[rustfmt::skip]
const ROWS: [Row; 9] = [
    row(Provider::Cpu, ["cpu", "CPU", "CPU"], &[Cpu], Cpu.command(), Maker::Other),
    row(Provider::Cuda, ["cuda", "CUDA", "CUDA"], &[Gpu, GpuCuda12], FOR_CARDS, Maker::NvidiaWithCuda),
    row(Provider::TensorRt, ["tensorrt", "Tensorrt", "TensorRT"], &[Gpu, GpuCuda12], FOR_CARDS, Maker::NvidiaWithCuda),
    row(Provider::OpenVino, ["openvino", "OpenVINO", "OpenVINO"], &[OpenVino], OpenVino.command(), Maker::Other),
    // The package for macOS has CoreML in it.
    row(Provider::CoreMl, ["coreml", "CoreML", "CoreML"], &[Cpu], Cpu.command(), Maker::Other),
    row(Provider::DirectMl, ["directml", "Dml", "DirectML"], &[DirectMl], DirectMl.command(), Maker::Other),
    row(Provider::WebGpu, ["webgpu", "WebGpu", "WebGPU"], &[WebGpu], WebGpu.command(), Maker::Other),
    row(Provider::TensorRtRtx, ["tensorrt-rtx", "NvTensorRTRTX", "TensorRT for RTX"], &[TensorRtRtx], TensorRtRtx.command(), Maker::Nvidia),
    row(Provider::MiGraphX, ["migraphx", "MIGraphX", "MIGraphX"], &[MiGraphX], MiGraphX.command(), Maker::Other),
];

impl Provider {
    /// All providers, in the order they are listed to the user.
    pub const ALL: [Provider; ROWS.len()] = {
        let mut all = [Provider::Cpu; ROWS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = ROWS[index].provider;
            assert!(all[index] as usize == index, "the rows have the order of the providers");
            index += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name of Zeitnot's backend for this provider, such as `tensorrt-rtx`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// ONNX Runtime's name for the provider, without `ExecutionProvider`.
    pub(crate) fn runtime_name(self) -> &'static str {
        self.row().runtime_name
    }

    /// The variants of ONNX Runtime that have this provider.
    pub fn variants(self) -> &'static [Variant] {
        self.row().variants
    }

    /// The command that installs a runtime with this provider; if several have it, the one that suits the machine.
    pub fn command(self) -> &'static str {
        self.row().command
    }

    /// Whether the provider drives NVIDIA's cards.
    pub fn is_nvidia(self) -> bool {
        self.row().maker != Maker::Other
    }

    /// Whether the provider needs the libraries of NVIDIA's packages for CUDA.
    pub(crate) fn needs_cuda(self) -> bool {
        self.row().maker == Maker::NvidiaWithCuda
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().title)
    }
}
