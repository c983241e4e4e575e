//! Reads time controls in minutes, and time controls with units, as people write them: `G/60`, `5|3`,
//! `15'/game & 10"/move`, `90 min/40 moves + 30 min + 30 sec/move`, `40/90, SD/30; +30`, `1h30+30`.

use super::convention::MOST_MINUTES;
use super::time_control_tag::{DAY_S, TaggedControl, control, seconds};

/// A period of a tag, or its increment.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    moves: Option<u32>,
    /// The sum of the times with a unit, in seconds; `bare` is the number without one.
    time_s: f64,
    bare: f64,
    /// Seconds that follow minutes directly, as in `90m30s`; they may be an increment.
    behind_s: f64,
    is_per_move: bool,
    /// Whether this is the increment of the periods before it.
    is_added: bool,
}

/// Reads a clock in minutes or with units; `None` for other tags.
pub(super) fn in_units(tag: &str) -> Option<TaggedControl> {
    let (tag, from_move) = from_move(tag)?;
    let short = short(tag)?;
    let (short, has_units) = short.strip_suffix("(m+s)").map_or((&*short, false), |short| (short, true));
    let texts = short.split('+').filter(|text| !text.is_empty());
    let stages = texts.map(stages).collect::<Option<Vec<_>>>()?.concat();
    let (first, others) = stages.split_first()?;
    if first.is_per_move && others.is_empty() && !short.contains('g') && from_move == 1 {
        let control = control(Some(1), first.time_s + first.bare, 0.0)?;
        return Some(TaggedControl { periods: vec![control], is_per_move: true });
    }
    if first.is_per_move || !has_units && !tag.contains('|') && !short.contains(['d', 'h', 'm', 's', 'g', 'i']) {
        return None;
    }
    let increment = others.last().filter(|last| last.is_added);
    let periods = &stages[..stages.len() - increment.iter().count()];
    let (_, before) = periods.split_last()?;
    if before.iter().any(|stage| stage.moves.is_none()) || periods[1..].iter().any(|stage| stage.is_added) {
        return None;
    }
    let increment_s = increment.map_or(0.0, |last| last.time_s + last.bare);
    // Of more minutes they are seconds, PGN's own unit.
    let unit_s = if periods.iter().any(|stage| stage.bare > MOST_MINUTES) { 1.0 } else { 60.0 };
    let (mut number, mut has_from) = (1, false);
    let periods = periods.iter().map(|stage| {
        has_from |= number == from_move;
        let increment_s = if number >= from_move { increment_s } else { 0.0 };
        number = number.saturating_add(stage.moves.unwrap_or(0));
        control(stage.moves, stage.time_s + unit_s * stage.bare, increment_s)
    });
    let periods = periods.collect::<Option<_>>()?;
    has_from.then_some(TaggedControl { periods, is_per_move: false })
}

/// Splits a tag before the words that say from which move on there is an increment, such as `starting from move 61`;
/// returns that move, 1 without such words. `None` where they cannot be read.
fn from_move(tag: &str) -> Option<(&str, u32)> {
    let Some(at) = [" starting", " from"].iter().filter_map(|word| tag.find(word)).min() else { return Some((tag, 1)) };
    let words = tag[at..].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_filler = |word: &str| "starting from at with the move on onwards".split(' ').any(|filler| filler == word);
    let number = match words.filter(|word| !is_filler(word)).collect::<Vec<_>>()[..] {
        ["one" | "first"] => 1,
        [number] => number.trim_end_matches(char::is_alphabetic).parse().ok()?,
        _ => return None,
    };
    Some((&tag[..at], number))
}

/// Reads one stage, or two where seconds that follow minutes directly are an increment: `90m30s`, `15m10s/v`. `None`
/// where the seconds may be part of the time, as in `1m30s`: they are as many as the minutes or more.
fn stages(text: &str) -> Option<Vec<Stage>> {
    let both = stage(text)?;
    let [base, increment] = [Stage { is_per_move: false, ..both }, Stage { time_s: both.behind_s, ..both }];
    match both.moves.is_none() && (both.is_per_move || 60.0 * both.behind_s < both.time_s) {
        _ if both.behind_s == 0.0 => Some(vec![both]),
        is_increment => {
            is_increment.then(|| vec![Stage { is_added: false, ..base }, Stage { is_added: true, ..increment }])
        }
    }
}

