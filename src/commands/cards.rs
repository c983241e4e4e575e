//! Finds the graphics cards that a backend runs on, and prints their state beside a measurement.

use std::sync::Arc;
use zeitnot_engine::backend::{self, Attributes, BackendSettings, DeviceOptions};
use zeitnot_engine::engine::Options;
use zeitnot_engine::runtime::nvidia_readings::{CardReading, CardSource, NvidiaCards};
use zeitnot_lab::measure::CardUse;

/// The cards of this backend; `None` if it runs on no card, or the driver reports nothing.
pub fn source(options: &Options, attributes: &Attributes) -> Option<Arc<dyn CardSource>> {
    let device: DeviceOptions = options.backend_options.parse().ok()?;
    let provider = backend::provider_of(&options.backend, &BackendSettings::default()).ok()??;
    // `auto` may have taken the processor in the end.
    if attributes.is_cpu || !provider.is_nvidia() {
        return None;
    }
    Some(Arc::new(NvidiaCards::new(&device.devices)?))
}

/// The state of the cards as the end of a row of a table; empty without cards.
pub fn in_row(cards: Option<&[CardUse]>) -> String {
    cards.unwrap_or_default().iter().map(|card| format!(" | {}", state(&card.during))).collect()
}

/// The numbers that the driver reports.
fn state(reading: &CardReading) -> String {
    let CardReading { power_w, sm_clock_mhz, memory_clock_mhz, memory_used_mib, temperature_c, utilisation_percent } =
        reading;
    let numbers = [
        (power_w, "W"),
        (sm_clock_mhz, "MHz"),
        (memory_clock_mhz, "MHz memory"),
        (memory_used_mib, "MiB"),
        (temperature_c, "C"),
        (utilisation_percent, "% in use"),
    ];
    let told = numbers.iter().filter_map(|(number, unit)| number.map(|number| format!("{number:.0} {unit}")));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_what_the_driver_tells() {
        let during = CardReading {
            power_w: Some(312.4),
            sm_clock_mhz: Some(1755.0),
            utilisation_percent: Some(98.0),
            ..CardReading::default()
        };
        let card = CardUse { during, ..CardUse::default() };
        assert_eq!(in_row(Some(&[card])), " | 312 W, 1755 MHz, 98 % in use");
        assert_eq!((in_row(None), in_row(Some(&[]))), (String::new(), String::new()));
    }
}
