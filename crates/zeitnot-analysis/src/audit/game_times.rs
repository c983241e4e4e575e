//! Works out the clock and the time of every move of a game from its comments.

use super::clocked_move::{ClockedMove, Doubt};
use super::convention::{choose, shows_hours};
use super::game_speed::GameSpeed;
use super::remarks::Remark;
use super::side_times::{Side, step_ms};
use super::time_control_tag::{TaggedControl, TimeControlTag, in_minutes, read_tag};
use super::time_loss::{TimeLoss, time_loss};
use zeitnot_engine::chess::Color;
use zeitnot_games::pgn_reader::{MoveTimes, PgnGame, move_times};
use zeitnot_games::time_control::TimeControl;

/// Least ratio of clock to increment at which going berserk on lichess halves the clock; below, only the increment is
/// lost ([scalachess](https://github.com/lichess-org/scalachess), `Clock.scala`).
const BERSERK_INCREMENTS: f64 = 40.0;
/// Time for each move that makes a game one by days, whose clocks may not show the time left, in milliseconds.
const DAYS_MS: f64 = 3_600e3;
/// Longest increment that is inferred from clocks alone, in milliseconds: larger rises are the time of a new period.
const LONGEST_INCREMENT_MS: f64 = 180e3;
/// Least number of moves with a rising clock that show an increment: single rises are penalties or gifts.
const LEAST_RISES: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameTimes {
    /// Moves with known times, in order; book moves and moves with contradictory times are left out.
    pub moves: Vec<ClockedMove>,
    /// The clock of White and of Black at the start, in milliseconds, where the time control is given.
    pub start_ms: [Option<f64>; 2],
    /// The clock of White and of Black after their last move, in milliseconds.
    pub end_ms: [Option<f64>; 2],
    /// Time of White and Black for their next move: `end_ms`, or a whole clock where every move has its own.
    pub next_ms: [Option<f64>; 2],
    /// Increment of the next move of White and of Black, in milliseconds.
    pub next_increment_ms: [f64; 2],
    /// Moves of White and of Black until the next period of their time control, the next move among them.
    pub next_moves_to_go: [Option<u32>; 2],
    /// The side that ran out of time, if any.
    pub loss: Option<TimeLoss>,
    /// Moves that used more than their clock though nobody lost on time, or a time below 0.
    pub doubts: Vec<Doubt>,
    /// Remarks on assumptions, and on what was not read.
    pub remarks: Vec<Remark>,
    /// The step to which the times of moves are rounded, in milliseconds; a difference of that size says nothing.
    pub step_ms: f64,
    /// The speed of White's and of Black's time control.
    pub speeds: [Option<GameSpeed>; 2],
}

