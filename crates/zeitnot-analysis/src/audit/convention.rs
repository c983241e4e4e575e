//! Finds the convention of a game's clock comments: what a clock includes, and how to read the time control.
//!
//! Programs differ without saying so: a clock may include the increment of its move or not, may begin with an
//! increment, and may receive the time of a new period late. The program's usual convention is tried first; moves that
//! a convention cannot explain count against it.

use super::MoveTimes;
use super::side_times::{Side, SideTimes, side_times};
use super::time_control_tag::{TaggedControl, in_minutes};
use zeitnot_games::period_clock::PeriodClock;

/// Largest base time, read in seconds, that may in truth be in minutes.
pub(super) const MOST_MINUTES: f64 = 180.0;
/// Multiple of the time given in seconds beyond which a clock or a time used shows that the control is in minutes.
const BEYOND: f64 = 2.0;
/// Tolerated difference between all times given and all times by the clocks, as a share of the larger sum.
const OFF_SHARE: f64 = 0.2;
/// Milliseconds that are tolerated on top of [`OFF_SHARE`].
const OFF_MS: f64 = 2_000.0;

/// A way to read the comments of one side of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Convention<'a> {
    /// The time control of the side; `None` where none is given.
    pub control: Option<&'a TaggedControl>,
    /// Whether the clock at the start includes the first increment, as with UCI runners.
    pub begins_with_increment: bool,
    /// Whether the clock in a comment includes the increment of its move.
    pub holds_increment: bool,
    /// Whether the moves of the opening count towards the periods of the time control.
    pub counts_opening: bool,
    /// Whether a clock of two parts is in hours and minutes.
    pub in_hours: bool,
    /// Whether the time given for a move is trusted beside a clock.
    pub trusts_times: bool,
}

/// The times of both sides under the convention that fits best.
pub(super) struct Chosen {
    pub sides: [SideTimes; 2],
    /// Whether the time control is in minutes.
    pub in_minutes: bool,
    /// Whether the times given contradict the clocks, so that only the clocks are trusted.
    pub distrusts_times: bool,
}

/// Chooses the convention, and reads the time control in minutes where clocks or times show that it is.
pub(super) fn choose(sides: &[Side; 2], readings: [&[TaggedControl]; 2], in_hours: bool) -> Chosen {
    let minutes = readings.map(|readings| readings.iter().map(in_minutes).collect::<Vec<_>>());
    let in_minutes = (0..2).any(|side| shows_minutes(&sides[side], readings[side]));
    let readings = if in_minutes { [&minutes[0][..], &minutes[1]] } else { readings };
    let (mut times, conventions) = best(sides, readings, in_hours);
    let told_ms: f64 = times.iter().map(|times| times.told_ms).sum();
    let by_clocks_ms: f64 = times.iter().map(|times| times.by_clocks_ms).sum();
    let distrusts_times = (told_ms - by_clocks_ms).abs() > OFF_MS + OFF_SHARE * by_clocks_ms.max(told_ms);
    if distrusts_times {
        times = [0, 1].map(|side| side_times(&sides[side], &Convention { trusts_times: false, ..conventions[side] }));
    }
    Chosen { sides: times, in_minutes, distrusts_times }
}