/// Reads a stage that [`short`] has shortened: `90m`, `1h30`, `90m/40`, `40/90`, `40v/2h`, `10s/v`, `g/60`, `i30`.
fn stage(text: &str) -> Option<Stage> {
    let is_last = text.contains('g');
    let plain = text.replace(['g', 'i'], "");
    let plain = plain.trim_matches('/');
    let count = |text: &str| text.strip_suffix('v').unwrap_or(text).parse::<u32>().ok().filter(|moves| *moves > 0);
    let has_unit = |text: &str| text.contains(['d', 'h', 'm', 's']);
    let (moves, time, is_per_move) = match plain.split_once('/') {
        None => (None, plain, false),
        Some((time, "v")) => (None, time, true),
        Some((time, moves)) if moves.ends_with('v') || has_unit(time) => (Some(count(moves)?), time, false),
        Some((moves, time)) => (Some(count(moves)?), time, false),
    };
    let (mut stage, mut rest) = (Stage { moves, is_per_move, ..Stage::default() }, time);
    // Each unit is smaller than the one before it, else they are two times.
    let mut before_s = f64::INFINITY;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_lowercase()).unwrap_or(rest.len());
        let value = seconds(&rest[..end]).filter(|_| end > 0)?;
        let unit_s = match rest[end..].chars().next() {
            Some('d') => DAY_S,
            Some('h') => 3_600.0,
            Some('m') => 60.0,
            Some('s') => 1.0,
            // The minutes of `1h30`.
            None if before_s == 3_600.0 => 60.0,
            None if stage.time_s == 0.0 => 0.0,
            _ => return None,
        };
        match unit_s {
            0.0 => stage.bare = value,
            1.0 if stage.time_s > 0.0 => stage.behind_s = value,
            _ => stage.time_s += unit_s * value,
        }
        (unit_s < std::mem::replace(&mut before_s, unit_s)).then_some(())?;
        rest = rest.get(end + 1..).unwrap_or("");
    }
    let is_short = moves.is_none() && !is_last && !time.contains(['d', 'h', 'm']);
    stage.is_added = is_per_move || is_short || text.contains('i');
    (!time.is_empty()).then_some(stage)
}

/// A tag with a short sign for each word, such as `m` for minutes, `v` for moves; `None` for an unknown word.
fn short(tag: &str) -> Option<String> {
    let (mut short, mut rest) = (String::new(), tag.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_of = |c: char| match first {
            '0'..='9' | '.' => c.is_ascii_digit() || c == '.',
            'a'..='z' => c.is_ascii_lowercase(),
            _ => false,
        };
        let end = rest.find(|c| !is_of(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, after) = rest.split_at(end);
        rest = after.trim_start();
        short += match token {
            "day" | "days" => "d",
            "h" | "hr" | "hrs" | "hour" | "hours" => "h",
            "'" | "m" | "min" | "mins" | "minute" | "minutes" => "m",
            "\"" | "s" | "sec" | "secs" | "second" | "seconds" => "s",
            "+" | "&" | "and" | "|" | ";" | "," | "then" | "plus" | "followed" | "with" => "+",
            "inc" | "incr" | "increment" => "+i",
            "move" | "moves" => "v",
            "(" | ")" => token,
            "." if short.ends_with(|c: char| c.is_ascii_lowercase()) => "",
            _ if first == '.' && short.ends_with(|c: char| c.is_ascii_lowercase()) => return None,
            "/" | "per" | "each" | "in" | "for" => "/",
            "g" | "sd" | "game" | "rest" => "g",
            "the" | "of" | "by" | "a" | "an" | "first" | "next" | "all" | "remaining" | "addition" | "additional" => "",
            number
                if !first.is_ascii_lowercase()
                    && seconds(number).is_some()
                    && !short.ends_with(|c: char| c.is_ascii_digit()) =>
            {
                number
            }
            _ => return None,
        };
    }
    Some(short)
}
