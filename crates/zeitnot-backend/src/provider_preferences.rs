//! Lists what each execution provider prefers: the rows of its runs, its precision, and how sessions are shared.

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

/// The numbers of rows (positions) that runs may have. Fewer positions are filled up, because a device plans anew for
/// each size it has not seen (CUDA, DirectML), takes one only (CoreML), or was built for a range (TensorRT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The fewest rows of a run.
    pub(crate) least: usize,
    /// The most rows of a run.
    pub most: usize,
    /// The sizes of runs, smallest first, `least` and `most` among them; empty where any size between them will do.
    sizes: Vec<usize>,
}

impl Rows {
    /// Runs of any size from `least` to `most`.
    pub(crate) fn any(least: usize, most: usize) -> Rows {
        Rows { least, most, sizes: Vec::new() }
    }

    /// Default rows of a provider's runs.
    pub fn of_provider(provider: Provider) -> Rows {
        match preferences(provider).rows {
            (least, most, []) => Rows::any(least, most),
            (least, most, sizes) => Rows::sizes_between(sizes, least, most),
        }
    }

    /// Runs of just this size.
    pub fn fixed(rows: usize) -> Rows {
        Rows { least: rows, most: rows, sizes: vec![rows] }
    }

    /// Runs of those `sizes` that lie between `least` and `most`, and of `least` and `most` themselves.
    pub(crate) fn sizes_between(sizes: &[usize], least: usize, most: usize) -> Rows {
        let between = sizes.iter().copied().filter(|size| (least + 1..most).contains(size));
        let mut sizes: Vec<usize> = std::iter::once(least).chain(between).chain([most]).collect();
        sizes.dedup();
        Rows { least, most, sizes }
    }

    /// The rows of a run that holds `positions`, which are at most [`Rows::most`].
    pub fn of(&self, positions: usize) -> usize {
        let wanted = positions.max(self.least);
        match self.sizes.is_empty() {
            true => wanted,
            false => {
                self.sizes[self.sizes.partition_point(|&size| size < wanted).min(self.sizes.len() - 1)].max(positions)
            }
        }
    }

    /// Whether runs may have any size from the least to the most.
    pub(crate) fn are_any(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The only size of runs; `None` if there are several.
    pub fn only(&self) -> Option<usize> {
        (self.of(1) == self.most).then_some(self.most)
    }

    /// Positions from which a larger batch gains next to nothing on this provider. If there is only one size it is
    /// preferred, as it is run in full also with few positions in it.
    pub fn preferred(&self, provider: Provider) -> usize {
        self.only().unwrap_or(preferences(provider).batch.min(self.most))
    }

    /// All sizes that runs can have, smallest first; if any size will do, only the least and the most.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        match self.sizes.is_empty() {
            true if self.least == self.most => vec![self.most],
            true => vec![self.least, self.most],
            false => self.sizes.clone(),
        }
    }

    /// Rows without the sizes above `most`, which is one of the sizes.
    pub(crate) fn up_to(&self, most: usize) -> Rows {
        let sizes = self.sizes.iter().copied().filter(|&size| size <= most).collect();
        Rows { least: self.least.min(most), most: most.min(self.most), sizes }
    }

    /// Rows without sizes whose runs take as long as a larger size's by `milliseconds`, the time of a run of each
    /// size: the further positions of the larger size are free. The largest size stays.
    pub(crate) fn without_slower(&self, milliseconds: &[(usize, f64)]) -> Rows {
        let time = |size: usize| milliseconds.iter().find(|(of, _)| *of == size).map(|&(_, time)| time);
        let is_slower = |size: usize| {
            let larger = self.sizes.iter().filter(|&&other| other > size);
            larger.filter_map(|&other| time(other)).any(|larger| time(size).is_some_and(|own| own >= larger))
        };
        let sizes: Vec<usize> = self.sizes.iter().copied().filter(|&size| !is_slower(size)).collect();
        Rows { least: sizes.first().copied().unwrap_or(self.least), most: self.most, sizes }
    }
}

/// The smallest size whose rate is at least `share` of the best rate, and its rate; `None` without sizes. `rates` are
/// sizes and their rates in any order.
pub fn saturation(rates: &[(usize, f64)], share: f64) -> Option<(usize, f64)> {
    let most = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    rates.iter().copied().filter(|&(_, rate)| rate >= share * most).min_by_key(|&(size, _)| size)
}

