//! The plan of a setup: what a machine should have, with sizes and reasons.

use super::machine::Machine;
use std::fmt;
use zeitnot_engine::network::catalogue::{Entry, find};
use zeitnot_engine::runtime::{CudaVersion, Pin, Variant};

/// The network for a card of NVIDIA's: by its authors for a laptop's card, so for all cards.
const FOR_CUDA: &str = "T3-512";
/// The network for other cards, which run through WebGPU far slower, and for processors that are fast in 8 bits.
const FOR_OTHERS: &str = "T1-256";

/// What a machine should have.
#[derive(Debug)]
pub struct Plan {
    /// The package of ONNX Runtime, where one drives the card.
    pub runtime: Option<&'static Pin>,
    /// The network to fetch; `None` for the one in the program.
    pub network: Option<&'static Entry>,
    /// Remarks on the choice, a line each.
    pub remarks: Vec<String>,
}

impl Plan {
    /// The plan for a machine; `network` is the user's choice in place of the one that suits.
    pub fn of(machine: &Machine, network: Option<&'static Entry>) -> Plan {
        let mut remarks = Vec::new();
        let runtime = runtime(machine, &mut remarks);
        let suited = match runtime.map(|pin| pin.variant) {
            Some(Variant::Gpu | Variant::GpuCuda12) => Some(FOR_CUDA),
            Some(_) => Some(FOR_OTHERS),
            None if machine.is_fast_in_8_bits => Some(FOR_OTHERS),
            None => {
                if network.is_none() {
                    remarks.push("the built-in network plays: this processor is slow with larger ones".to_owned());
                }
                None
            }
        };
        let suited = suited.map(|name| find(name).expect("a listed network"));
        Plan { runtime, network: network.or(suited), remarks }
    }
}

