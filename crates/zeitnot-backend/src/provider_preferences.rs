//! Lists what each execution provider prefers: the sizes of its runs, its precision, and how sessions are shared.

use zeitnot_network::{MishForm, Precision};
use zeitnot_runtime::Provider;

/// The assignment of ONNX Runtime's sessions to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// A session for each worker, which runs on a core of its own. ONNX Runtime says that one session may run several
    /// batches at once, and Lc0 does that on the CPU (docs/lc0.md, 4.9); the authors of `ort` have seen it fail and
    /// rule it out.
    PerWorker,
    /// A number of sessions, dealt out to the workers in turn; a session serves one worker at a time while others
    /// gather. With two sessions on one card, the copies of one batch go beside the arithmetic of another; the price is
    /// a second copy of the weights and of the room for activations in the card's memory.
    InTurn(usize),
}

/// Sizes of runs on NVIDIA's cards: few enough to plan for all of them while a network loads, and so dense that from 16
/// positions on less than half of a run's rows are padding, and from 64 on less than a third.
pub(crate) const NVIDIA_SIZES: [usize; 11] = [16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// Sizes of captured runs below [`NVIDIA_SIZES`].
pub(crate) const SMALL_SIZES: [usize; 4] = [1, 2, 4, 8];

/// Sizes of runs through WebGPU: a change of size costs nothing (docs/results/2026-11-h100-webgpu.md).
const WEBGPU_SIZES: [usize; 5] = [16, 32, 64, 128, 256];

/// A provider's preferences.
pub(crate) struct Preferences {
    /// Default type of weights and arithmetic: half precision where the hardware has units for it. (A device without
    /// half precision gets float32 through WebGPU.)
    pub precision: Precision,
    /// The fewest and the most rows of runs, and the sizes between them; any size will do where there are none.
    pub rows: (usize, usize, &'static [usize]),
    /// Positions from which a larger batch gains next to nothing; less where a measurement of the network says so.
    pub batch: usize,
    /// Default number of runs in flight on one device, each in a session of its own.
    pub runs_in_flight: usize,
    /// Whether planes go to the provider packed by default: if they are copied to a card, and the provider has the
    /// operators that expand them.
    pub packed: bool,
    /// The fastest form of Mish.
    pub mish: MishForm,
    /// Whether the form that the provider compiles a network into is kept on disk by default.
    pub compiled: Compiled,
    /// Whether each compilation may give another program, so that the device is proved again at each load.
    pub compiles_anew: bool,
    pub cpu: CpuShare,
    /// Default processing units for a provider that chooses among several, such as `CPU` or `all`.
    pub units: Option<&'static str>,
    pub label: Label,
}

/// Whether a compiled network is kept on disk for later loads.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Compiled {
    NotKept,
    /// Kept except for a CPU, for which it is made in a second or two.
    KeptOffCpu,
    Kept,
}

/// The operators that a provider leaves to the CPU.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CpuShare {
    /// All that it lacks.
    AtOnce,
    /// All that it lacks, if the network does not load otherwise.
    IfNeeded,
    /// None: the provider would leave a whole network to the CPU when it does not know the device.
    Never,
}

/// The way in which a provider's device is described to users.
#[derive(Clone, Copy)]
pub(crate) enum Label {
    Plain(&'static str),
    /// The words and the device's index.
    Indexed(&'static str),
    /// The words and the units.
    Units(&'static str),
    /// A card of NVIDIA's, with its name.
    NvidiaCard,
    /// The device that Vulkan names.
    Vulkan,
}

/// A processor. 256 rows are a limit of memory (0.5 MB of planes and some MB for each layer of the largest networks).
/// Evaluations per CPU-second of one thread were 2970, 3480 and 3640 at 1, 8 and 64 positions for maia-1900 (6x64), and
/// 480, 576 and 589 for a 10x128 network (`benches/backend.rs`). The batch is small on purpose: a search that gathers
/// fewer positions before it learns anything searches better. Lc0 takes 7 on BLAS, and 256 on a card.
const CPU: Preferences = Preferences {
    precision: Precision::Float32,
    rows: (1, 256, &[]),
    batch: 8,
    runs_in_flight: 1,
    packed: false,
    mish: MishForm::Exponential,
    compiled: Compiled::NotKept,
    compiles_anew: false,
    cpu: CpuShare::AtOnce,
    units: Some("CPU"),
    label: Label::Plain("cpu"),
};

/// NVIDIA's cards: they plan for each of the sizes; 1,024 is Lc0's largest.
const NVIDIA: Preferences = Preferences {
    precision: Precision::Float16,
    rows: (16, 1024, &NVIDIA_SIZES),
    batch: 256,
    runs_in_flight: 2,
    packed: true,
    mish: MishForm::Softplus,
    compiled: Compiled::NotKept,
    compiles_anew: false,
    cpu: CpuShare::IfNeeded,
    units: None,
    label: Label::NvidiaCard,
};

/// TensorRT, whose engines are kept: each takes minutes to build.
const ENGINES: Preferences = Preferences { compiled: Compiled::Kept, compiles_anew: true, ..NVIDIA };

/// A device that runs one size only: Lc0's (docs/lc0.md, 4.9). CoreML and DirectML, which have not been tried, may leave
/// operators to the CPU.
const ONE_SIZE: Preferences = Preferences {
    rows: (16, 16, &[16]),
    batch: 16,
    mish: MishForm::Softplus,
    units: None,
    label: Label::Indexed("DirectML"),
    ..CPU
};

/// The preferences of a provider.
pub(crate) const fn preferences(provider: Provider) -> Preferences {
    match provider {
        Provider::Cpu => CPU,
        Provider::OpenVino => Preferences {
            mish: MishForm::Softplus,
            compiled: Compiled::KeptOffCpu,
            cpu: CpuShare::Never,
            label: Label::Units("OpenVINO"),
            ..CPU
        },
        Provider::Cuda => NVIDIA,
        Provider::TensorRt | Provider::TensorRtRtx => ENGINES,
        Provider::CoreMl => {
            Preferences { compiled: Compiled::Kept, units: Some("all"), label: Label::Units("CoreML"), ..ONE_SIZE }
        }
        Provider::DirectMl => ONE_SIZE,
        // WebGPU has no Softplus.
        Provider::WebGpu => Preferences {
            rows: (16, 256, &WEBGPU_SIZES),
            runs_in_flight: 1,
            packed: false,
            mish: MishForm::Exponential,
            cpu: CpuShare::Never,
            label: Label::Vulkan,
            ..NVIDIA
        },
        // It compiles a program for each size, which takes minutes.
        Provider::MiGraphX => Preferences {
            rows: (256, 256, &[256]),
            runs_in_flight: 1,
            packed: false,
            compiles_anew: true,
            label: Label::Indexed("AMD gpu"),
            ..NVIDIA
        },
    }
}
