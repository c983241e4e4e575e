//! Lists what each execution provider prefers: the rows of its runs, its precision, and how sessions are shared.

use crate::network::Precision;
use crate::runtime::Provider;

/// How sessions serve workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A session for each worker, who runs on a core of his own. ONNX Runtime says that a session may run several
    /// batches at once, and Lc0 lets it on the CPU (docs/lc0.md, 4.9); the authors of `ort` have seen it fail and rule
    /// it out.
    PerWorker,
    /// One session, which serves one worker at a time while the others gather: the device is one, its queue is in order,
    /// and a second copy of the weights in its memory buys nothing. Lc0 does the same.
    Serialised,
}

/// Rows that a run may have: a multiple of a step, between a least and a largest number. Positions that are fewer are
/// filled up, because a device plans anew for each size it has not seen (CUDA, DirectML), or takes one only (CoreML), or
/// was built for a range (TensorRT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The fewest rows of a run.
    pub least: usize,
    /// Runs have a multiple of this many rows.
    pub step: usize,
    /// The most rows of a run.
    pub most: usize,
}

impl Rows {
    /// Runs of any size up to `most`.
    pub fn any(most: usize) -> Rows {
        Rows { least: 1, step: 1, most }
    }

    /// Runs of just this size.
    pub fn fixed(rows: usize) -> Rows {
        Rows { least: rows, step: rows, most: rows }
    }

    /// The rows of a run of `positions`, which are at most [`Rows::most`].
    pub fn of(&self, positions: usize) -> usize {
        positions.max(self.least).next_multiple_of(self.step).min(self.most.max(positions))
    }

    /// The size, where there is only one.
    pub fn only(&self) -> Option<usize> {
        (self.of(1) == self.most).then_some(self.most)
    }

    /// Positions from which a larger batch gains next to nothing on this provider. Where there is only one size it is run in
    /// full, whatever is in it.
    pub fn preferred(&self, provider: Provider) -> usize {
        self.only().unwrap_or(provider.preferred_batch().min(self.most))
    }

    /// Every size that runs can have, smallest first; of any size, only the ends.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = match self.step {
            1 => vec![self.least, self.most],
            step => (self.of(1)..=self.most).step_by(step).chain([self.most]).collect(),
        };
        sizes.dedup();
        sizes
    }
}

/// Preferences of each provider; its names and its packages are in [`crate::runtime`].
impl Provider {
    /// The type of weights and arithmetic unless told: half precision where the hardware has units for it.
    pub fn precision(self) -> Precision {
        if self.is_nvidia() { Precision::Float16 } else { Precision::Float32 }
    }

    /// The rows of its runs unless told.
    ///
    /// The CPU's is a limit of memory (0.5 MB of planes and some MB for each layer of the largest networks). CUDA's
    /// steps let cuDNN plan for eight sizes instead of 256. TensorRT's least and CoreML's and DirectML's 16 are Lc0's
    /// (docs/lc0.md, 4.9).
    pub fn rows(self) -> Rows {
        match self {
            Provider::Cpu | Provider::OpenVino => Rows::any(256),
            Provider::Cuda => Rows { least: 32, step: 32, most: 256 },
            Provider::TensorRt => Rows { least: 4, step: 1, most: 256 },
            Provider::CoreMl | Provider::DirectMl => Rows::fixed(16),
        }
    }

    /// Positions from which a larger batch gains next to nothing.
    ///
    /// On a CPU: evaluations per CPU-second of one thread were 2970, 3480 and 3640 at 1, 8 and 64 positions for maia-1900
    /// (6x64), and 480, 576 and 589 for a 10x128 network (`benches/backend.rs`). It is small on purpose: a search that
    /// gathers fewer positions before it learns anything searches better. Lc0 takes 7 on BLAS, and 256 on a card.
    pub fn preferred_batch(self) -> usize {
        match self {
            Provider::Cpu | Provider::OpenVino => 8,
            Provider::CoreMl | Provider::DirectMl => 16,
            Provider::Cuda | Provider::TensorRt => 256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_filled_up_to_sizes_that_the_device_knows() {
        let cuda = Provider::Cuda.rows();
        assert_eq!([1, 32, 33, 250, 256].map(|positions| cuda.of(positions)), [32, 32, 64, 256, 256]);
        assert_eq!(cuda.sizes(), [32, 64, 96, 128, 160, 192, 224, 256]);
        assert_eq!(cuda.only(), None);
        assert_eq!(Rows::fixed(16).sizes(), [16]);
        assert_eq!(Rows::fixed(16).only(), Some(16));
        assert_eq!(Rows::any(256).of(7), 7);
        assert_eq!(Provider::TensorRt.rows().of(1), 4);
        assert_eq!(Provider::TensorRt.rows().sizes(), [4, 256]);
        // A step that does not divide the largest size.
        let odd = Rows { least: 10, step: 30, most: 100 };
        assert_eq!([1, 31, 95].map(|positions| odd.of(positions)), [30, 60, 100]);
        assert_eq!(odd.sizes(), [30, 60, 90, 100]);
    }
}
