//! Time controls as match runners write them: `[moves/]time[+increment]`, in seconds or as minutes:seconds.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Longest time of a control, in seconds: a week.
const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;

/// How much time a side has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// Moves after which [`TimeControl::base_ms`] is added again; `None`: once for the whole game.
    pub moves: Option<u32>,
    /// Milliseconds at the start.
    pub base_ms: f64,
    /// Milliseconds added after each move.
    pub increment_ms: f64,
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
    (base_ms + increment_ms > 0.0).then_some(TimeControl { moves, base_ms, increment_ms })
}

fn milliseconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| (0.0..=LONGEST_S).contains(value));
    Some((number(minutes)? * 60.0 + number(seconds)?) * 1e3)
}

impl fmt::Display for TimeControl {
    /// As PGN's `TimeControl` tag has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        let tc = |moves, base_ms, increment_ms| Ok(TimeControl { moves, base_ms, increment_ms });
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
}
