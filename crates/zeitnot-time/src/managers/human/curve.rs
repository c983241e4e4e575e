//! The time that people take for a move on average, by its number, their rating and the time control.
//!
//! The figures are those of lichess' bots (lila, `ui/lib/src/bot/movetime.ts`, commit 2bbc534), which were read off the
//! games of January 2025: three values that are linear in the rating (the first move, the peak, the tail) at each of
//! eight initial times, and the turn of the peak.

use std::f64::consts::PI;

/// A value that is linear in the rating: slope and value at rating 0, in seconds.
#[derive(Clone, Copy)]
struct Line(f64, f64);

impl Line {
    fn between(self, other: Line, share: f64) -> Line {
        Line(self.0 + (other.0 - self.0) * share, self.1 + (other.1 - self.1) * share)
    }

    fn at(self, rating: f64) -> f64 {
        self.0 * rating + self.1
    }
}

/// For each initial time, in seconds: the mean times of the first move, at the peak and in the tail.
const CONTROLS: [(f64, [Line; 3]); 8] = [
    (0.0, [Line(-0.0002, 0.6), Line(-0.0003, 1.0), Line(-0.00016, 0.46)]),
    (15.0, [Line(-0.00027, 0.72), Line(-0.00031, 1.11), Line(-0.00015, 0.46)]),
    (30.0, [Line(-0.00042, 1.16), Line(-0.00032, 1.69), Line(-0.00013, 0.45)]),
    (60.0, [Line(-0.00038, 1.33), Line(-0.0006, 3.28), Line(-0.00007, 0.34)]),
    (180.0, [Line(-0.0005, 2.25), Line(-0.0003, 5.7), Line(0.0, 1.0)]),
    (300.0, [Line(-0.00065, 3.08), Line(-0.00105, 8.9), Line(0.0, 1.0)]),
    (600.0, [Line(-0.0008, 4.56), Line(0.00178, 9.5), Line(0.0, 1.0)]),
    (3600.0, [Line(-0.00041, 9.36), Line(0.03, -13.3), Line(0.0, 1.0)]),
];
/// Moves after the peak in which the excess over the tail halves.
const HALF_MOVES: f64 = 15.0;
/// Least mean of a move, in seconds: the lines of the shortest controls go below 0 at the highest ratings.
const LEAST_S: f64 = 0.05;

/// The mean time of each move of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    first_s: f64,
    peak_s: f64,
    /// The mean at the end of a long game.
    pub(super) tail_s: f64,
    peak_turn: f64,
}

impl Curve {
    /// The mean times of a player of this rating, with `initial_s` seconds at the start and `increment_s` a move. They are
    /// known for eight initial times and interpolated between them; beyond an hour they are those of an hour.
    pub fn new(initial_s: f64, increment_s: f64, rating: f64) -> Curve {
        let initial_s = initial_s.clamp(0.0, CONTROLS[CONTROLS.len() - 1].0);
        let upper = CONTROLS.partition_point(|(of, _)| *of <= initial_s).clamp(1, CONTROLS.len() - 1);
        let ((from, below), (to, above)) = (CONTROLS[upper - 1], CONTROLS[upper]);
        let line = |index: usize| below[index].between(above[index], (initial_s - from) / (to - from));
        let [first, mut peak, tail] = [line(0), line(1), line(2)];
        if increment_s > 0.0 {
            peak.0 += (increment_s - 1.3) * 0.0012;
            peak.1 -= if initial_s > 180.0 { 0.25 * increment_s } else { 0.0 };
        }
        let tail_s = tail.at(rating).max(LEAST_S);
        // Of a game of a minute at most.
        let bullet = libm::pow(initial_s / 15.0, 1.2);
        let peak_turn = if increment_s > 0.0 {
            (12.0 + (2.0 - increment_s) * (rating - 1000.0) / 1300.0).max(7.0)
        } else if initial_s <= 60.0 {
            (4.0 + bullet + (15.0 - bullet) * (rating - 600.0) / 1800.0).min(19.0)
        } else {
            (12.0 + (initial_s - 180.0) / 60.0 + (rating - 600.0) / 138.0).min(19.0)
        };
        Curve {
            first_s: first.at(rating).max(LEAST_S),
            peak_s: peak.at(rating).max(tail_s),
            tail_s,
            peak_turn: peak_turn.max(1.0),
        }
    }

    /// Mean seconds of the move with this number, 1 at the start of a game.
    pub fn mean_s(&self, number: f64) -> f64 {
        if number <= self.peak_turn {
            let rise = libm::sin(PI * number / self.peak_turn / 2.0);
            self.first_s + (self.peak_s - self.first_s) * rise * rise
        } else {
            let past = (number - self.peak_turn) / HALF_MOVES;
            self.tail_s + (self.peak_s - self.tail_s) / (1.0 + past * past)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The table of the page: rating 1500, without an increment.
    #[test]
    fn the_published_controls_come_out() {
        for (initial_s, first_s, peak_s, turn, tail_s) in [
            (60.0, 0.76, 2.38, 14.0, 0.24),
            (180.0, 1.5, 5.25, 18.5, 1.0),
            (300.0, 2.1, 7.3, 19.0, 1.0),
            (600.0, 3.4, 12.2, 19.0, 1.0),
            (3600.0, 8.7, 31.7, 19.0, 1.0),
        ] {
            let curve = Curve::new(initial_s, 0.0, 1500.0);
            for (found, known) in [
                (curve.first_s, first_s),
                (curve.peak_s, peak_s),
                (curve.peak_turn, turn),
                (curve.tail_s, tail_s),
                (curve.mean_s(0.0), first_s),
                (curve.mean_s(curve.peak_turn), peak_s),
            ] {
                assert!((found / known - 1.0).abs() < 0.03, "{initial_s}: {found} for {known}");
            }
            assert!((curve.mean_s(curve.peak_turn + 15.0) - (curve.peak_s + curve.tail_s) / 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn an_increment_moves_the_peak() {
        let (with, without) = (Curve::new(300.0, 3.0, 1500.0), Curve::new(300.0, 0.0, 1500.0));
        assert!((with.peak_s - 9.635).abs() < 1e-9, "{with:?}");
        assert!((with.peak_turn - 11.615).abs() < 1e-3 && with.peak_turn < without.peak_turn);
    }

    #[test]
    fn every_clock_and_rating_has_times() {
        for initial_s in [0.0, 1.0, 45.0, 60.0, 61.0, 1800.0, 3600.0, 1e9] {
            for rating in [0.0, 600.0, 1500.0, 4000.0] {
                for increment_s in [0.0, 0.1, 30.0, 1e6] {
                    let curve = Curve::new(initial_s, increment_s, rating);
                    for number in [1.0, 7.0, 40.0, 1e5] {
                        let mean_s = curve.mean_s(number);
                        assert!(mean_s.is_finite() && mean_s >= LEAST_S, "{curve:?} {number}: {mean_s}");
                    }
                }
            }
        }
    }
}
