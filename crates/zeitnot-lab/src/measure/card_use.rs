//! Watches graphics cards while something is measured: their state before, and the median of their states meanwhile.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::statistics::median;
use zeitnot_engine::runtime::nvidia_readings::{CardReading, CardSource};

/// Time between two readings. NVIDIA's driver averages its utilisation over a sixth of a second to a second.
const INTERVAL: Duration = Duration::from_millis(100);

/// One card while something was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardUse {
    /// The state of the card before.
    pub before: CardReading,
    /// The medians of the card's states meanwhile.
    pub during: CardReading,
    /// Number of readings that the medians are of.
    pub samples: usize,
}

/// Does `work` and reads the cards before and meanwhile; the readings are `None` where there are no cards to read.
pub fn watch<T>(cards: Option<&dyn CardSource>, work: impl FnOnce() -> T) -> (T, Option<Vec<CardUse>>) {
    let Some(cards) = cards else { return (work(), None) };
    let before = cards.read();
    let (end, ended) = mpsc::channel::<()>();
    let (result, samples) = thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let mut samples = Vec::new();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(INTERVAL) {
                samples.push(cards.read());
            }
            // Work that is shorter than an interval gets one reading all the same, while the card is still warm.
            if samples.is_empty() {
                samples.push(cards.read());
            }
            samples
        });
        let result = work();
        drop(end);
        (result, watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let card = |(index, before): (usize, CardReading)| {
        let of_card: Vec<CardReading> = samples.iter().filter_map(|sample| sample.get(index).copied()).collect();
        CardUse { before, during: medians(&of_card), samples: of_card.len() }
    };
    (result, Some(before.into_iter().enumerate().map(card).collect()))
}

/// The median of each number, over the readings that have it.
fn medians(readings: &[CardReading]) -> CardReading {
    let of = |number: fn(&CardReading) -> Option<f64>| -> Option<f64> {
        let numbers: Vec<f64> = readings.iter().filter_map(number).collect();
        (!numbers.is_empty()).then(|| median(numbers))
    };
    CardReading {
        power_w: of(|reading| reading.power_w),
        sm_clock_mhz: of(|reading| reading.sm_clock_mhz),
        memory_clock_mhz: of(|reading| reading.memory_clock_mhz),
        memory_used_mib: of(|reading| reading.memory_used_mib),
        temperature_c: of(|reading| reading.temperature_c),
        utilisation_percent: of(|reading| reading.utilisation_percent),
    }
}

/// Cards that always report the same readings.
#[cfg(test)]
pub struct FixedCard(pub Vec<CardReading>);

#[cfg(test)]
impl CardSource for FixedCard {
    fn read(&self) -> Vec<CardReading> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    /// Reports a power that rises by a watt with each reading, of two cards.
    struct Rising(Mutex<f64>);

    impl CardSource for Rising {
        fn read(&self) -> Vec<CardReading> {
            let mut power = self.0.lock();
            *power += 1.0;
            let of = |power_w| CardReading { power_w: Some(power_w), ..CardReading::default() };
            vec![of(*power), of(*power + 1000.0)]
        }
    }

    #[test]
    fn cards_are_read_before_and_during() {
        let cards = Rising(Mutex::new(0.0));
        let (result, used) = watch(Some(&cards), || {
            // A reading during the work, however busy the machine is.
            while *cards.0.lock() < 4.0 {
                thread::sleep(Duration::from_millis(1));
            }
            7
        });
        let used = used.unwrap();
        assert_eq!((result, used.len(), used[0].before.power_w), (7, 2, Some(1.0)));
        assert!(used[0].samples >= 3 && used[0].during.power_w.unwrap() >= 3.0, "{used:?}");
        assert_eq!(used[1].during.power_w.unwrap(), used[0].during.power_w.unwrap() + 1000.0);
        assert_eq!(used[0].during.temperature_c, None);
    }

    #[test]
    fn short_work_has_one_reading_and_no_card_none() {
        let (_, used) = watch(Some(&Rising(Mutex::new(0.0))), || ());
        assert!(used.unwrap()[0].samples >= 1);
        assert_eq!(watch(None, || 5), (5, None));
    }

    #[test]
    fn medians_are_of_the_readings_that_have_a_number() {
        let of = |power_w, temperature_c| CardReading { power_w, temperature_c, ..CardReading::default() };
        let readings = [of(Some(3.0), None), of(None, None), of(Some(9.0), Some(60.0)), of(Some(4.0), None)];
        assert_eq!(medians(&readings), of(Some(4.0), Some(60.0)));
        assert_eq!(medians(&[]), CardReading::default());
    }
}