/// The times of the moves of a game, under the convention that its comments show.
pub fn game_times(game: &PgnGame) -> GameTimes {
    let plies = game.game.moves().len();
    let mut said: Vec<MoveTimes> = (0..plies).map(|ply| move_times(game.comments_of(ply))).collect();
    let loss = time_loss(game);
    let mut times = GameTimes { loss, ..GameTimes::default() };
    let mut readings = [Vec::new(), Vec::new()];
    let tags = [Color::White, Color::Black].map(|color| game.time_control(color));
    for (side, tag) in tags.into_iter().enumerate() {
        match read_tag(tag) {
            TimeControlTag::Readings(controls) => readings[side] = controls,
            // A tag for both sides is remarked on once.
            TimeControlTag::Unread if side == 0 || tag != tags[0] => {
                times.remarks.push(Remark::Control(tag.to_owned()));
            }
            TimeControlTag::Unread | TimeControlTag::Untold => {}
        }
        times.speeds[side] = readings[side].first().and_then(GameSpeed::of);
    }
    if has_no_time_left(&said, &readings, loss) {
        said.iter_mut().for_each(|said| (said.clock_ms, said.clock_in_hours_ms) = (None, None));
        times.remarks.push(Remark::NotLeft);
    }
    if said.iter().all(|said| said.used_ms.is_none() && said.clock_ms.is_none()) {
        times.remarks.retain(|remark| *remark == Remark::NotLeft);
        return times;
    }
    let in_hours = readings.iter().any(|readings| shows_hours(&said, readings));
    let is_hourglass = |tag: &str| tag.trim_start().starts_with(['*', 'h', 'H']);
    let may_be_unnamed = !in_hours && !tags.iter().any(|tag| is_hourglass(tag) || names_zero(tag));
    let unnamed_ms = unnamed_increment_ms(&said, &readings).filter(|_| may_be_unnamed);
    if let Some(unnamed_ms) = unnamed_ms {
        let periods = readings.iter_mut().flatten().flat_map(|control| &mut control.periods);
        periods.for_each(|period| period.increment_ms = unnamed_ms);
    }
    times.remarks.extend(unnamed_ms.map(|ms| Remark::Increment(ms as u64)));
    let colors = [Color::White, Color::Black];
    let begins_free = begins_free(game, &said, &readings);
    for side in 0..2 {
        if let Some(ply) = begins_free[side]
            && let Some(control) = berserk(game, side, &readings[side], said[ply].clock_ms)
        {
            readings[side] = vec![control];
        }
    }
    let positions = game.game.positions();
    let own = colors.map(|color| (0..plies).filter(|ply| positions[*ply].turn() == color).collect::<Vec<_>>());
    let told = || said.iter().filter_map(|said| said.clock_ms);
    let step = |ms: f64| if ms > 0.0 { step_ms(ms) } else { f64::INFINITY };
    let clock_step_ms = told().map(step).fold(1e3, f64::min);
    times.step_ms = said.iter().filter_map(|said| said.used_ms).map(step).fold(clock_step_ms, f64::min);
    let is_lost_by = |color| loss.is_some_and(|loss| loss.color == color);
    let sides = [0, 1].map(|side| Side {
        color: colors[side],
        plies: &own[side],
        said: &said,
        begins_free: begins_free[side].is_some(),
        late_ply: own[side]
            .last()
            .copied()
            .filter(|ply| is_lost_by(colors[side]) && ply + 1 == plies && game.problem.is_none()),
        clock_step_ms,
        unnamed_ms: unnamed_ms.filter(|_| readings[side].is_empty()).unwrap_or(0.0),
    });
    let chosen = choose(&sides, [&readings[0], &readings[1]], in_hours);
    times.remarks.extend(chosen.in_minutes.then(|| Remark::Minutes(tags[0].to_owned())));
    times.remarks.extend(in_hours.then_some(Remark::Hours));
    times.remarks.extend(chosen.distrusts_times.then_some(Remark::Times));
    for (side, own) in chosen.sides.into_iter().enumerate() {
        (times.start_ms[side], times.end_ms[side], times.next_ms[side]) = (own.start_ms, own.end_ms, own.next_ms);
        (times.next_increment_ms[side], times.next_moves_to_go[side]) = (own.next_increment_ms, own.next_moves_to_go);
        let control =
            readings[side].first().map(|control| if chosen.in_minutes { in_minutes(control) } else { control.clone() });
        let first_ms = own.moves.first().and_then(|mv| mv.clock_ms);
        times.speeds[side] = control
            .as_ref()
            .map_or_else(|| Some(GameSpeed::of_clock(first_ms?, unnamed_ms.unwrap_or(0.0))), GameSpeed::of);
        times.moves.extend(own.moves);
        times.doubts.extend(own.doubts);
    }
    times.moves.sort_by_key(|mv| mv.ply);
    times.doubts.sort_by_key(|doubt| doubt.ply);
    if times.moves.iter().any(|mv| mv.clock_ms.is_none()) {
        times.remarks.push(Remark::NoClock);
    }
    times
}

/// Whether the clocks of a game with days a move show something else than the time left. They do where most are below
/// half the time of a move, or one shows 0 or more than that time.
fn has_no_time_left(said: &[MoveTimes], readings: &[Vec<TaggedControl>; 2], loss: Option<TimeLoss>) -> bool {
    let daily = readings.iter().flatten().find(|control| control.is_per_move && control.periods[0].base_ms >= DAYS_MS);
    let Some(base_ms) = daily.map(|control| control.periods[0].base_ms) else { return false };
    let clocks = || said.iter().filter_map(|said| said.clock_ms);
    2 * clocks().filter(|ms| *ms < base_ms / 2.0).count() > clocks().count()
        || clocks().any(|ms| ms > base_ms || loss.is_none() && ms == 0.0)
}

/// Whether a tag says that there is no increment, as `180+0` does; `0+0` says nothing.
fn names_zero(tag: &str) -> bool {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ':');
    let is_zero = |number: &&str| number.parse() == Ok(0.0);
    let numbers = tag.split(|c| !is_of_number(c)).filter(|number| !number.is_empty());
    numbers.skip_while(is_zero).any(|number| is_zero(&number))
}

