//! Declares and reads the flags that several commands share.
//!
//! | file | content |
//! |---|---|
//! | `match_flags` | openings, clock, adjudication, seed: for `match` and `time compare` |
//! | `time_flags` | managers, time controls, speeds and recordings: for the commands of `time` |

pub mod match_flags;
pub mod time_flags;

use crate::commands::output::note;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;
use zeitnot_base::files;
use zeitnot_engine::chess::{FenError, Game};
use zeitnot_games::Preset;

/// Largest ratio of the two numbers in people's time controls, such as `15+10`; engines' have larger ones, as `60+1`.
const INCREMENTS: u64 = 20;

pub fn flag(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value)
}

/// A flag without a value.
pub fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The switch for machine-readable output.
pub fn json_flag() -> Arg {
    switch("json", "Output as JSON")
}

/// The lines of a file that a flag names; `-` is standard input. Fails as [`files::TextLines::open`] does.
pub fn lines_of(path: &Path) -> io::Result<files::TextLines<Box<dyn BufRead>>> {
    Ok(files::TextLines::of(match path.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(files::open(path)?)),
    }))
}

/// Reads a time control. Where people would mean minutes, a line says that it is seconds.
pub fn time_control<T: FromStr>(text: &str) -> Result<T, T::Err> {
    let control = text.parse()?;
    for (base, increment) in text.split(',').filter_map(as_people_write) {
        let minutes = 60 * base;
        note!("{base}+{increment} is {base} seconds; minutes are {base}m+{increment} or {minutes}+{increment}");
    }
    if let Some((first, second)) = text.split_once(',') {
        note_comma(first, second);
    }
    Ok(control)
}

/// Explains on standard error that a comma separates two time controls, where it may be meant as a decimal one.
pub fn note_comma(first: &str, second: &str) {
    if is_decimal_comma(first, second) {
        let (first, second) = (first.trim(), second.trim());
        note!(
            "{first},{second} is two time controls, {first} and {second}; an increment of {second} behind a point is {first}.{second}"
        );
    }
}

/// Whether a comma between these texts may be meant as the point of an increment: `10+0,1`.
fn is_decimal_comma(first: &str, second: &str) -> bool {
    let is_whole = |text: &str| !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit());
    first.split_once('+').is_some_and(|(_, increment)| is_whole(increment))
        && is_whole(second)
        && second.trim().len() <= 2
}

/// The two numbers of a time control such as `3+2`, which people would mean in minutes and seconds; `None` for others,
/// such as engines' `60+1`.
fn as_people_write(text: &str) -> Option<(u64, u64)> {
    let (base, increment) = text.trim().split_once('+')?;
    let (base, increment): (u64, u64) = (base.parse().ok()?, increment.parse().ok()?);
    (1..=(INCREMENTS * increment).clamp(30, 180)).contains(&base).then_some((base, increment))
}

/// The flag `--preset`, which names a time control in place of `--tc`.
pub fn preset_flag() -> Arg {
    flag("preset", "NAME")
        .help("Time control by name: bullet, blitz, rapid, classical, fixed-depth, infinite")
        .long_help(
            "Time control by name: bullet (1+0 minutes), blitz (3+2), rapid (10+5), classical (30+0), and fixed-depth or infinite \
             (no clock, every move to depth 5)",
        )
        .value_parser(|name: &str| {
            Preset::find(name).ok_or_else(|| format!("there are: {}", Preset::names().collect::<Vec<_>>().join(", ")))
        })
        .conflicts_with("tc")
}

/// `--fen`; without it the command takes the start position.
pub fn fen_option() -> Arg {
    Arg::new("fen").long("fen").help("Position: a FEN, or startpos [default: startpos]")
}

/// The game that `--fen` names.
pub fn game_from(fen: Option<&str>, chess960: bool) -> Result<Game, FenError> {
    match fen {
        None | Some("startpos") => Ok(Game::new()),
        Some(fen) => Game::from_fen(fen, chess960),
    }
}

/// Reads the length of a measurement in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.001 to 86400 is needed".to_owned())
}

/// Reads a flag's text that may name a path, whose bytes need not be UTF-8.
pub fn text_with_paths() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|text| files::from_os(&text))
}

#[cfg(test)]
mod tests {
    use super::{as_people_write, is_decimal_comma};

    #[test]
    fn a_comma_may_be_meant_as_a_point() {
        for (first, second) in [("10+0", "1"), ("40/60+1", " 05")] {
            assert!(is_decimal_comma(first, second), "{first},{second}");
        }
        for (first, second) in [("10+0.1", "5"), ("10", "1"), ("10+0", "1+1"), ("10+1", "300"), ("10+1", "")] {
            assert!(!is_decimal_comma(first, second), "{first},{second}");
        }
    }

    #[test]
    fn time_controls_of_people_are_told_from_those_of_engines() {
        for text in ["3+2", "1+0", "5+3", "10+5", "15+10", "90+30", "1+1", "10+0", "30+0"] {
            assert!(as_people_write(text).is_some(), "{text}");
        }
        for text in
            ["10+0.1", "60+1", "60+0.6", "180+2", "3m+2", "3:00+2", "10", "40/60+1", "0+1", "300+3", "600+5", "60+0"]
        {
            assert_eq!(as_people_write(text), None, "{text}");
        }
    }
}
