//! The clock of a game of `human`: how much time it began with, and how much people have left at a move.

use super::{Curve, SHORT_OF_TIME};
use crate::{MS_PER_SECOND, MoveRequest};

/// The last move number at which a clock of whole quarters of a minute is taken for the full initial time, of which no
/// move has used any: the moves before it came from a book.
const LAST_BOOK_MOVE: u32 = 12;
const ROUND_S: f64 = 15.0;
/// Most moves whose usual times are added up to estimate the initial time of a game that is taken up in its middle.
const MOST_COUNTED_BACK: u32 = 60;

/// The clock of a game, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub(super) initial_s: f64,
    increment_s: f64,
    /// The last move that was planned.
    pub(super) number: u32,
    pub(super) opponent_clock_ms: Option<f64>,
    elo: f64,
}

impl Control {
    /// The clock of the game at move `number`: goes on from `last` if the move can follow it, else is estimated anew.
    pub(super) fn at(last: Option<Control>, request: &MoveRequest, number: u32, elo: f64) -> Control {
        let (clock_s, increment_s) = (request.clock_ms / MS_PER_SECOND, request.increment_ms / MS_PER_SECOND);
        let goes_on = |last: &Control| {
            last.number <= number
                && last.increment_s == increment_s
                && clock_s <= last.initial_s + f64::from(number) * increment_s + 1.0
        };
        if let Some(last) = last.filter(goes_on) {
            return Control { number, ..last };
        }
        let mut control = Control { initial_s: clock_s, increment_s, number, opponent_clock_ms: None, elo };
        if number <= LAST_BOOK_MOVE && clock_s % ROUND_S == 0.0 {
            return control;
        }
        // What a person would have used before the move is what the clock lacks.
        for _ in 0..8 {
            control.initial_s = clock_s + control.usual_use_s().max(0.0);
        }
        control
    }

    /// The mean time of each move.
    pub(super) fn curve(&self) -> Curve {
        Curve::new(self.initial_s, self.increment_s, self.elo)
    }

    /// The time that people use for all moves before the last planned one, less their increments, in seconds.
    fn usual_use_s(&self) -> f64 {
        let (curve, before) = (self.curve(), 1..self.number.min(MOST_COUNTED_BACK + 1));
        before.map(|number| curve.mean_s(f64::from(number)) - self.increment_s).sum()
    }

    /// The time that people have left on the clock before the last planned move, in seconds; at least [`SHORT_OF_TIME`]
    /// of the initial time.
    pub(super) fn expected_s(&self) -> f64 {
        (self.initial_s - self.usual_use_s()).max(SHORT_OF_TIME * self.initial_s)
    }
}