/// Sizes of runs on NVIDIA's cards: few enough to plan for all of them while a network loads, and so dense that filling
/// is at most half of a run, and a third from 64 rows on.
const NVIDIA_SIZES: [usize; 11] = [16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// Sizes of runs through WebGPU: a change of size costs nothing (docs/results/2026-11-h100-webgpu.md).
const WEBGPU_SIZES: [usize; 5] = [16, 32, 64, 128, 256];

/// A provider's preferences.
pub(crate) struct Preferences {
    /// Default type of weights and arithmetic: half precision where the hardware has units for it. (A device without
    /// half precision gets float32 through WebGPU.)
    pub precision: Precision,
    /// The fewest and the most rows of runs, and the sizes between them; any size will do where there are none.
    rows: (usize, usize, &'static [usize]),
    /// Positions from which a larger batch gains next to nothing; less where a measurement of the network says so.
    pub batch: usize,
    /// Default number of runs in flight on one device, each in a session of its own.
    pub runs_in_flight: usize,
    /// Whether planes go to the provider packed by default: if they are copied to a card, and the provider has the
    /// operators that expand them.
    pub packed: bool,
    /// The fastest form of Mish.
    pub mish: MishForm,
    /// Where the form that the provider compiles a network into is kept by default.
    pub compiled: Compiled,
    /// Whether each compilation gives another program, which is proved anew.
    pub compiles_anew: bool,
    pub cpu: CpuShare,
    /// Default units of the devices that the provider chooses among; `CPU` are the processor's.
    pub units: Option<&'static str>,
    pub label: Label,
}

/// The keeping of what a provider compiles.
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

/// The description of a provider's device.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_filled_up_to_sizes_that_the_device_knows() {
        let cuda = Rows::of_provider(Provider::Cuda);
        assert_eq!([1, 16, 17, 33, 250, 1000].map(|positions| cuda.of(positions)), [16, 16, 32, 64, 256, 1024]);
        assert_eq!(cuda.sizes(), NVIDIA_SIZES);
        assert_eq!(cuda.only(), None);
        assert_eq!(Rows::fixed(16).sizes(), [16]);
        assert_eq!(Rows::fixed(16).only(), Some(16));
        assert_eq!(Rows::any(1, 256).of(7), 7);
        assert_eq!((Rows::any(4, 256).of(1), Rows::any(4, 256).sizes()), (4, vec![4, 256]));
        // Ends that are no sizes of the list.
        let odd = Rows::sizes_between(&NVIDIA_SIZES, 10, 100);
        assert_eq!(odd.sizes(), [10, 16, 32, 64, 96, 100]);
        assert_eq!([1, 31, 97].map(|positions| odd.of(positions)), [10, 32, 100]);
        assert_eq!(Rows::sizes_between(&NVIDIA_SIZES, 8, 8), Rows::fixed(8));
    }

    #[test]
    fn a_size_that_takes_as_long_as_a_larger_one_is_left_out() {
        let rows = Rows::sizes_between(&NVIDIA_SIZES, 16, 256);
        let times = [(16, 1.0), (32, 1.0), (64, 1.5), (96, 2.6), (128, 2.5), (192, 3.0), (256, 4.0)];
        let kept = rows.without_slower(&times);
        assert_eq!(kept.sizes(), [32, 64, 128, 192, 256]);
        assert_eq!((kept.of(1), kept.of(70), kept.of(256)), (32, 128, 256));
        assert_eq!(rows.without_slower(&[]), rows);
        assert_eq!((rows.up_to(100).sizes(), rows.up_to(96).most), (vec![16, 32, 64, 96], 96));
        assert_eq!(Rows::any(1, 256).up_to(1), Rows::any(1, 1));
        assert_eq!(Rows::any(1, 256).without_slower(&[(1, 2.0), (256, 1.0)]), Rows::any(1, 256));
    }

    #[test]
    fn saturation_is_the_smallest_size_near_the_best() {
        let times = [(16, 1.0), (32, 1.0), (64, 1.0), (128, 1.9), (256, 3.8)];
        let rates = times.map(|(size, time)| (size, size as f64 / time));
        let found = |rates: &[_], share| saturation(rates, share).map(|(size, _)| size);
        assert_eq!((found(&rates, 0.9), found(&rates, 1.0), found(&[], 0.9)), (Some(64), Some(128), None));
        assert_eq!(saturation(&rates, 0.9), Some((64, 64.0)));
    }
}
