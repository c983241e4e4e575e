//! Reads PGN's tag `TimeControl`: periods such as `40/7200:900+30`, in seconds, and the spellings that people use
//! instead.

use super::time_control_units::in_units;
use zeitnot_games::time_control::TimeControl;

/// Longest time in a time control that is believed, in seconds: a year, as games by mail have weeks for a move.
const LONGEST_S: f64 = 366.0 * DAY_S;
pub(super) const DAY_S: f64 = 24.0 * 3_600.0;
/// Least time of a one-move period that makes it a clock for each move, in seconds: match runners add a period's time
/// to what is left, servers that give days do not.
const OWN_CLOCK_S: f64 = 3_600.0;

/// The clock that a tag gives.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedControl {
    /// Periods of the time control; at least one.
    pub periods: Vec<TimeControl>,
    /// Whether every move has the whole time of the first period, and nothing of it is kept.
    pub is_per_move: bool,
}

/// The meaning of the tag `TimeControl`.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeControlTag {
    /// No clock, or none that is given: an empty tag, `-`, `?`, `inf`.
    Untold,
    /// A text in no known spelling, or a clock of a kind that is not followed, such as an hourglass.
    Unread,
    /// Possible readings of the tag, the most usual first.
    Readings(Vec<TaggedControl>),
}

/// Reads a tag: `300`, `3600+7`, `40/7200:20/3600:900+30` (seconds, PGN's standard and match runners), `0.5/move`,
/// `1/86400` and `3 days per move` (every move for itself), `5:00+3`, `1:30:00+30` and `40/15:00` (colons),
/// `15'/game & 10"/move`, `3 min + 2 sec`, `G/60` and `5|3` (minutes).
pub fn read_tag(tag: &str) -> TimeControlTag {
    let tag = plain_signs(tag);
    let tag = tag.trim();
    if matches!(tag, "" | "-" | "?" | "inf" | "infinite" | "none" | "unlimited" | "0" | "0+0" | "1/0") {
        return TimeControlTag::Untold;
    }
    if let Some(control) = in_units(tag) {
        return TimeControlTag::Readings(vec![control]);
    }
    // Behind an increment these words say nothing more.
    let bare = tag.strip_suffix("/move").or(tag.strip_suffix("per move"));
    let tag = bare.filter(|bare| bare.contains('+')).unwrap_or(tag);
    let single = |period| TaggedControl { periods: vec![period], is_per_move: false };
    let standard = standard(tag);
    let with_colons = with_colons(tag).filter(|period| standard.as_ref().is_none_or(|other| other[0] != *period));
    let mut readings = Vec::new();
    if let Some(periods) = standard {
        let own_clock = periods.len() == 1 && periods[0].moves == Some(1);
        let days = own_clock && periods[0].base_ms >= 1e3 * OWN_CLOCK_S;
        let standard = TaggedControl { periods, is_per_move: days };
        let per_move = TaggedControl { is_per_move: true, ..standard.clone() };
        readings.push(standard);
        readings.extend((own_clock && !days).then_some(per_move));
    }
    readings.extend(with_colons.map(single));
    if readings.is_empty() { TimeControlTag::Unread } else { TimeControlTag::Readings(readings) }
}

/// Turns base times that were read in seconds into minutes, which some write without saying so.
pub(crate) fn in_minutes(control: &TaggedControl) -> TaggedControl {
    let period = |period: &TimeControl| TimeControl { base_ms: 60.0 * period.base_ms, ..*period };
    TaggedControl { periods: control.periods.iter().map(period).collect(), ..control.clone() }
}

