//! Reads time controls as match runners write them: `[moves/]time[+increment]`, in seconds or as minutes:seconds, and
//! different ones for two players: `10+0.1,5+0.05`.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Longest time of a control, in seconds: a week.
const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;

/// The time control of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// Moves after which [`TimeControl::base_ms`] is added again; `None` where it is for the whole game.
    pub moves: Option<u32>,
    /// Milliseconds at the start.
    pub base_ms: f64,
    /// Milliseconds added after each move.
    pub increment_ms: f64,
    /// Depth of every search without a clock, where the times count for nothing; `None` with a clock.
    pub depth: Option<u32>,
}

/// Depth of the preset without a clock (docs/documents.md, 2.1).
const PRESET_DEPTH: u32 = 5;

/// A time control that has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// The name of the time control.
    pub name: &'static str,
    /// A second name.
    pub alias: Option<&'static str>,
    pub control: TimeControl,
}

impl Preset {
    const fn new(name: &'static str, control: TimeControl) -> Preset {
        Preset { name, alias: None, control }
    }

    /// The names of all presets, second names among them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().flat_map(|preset| preset.alias.into_iter().chain([preset.name]))
    }

    /// The preset with this name or second name; `None` where there is none.
    pub fn find(name: &str) -> Option<Preset> {
        PRESETS.into_iter().find(|preset| preset.name == name || preset.alias == Some(name))
    }
}

/// The time controls of Mergen (docs/documents.md, 2.1), whose time is in minutes and increment in seconds. Mergen's
/// "no limit" is a search to the fixed depth, too: one control with two names.
pub const PRESETS: [Preset; 5] = [
    Preset::new("bullet", TimeControl::clock(60.0, 0.0)),
    Preset::new("blitz", TimeControl::clock(180.0, 2.0)),
    Preset::new("rapid", TimeControl::clock(600.0, 5.0)),
    Preset::new("classical", TimeControl::clock(1800.0, 0.0)),
    Preset { alias: Some("infinite"), ..Preset::new("fixed-depth", TimeControl::fixed_depth(PRESET_DEPTH)) },
];

impl TimeControl {
    const fn clock(base_s: f64, increment_s: f64) -> TimeControl {
        TimeControl { moves: None, base_ms: base_s * 1e3, increment_ms: increment_s * 1e3, depth: None }
    }

    /// No clock: every move is searched to `depth`.
    pub(crate) const fn fixed_depth(depth: u32) -> TimeControl {
        TimeControl { moves: None, base_ms: 0.0, increment_ms: 0.0, depth: Some(depth) }
    }
}

/// Error for a text that is no time control.
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
        Some((moves, rest)) => (Some(number::<u32>(moves).filter(|moves| *moves > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (base_ms, increment_ms) = (milliseconds(base)?, milliseconds(increment)?);
    (base_ms + increment_ms > 0.0).then_some(TimeControl { moves, base_ms, increment_ms, depth: None })
}

/// Milliseconds of `seconds`, `minutes:seconds` or `MINUTESm`. As in fastchess there are no hours: `1:30` is a minute
/// and a half.
fn milliseconds(text: &str) -> Option<f64> {
    let whole = text.trim_end().strip_suffix('m').map(|minutes| (minutes, "0"));
    let (minutes, seconds) = whole.or_else(|| text.split_once(':')).unwrap_or(("0", text));
    let seconds = number::<f64>(minutes)? * 60.0 + number::<f64>(seconds)?;
    (seconds <= LONGEST_S).then_some(seconds * 1e3)
}

/// Reads digits and a point; std would also take signs, exponents and `inf`.
fn number<T: FromStr>(text: &str) -> Option<T> {
    let text = text.trim();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

impl fmt::Display for TimeControl {
    /// The time control as PGN's tag `TimeControl` has it.
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

/// The time controls of the two players of a match: `T` for both, or `T1,T2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControls {
    /// Time control of the first player, whichever color it has in a game.
    pub first: TimeControl,
    /// Time control of the second player.
    pub second: TimeControl,
}

impl From<TimeControl> for TimeControls {
    fn from(both: TimeControl) -> Self {
        TimeControls { first: both, second: both }
    }
}

impl FromStr for TimeControls {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(',') {
            Some((first, second)) => Ok(TimeControls { first: first.parse()?, second: second.parse()? }),
            None => text.parse::<TimeControl>().map(TimeControls::from),
        }
    }
}

impl fmt::Display for TimeControls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeControls { first, second } = self;
        if first == second { first.fmt(f) } else { write!(f, "{first},{second}") }
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
        assert_eq!("3m+2".parse(), tc(None, 180_000.0, 2_000.0));
        assert_eq!("40/1.5m".parse(), tc(Some(40), 90_000.0, 0.0));
        assert_eq!("40/60+0.5".parse(), tc(Some(40), 60_000.0, 500.0));
        assert_eq!("40/1:30+.5".parse(), tc(Some(40), 90_000.0, 500.0));
        assert_eq!("60".parse(), tc(None, 60_000.0, 0.0));
        assert_eq!("0+1".parse(), tc(None, 0.0, 1000.0));
        for text in [
            "",
            "x",
            "10+",
            "+1",
            "0",
            "-1+1",
            "0/60",
            "nan",
            "inf",
            "1e300",
            "1e1",
            "10++1",
            "10+1+1",
            "10+-1",
            "+4/60",
            "40/",
            "4.5/60",
            "40/40/60",
            "1:30:00",
            ":30",
            "9999999:0",
            "10,10",
        ] {
            assert_eq!(text.parse::<TimeControl>(), Err(TimeControlError(text.into())), "{text}");
        }
        for text in ["10+0.1", "40/60", "300"] {
            assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn players_may_have_different_controls() {
        let tc = |text: &str| text.parse::<TimeControl>().unwrap();
        assert_eq!("10+0.1".parse(), Ok(TimeControls::from(tc("10+0.1"))));
        let odds: TimeControls = "40/60+0.5, 1:00".parse().unwrap();
        assert_eq!(odds, TimeControls { first: tc("40/60+0.5"), second: tc("60") });
        assert_eq!(odds.to_string(), "40/60+0.5,60");
        assert_eq!(TimeControls::from(odds.first).to_string(), "40/60+0.5");
        for (text, part) in [("10,", ""), (",10", ""), ("10,x", "x"), ("1,2,3", "2,3")] {
            assert_eq!(text.parse::<TimeControls>(), Err(TimeControlError(part.into())), "{text}");
        }
    }

    // docs/documents.md, 2.1: the six that its program offers, two of which are the same.
    #[test]
    fn mergen_presets() {
        for (name, text, depth) in [
            ("bullet", "60", None),
            ("blitz", "180+2", None),
            ("rapid", "600+5", None),
            ("classical", "1800", None),
            ("infinite", "-", Some(5)),
            ("fixed-depth", "-", Some(5)),
        ] {
            let control = Preset::find(name).unwrap().control;
            assert_eq!((control.to_string().as_str(), control.depth), (text, depth), "{name}");
        }
        assert_eq!(Preset::find("Blitz"), None);
    }
}