fn runtime(machine: &Machine, remarks: &mut Vec<String>) -> Option<&'static Pin> {
    let mut pick = |variant: Variant| {
        let pin = variant.pin_on(machine.system.0, machine.system.1);
        if pin.is_none() {
            remarks.push(format!("no ONNX Runtime {variant} for {} on {}", machine.system.0, machine.system.1));
        }
        pin
    };
    let mut too_old = None;
    let cuda = machine.nvidia.as_ref().and_then(|driver| {
        let version = CudaVersion::for_driver(Some(driver));
        too_old = version.problem_with(driver);
        too_old.is_none().then_some(version.variant())
    });
    let found = cuda.and_then(&mut pick);
    let found = found.or_else(|| machine.vulkan.as_ref().and_then(|_| pick(Variant::WebGpu)));
    remarks.extend(too_old.map(|problem| format!("CUDA is left out: {problem}")));
    let has_run = |card: &String| card.contains("H100") || card.contains("H200");
    let is_new = machine.nvidia.as_ref().is_some_and(|driver| !driver.cards.iter().all(has_run));
    match found.map(|pin| pin.variant) {
        Some(Variant::WebGpu) => {
            remarks.push("WebGPU has run on an H100 alone, no card of AMD's or Intel's".to_owned())
        }
        Some(Variant::GpuCuda12) => remarks.push("CUDA 12 has run on no card yet".to_owned()),
        Some(_) if is_new => remarks.push("CUDA has run on an H100 and an H200, on no other card yet".to_owned()),
        _ => {}
    }
    found
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
        match self.runtime {
            Some(pin) => writeln!(f, "runtime: `{}` ({})", pin.variant.command(), megabytes(pin.bytes()))?,
            None => writeln!(f, "runtime: none, the kernels in the program compute")?,
        }
        match self.network {
            Some(entry) => writeln!(
                f,
                "network: `zeitnot net fetch {}` ({}; {})",
                entry.name,
                megabytes(entry.size.bytes()),
                entry.architecture
            )?,
            None => writeln!(f, "network: the built-in zeitnot-small")?,
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "note: {remark}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::runtime::nvidia::Driver;

    fn card(name: &str, cuda: &str, capability: (i32, i32)) -> Option<Driver> {
        let (version, bus_ids) = (Some("580.65.06".to_owned()), Vec::new());
        Some(Driver { cuda: cuda.into(), version, cards: vec![name.into()], capabilities: vec![capability], bus_ids })
    }

    fn machine(system: (&'static str, &'static str), nvidia: Option<Driver>, vulkan: Option<&str>) -> Machine {
        let (isa, vulkan) = ("AVX2".to_owned(), vulkan.map(str::to_owned));
        Machine { system, isa, is_fast_in_8_bits: true, nvidia, vulkan }
    }

    fn lines(machine: &Machine) -> Vec<String> {
        Plan::of(machine, None).to_string().lines().map(str::to_owned).collect()
    }

    const LINUX: (&str, &str) = ("linux", "x86_64");
    const WINDOWS: (&str, &str) = ("windows", "x86_64");
    const T1: &str = "network: `zeitnot net fetch T1-256` (37 MB; transformer 10x256, 8 heads)";

    #[test]
    fn each_card_gets_the_runtime_that_drives_it() {
        let rtx = || card("NVIDIA GeForce RTX 4090", "13.0", (8, 9));
        let old = || card("NVIDIA GeForce GTX 1080", "13.0", (6, 1));
        let (cuda, webgpu) = ("zeitnot runtime install --gpu --cuda", "zeitnot runtime install --webgpu");
        for (system, nvidia, vulkan, command) in [
            (LINUX, rtx(), None, Some(format!("{cuda} 13"))),
            (WINDOWS, rtx(), Some("NVIDIA GeForce RTX 4090"), Some(format!("{cuda} 13"))),
            (LINUX, old(), None, Some(format!("{cuda} 12"))),
            (LINUX, card("NVIDIA H100", "12.4", (9, 0)), Some("Intel UHD 770"), Some(format!("{cuda} 12"))),
            (LINUX, None, Some("AMD Radeon RX 7900 XTX"), Some(webgpu.to_owned())),
            (WINDOWS, None, Some("Intel Arc A770"), Some(webgpu.to_owned())),
            (LINUX, None, None, None),
            (("linux", "riscv64"), None, Some("AMD Radeon"), None),
            // A driver too old for either CUDA leaves the card to Vulkan.
            (LINUX, card("NVIDIA K80", "11.4", (3, 7)), Some("NVIDIA K80"), Some(webgpu.to_owned())),
        ] {
            let machine = machine(system, nvidia, vulkan);
            let plan = Plan::of(&machine, None);
            assert_eq!(plan.runtime.map(|pin| pin.variant.command().to_owned()), command, "{machine}");
        }
    }

    #[test]
    fn a_plan_names_sizes_and_what_has_not_run() {
        let told = lines(&machine(LINUX, card("NVIDIA GeForce RTX 4090", "13.0", (8, 9)), None));
        assert!(
            told[0].starts_with("runtime: `zeitnot runtime install --gpu --cuda 13` (1") && told[0].ends_with(" MB)")
        );
        assert!(told[1].contains("`zeitnot net fetch T3-512` (159 MB"), "{told:?}");
        assert_eq!(told[2], "note: CUDA has run on an H100 and an H200, on no other card yet");
        let told = lines(&machine(LINUX, None, None));
        assert_eq!(told, ["runtime: none, the kernels in the program compute", T1]);
        let slow = Machine { is_fast_in_8_bits: false, ..machine(LINUX, None, None) };
        assert_eq!(lines(&slow)[1], "network: the built-in zeitnot-small");
        let told = lines(&machine(LINUX, card("NVIDIA K80", "11.4", (3, 7)), None));
        assert!(told.iter().any(|line| line.starts_with("note: CUDA is left out: NVIDIA's driver runs CUDA 11.4")));
    }
}
