//! Reads time controls in minutes, and time controls with units: `G/60`, `5|3`, `15'/game & 10"/move`,
//! `90 min + 30 sec`.

use super::time_control_tag::{DAY_S, TaggedControl, control, seconds};

/// A part of a tag that has units.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// A time, and whether it has a unit: with one in seconds, without one as the bare number.
    Time(f64, bool),
    /// The word `move`: the time before it is for one move.
    PerMove,
    /// A sign that an increment follows, such as `+`.
    Plus,
}

/// Reads a clock in minutes or with units: `G/60`, `5|3`, `15'/game & 10"/move`, `90 min + 30 sec`, `0.5/move`. `None`
/// for other tags.
pub(super) fn in_units(tag: &str) -> Option<TaggedControl> {
    let (tag, in_minutes) = match tag.strip_prefix("g/").or_else(|| tag.strip_prefix("sd/")) {
        Some(rest) => (rest, true),
        None => (tag, false),
    };
    let parts = parts(tag)?;
    let minutes = |value: f64, has_unit: bool| if has_unit { value } else { 60.0 * value };
    let (base_s, increment_s, is_per_move) = match parts[..] {
        [Part::Time(base, has_unit)] if has_unit || in_minutes => (minutes(base, has_unit), 0.0, false),
        [Part::Time(base, _), Part::PerMove] if !in_minutes => (base, 0.0, true),
        // An increment is in seconds where it has no unit.
        [Part::Time(base, has_unit), Part::Plus, Part::Time(increment, _)]
        | [Part::Time(base, has_unit), Part::Plus, Part::Time(increment, _), Part::PerMove]
            if has_unit || in_minutes || tag.contains('|') =>
        {
            (minutes(base, has_unit), increment, false)
        }
        _ => return None,
    };
    let control = control(is_per_move.then_some(1), base_s, increment_s)?;
    Some(TaggedControl { periods: vec![control], is_per_move })
}

/// The parts of a tag with units; `None` where a word is unknown.
fn parts(tag: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = tag.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_of = |c: char| match first {
            '0'..='9' | '.' => c.is_ascii_digit() || c == '.',
            'a'..='z' => c.is_ascii_lowercase(),
            _ => false,
        };
        let end = rest.find(|c| !is_of(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, after) = rest.split_at(end);
        rest = after.trim_start();
        if let Some(number) = seconds(token).filter(|_| first.is_ascii_digit() || first == '.') {
            parts.push(Part::Time(number, false));
            continue;
        }
        let unit_s = match token {
            "'" | "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "\"" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "day" | "days" => DAY_S,
            "+" | "&" | "and" | "|" | ";" | "," => {
                if parts.last() != Some(&Part::Plus) {
                    parts.push(Part::Plus);
                }
                continue;
            }
            "move" => {
                parts.push(Part::PerMove);
                continue;
            }
            "/" | "per" | "game" | "each" | "increment" | "inc" => continue,
            _ => return None,
        };
        match parts.last_mut() {
            Some(Part::Time(value, has_unit)) if !*has_unit => (*value, *has_unit) = (unit_s * *value, true),
            _ => return None,
        }
    }
    Some(parts)
}
