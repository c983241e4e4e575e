//! Places values on an axis, and chooses its ticks: multiples of 1, 2 or 5 times a power of ten.

use super::plot::{Axis, Quantity, Spacing};
use zeitnot_base::words::{grouped, time};

/// Units of a time axis, each with the least maximum for which an axis takes it, its length (both in milliseconds), and
/// its name. An axis of two minutes is easier to read in seconds than in minutes.
const UNITS: [(f64, f64, &str); 4] =
    [(10_800_000.0, 3_600_000.0, "h"), (180_000.0, 60_000.0, "min"), (1_000.0, 1_000.0, "s"), (0.0, 1.0, "ms")];
/// Most ticks of a logarithmic axis; where there would be more, only powers of ten get one.
const MOST_LOG_TICKS: usize = 6;
/// Most powers of two on an axis for each to have a tick; of more powers only every second or third has one.
const MOST_DOUBLINGS: u32 = 11;
/// Size below which a value is taken for 0, and size above which it is left out. No time, share or count is beyond
/// these, and the arithmetic of ticks breaks near the limits of floating point.
const SIZES: [f64; 2] = [1e-9, 1e15];
/// Most ticks of a linear axis.
const MOST_TICKS: i64 = 100;

/// The scale of an axis: its ends, ticks and unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    /// Values and labels of the ticks, rising.
    pub ticks: Vec<(f64, String)>,
    /// The unit of the labels; may be empty.
    pub unit: &'static str,
}

impl Scale {
    /// A scale for these values; a linear one has about `wanted` ticks and includes 0, since times and shares mislead
    /// without it.
    pub fn new(axis: &Axis, values: impl IntoIterator<Item = f64>, wanted: usize) -> Scale {
        let [least, most] = SIZES;
        let sound = values.into_iter().filter(|value| value.abs() <= most);
        let sound = sound.map(|value| if value.abs() < least { 0.0 } else { value });
        match axis.spacing {
            Spacing::Linear => linear(axis.quantity, sound, wanted),
            Spacing::Decades => logarithmic(axis.quantity, sound),
            Spacing::Doublings => doublings(sound),
        }
    }

    /// Place of a value between the ends of the scale, 0 to 1. Values beyond an end are placed at it, not-a-number at
    /// the low end.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// The lowest and the highest value on the axis.
    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }
}

fn linear(quantity: Quantity, values: impl Iterator<Item = f64>, wanted: usize) -> Scale {
    let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let (divisor, unit) = unit(quantity, low.abs().max(high));
    let (low, high) = (low / divisor, high / divisor);
    let high = if high > low { high } else { low + 1.0 };
    let step = nice_step((high - low) / wanted.max(1) as f64);
    let step = if quantity == Quantity::Count { step.max(1.0) } else { step };
    let (first, last) = ((low / step).floor() as i64, (high / step - 1e-9).ceil() as i64);
    let last = last.min(first.saturating_add(MOST_TICKS));
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let tick = |index: i64| {
        let value = index as f64 * step;
        let label =
            if quantity == Quantity::Share { format!("{value:.decimals$} %") } else { grouped(value, decimals) };
        (value * divisor, label)
    };
    let ticks: Vec<(f64, String)> = (first..=last).map(tick).collect();
    Scale { low: first as f64 * step * divisor, high: last as f64 * step * divisor, is_log: false, ticks, unit }
}

fn logarithmic(quantity: Quantity, values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all: Vec<f64> =
        (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))).collect();
    let below = all.iter().copied().rfind(|tick| *tick <= low * (1.0 + 1e-9)).unwrap_or(low);
    let above = all.iter().copied().find(|tick| *tick >= high * (1.0 - 1e-9) && *tick > below).unwrap_or(10.0 * below);
    let mut ticks: Vec<f64> = all.into_iter().filter(|tick| (below..=above).contains(tick)).collect();
    if ticks.len() > MOST_LOG_TICKS {
        let is_power = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-6;
        ticks.retain(is_power);
        ticks = ticks.iter().copied().step_by(ticks.len().div_ceil(MOST_LOG_TICKS).max(1)).collect();
    }
    let label = |tick: f64| match quantity {
        Quantity::Time => time(tick),
        _ => grouped(tick, (-tick.log10().floor()).max(0.0) as usize),
    };
    let ticks = ticks.into_iter().map(|tick| (tick, label(tick))).collect();
    Scale { low: below, high: above, is_log: true, ticks, unit: "" }
}

/// A logarithmic scale that begins and ends with a power of two.
fn doublings(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low <= high { (low, high) } else { (1.0, 2.0) };
    let first = low.log2().floor() as i32;
    let last = (high.log2().ceil() as i32).max(first + 1);
    let step = (last - first + 1).unsigned_abs().div_ceil(MOST_DOUBLINGS) as usize;
    let tick = |power: i32| {
        let value = 2f64.powi(power);
        (value, grouped(value, (-value.log10().floor()).max(0.0) as usize))
    };
    let ticks = (first..=last).step_by(step).map(tick).collect();
    Scale { low: 2f64.powi(first), high: 2f64.powi(last), is_log: true, ticks, unit: "" }
}