/// A tag in lower case, with a point for a decimal comma and one sign each for minutes and for seconds.
fn plain_signs(tag: &str) -> String {
    let plain = |sign: char| match sign {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2b9}' | '\u{2bc}' | '\u{2032}' | '\u{b4}' | '`' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2ba}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2010}'..='\u{2015}' => '-',
        other => other,
    };
    let signs: String = tag.to_lowercase().chars().map(plain).collect();
    let signs: Vec<char> = signs.replace("''", "\"").chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| signs.get(at)).is_some_and(char::is_ascii_digit);
    // A comma before three digits separates another number.
    let is_decimal = |at: usize| is_digit(Some(at + 1)) && !(2..=3).all(|behind| is_digit(Some(at + behind)));
    let pointed = |(at, sign): (usize, &char)| match sign {
        ',' if is_digit(at.checked_sub(1)) && is_decimal(at) => '.',
        other => *other,
    };
    signs.iter().enumerate().map(pointed).collect()
}

/// Reads periods in PGN's standard, where all but the last have moves; `None` for other tags.
fn standard(tag: &str) -> Option<Vec<TimeControl>> {
    // A converter of chess.com's games by mail writes `1/604800:0`.
    let tag = tag.strip_suffix(":0").unwrap_or(tag);
    let periods: Vec<TimeControl> = tag.split(':').map(|text| period(text, seconds)).collect::<Option<_>>()?;
    let (_, before) = periods.split_last()?;
    before.iter().all(|period| period.moves.is_some()).then_some(periods)
}

/// Reads one period whose time has colons, `5:00+3` or `40/1:30:00`; `None` for other tags.
fn with_colons(tag: &str) -> Option<TimeControl> {
    period(tag, |text| {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let is_clock = matches!(parts.len(), 2 | 3)
            && parts[1..].iter().all(|part| part.len() >= 2 && seconds(part).is_some_and(|number| number < 60.0));
        is_clock.then(|| parts.iter().try_fold(0.0, |sum, part| Some(60.0 * sum + seconds(part)?)))?
    })
}

/// Reads `[moves/]time[+increment]`; `time` reads the time, in seconds. `None` for other text.
fn period(text: &str, time: impl Fn(&str) -> Option<f64>) -> Option<TimeControl> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.trim().parse::<u32>().ok().filter(|moves| *moves > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    control(moves, time(base.trim())?, seconds(increment.trim())?)
}

/// Builds a time control; `None` for no time at all, or for more than a year.
pub(super) fn control(moves: Option<u32>, base_s: f64, increment_s: f64) -> Option<TimeControl> {
    let is_clock = base_s + increment_s > 0.0 && base_s.max(increment_s) <= LONGEST_S;
    is_clock.then_some(TimeControl { moves, base_ms: base_s * 1e3, increment_ms: increment_s * 1e3, depth: None })
}

/// Reads digits and a point, with or without a unit; std would also take signs, exponents and `inf`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let units = ["seconds", "secs", "sec", "s", "\""];
    let text = units.iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text).trim_end();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(moves: Option<u32>, base_s: f64, increment_s: f64) -> TimeControl {
        TimeControl { moves, base_ms: base_s * 1e3, increment_ms: increment_s * 1e3, depth: None }
    }

    fn readings(tag: &str) -> Vec<TaggedControl> {
        match read_tag(tag) {
            TimeControlTag::Readings(readings) => readings,
            other => panic!("{tag}: {other:?}"),
        }
    }

    #[test]
    fn tags_of_tournaments() {
        for (tag, periods) in [
            ("3600+7", vec![one(None, 3600.0, 7.0)]),
            ("10+0.1", vec![one(None, 10.0, 0.1)]),
            ("300", vec![one(None, 300.0, 0.0)]),
            ("0+1", vec![one(None, 0.0, 1.0)]),
            ("40/60", vec![one(Some(40), 60.0, 0.0)]),
            ("40/7200:3600", vec![one(Some(40), 7200.0, 0.0), one(None, 3600.0, 0.0)]),
            (
                "40/7200:20/3600:900+30",
                vec![one(Some(40), 7200.0, 0.0), one(Some(20), 3600.0, 0.0), one(None, 900.0, 30.0)],
            ),
            ("40/5400+30:1800+30", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
        ] {
            assert_eq!(readings(tag)[0], TaggedControl { periods, is_per_move: false }, "{tag}");
        }
    }

    #[test]
    fn other_spellings() {
        for (tag, base_s, increment_s) in [
            ("5:00+3", 300.0, 3.0),
            ("15:00", 900.0, 0.0),
            ("1:30:00+30", 5400.0, 30.0),
            ("0:30", 30.0, 0.0),
            ("10+0,1", 10.0, 0.1),
            (" 300 + 3 ", 300.0, 3.0),
            ("60s+0.6s", 60.0, 0.6),
            ("15'/game & 10\"/move", 900.0, 10.0),
            ("90\u{2032} + 30\u{2033}", 5400.0, 30.0),
            ("90'+30''", 5400.0, 30.0),
            ("3 min + 2 sec", 180.0, 2.0),
            ("15 minutes + 10 seconds per move", 900.0, 10.0),
            ("3m+2s", 180.0, 2.0),
            ("10 min", 600.0, 0.0),
            ("2h", 7200.0, 0.0),
            ("G/60", 3600.0, 0.0),
            ("G/90;+30", 5400.0, 30.0),
            ("G/5;inc3", 300.0, 3.0),
            ("5|3", 300.0, 3.0),
            ("5 | 0", 300.0, 0.0),
        ] {
            let expected = TaggedControl { periods: vec![one(None, base_s, increment_s)], is_per_move: false };
            assert_eq!(readings(tag), [expected], "{tag}");
        }
        for (tag, periods) in [
            ("90 min/40 moves + 30 min + 30 sec/move", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
            ("40 moves/90 min + 30 min + 30 s/move", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
            ("40/90, SD/30; +30", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
            ("40/90;SD/30;inc30", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
            ("90'/40 + 30' + 30\"", vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)]),
            (
                "90\u{2019}/40 + 30\u{2019} + 30\u{2019}\u{2019}",
                vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)],
            ),
            (
                "100'/40, 50'/20, 15' + 30\"",
                vec![one(Some(40), 6000.0, 30.0), one(Some(20), 3000.0, 30.0), one(None, 900.0, 30.0)],
            ),
            ("40 moves in 2h, then 1h", vec![one(Some(40), 7200.0, 0.0), one(None, 3600.0, 0.0)]),
            (
                "90 minutes for the first 40 moves followed by 30 minutes for the rest of the game with an addition of 30 seconds \
                 per move starting from move one",
                vec![one(Some(40), 5400.0, 30.0), one(None, 1800.0, 30.0)],
            ),
            ("G90 inc30", vec![one(None, 5400.0, 30.0)]),
            ("G/90 +30", vec![one(None, 5400.0, 30.0)]),
            ("Game/60", vec![one(None, 3600.0, 0.0)]),
            ("1h30+30", vec![one(None, 5400.0, 30.0)]),
            ("1h30m + 30s", vec![one(None, 5400.0, 30.0)]),
            ("\u{201e}5' + 3\u{201c}", vec![]),
            ("5\u{2018} + 3\u{201d}", vec![one(None, 300.0, 3.0)]),
        ] {
            if periods.is_empty() {
                assert_eq!(read_tag(tag), TimeControlTag::Unread, "{tag}");
            } else {
                assert_eq!(readings(tag), [TaggedControl { periods, is_per_move: false }], "{tag}");
            }
        }
        // Fifteen minutes, and no period of no time.
        assert_eq!(readings("40/15:00")[0].periods, [one(Some(40), 900.0, 0.0)]);
        // Minutes and seconds, or two periods of seconds.
        let either: Vec<Vec<TimeControl>> = readings("40/90:30").into_iter().map(|reading| reading.periods).collect();
        assert_eq!(either, [vec![one(Some(40), 90.0, 0.0), one(None, 30.0, 0.0)], vec![one(Some(40), 5430.0, 0.0)]]);
        assert_eq!(in_minutes(&readings("5+3")[0]).periods, [one(None, 300.0, 3.0)]);
    }

    #[test]
    fn increments_that_begin_at_a_move() {
        let late = [one(Some(40), 7200.0, 0.0), one(Some(20), 3600.0, 0.0), one(None, 900.0, 30.0)];
        for tag in [
            "120 min/40 moves, 60 min/20 moves, 15 min + 30 sec from move 61",
            "40/120, 20/60, SD/15 + 30 sec from move 61",
            "120'/40, 60'/20, 15' + 30\" starting from move 61",
            "40/120, 20/60, SD/15 + 30 sec starting at the 61st move",
            "40/7200, 20/3600, SD/900 + 30 sec/move from move 61 on",
        ] {
            assert_eq!(readings(tag), [TaggedControl { periods: late.to_vec(), is_per_move: false }], "{tag}");
        }
        let middle = [one(Some(40), 7200.0, 0.0), one(Some(20), 3600.0, 30.0), one(None, 900.0, 30.0)];
        assert_eq!(readings("40/120, 20/60, SD/15 + 30 sec from move 41")[0].periods, middle);
        for tag in
            ["90 min + 30 sec from move 1", "90 min + 30 sec per move from the first move", "90'+30\" from move one"]
        {
            assert_eq!(readings(tag)[0].periods, [one(None, 5400.0, 30.0)], "{tag}");
        }
        for tag in [
            "40/120, SD/30 + 30 sec from move 61",
            "90 min + 30 sec from move 41",
            "90 min/40 moves + 30 sec from move 1, then 30 min",
            "90 min + 30 sec from move 0",
            "90 min + 30 sec from now",
            "10 sec/move from move 61",
            "90 min + 30 sec starting",
            "40/120, 20/60, SD/15 + 30 sec after move 60",
        ] {
            assert_eq!(read_tag(tag), TimeControlTag::Unread, "{tag}");
        }
    }

    #[test]
    fn two_times_without_a_sign_are_not_one() {
        for (tag, base_s, increment_s) in [
            ("90 min 30 sec per move", 5400.0, 30.0),
            ("15 min 10 sec/move", 900.0, 10.0),
            ("1 min 60 sec per move", 60.0, 60.0),
            ("G/90 min 30 sec per move", 5400.0, 30.0),
            ("5'3\"", 300.0, 3.0),
            ("3m2s", 180.0, 2.0),
            ("90' 30''", 5400.0, 30.0),
            ("1h30m 30s", 5400.0, 30.0),
            ("3m0s", 180.0, 0.0),
            ("2h 15m", 8100.0, 0.0),
            ("SD/3600", 3600.0, 0.0),
            ("G/900", 900.0, 0.0),
            ("G/180", 10_800.0, 0.0),
            ("300|3", 300.0, 3.0),
            ("15 min. + 10 sec.", 900.0, 10.0),
            ("15 min. + 10 sec. per move", 900.0, 10.0),
            ("1:30:00 + 30s/move", 5400.0, 30.0),
            ("1:30:00 + 30 sec/move", 5400.0, 30.0),
            ("1:30:00 + 30 seconds per move", 5400.0, 30.0),
            ("1:30:00+30\"", 5400.0, 30.0),
            ("90+30 (min+sec)", 5400.0, 30.0),
            ("90 + 30 (minutes + seconds)", 5400.0, 30.0),
        ] {
            let expected = TaggedControl { periods: vec![one(None, base_s, increment_s)], is_per_move: false };
            assert_eq!(readings(tag), [expected], "{tag}");
        }
        assert_eq!(readings("40/7200, SD/1800")[0].periods, [one(Some(40), 7200.0, 0.0), one(None, 1800.0, 0.0)]);
        for tag in [
            "1m30s",
            "1 min 30 s + 1 s",
            "90 min 30 min",
            "2h 1h",
            "5'3",
            "90m30",
            "10 s 90 min",
            "30s10s",
            "90m30s/40",
            "40/90 min 30 sec",
            "15 min.10 sec",
            "90 min (+30 sec)",
            "90+30 (sec+min)",
        ] {
            assert_eq!(read_tag(tag), TimeControlTag::Unread, "{tag}");
        }
    }

    #[test]
    fn moves_for_themselves() {
        for (tag, base_s) in [
            ("1/86400", 86_400.0),
            ("1/1209600", 1_209_600.0),
            ("1/604800:0", 604_800.0),
            ("3 days per move", 259_200.0),
            ("1 day per move", 86_400.0),
            ("0.5/move", 0.5),
            ("1s/move", 1.0),
            ("10 sec per move", 10.0),
        ] {
            let expected = TaggedControl { periods: vec![one(Some(1), base_s, 0.0)], is_per_move: true };
            assert_eq!(readings(tag), [expected], "{tag}");
        }
        // A runner adds up what a server does not.
        let kinds: Vec<bool> = readings("1/10").iter().map(|reading| reading.is_per_move).collect();
        assert_eq!(kinds, [false, true]);
    }

    #[test]
    fn what_is_no_clock_and_what_is_not_read() {
        for tag in ["", " ", "-", "?", "inf", "Unlimited", "0+0", "1/0"] {
            assert_eq!(read_tag(tag), TimeControlTag::Untold, "{tag}");
        }
        for tag in [
            "*180",
            "hg180",
            "0/60",
            "40/",
            "1e99",
            "a+b",
            "-5",
            "G/60;d5",
            "blitz",
            "+",
            "3 min + 2 min + 1 sec",
            "300:3",
            "5:60",
            "'",
            "/move",
            "99999999999999999999",
            "\u{0}",
        ] {
            assert_eq!(read_tag(tag), TimeControlTag::Unread, "{tag}");
        }
    }
}
