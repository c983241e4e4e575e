//! The parts of a machine that decide what suits it: system, processor, graphics card.

use std::fmt;
use zeitnot_engine::backend::Isa;
use zeitnot_engine::runtime::nvidia::{self, Driver};
use zeitnot_engine::runtime::vulkan;

/// A machine, this one or one that a test describes.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The system and the architecture, as Rust names them: `linux`, `x86_64`.
    pub system: (&'static str, &'static str),
    /// The fastest instruction set that the native kernels have for the processor.
    pub isa: String,
    /// Whether that set multiplies bytes faster than numbers.
    pub is_fast_in_8_bits: bool,
    /// NVIDIA's driver, where it answers.
    pub nvidia: Option<Driver>,
    /// The device that Vulkan names first, unless the processor plays it.
    pub vulkan: Option<String>,
}

impl Machine {
    /// This machine.
    pub fn this() -> Machine {
        let isa = Isa::best();
        let device = vulkan::device().ok().filter(|device| !device.is_software);
        Machine {
            system: (std::env::consts::OS, std::env::consts::ARCH),
            isa: isa.to_string(),
            is_fast_in_8_bits: isa.is_fast_in_8_bits(),
            nvidia: nvidia::driver().ok(),
            vulkan: device.map(|device| device.name.clone()),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} with {}; ", self.system.0, self.system.1, self.isa)?;
        match (&self.nvidia, &self.vulkan) {
            (Some(driver), _) => {
                let version = driver.version.as_deref().unwrap_or("unknown");
                write!(f, "{} (NVIDIA driver {version}, CUDA {})", driver.cards.join(", "), driver.cuda)
            }
            (None, Some(device)) => write!(f, "{device} (Vulkan)"),
            (None, None) => f.write_str("no graphics card"),
        }
    }
}
