//! Audits how a player spent the clock of a game: each time beside the usual one, thoughts that bought nothing, moves
//! played at once that needed a thought, and time trouble.

use super::clock_sums::ClockSums;
use super::document::{SpentTime, TimeVerdict};
use super::phase::Phase;
use crate::audit::{ClockedMove, TaggedControl, TimeControlTag, read_tag};
use zeitnot_base::words::told_time;
use zeitnot_engine::chess::Color;
use zeitnot_time::managers::human::Curve;

/// Multiple of the usual time from which on a thought is long; up to `AT_ONCE` times the usual, it is played at once.
pub(super) const LONG: f64 = 2.0;
const AT_ONCE: f64 = 0.4;
/// Least time beyond the usual that makes a thought long, in milliseconds. `LEAST_EXCESS` is another such bound, as a
/// share of the clock at the start, and an increment is the third.
const LEAST_EXCESS_MS: f64 = 1_000.0;
const LEAST_EXCESS: f64 = 0.01;
/// Least expected score that a move has to lose to have needed a thought; a thought that bought nothing loses less.
const COSTLY: f64 = 0.05;
/// Expected score of the better side from which on a position is settled.
const SETTLED: f64 = 0.95;
/// Share of the clock at the start below which a player is in time trouble.
const TROUBLE: f64 = 0.1;
/// Share of the clock at the start below which people move faster than usual; the time manager `human` takes it, too.
pub const SHORT_OF_TIME: f64 = 0.25;
/// Ratings for which the usual times of people are known, with clocks of up to `LONGEST_S` seconds at the start.
const RATINGS: std::ops::RangeInclusive<f64> = 600.0..=3000.0;
const LONGEST_S: f64 = 3600.0;
/// Own moves before and after a move whose mean time is the player's pace; `LEAST_PACE` is the least number of them.
const PACE_MOVES: usize = 8;
const LEAST_PACE: usize = 4;

/// The facts about a move whose time is known, from the mover's side.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedMove<'a> {
    pub times: &'a ClockedMove,
    /// The number of the move in the game.
    pub number: u32,
    pub phase: Phase,
    /// Expected score before the move, 0 to 1.
    pub expected: Option<f64>,
    /// Expected score that the move lost.
    pub loss: Option<f64>,
    pub is_forced: bool,
    /// Whether an eighth of the search already chose the final move; `None` without searches.
    pub is_early: Option<bool>,
    /// The better move in PGN, where the search has one.
    pub better: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SideClock {
    pub start_ms: Option<f64>,
    /// The increment of each move, in milliseconds.
    pub increment_ms: f64,
    /// The usual times of people of the player's rating on such a clock; `None` where these are not known.
    pub curve: Option<Curve>,
    /// The step to which the times are rounded, in milliseconds; a smaller difference is not judged.
    pub step_ms: f64,
}

impl SideClock {
    /// The clock of a side by the tags `TimeControl` and `WhiteElo` or `BlackElo`; `start_ms`, if known, replaces the
    /// base time of the first tag.
    pub(super) fn new(control_tag: &str, start_ms: Option<f64>, rating: Option<u32>) -> SideClock {
        let control = match read_tag(control_tag) {
            TimeControlTag::Readings(readings) => readings.into_iter().next(),
            TimeControlTag::Untold | TimeControlTag::Unread => None,
        };
        let increment_s = control.as_ref().and_then(single_increment_s);
        let start_ms = start_ms.or(control.map(|control| control.periods[0].base_ms)).filter(|ms| *ms > 0.0);
        let rating = rating.map(f64::from).filter(|rating| RATINGS.contains(rating));
        let initial_s = start_ms.map(|ms| ms / 1e3).filter(|s| *s <= LONGEST_S);
        let curve = (|| Some(Curve::new(initial_s?, increment_s?, rating?)))();
        SideClock { start_ms, increment_ms: 1e3 * increment_s.unwrap_or(0.0), curve, step_ms: 0.0 }
    }
}

/// The increment of a clock of one period for the whole game, in seconds; `None` for other clocks.
fn single_increment_s(control: &TaggedControl) -> Option<f64> {
    let [period] = control.periods[..] else { return None };
    (period.moves.is_none() && !control.is_per_move).then_some(period.increment_ms / 1e3)
}