/// The convention with the fewest contradictions, then misfits, and the times by it; of equals the more usual one.
fn best<'a>(
    sides: &[Side; 2],
    readings: [&'a [TaggedControl]; 2],
    in_hours: bool,
) -> ([SideTimes; 2], [Convention<'a>; 2]) {
    let mut best: Option<([SideTimes; 2], [Convention; 2])> = None;
    let cost = |times: &[SideTimes; 2]| {
        let [white, black] = times;
        (white.doubts.len() + black.doubts.len(), white.misfits + black.misfits)
    };
    for conventions in conventions(sides, readings) {
        let conventions = conventions.map(|convention| Convention { in_hours, ..convention });
        let times = [0, 1].map(|side| side_times(&sides[side], &conventions[side]));
        let new_cost = cost(&times);
        if best.as_ref().is_none_or(|(least, _)| new_cost < cost(least)) {
            best = Some((times, conventions));
        }
        if new_cost == (0, 0) {
            break;
        }
    }
    best.unwrap_or_else(|| (Default::default(), [Convention { in_hours, ..Convention::default() }; 2]))
}

/// All possible conventions, the most usual first.
fn conventions<'a>(sides: &[Side; 2], readings: [&'a [TaggedControl]; 2]) -> impl Iterator<Item = [Convention<'a>; 2]> {
    let controls = move |reading: usize| readings.map(|readings| readings.get(reading).or(readings.last()));
    let all = || readings.iter().flat_map(|readings| readings.iter()).flat_map(|control| &control.periods);
    let has_increment = all().any(|period| period.increment_ms > 0.0);
    let has_moves = all().any(|period| period.moves.is_some_and(|moves| moves > 1));
    let said = sides[0].said;
    let is_by_runner = said.iter().any(|said| said.is_by_runner);
    let has_opening = said.iter().take(2).any(|said| said.is_book || said.used_ms.is_none() && said.clock_ms.is_none());
    let has_clocks = said.iter().any(|said| said.clock_ms.is_some());
    let both = |is_possible: bool, first: bool| [Some(first), is_possible.then_some(!first)].into_iter().flatten();
    let most = readings.iter().map(|readings| readings.len()).max().unwrap_or(0).max(1);
    (0..most).flat_map(move |reading| {
        let control = controls(reading);
        both(has_moves && has_opening, true).flat_map(move |counts_opening| {
            both(has_increment && has_clocks, true).flat_map(move |holds_increment| {
                both(has_increment, is_by_runner && has_increment).map(move |begins_with_increment| {
                    control.map(|control| Convention {
                        control,
                        begins_with_increment,
                        holds_increment,
                        counts_opening,
                        in_hours: false,
                        trusts_times: true,
                    })
                })
            })
        })
    })
}

/// Whether a time control read in seconds must be in minutes: a clock or the times used are far beyond the time given
/// so far in seconds, and within the time given in minutes. Runners always write seconds.
fn shows_minutes(side: &Side, readings: &[TaggedControl]) -> bool {
    let own = || side.plies.iter().map(|ply| &side.said[*ply]);
    let Some(control) = readings.first().filter(|control| !control.is_per_move) else { return false };
    let mut clock = PeriodClock::new(&control.periods);
    let base_ms = clock.base_ms().unwrap_or(0.0);
    if !(1.0..=1e3 * MOST_MINUTES).contains(&base_ms) || own().any(|said| said.is_by_runner) {
        return false;
    }
    let (mut given_ms, mut used_ms, mut is_shown) = (base_ms, 0.0, false);
    for said in own() {
        given_ms += clock.count_move();
        used_ms += said.used_ms.unwrap_or(0.0);
        let shown_ms = said.clock_ms.unwrap_or(0.0).max(used_ms);
        if shown_ms > 60.0 * given_ms {
            return false;
        }
        is_shown |= shown_ms > BEYOND * given_ms;
    }
    is_shown
}

/// Whether clocks of two parts are in hours and minutes: the first clock is far too small as minutes and seconds, and
/// about the whole time as hours and minutes.
pub(super) fn shows_hours(said: &[MoveTimes], readings: &[TaggedControl]) -> bool {
    let first = said.iter().find_map(|said| said.clock_ms.zip(Some(said.clock_in_hours_ms)));
    let Some((clock_ms, Some(in_hours_ms))) = first else { return false };
    readings.iter().flat_map(|control| control.periods.first()).any(|period| {
        let most_ms = period.base_ms + 2.0 * period.increment_ms + 60_000.0;
        clock_ms < 0.5 * period.base_ms && in_hours_ms <= most_ms && in_hours_ms > 0.5 * period.base_ms
    })
}