/// The unit of an axis up to `most`: the number to divide values by, and the unit's name.
fn unit(quantity: Quantity, most: f64) -> (f64, &'static str) {
    match quantity {
        Quantity::Number | Quantity::Count => (1.0, ""),
        Quantity::Share => (0.01, ""),
        Quantity::Time => {
            UNITS.iter().find(|(from, _, _)| most >= *from).map_or((1.0, "ms"), |(_, divisor, name)| (*divisor, *name))
        }
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= least * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    fn scale(quantity: Quantity, values: &[f64]) -> Scale {
        Scale::new(&Axis::new("", quantity), values.iter().copied(), 5)
    }

    #[test]
    fn ticks_are_round_numbers_around_all_values() {
        let numbers = scale(Quantity::Number, &[3.0, 87.0]);
        assert_eq!(labels(&numbers), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!((numbers.place(0.0), numbers.place(50.0), numbers.place(100.0)), (0.0, 0.5, 1.0));
        assert_eq!(labels(&scale(Quantity::Number, &[-12.0, 9.0])), ["-15", "-10", "-5", "0", "5", "10"]);
        assert_eq!(labels(&scale(Quantity::Number, &[0.0007])), ["0.0000", "0.0002", "0.0004", "0.0006", "0.0008"]);
        assert_eq!(labels(&scale(Quantity::Number, &[60_701.4])), ["0", "20,000", "40,000", "60,000", "80,000"]);
        assert_eq!(labels(&scale(Quantity::Count, &[2.0])), ["0", "1", "2"]);
        assert_eq!(labels(&scale(Quantity::Share, &[0.31])), ["0 %", "10 %", "20 %", "30 %", "40 %"]);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (most_ms, unit, last) in [
            (450.0, "ms", "500"),
            (9_900.0, "s", "10"),
            (120_000.0, "s", "150"),
            (2_700_000.0, "min", "50"),
            (14_400_000.0, "h", "4"),
        ] {
            let times = scale(Quantity::Time, &[most_ms]);
            assert_eq!((times.unit, *labels(&times).last().unwrap()), (unit, last), "{most_ms}");
            assert!(times.ends()[1] >= most_ms);
        }
    }

    #[test]
    fn a_logarithmic_scale_has_equal_factors() {
        let scale = Scale::new(&Axis::log("", Quantity::Time), [0.0, 12.0, 900.0], 5);
        assert_eq!(labels(&scale), ["10 ms", "100 ms", "1 s"]);
        assert!((scale.place(100.0) - 0.5).abs() < 1e-9 && scale.place(0.0) == 0.0 && scale.place(5_000.0) == 1.0);
        let wide = Scale::new(&Axis::log("", Quantity::Number), [1.0, 90_000.0], 5);
        assert_eq!(labels(&wide), ["1", "10", "100", "1,000", "10,000", "100,000"]);
    }

    #[test]
    fn sizes_that_double_have_equal_distances() {
        let scale = |values: &[f64]| Scale::new(&Axis::doublings(""), values.iter().copied(), 5);
        let batches = scale(&[1.0, 16.0, 1000.0]);
        assert_eq!(labels(&batches), ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1,024"]);
        assert!((batches.place(32.0) - 0.5).abs() < 1e-9, "{batches:?}");
        assert_eq!(labels(&scale(&[64.0, 200.0])), ["64", "128", "256"]);
        assert_eq!(labels(&scale(&[8.0])), ["8", "16"]);
        assert_eq!(labels(&scale(&[1.0, 4096.0])), ["1", "4", "16", "64", "256", "1,024", "4,096"]);
    }

    #[test]
    fn values_that_are_none_make_no_broken_scale() {
        for axis in [Axis::new("", Quantity::Time), Axis::log("", Quantity::Number), Axis::doublings("")] {
            for values in [
                &[][..],
                &[0.0],
                &[f64::NAN, f64::INFINITY],
                &[5.0, 5.0],
                &[-3.0],
                &[5e-324],
                &[-1e308, 1e308],
                &[5e-324, 1e308],
                &[1e-9, 1e15],
            ] {
                let scale = Scale::new(&axis, values.iter().copied(), 5);
                assert!((2..20).contains(&scale.ticks.len()), "{axis:?} {values:?}: {scale:?}");
                for value in [1.0, 5e-324, 1e308, -1e308, f64::NAN, f64::INFINITY] {
                    assert!((0.0..=1.0).contains(&scale.place(value)), "{axis:?} {values:?} {value}: {scale:?}");
                }
            }
        }
    }
}
