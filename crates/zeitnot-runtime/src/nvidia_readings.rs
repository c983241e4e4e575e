//! Reads power, clocks, memory, temperature and utilisation of NVIDIA's cards from the management library of their
//! driver (NVML).

use std::ffi::OsString;

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use serde::{Deserialize, Serialize};

use super::nvidia;

/// Milliwatts in a watt.
const MILLIWATTS: f64 = 1e3;
/// Bytes in a MiB.
const MIB: f64 = (1 << 20) as f64;

/// The state of a card at one moment; `None` for a number that the driver does not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CardReading {
    /// Power, in watts.
    pub power_w: Option<f64>,
    /// Clock of the multiprocessors, in MHz.
    pub sm_clock_mhz: Option<f64>,
    /// Clock of the memory, in MHz.
    pub memory_clock_mhz: Option<f64>,
    /// Memory in use, of all programs, in MiB.
    pub memory_used_mib: Option<f64>,
    /// Temperature of the chip, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Share of time in which anything ran on the card, in per cent; at 100 the card may be far from full.
    pub utilisation_percent: Option<f64>,
}

/// A source of readings of cards.
pub trait CardSource: Send + Sync {
    /// The state of each card now, always in the same order.
    fn read(&self) -> Vec<CardReading>;
}

/// The cards that networks run on, as the driver reports them.
pub struct NvidiaCards {
    nvml: Nvml,
    /// Bus addresses of the cards. Indices would not do: NVML's order differs from CUDA's, and NVML counts cards that
    /// CUDA does not see.
    bus_ids: Vec<String>,
}

impl NvidiaCards {
    /// The cards with these indices of CUDA; without an index, the first card. `None` where the driver does not report
    /// all of them.
    pub fn new(devices: &[u32]) -> Option<NvidiaCards> {
        let devices = if devices.is_empty() { &[0] } else { devices };
        let all = nvidia::driver().ok()?.bus_ids;
        let bus_ids = devices.iter().map(|&index| all.get(index as usize).cloned()).collect::<Option<Vec<String>>>()?;
        let nvml = Nvml::builder().lib_path(&library()).init().ok()?;
        bus_ids.iter().all(|id| nvml.device_by_pci_bus_id(id.as_str()).is_ok()).then_some(NvidiaCards { nvml, bus_ids })
    }
}

/// NVML's file: a name that containers have too; on Windows the path in the system's folder, since the loader there
/// would look for a bare name in the working folder first.
fn library() -> OsString {
    match std::env::var_os("SystemRoot").filter(|_| cfg!(windows)) {
        Some(mut root) => {
            root.push("\\System32\\nvml.dll");
            root
        }
        None => OsString::from("libnvidia-ml.so.1"),
    }
}

impl CardSource for NvidiaCards {
    fn read(&self) -> Vec<CardReading> {
        let reading = |id: &String| {
            let Ok(card) = self.nvml.device_by_pci_bus_id(id.as_str()) else { return CardReading::default() };
            CardReading {
                power_w: card.power_usage().ok().map(|power| f64::from(power) / MILLIWATTS),
                sm_clock_mhz: card.clock_info(Clock::SM).ok().map(f64::from),
                memory_clock_mhz: card.clock_info(Clock::Memory).ok().map(f64::from),
                memory_used_mib: card.memory_info().ok().map(|memory| memory.used as f64 / MIB),
                temperature_c: card.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
                utilisation_percent: card.utilization_rates().ok().map(|rates| f64::from(rates.gpu)),
            }
        };
        self.bus_ids.iter().map(reading).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_tells_of_its_cards_or_of_none() {
        match NvidiaCards::new(&[]) {
            Some(cards) => assert_eq!(cards.read().len(), 1),
            None => eprintln!("no NVIDIA card reports its state here"),
        }
        assert!(NvidiaCards::new(&[99]).is_none());
    }

    #[test]
    fn numbers_that_are_missing_are_null() {
        let reading = CardReading { power_w: Some(301.5), ..CardReading::default() };
        let json = serde_json::to_value(reading).unwrap();
        assert_eq!((json["power_w"].as_f64(), json["temperature_c"].is_null()), (Some(301.5), true));
        assert_eq!(serde_json::from_value::<CardReading>(json).unwrap(), reading);
    }
}
