//! Writes specifications of time managers from their tables: valid, out of range, and damaged.

use super::damage;
use zeitnot_engine::splitmix::SplitMix64 as Random;
use zeitnot_time::{GroupSpec, ManagerSpec, ParamSpec, managers};

/// A specification of any kind.
pub fn any(random: &mut Random) -> String {
    match random.below(10) {
        0..5 => written(random, true),
        5..7 => written(random, false),
        _ => {
            let whole = written(random, true);
            damage::line(random, &whole)
        }
    }
}

/// A manager with some of its parameters, all in their ranges if it is to be `valid`.
fn written(random: &mut Random, valid: bool) -> String {
    let manager = &managers()[random.below(managers().len())];
    let mut entries: Vec<String> = (0..random.below(6)).map(|_| entry(random, manager, valid)).collect();
    // A group is written once; so the rest of its kind goes.
    let mut seen = Vec::new();
    entries.retain(|entry| match entry.split_once('(') {
        Some((group, _)) if seen.contains(&group.to_owned()) => false,
        Some((group, _)) => {
            seen.push(group.to_owned());
            true
        }
        None => true,
    });
    let separator = [",", ", ", " ,  ", ",\t"][random.below(4)];
    let list = entries.join(separator);
    match random.below(8) {
        _ if !list.is_empty() => manager.specification(&list),
        0 => format!("{}()", manager.name),
        _ => manager.title(),
    }
}

fn entry(random: &mut Random, manager: &'static ManagerSpec, valid: bool) -> String {
    let params = manager.params.len();
    match random.below(params + 2 * manager.groups.len()) {
        index if index < params => parameter(random, &manager.params[index], valid),
        index => group(random, &manager.groups[(index - params) / 2], valid),
    }
}

fn group(random: &mut Random, group: &'static GroupSpec, valid: bool) -> String {
    let mut inner: Vec<String> = Vec::new();
    for param in group.params {
        if random.below(3) == 0 {
            inner.push(parameter(random, param, valid));
        }
    }
    match inner.is_empty() && random.below(2) == 0 {
        true => group.name.to_owned(),
        false => format!("{}({})", group.name, inner.join(",")),
    }
}

fn parameter(random: &mut Random, param: &ParamSpec, valid: bool) -> String {
    if !param.words.is_empty() {
        let value = if valid { random.choice(param.words) } else { damage::word(random) };
        return format!("{}={value}", param.name);
    }
    let share = [0.0, 1.0, random.below(1001) as f64 / 1e3, random.below(1001) as f64 / 1e3][random.below(4)];
    let inside = (param.min + share * (param.max - param.min)).clamp(param.min, param.max);
    let value = match random.below(6) {
        _ if valid => number(random, inside),
        0 => number(random, param.max + 1.0 + param.max.abs()),
        1 => number(random, param.min - 1.0),
        2 => damage::number(random).to_owned(),
        3 => damage::word(random).to_owned(),
        _ => number(random, inside),
    };
    format!("{}={value}", param.name)
}

/// The number in one of the ways in which it may be written.
fn number(random: &mut Random, value: f64) -> String {
    match random.below(4) {
        0 => format!("{value:e}"),
        1 if value >= 0.0 => format!("+{value}"),
        2 if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.1}"),
        _ => value.to_string(),
    }
}
