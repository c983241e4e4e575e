//! Reads time controls in minutes, and time controls with units, as people write them: `G/60`, `5|3`,
//! `15'/game & 10"/move`, `90 min/40 moves + 30 min + 30 sec/move`, `40/90, SD/30; +30`, `1h30+30`.

use super::time_control_tag::{DAY_S, TaggedControl, control, seconds};

/// A period of a tag, or its increment.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    moves: Option<u32>,
    /// The time of numbers with a unit, in seconds, and the number without one.
    time_s: f64,
    bare: f64,
    is_per_move: bool,
    /// Whether this is an increment behind another stage.
    is_added: bool,
}

/// Reads a clock in minutes or with units; `None` for other tags.
pub(super) fn in_units(tag: &str) -> Option<TaggedControl> {
    // An increment from the first move on is any other.
    let tag = [" starting", " from move"].into_iter().fold(tag, |tag, end| tag.split(end).next().unwrap_or(tag));
    let short = short(tag)?;
    let stages: Vec<Stage> = short.split('+').filter(|text| !text.is_empty()).map(stage).collect::<Option<_>>()?;
    let (first, others) = stages.split_first()?;
    let is_in_minutes = short.contains('g');
    if first.is_per_move && others.is_empty() && !is_in_minutes {
        let control = control(Some(1), first.time_s + first.bare, 0.0)?;
        return Some(TaggedControl { periods: vec![control], is_per_move: true });
    }
    if !short.contains(['d', 'h', 'm', 's', 'g', 'i']) && !tag.contains('|') || first.is_per_move {
        return None;
    }
    let increment = others.last().filter(|last| last.is_added);
    let periods = &stages[..stages.len() - increment.iter().count()];
    let (_, before) = periods.split_last()?;
    if before.iter().any(|stage| stage.moves.is_none()) || periods[1..].iter().any(|stage| stage.is_added) {
        return None;
    }
    let increment_s = increment.map_or(0.0, |last| last.time_s + last.bare);
    let periods = periods.iter().map(|stage| control(stage.moves, stage.time_s + 60.0 * stage.bare, increment_s));
    Some(TaggedControl { periods: periods.collect::<Option<_>>()?, is_per_move: false })
}

/// Reads a stage in short signs: `90m`, `1h30`, `90m/40`, `40/90`, `40v/2h`, `10s/v`, `g/60`, `i30`.
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
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_lowercase()).unwrap_or(rest.len());
        let value = seconds(&rest[..end]).filter(|_| end > 0)?;
        match rest[end..].chars().next() {
            Some('d') => stage.time_s += DAY_S * value,
            Some('h') => stage.time_s += 3_600.0 * value,
            Some('m') => stage.time_s += 60.0 * value,
            Some('s') => stage.time_s += value,
            // The minutes of `1h30`.
            None if stage.time_s > 0.0 => stage.time_s += 60.0 * value,
            None => stage.bare = value,
            Some(_) => return None,
        }
        rest = rest.get(end + 1..).unwrap_or("");
    }
    let is_short = moves.is_none() && !is_last && !time.contains(['d', 'h', 'm']);
    stage.is_added = is_per_move || is_short || text.contains('i');
    (!time.is_empty()).then_some(stage)
}

/// A tag with one sign for each word; `None` where a word is unknown.
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