/// Judges the time of each move of a side, and sums up the game.
pub(super) fn audit(moves: &[TimedMove<'_>], clock: &SideClock) -> (Vec<SpentTime>, ClockSums) {
    let mut sums = ClockSums { games: u32::from(!moves.is_empty()), ..ClockSums::default() };
    let told = moves.iter().enumerate().map(|(index, mv)| {
        let usual_ms = usual_ms(moves, index, clock);
        let is_in_trouble = is_in_trouble(mv, clock);
        let compared_ms = usual_ms.filter(|usual_ms| (mv.times.used_ms - usual_ms).abs() > clock.step_ms);
        let verdict = compared_ms.and_then(|usual_ms| verdict(mv, usual_ms, is_in_trouble, clock));
        let (used_ms, cost) = (mv.times.used_ms, mv.loss.unwrap_or(0.0));
        sums.used_ms += used_ms;
        sums.phases_ms[mv.phase as usize] += used_ms;
        sums.usual_ms[mv.phase as usize] += usual_ms.unwrap_or(0.0);
        let losses = if is_in_trouble { &mut sums.troubled } else { &mut sums.calm };
        losses.add(1, cost);
        match verdict {
            Some(TimeVerdict::BoughtNothing) => {
                sums.long_thoughts.count += 1;
                sums.long_thoughts.ms += used_ms - usual_ms.unwrap_or(used_ms);
            }
            Some(TimeVerdict::NeededOne) => {
                sums.instant.count += 1;
                sums.instant.cost += cost;
            }
            Some(TimeVerdict::WentWrong) | None => {}
        }
        let words = words(mv, compared_ms, verdict, is_in_trouble);
        SpentTime { usual_ms, verdict, cost, in_trouble: is_in_trouble, words }
    });
    (told.collect(), sums)
}

/// Whether a player has little time left before a move.
fn is_in_trouble(mv: &TimedMove<'_>, clock: &SideClock) -> bool {
    mv.times.clock_ms.zip(clock.start_ms).is_some_and(|(left_ms, start_ms)| left_ms < TROUBLE * start_ms)
}

/// The usual time of a move: by the curve of people of the player's rating, shorter where the clock runs out; else the
/// mean of the player's moves around it.
fn usual_ms(moves: &[TimedMove<'_>], index: usize, clock: &SideClock) -> Option<f64> {
    if let (Some(curve), Some(start_ms)) = (clock.curve, clock.start_ms) {
        let mv = &moves[index];
        let left = mv.times.clock_ms.map_or(1.0, |left_ms| left_ms / (SHORT_OF_TIME * start_ms));
        let mean_ms = 1e3 * curve.mean_s(f64::from(mv.number));
        // Who has nothing but the increment left uses that.
        return Some((mean_ms * left.clamp(0.0, 1.0)).max(mean_ms.min(clock.increment_ms)));
    }
    let around = index.saturating_sub(PACE_MOVES)..(index + PACE_MOVES + 1).min(moves.len());
    let others: Vec<f64> = around.filter(|other| *other != index).map(|other| moves[other].times.used_ms).collect();
    (others.len() >= LEAST_PACE).then(|| others.iter().sum::<f64>() / others.len() as f64)
}

fn verdict(mv: &TimedMove<'_>, usual_ms: f64, is_in_trouble: bool, clock: &SideClock) -> Option<TimeVerdict> {
    let used_ms = mv.times.used_ms;
    let loss = mv.loss?;
    let least_ms = LEAST_EXCESS_MS.max(LEAST_EXCESS * clock.start_ms.unwrap_or(0.0)).max(clock.increment_ms);
    let is_long = used_ms >= LONG * usual_ms && used_ms - usual_ms >= least_ms;
    let has_nothing_to_find = mv.is_forced || is_settled(mv) || mv.is_early == Some(true);
    if is_long && has_nothing_to_find && loss < COSTLY {
        return Some(TimeVerdict::BoughtNothing);
    }
    let is_bettered = mv.is_early.is_none() || mv.better.is_some();
    if is_long && loss >= COSTLY && is_bettered {
        return Some(TimeVerdict::WentWrong);
    }
    let is_fast = used_ms <= AT_ONCE * usual_ms && !is_in_trouble;
    (is_fast && loss >= COSTLY && is_bettered).then_some(TimeVerdict::NeededOne)
}

/// Whether the result was all but certain before a move.
fn is_settled(mv: &TimedMove<'_>) -> bool {
    mv.expected.is_some_and(|expected| expected.max(1.0 - expected) >= SETTLED)
}

/// A sentence on the time of a move.
fn words(mv: &TimedMove<'_>, usual_ms: Option<f64>, verdict: Option<TimeVerdict>, is_in_trouble: bool) -> String {
    let used = told_time(mv.times.used_ms);
    let beside =
        usual_ms.map_or_else(|| used.clone(), |usual_ms| format!("{used} where {} are usual", told_time(usual_ms)));
    let lost = chances(mv.loss.unwrap_or(0.0));
    let better = mv.better.map_or_else(String::new, |better| format!("; {better} was better"));
    match verdict {
        Some(TimeVerdict::BoughtNothing) if mv.is_forced => format!("{beside}, and only one move was legal."),
        Some(TimeVerdict::BoughtNothing) if is_settled(mv) => format!("{beside}, and the game was decided."),
        Some(TimeVerdict::BoughtNothing) => format!("{beside}, and a short look finds the move of a long one."),
        Some(TimeVerdict::WentWrong) => format!("{beside}, and it lost {lost} all the same{better}."),
        Some(TimeVerdict::NeededOne) => format!("{beside}, and it lost {lost}{better}."),
        None if is_in_trouble => format!("{beside}, in time trouble."),
        None => format!("{beside}."),
    }
}

/// A loss of expected score in words for people: `12 % of the winning chances`.
pub(super) fn chances(loss: f64) -> String {
    format!("{:.0} % of the winning chances", 100.0 * loss)
}

/// The side's index: 0 for White, 1 for Black.
pub(super) fn side(color: Color) -> usize {
    usize::from(!color.is_white())
}

#[cfg(test)]
#[path = "clock_audit_tests.rs"]
mod tests;