/// The increment that the clocks of both sides show where no time control names one: the least that lets no move take a
/// time below 0, but for the few that a gift or a penalty explains; in whole seconds, below one in tenths.
fn unnamed_increment_ms(said: &[MoveTimes], readings: &[Vec<TaggedControl>; 2]) -> Option<f64> {
    let is_plain = |control: &TaggedControl| match control.periods[..] {
        [period] => period.increment_ms == 0.0 && period.moves.is_none() && !control.is_per_move,
        _ => false,
    };
    if said.iter().any(|said| said.used_ms.is_some()) || !readings.iter().flatten().all(is_plain) {
        return None;
    }
    let rise = |ply: usize| Some(said.get(ply + 2)?.clock_ms? - said[ply].clock_ms?);
    let is_rise = |(_, ms): &(usize, f64)| *ms > 0.0 && *ms <= LONGEST_INCREMENT_MS;
    let rises: Vec<(usize, f64)> =
        (0..said.len()).filter_map(|ply| Some((ply % 2, rise(ply)?))).filter(is_rise).collect();
    // A thought hides a part of the increment, but seldom more than half of it.
    let is_usual = |ms: f64| {
        let near = |side| rises.iter().filter(|rise| rise.0 == side && (ms / 2.0..=ms).contains(&rise.1)).count();
        let above = rises.iter().filter(|rise| rise.1 > ms).count();
        near(0).min(near(1)) > 0 && near(0) + near(1) >= LEAST_RISES.max(4 * above)
    };
    let most_ms = rises.iter().map(|rise| rise.1).filter(|ms| is_usual(*ms)).reduce(f64::max)?;
    let has_tenths = said.iter().filter_map(|said| said.clock_ms).any(|ms| ms % 1e3 != 0.0);
    let unit_ms = if most_ms < 1e3 && has_tenths { 100.0 } else { 1e3 };
    Some(unit_ms * (most_ms / unit_ms).ceil())
}

/// The ply of White's and of Black's first move, where it was not on the clock: on lichess and FICS a clock begins with
/// the second move. Such moves are known by clocks that still show the whole time, or by tags that name the server.
fn begins_free(game: &PgnGame, said: &[MoveTimes], readings: &[Vec<TaggedControl>; 2]) -> [Option<usize>; 2] {
    let [site, event] = ["Site", "Event"].map(|tag| game.tag(tag).to_lowercase());
    let is_of_fics = site.contains("freechess")
        || [site.as_str(), &event].iter().any(|text| text.starts_with("fics"))
        || !game.tag("FICSGamesDBGameNo").is_empty();
    let is_of_server = site.contains("lichess.org") || is_of_fics;
    let positions = game.game.positions();
    let first: Vec<(usize, usize)> =
        (0..said.len().min(2)).map(|ply| (ply, usize::from(positions[ply].turn() == Color::Black))).collect();
    let is_free = |&(ply, side): &(usize, usize)| {
        let Some(TimeControl { base_ms, .. }) = readings[side].first().and_then(|control| control.periods.first())
        else {
            return false;
        };
        let is_start = |ms: f64| ms == *base_ms || *base_ms == 0.0 || is_of_server && 2.0 * ms == *base_ms;
        match (said[ply].clock_ms, said[ply].used_ms) {
            (Some(clock_ms), None) => is_start(clock_ms),
            (None, Some(used_ms)) => is_of_server && used_ms == 0.0,
            _ => false,
        }
    };
    let all_free = first.iter().all(is_free);
    let mut free = [None; 2];
    for (ply, side) in first.iter().filter(|first| all_free || is_of_server && is_free(first)) {
        free[*side] = Some(*ply);
    }
    free
}

/// The time control of a player who went berserk on lichess; `None` for other players.
fn berserk(game: &PgnGame, side: usize, readings: &[TaggedControl], first_ms: Option<f64>) -> Option<TaggedControl> {
    let [period, ..] = readings.first()?.periods[..] else { return None };
    let is_told = game.tag(["WhiteBerserk", "BlackBerserk"][side]).eq_ignore_ascii_case("true");
    let is_halved = first_ms.is_some_and(|ms| ms > 0.0 && 2.0 * ms == period.base_ms);
    if !is_told && !is_halved {
        return None;
    }
    let is_long = period.base_ms >= BERSERK_INCREMENTS * period.increment_ms;
    let base_ms = if is_long { period.base_ms / 2.0 } else { period.base_ms };
    Some(TaggedControl { periods: vec![TimeControl { base_ms, increment_ms: 0.0, ..period }], is_per_move: false })
}

#[cfg(test)]
#[path = "game_times_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "random_games_tests.rs"]
mod random_games_tests;
