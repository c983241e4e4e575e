//! Describes the machine that was measured.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

use zeitnot_engine::runtime::nvidia;

/// The machine on which something was measured. Displays as one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name; its architecture where it gives no name.
    pub processor: String,
    /// Physical cores.
    pub cores: usize,
    /// Hardware threads that this process may use.
    pub threads: usize,
    /// The operating system.
    pub system: String,
    /// NVIDIA's driver and its cards, where a driver answers.
    pub nvidia: Option<nvidia::Driver>,
}

impl Machine {
    /// The machine that runs this program.
    pub fn this() -> Machine {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Machine {
            processor: processor(&info).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: num_cpus::get_physical(),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            system: std::env::consts::OS.to_owned(),
            nvidia: nvidia::driver().ok(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { processor, cores, threads, system, nvidia } = self;
        write!(f, "{processor}, {cores} cores, {threads} threads, {system}")?;
        match nvidia {
            Some(driver) => {
                let version = driver.version.as_deref().unwrap_or("of unknown version");
                write!(f, ", {}, NVIDIA driver {version} (CUDA {})", driver.cards.join(", "), driver.cuda)
            }
            None => Ok(()),
        }
    }
}

/// The processor's name in the text of `/proc/cpuinfo`, if it has one.
fn processor(info: &str) -> Option<String> {
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells() {
        let info = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9B45\n";
        assert_eq!(processor(info).unwrap(), "AMD EPYC 9B45");
        assert_eq!(processor(""), None);
    }

    #[test]
    fn this_machine_is_one_line() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.threads > 0, "{machine:?}");
        assert_eq!(machine.to_string().lines().count(), 1);
    }
}
