//! Reads time controls as match runners write them: `[moves/]time[+increment]`, in seconds or as minutes:seconds.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Longest time of a control, in seconds: a week.
const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;

/// The time that each side has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// Moves after which [`TimeControl::base_ms`] is added again; `None`: once for the whole game.
    pub moves: Option<u32>,
    /// Milliseconds at the start.
    pub base_ms: f64,
    /// Milliseconds added after each move.
    pub increment_ms: f64,
    /// Without a clock: every move is searched to this depth. The times then count for nothing.
    pub depth: Option<u32>,
}

/// Depth of the presets without a clock (docs/documents.md, 2.1).
const PRESET_DEPTH: u32 = 5;

/// The time controls of Mergen (docs/documents.md, 2.1), by name; the time is in minutes and the increment
/// in seconds there.
pub const PRESETS: [(&str, TimeControl); 6] = [
    ("bullet", TimeControl::clock(60.0, 0.0)),
    ("blitz", TimeControl::clock(180.0, 2.0)),
    ("rapid", TimeControl::clock(600.0, 5.0)),
    ("classical", TimeControl::clock(1800.0, 0.0)),
    // "No time limit, searches to fixed depth"; and "always searches to specified depth".
    ("infinite", TimeControl::fixed_depth(PRESET_DEPTH)),
    ("fixed-depth", TimeControl::fixed_depth(PRESET_DEPTH)),
];

impl TimeControl {
    const fn clock(base_s: f64, increment_s: f64) -> TimeControl {
        TimeControl { moves: None, base_ms: base_s * 1e3, increment_ms: increment_s * 1e3, depth: None }
    }

    /// No clock: every move is searched to `depth`.
    pub const fn fixed_depth(depth: u32) -> TimeControl {
        TimeControl { moves: None, base_ms: 0.0, increment_ms: 0.0, depth: Some(depth) }
    }
}

/// A text that is no time control.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("\"{0}\" is not a time control such as 10+0.1, 2:00+1 or 40/60")]
pub struct TimeControlError(String);

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| TimeControlError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<TimeControl> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.trim().parse().ok().filter(|moves| *moves > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (base_ms, increment_ms) = (milliseconds(base)?, milliseconds(increment)?);
    (base_ms + increment_ms > 0.0).then_some(TimeControl { moves, base_ms, increment_ms, depth: None })
}

fn milliseconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| (0.0..=LONGEST_S).contains(value));
    Some((number(minutes)? * 60.0 + number(seconds)?) * 1e3)
}

impl fmt::Display for TimeControl {
    /// As PGN's `TimeControl` tag has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.depth.is_some() {
            return f.write_str("-");
        }
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.base_ms / 1e3)?;
        if self.increment_ms > 0.0 { write!(f, "+{}", self.increment_ms / 1e3) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls() {
        let tc = |moves, base_ms, increment_ms| Ok(TimeControl { moves, base_ms, increment_ms, depth: None });
        assert_eq!("10+0.1".parse(), tc(None, 10_000.0, 100.0));
        assert_eq!("2:30+1".parse(), tc(None, 150_000.0, 1000.0));
        assert_eq!("40/60".parse(), tc(Some(40), 60_000.0, 0.0));
        assert_eq!("0+1".parse(), tc(None, 0.0, 1000.0));
        for text in ["", "x", "10+", "+1", "0", "-1+1", "0/60", "nan", "inf", "1e300", "10+1+1"] {
            assert_eq!(text.parse::<TimeControl>(), Err(TimeControlError(text.into())), "{text}");
        }
        for text in ["10+0.1", "40/60", "300"] {
            assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
        }
    }

    // docs/documents.md, 2.1: the six that its program offers.
    #[test]
    fn mergen_presets() {
        let told = PRESETS.map(|(name, control)| (name, control.to_string(), control.depth));
        let expected = [
            ("bullet", "60", None),
            ("blitz", "180+2", None),
            ("rapid", "600+5", None),
            ("classical", "1800", None),
            ("infinite", "-", Some(5)),
            ("fixed-depth", "-", Some(5)),
        ];
        assert_eq!(told, expected.map(|(name, text, depth)| (name, text.to_owned(), depth)));
    }
}
