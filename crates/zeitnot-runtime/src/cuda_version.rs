//! Chooses between the packages of ONNX Runtime for CUDA 13 and for CUDA 12: by the driver and the cards that it finds.

use std::fmt;

use super::nvidia::{self, Driver};
use super::pins::Variant;

/// Compute capability of the oldest cards that CUDA 13 still drives: Turing's. Its release notes take older cards
/// (Maxwell, Pascal, Volta) out of the toolkit. Driver 580 is the first for CUDA 13 and the last for those cards: it
/// reports CUDA 13 on their machines, although CUDA 13's libraries have no code for them.
const OLDEST_FOR_13: (i32, i32) = (7, 5);

/// A major version of CUDA for which there is a package of ONNX Runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CudaVersion {
    /// CUDA 12: for driver 525 or later, and for cards from Pascal (compute capability 6.0) on.
    Twelve,
    /// CUDA 13: for driver 580 or later, and for cards from Turing (compute capability 7.5) on.
    Thirteen,
}

impl CudaVersion {
    /// The number of the major version.
    pub(crate) fn major(self) -> u32 {
        match self {
            CudaVersion::Twelve => 12,
            CudaVersion::Thirteen => 13,
        }
    }

    /// NVIDIA's first driver that runs this CUDA (its table of CUDA toolkits and minimum drivers).
    pub(crate) fn oldest_driver(self) -> u32 {
        match self {
            CudaVersion::Twelve => 525,
            CudaVersion::Thirteen => 580,
        }
    }

    /// The variant of ONNX Runtime for this CUDA.
    pub fn variant(self) -> Variant {
        match self {
            CudaVersion::Twelve => Variant::GpuCuda12,
            CudaVersion::Thirteen => Variant::Gpu,
        }
    }

    /// The CUDA to choose: 13, unless `driver` or one of its cards is too old for that. Without a driver, which may be
    /// installed later, also 13.
    pub fn for_driver(driver: Option<&Driver>) -> CudaVersion {
        match driver {
            Some(driver) if driver.cuda_major() < CudaVersion::Thirteen.major() => CudaVersion::Twelve,
            Some(driver) if driver.capabilities.iter().any(|capability| *capability < OLDEST_FOR_13) => {
                CudaVersion::Twelve
            }
            _ => CudaVersion::Thirteen,
        }
    }

    /// The CUDA to choose on this machine.
    pub fn for_this_machine() -> CudaVersion {
        CudaVersion::for_driver(nvidia::driver().ok().as_ref())
    }

    /// Why this CUDA cannot run with `driver`; `None` where it runs on at least one card.
    pub fn problem_with(self, driver: &Driver) -> Option<String> {
        if driver.cuda_major() < self.major() {
            let cuda = &driver.cuda;
            return Some(format!(
                "NVIDIA's driver runs CUDA {cuda} at most ({self} needs driver {} or later)",
                self.oldest_driver()
            ));
        }
        let is_old = |capability: &(i32, i32)| self == CudaVersion::Thirteen && *capability < OLDEST_FOR_13;
        (!driver.capabilities.is_empty() && driver.capabilities.iter().all(is_old))
            .then(|| format!("{} is older than the cards that {self} drives", driver.cards.join(", ")))
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA {}", self.major())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(cuda: &str, capabilities: &[(i32, i32)]) -> Driver {
        let cards = (0..capabilities.len()).map(|index| format!("card {index}")).collect();
        Driver { cuda: cuda.to_owned(), version: None, cards, capabilities: capabilities.to_vec(), bus_ids: Vec::new() }
    }

    #[test]
    fn the_driver_and_the_oldest_card_choose() {
        use CudaVersion::{Thirteen, Twelve};
        assert_eq!(CudaVersion::for_driver(None), Thirteen, "no driver");
        for (cuda, capabilities, expected) in [
            ("13.0", &[(9, 0)][..], Thirteen),
            ("13.2", &[(7, 5), (12, 0)], Thirteen),
            ("14.0", &[(9, 0)], Thirteen),
            ("12.8", &[(9, 0)], Twelve),
            ("12.0", &[(8, 6)], Twelve),
            // Driver 580 with a card of Pascal's or Volta's.
            ("13.0", &[(6, 1)], Twelve),
            ("13.0", &[(7, 0)], Twelve),
            ("13.0", &[(8, 9), (6, 1)], Twelve),
            // Neither runs; the older one needs the smaller step.
            ("11.4", &[(8, 6)], Twelve),
        ] {
            assert_eq!(CudaVersion::for_driver(Some(&driver(cuda, capabilities))), expected, "{cuda} {capabilities:?}");
        }
    }

    #[test]
    fn what_cannot_run_says_why() {
        use CudaVersion::{Thirteen, Twelve};
        let problem =
            |version: CudaVersion, cuda, capabilities: &[_]| version.problem_with(&driver(cuda, capabilities));
        for (version, cuda) in [(Thirteen, "13.0"), (Twelve, "13.0"), (Twelve, "12.0")] {
            assert_eq!(problem(version, cuda, &[(8, 6)]), None, "{version} {cuda}");
        }
        let old_driver = problem(Thirteen, "12.4", &[(8, 6)]).unwrap();
        assert!(old_driver.contains("CUDA 12.4 at most") && old_driver.contains("driver 580"), "{old_driver}");
        assert!(problem(Twelve, "11.4", &[(8, 6)]).unwrap().contains("driver 525"));
        let old_card = problem(Thirteen, "13.0", &[(6, 1)]).unwrap();
        assert!(old_card.contains("card 0 is older") && old_card.contains("CUDA 13"), "{old_card}");
        assert_eq!(problem(Twelve, "13.0", &[(6, 1)]), None);
        assert_eq!(problem(Thirteen, "13.0", &[(6, 1), (8, 6)]), None, "the other card runs");
    }

    #[test]
    fn each_has_a_package_of_its_own() {
        for version in [CudaVersion::Twelve, CudaVersion::Thirteen] {
            assert_eq!(version.variant().cuda(), Some(version));
            assert!(version.variant().command().ends_with(&format!("--cuda {}", version.major())));
        }
    }
}
