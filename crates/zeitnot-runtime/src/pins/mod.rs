//! Describes the packages that `zeitnot runtime install` obtains: wheels of the Python Package Index, pinned by sha256.
//!
//! The libraries in them do not depend on Python, so the wheel of one CPython version (3.11) is pinned and pip is asked
//! to fetch that one under any Python. Sizes and hashes were taken with `pip download` and `pip hash`; the index
//! publishes the same hashes. NVIDIA's wheels are those that `onnxruntime-gpu[cuda,cudnn]` asks for.
//!
//! For CUDA 12 `onnxruntime-gpu` 1.26.0 is pinned: the index has one build of a version, and from 1.27.0 on it is for
//! CUDA 13. Its CUDA code is for compute capability 6.0 (Pascal) and later, so cuDNN is held at 9.10.2: from 9.11 on
//! cuDNN leaves out the cards before Turing (its support matrices), for which this package is there.
//!
//! TensorRT cannot be pinned. ONNX Runtime's provider, of both packages, needs `libnvinfer.so.10` and
//! `libnvonnxparser.so.10`, and the index had no wheel of them on 2026-11-25: `tensorrt-cu12-libs` (32 files, 10.0.0b6
//! to 11.4.0.106) and `tensorrt-cu13-libs` (13 files, 10.13.2.6 to 11.4.0.106) are source packages of at most 16 kB
//! without a library in them, which point to NVIDIA's own index. The last for TensorRT 10 are 10.16.1.11.
//!
//! To pin another version: run `pip install --dry-run --ignore-installed --report` for each platform, and take version,
//! file name and hash from the report and the size from the file.

mod table;

use std::fmt;

use serde::Serialize;

use super::cuda_version::CudaVersion;

pub(crate) use table::PINS;

/// CPython version whose wheels are pinned, as pip's `--python-version` wants it.
pub(crate) const PYTHON_VERSION: &str = "3.11";
/// ABI tag of that version, for pip's `--abi`.
pub(crate) const PYTHON_ABI: &str = "cp311";

/// A variant of ONNX Runtime, by the execution providers in it. A process loads one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The CPU provider; on macOS CoreML as well.
    Cpu,
    /// CUDA and TensorRT, with NVIDIA's libraries for CUDA 13 (but not TensorRT's own).
    Gpu,
    /// CUDA and TensorRT, with NVIDIA's libraries for CUDA 12: for older drivers and cards.
    #[serde(rename = "gpu-cuda12")]
    GpuCuda12,
    /// OpenVINO.
    OpenVino,
    /// DirectML, for Windows.
    DirectMl,
    /// WebGPU, for any card.
    WebGpu,
    /// The plugin with TensorRT for RTX, which another variant registers.
    #[serde(rename = "tensorrt-rtx")]
    TensorRtRtx,
    /// MIGraphX, for AMD's cards under Linux.
    MiGraphX,
}

impl Variant {
    /// All variants, in the order in which they are tried where any would do.
    pub(crate) const ALL: [Variant; 8] = [
        Variant::Cpu,
        Variant::Gpu,
        Variant::GpuCuda12,
        Variant::OpenVino,
        Variant::DirectMl,
        Variant::WebGpu,
        Variant::TensorRtRtx,
        Variant::MiGraphX,
    ];

    /// The command that installs this variant.
    pub const fn command(self) -> &'static str {
        match self {
            Variant::Cpu => "zeitnot runtime install",
            Variant::Gpu => "zeitnot runtime install --gpu --cuda 13",
            Variant::GpuCuda12 => "zeitnot runtime install --gpu --cuda 12",
            Variant::OpenVino => "zeitnot runtime install --openvino",
            Variant::DirectMl => "zeitnot runtime install --directml",
            Variant::WebGpu => "zeitnot runtime install --webgpu",
            Variant::TensorRtRtx => "zeitnot runtime install --tensorrt-rtx",
            Variant::MiGraphX => "zeitnot runtime install --migraphx",
        }
    }

    /// The CUDA that this variant is for; `None` if it is not for NVIDIA's cards.
    pub(crate) fn cuda(self) -> Option<CudaVersion> {
        match self {
            Variant::Gpu => Some(CudaVersion::Thirteen),
            Variant::GpuCuda12 => Some(CudaVersion::Twelve),
            _ => None,
        }
    }

    /// Package for the platform that this program was built for, if there is one.
    pub fn pin(self) -> Option<&'static Pin> {
        if cfg!(target_env = "musl") { None } else { self.pin_on(std::env::consts::OS, std::env::consts::ARCH) }
    }

    /// Package for a system and an architecture, as Rust names them, if there is one.
    pub fn pin_on(self, os: &str, architecture: &str) -> Option<&'static Pin> {
        let platform = format!("{os}-{architecture}");
        PINS.iter().find(|pin| pin.variant == self && pin.platform == platform)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Cpu => "cpu",
            Variant::Gpu => "gpu",
            Variant::GpuCuda12 => "gpu-cuda12",
            Variant::OpenVino => "openvino",
            Variant::DirectMl => "directml",
            Variant::WebGpu => "webgpu",
            Variant::TensorRtRtx => "tensorrt-rtx",
            Variant::MiGraphX => "migraphx",
        })
    }
}

