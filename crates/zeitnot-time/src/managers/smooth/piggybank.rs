//! The piggybank of plain `smooth`: time that ordinary moves save for hard ones (Lc0 #1310; docs/lc0.md, 1.7).

use super::params::{BANK_CAP, BANK_INIT, BANK_TAX, BANK_USE, PIGGYBANK};
use crate::params::{ParamSpec, ParamValues};

/// A bank of time. Unlike Lc0's it is bounded by the clock (docs/lc0.md, 7.5), so that it can never hold more than
/// there is.
#[derive(Clone, Debug)]
pub struct Piggybank {
    init: f64,
    tax: f64,
    max_use: f64,
    cap: f64,
    /// Milliseconds; `None` before the first clock was seen.
    saved_ms: Option<f64>,
}

impl Piggybank {
    /// The bank, if the specification has one.
    pub fn new(values: &ParamValues) -> Option<Self> {
        let value = |param: &ParamSpec| values.get_in(PIGGYBANK.name, param);
        values.has(PIGGYBANK.name).then(|| Self {
            init: value(&BANK_INIT),
            tax: value(&BANK_TAX),
            max_use: value(&BANK_USE),
            cap: value(&BANK_CAP),
            saved_ms: None,
        })
    }

    /// The milliseconds in the bank when a move begins with `clock_ms` on the clock.
    pub fn open(&mut self, clock_ms: f64) -> f64 {
        let saved = self.saved_ms.unwrap_or(self.init * clock_ms).min(self.cap * clock_ms);
        *self.saved_ms.insert(saved)
    }

    /// Time that one move may draw, in milliseconds.
    pub fn available_ms(&self) -> f64 {
        self.saved_ms.unwrap_or(0.0) * self.max_use
    }

    /// The tax of a move that is expected to take `expected_ms`. A full bank still collects it, and the excess stays on
    /// the clock: if the tax were cut to the room in the bank, a longer clock, with more room, would give the move less
    /// time.
    pub fn tax_ms(&self, expected_ms: f64) -> f64 {
        expected_ms * self.tax
    }

    /// Takes in the end of a move, which paid its tax and drew the time that it took past its budget.
    pub fn move_ended(&mut self, tax_ms: f64, overdrawn_ms: f64) {
        if let Some(saved) = &mut self.saved_ms {
            *saved = (*saved + tax_ms - overdrawn_ms.max(0.0)).max(0.0);
        }
    }

    /// Milliseconds saved.
    pub fn saved_ms(&self) -> f64 {
        self.saved_ms.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piggybank_saves_pays_and_never_exceeds_the_clock() {
        let mut bank = Piggybank { init: 0.09, tax: 0.12, max_use: 0.94, cap: 0.3, saved_ms: None };
        assert_eq!(bank.open(60_000.0), 5_400.0);
        assert!((bank.available_ms() - 5_076.0).abs() < 1e-9);
        let tax = bank.tax_ms(1_000.0);
        assert_eq!(tax, 120.0);
        bank.move_ended(tax, 520.0);
        assert_eq!(bank.saved_ms(), 5_000.0);
        // docs/lc0.md, 7.5: the clock fell; Lc0's bank stays above it and leaves moves no time.
        assert_eq!(bank.open(3_000.0), 900.0);
        bank.move_ended(bank.tax_ms(1_000.0), 0.0);
        assert_eq!(bank.open(3_000.0), 900.0, "full");
        bank.move_ended(0.0, 1e9);
        assert_eq!(bank.saved_ms(), 0.0);
    }
}