/// A wheel on the Python Package Index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wheel {
    /// The package's name on the index.
    pub package: &'static str,
    /// Version.
    pub version: &'static str,
    /// Platform tag, for pip's `--platform`.
    pub tag: &'static str,
    /// The wheel's sha256, lower-case hex.
    pub sha256: &'static str,
    /// The wheel's size in bytes (for the progress display).
    pub bytes: u64,
}

/// A variant on a platform: the wheels whose libraries make it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The variant.
    pub variant: Variant,
    /// Short name of the platform, part of the cache folder's name.
    pub platform: &'static str,
    /// File name of ONNX Runtime's own library, or of the plugin.
    pub library: &'static str,
    /// The sha256 of that library, where it alone is a working installation: an installation older than the lists of
    /// installed files is recognised by it.
    pub library_sha256: Option<&'static str>,
    /// The wheels; the first has `library`.
    pub wheels: &'static [Wheel],
}

impl Pin {
    /// Name of the folder below the cache that the libraries are put into; a new version gets a new folder.
    pub fn folder(&self) -> String {
        let main = &self.wheels[0];
        format!("{}-{}-{}", main.package, main.version, self.platform)
    }

    /// The package and its version, for messages.
    pub(crate) fn title(&self) -> String {
        let main = &self.wheels[0];
        let others = self.variant.cuda().map(|cuda| format!(" with NVIDIA's libraries for {cuda}"));
        format!("{} {}{}", main.package, main.version, others.unwrap_or_default())
    }

    /// Bytes to download in all.
    pub fn bytes(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_the_form_of_sha256_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for Wheel { package, sha256, bytes, .. } in PINS.iter().flat_map(|pin| pin.wheels) {
            assert_eq!(sha256.len(), 64, "{package}");
            assert!(sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{package}");
            assert!(seen.insert(sha256), "{package} repeats a hash");
            assert!(*bytes > 1_000_000, "{package}");
        }
    }

    #[test]
    fn folders_differ() {
        assert_eq!(PINS.len(), 17);
        let folders: std::collections::HashSet<String> = PINS.iter().map(Pin::folder).collect();
        assert_eq!(folders.len(), PINS.len());
    }

    #[test]
    fn platforms_without_a_wheel_have_no_pin() {
        assert!(Variant::Cpu.pin_on("macos", "x86_64").is_none());
        assert!(Variant::Cpu.pin_on("freebsd", "x86_64").is_none());
        assert!(Variant::Gpu.pin_on("linux", "aarch64").is_none());
        let pin = Variant::Cpu.pin_on("linux", "aarch64").unwrap();
        assert_eq!(pin.wheels[0].tag, "manylinux_2_28_aarch64");
        let gpu = Variant::Gpu.pin_on("linux", "x86_64").unwrap();
        assert!(gpu.title().starts_with("onnxruntime-gpu 1.31.1") && gpu.bytes() > 1_500_000_000, "{}", gpu.title());
    }

    /// A package for cards has the libraries that its CUDA provider needs (read from the provider's own list with
    /// `objdump -p`).
    #[test]
    fn packages_for_cards_are_complete_and_of_one_cuda() {
        for os in ["linux", "windows"] {
            let [thirteen, twelve] =
                [Variant::Gpu, Variant::GpuCuda12].map(|variant| variant.pin_on(os, "x86_64").unwrap());
            let packages = |pin: &Pin| pin.wheels.iter().map(|wheel| wheel.package).collect::<Vec<_>>();
            for package in ["cuda-runtime", "cuda-nvrtc", "nvjitlink", "cublas", "curand", "cufft", "cudnn"] {
                let [new, old] = [thirteen, twelve].map(packages);
                let suffix = if package == "cudnn" { "-cu13" } else { "" };
                assert!(new.contains(&&*format!("nvidia-{package}{suffix}")), "{os}: {package} in {new:?}");
                assert!(old.contains(&&*format!("nvidia-{package}-cu12")), "{os}: {package} in {old:?}");
            }
            assert_eq!((twelve.wheels.len(), thirteen.wheels.len()), (8, 8));
            let tag = if os == "linux" { "x86_64" } else { "win_amd64" };
            assert!(twelve.wheels.iter().all(|wheel| wheel.tag.ends_with(tag)), "{os}");
            assert!(twelve.title().ends_with("for CUDA 12") && thirteen.title().ends_with("for CUDA 13"));
        }
    }
}
