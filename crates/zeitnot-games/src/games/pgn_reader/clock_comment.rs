//! Reads the times from the comments behind a move, as match runners, servers and this program write them.

use std::borrow::Cow;

/// Milliseconds in one unit of chess.com's `%timestamp`.
const TIMESTAMP_MS: f64 = 100.0;

/// Times in the comments of one move, in milliseconds; `None` where no comment gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveTimes {
    pub used_ms: Option<f64>,
    /// The clock after the move.
    pub clock_ms: Option<f64>,
    /// The clock after the move read as hours and minutes, if it has two parts, such as `1:29`.
    pub clock_in_hours_ms: Option<f64>,
    /// Time by which the move was late, where the comment gives a clock below 0.
    pub over_ms: Option<f64>,
    /// Time that went by outside of the engine, by the runner's measure.
    pub latency_ms: Option<f64>,
    /// The time manager's budget.
    pub budget_ms: Option<f64>,
    /// The hard limit: the most to which the search might have stretched the budget.
    pub limit_ms: Option<f64>,
    /// Nodes of the search.
    pub nodes: Option<u64>,
    /// Whether the move is from a book, so that its player did not think.
    pub is_book: bool,
    /// Whether a match runner wrote the comment: the time used has a unit.
    pub is_by_runner: bool,
}

/// Reads the comments of a move:
///
/// - `[%clk 0:09:59.9]`, `[%emt 0:00:01]`, `[%timestamp 13]`, `[%budget 0:00:02]`, `[%nodes 1000]`: lichess, chess.com,
///   ChessBase and this program;
/// - `d=31, mt=58000, tl=5942000, n=9000`: TCEC, times in milliseconds, in old events as `00:00:58`;
/// - `+0.31/12 1.23s, n=9000, tl=8.5s, latency=0.001s`: fastchess and cutechess, `book` alone for a book move;
/// - `31/12 1230ms`: c-chess-cli;
/// - `0.31/12 3` and `-0.10/11 1:05`: CCRL and Arena, in seconds;
/// - `0:04:57` alone: the clock, of ICC.
///
/// A comma between digits is a decimal point, as in `+0,31/12 1,23s`.
pub fn move_times(comments: &[String]) -> MoveTimes {
    let mut times = MoveTimes::default();
    let mut has_score = false;
    for comment in comments {
        // Parts: the text before the first command, then the text from each command on.
        let mut parts = comment.split("[%");
        let mut is_first = true;
        // Whether the score before a word has neither a sign nor a point.
        let mut after_score: Option<bool> = None;
        let mut text = parts.next();
        while let Some(part) = text {
            for word in words(part) {
                if let Some(is_plain) = after_score
                    && let Some((used_ms, has_unit)) = duration(word).filter(|(_, has_unit)| *has_unit || !is_plain)
                {
                    times.is_by_runner |= has_unit;
                    times.used_ms = times.used_ms.or(Some(used_ms));
                }
                // People write `1/2`; runners whose numbers are as plain write a unit behind them, and nothing before.
                let is_plain = !word.contains(['.', ',', '+', '-', 'M', '#']);
                after_score = (is_score(word) && (is_first || !is_plain)).then_some(is_plain);
                has_score |= after_score.is_some();
                times.is_book |= is_first && word.eq_ignore_ascii_case("book");
                is_first = false;
                if let Some((key, value)) = word.split_once('=') {
                    read_pair(key, value, &mut times);
                }
            }
            text = parts.next().map(|command| read_command(command, &mut times));
        }
        if is_clock(comment.trim()) {
            times.clock_ms = times.clock_ms.or(seconds(comment.trim()));
        }
    }
    // People write about books, too.
    times.is_book &= times.used_ms.is_none() && times.clock_ms.is_none() && !has_score;
    times
}

/// Splits a text at blanks, semicolons and commas, but not at a comma between the digits of one number.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut begin = 0;
    let ends = (0..=bytes.len()).filter_map(move |at| {
        let ends = match bytes.get(at) {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b';') => true,
            Some(b',') => !is_decimal(&bytes[begin..at], bytes.get(at + 1)),
            Some(_) => false,
        };
        ends.then(|| &text[std::mem::replace(&mut begin, at + 1)..at])
    });
    ends.filter(|word| !word.is_empty())
}

/// Whether a comma between the bytes `before` of a word and the byte `after` is a decimal point. A number has at most
/// one, and a depth has none.
fn is_decimal(before: &[u8], after: Option<&u8>) -> bool {
    before.last().is_some_and(u8::is_ascii_digit)
        && after.is_some_and(u8::is_ascii_digit)
        && !before.iter().any(|byte| matches!(byte, b'.' | b',' | b'/'))
}

/// Reads a command from `name value]`, the text behind its `[%`, and returns the text behind the bracket.
fn read_command<'a>(part: &'a str, times: &mut MoveTimes) -> &'a str {
    let (command, after) = part.split_once(']').unwrap_or((part, ""));
    let (name, value) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let value = value.trim();
    match name {
        "clk" => read_clock(value, times),
        "emt" => times.used_ms = times.used_ms.or(seconds(value)),
        "timestamp" => times.used_ms = times.used_ms.or(number(value).map(|tenths| tenths * TIMESTAMP_MS)),
        "limit" => times.limit_ms = seconds(value).or(times.limit_ms),
        "budget" => times.budget_ms = seconds(value).or(times.budget_ms),
        "nodes" => times.nodes = value.parse().ok().or(times.nodes),
        _ => {}
    }
    after
}

/// The value of a command in a comment, such as that of `[%eval 0.3]`.
pub fn command<'a>(comment: &'a str, name: &str) -> Option<&'a str> {
    let commands = comment.split("[%").skip(1);
    let value = |command: &'a str| command.strip_prefix(name)?.strip_prefix(char::is_whitespace)?.split(']').next();
    commands.filter_map(value).next()
}

fn read_clock(value: &str, times: &mut MoveTimes) {
    if let Some(over) = value.strip_prefix('-') {
        times.over_ms = seconds(over).or(times.over_ms);
        return;
    }
    // A second clock may belong to a move that is missing.
    let Some(clock_ms) = seconds(value).filter(|_| times.clock_ms.is_none()) else { return };
    times.clock_ms = Some(clock_ms);
    let has_two_parts = value.matches(':').count() == 1 && !value.contains(['.', ',']);
    times.clock_in_hours_ms = has_two_parts.then_some(60.0 * clock_ms);
}

/// Reads `key=value` of TCEC, fastchess and cutechess.
fn read_pair(key: &str, value: &str, times: &mut MoveTimes) {
    let time = |value: &str| match duration(value) {
        Some((ms, has_unit)) if has_unit || value.contains(':') => Some(ms),
        _ => number(value),
    };
    match key {
        "mt" => times.used_ms = times.used_ms.or(time(value)),
        "tl" | "timeleft" => match value.strip_prefix('-') {
            Some(over) => times.over_ms = time(over).or(times.over_ms),
            None => times.clock_ms = times.clock_ms.or(time(value)),
        },
        // fastchess's measure may fall below 0.
        "latency" => {
            let told_ms = value.strip_prefix('-').map_or_else(|| time(value), |below| time(below).map(|_| 0.0));
            times.latency_ms = told_ms.or(times.latency_ms);
        }
        "n" => times.nodes = value.parse().ok().or(times.nodes),
        _ => {}
    }
}

/// Whether a word is an evaluation and a depth, such as `+0.31/12` or `-M5/20`.
fn is_score(word: &str) -> bool {
    let Some((score, depth)) = word.split_once('/') else { return false };
    let score = score.trim_start_matches(['+', '-']).trim_start_matches(['M', '#']);
    decimal(score).parse::<f64>().is_ok() && depth.parse::<u32>().is_ok()
}

/// Whether a comment is nothing but a clock with hours, minutes and seconds.
fn is_clock(comment: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_digit() || matches!(byte, b':' | b'.');
    comment.bytes().all(is_sign) && comment.matches(':').count() == 2
}

/// Milliseconds of a time such as `1.23s`, `220ms`, `65` or `1:05`, and whether it has a unit; else `None`.
fn duration(word: &str) -> Option<(f64, bool)> {
    match word.strip_suffix('s') {
        None => Some((seconds(word)?, false)),
        Some(text) => match text.strip_suffix('m') {
            None => Some((seconds(text)?, true)),
            Some(text) => Some((number(text)?, true)),
        },
    }
}

/// Milliseconds of `s`, `m:s`, `h:m:s` or `d:h:m:s`, where seconds may have a fraction; `None` for other text.
fn seconds(text: &str) -> Option<f64> {
    /// Seconds in a minute, minutes in an hour, hours in a day.
    const UNITS: [f64; 3] = [60.0, 60.0, 24.0];
    let (mut sum_s, mut unit_s) = (0.0, 1.0);
    for (place, part) in text.rsplit(':').enumerate() {
        if let Some(before) = place.checked_sub(1) {
            unit_s *= UNITS.get(before)?;
        }
        sum_s += unit_s * number(part)?;
    }
    Some((sum_s * 1e3).round()).filter(|ms| is_time(*ms))
}

/// Reads a number of milliseconds or seconds; `None` where it cannot be a time.
fn number(text: &str) -> Option<f64> {
    decimal(text).parse().ok().filter(|number| is_time(*number))
}

/// The text of a number, with a decimal point in place of a comma.
fn decimal(text: &str) -> Cow<'_, str> {
    if text.contains(',') { Cow::Owned(text.replace(',', ".")) } else { Cow::Borrowed(text) }
}

/// Whether a number of milliseconds or seconds can be a time: not below 0, and below three years.
fn is_time(number: f64) -> bool {
    (0.0..1e11).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(comment: &str) -> MoveTimes {
        move_times(&[comment.to_owned()])
    }

    #[test]
    fn comments_of_many_programs() {
        let none = MoveTimes::default();
        let used = |used_ms: f64| MoveTimes { used_ms: Some(used_ms), ..none };
        let by_runner = |used_ms: f64| MoveTimes { is_by_runner: true, ..used(used_ms) };
        let clock = |clock_ms: f64| MoveTimes { clock_ms: Some(clock_ms), ..none };
        for (comment, times) in [
            ("[%clk 0:09:59.9]", clock(599_900.0)),
            ("[%eval 0.17] [%clk 1:00:30]", clock(3_630_000.0)),
            ("[%emt 0:00:12]", used(12_000.0)),
            ("[%emt 3.5]", used(3_500.0)),
            ("+0.31/12 1.23s", by_runner(1_230.0)),
            ("+0,31/12 1,23s", by_runner(1_230.0)),
            ("19/4 220ms", by_runner(220.0)),
            ("-M4/9 36165ms", by_runner(36_165.0)),
            ("-0,31/12, 3", used(3_000.0)),
            ("0.31/12 3,45", used(3_450.0)),
            ("0:04:57", clock(297_000.0)),
            ("0:04:57.3", clock(297_300.0)),
            ("[%clk 0:00:59,5]", clock(59_500.0)),
            ("[%clk 2:23:59:40]", clock(259_180_000.0)),
            ("[%clk 1:29]", MoveTimes { clock_in_hours_ms: Some(5_340_000.0), ..clock(89_000.0) }),
            ("[%clk 0:29.5]", clock(29_500.0)),
            ("[%timestamp 13]", used(1_300.0)),
            ("[%emt 0.01]", used(10.0)),
            ("0:04:57 on the clock", none),
            ("1:2:3:4:5", none),
            ("+M5/20 0.012s, White mates", by_runner(12.0)),
            ("0.10/11 65", used(65_000.0)),
            ("-0.10/11 1:05", used(65_000.0)),
            ("book", MoveTimes { is_book: true, ..none }),
            ("Book, ", MoveTimes { is_book: true, ..none }),
            ("[%clk 0:00:30] Out of book, at last", clock(30_000.0)),
            ("[%clk 0:00:30] Book", clock(30_000.0)),
            ("book +0.31/12", none),
            ("out of book", none),
            ("a good move, 12 years ago", none),
            ("[%clk 0:00:59] 1/2 5 moves ago", clock(59_000.0)),
            ("1/2 5 moves ago", none),
            ("he offered 1/2 3s ago", none),
            ("[%clk nonsense] [%emt -1]", none),
            ("d=1, mt=, tl=x", none),
        ] {
            assert_eq!(read(comment), times, "{comment}");
        }
    }

    #[test]
    fn comments_of_tournaments() {
        let tcec = read("d=14, sd=39, mt=161060, tl=3445940, s=6194, n=997300, wv=0.51,");
        assert_eq!((tcec.used_ms, tcec.clock_ms, tcec.nodes), (Some(161_060.0), Some(3_445_940.0), Some(997_300)));
        let old = read("d=28, sd=40, mt=00:01:06, tl=01:53:34, nps=8, pv=e4 e5");
        assert_eq!((old.used_ms, old.clock_ms), (Some(66_000.0), Some(6_814_000.0)));
        let fastchess =
            read("-0.05/19 0.412s, n=318433, sd=27, nps=772895, hashfull=52, tbhits=0, tl=8.613s, latency=0.001s");
        assert_eq!(
            (fastchess.used_ms, fastchess.clock_ms, fastchess.nodes, fastchess.latency_ms),
            (Some(412.0), Some(8_613.0), Some(318_433), Some(1.0))
        );
        let german = read("-0,05/19 0,412s, n=318433, tl=8,613s, latency=0,001s");
        assert_eq!(
            (german.used_ms, german.clock_ms, german.nodes, german.latency_ms),
            (Some(412.0), Some(8_613.0), Some(318_433), Some(1.0))
        );
        assert_eq!(read("[%clk -0:00:01.5]"), MoveTimes { over_ms: Some(1_500.0), ..MoveTimes::default() });
        let late = read("0.05/19 0.055s, tl=-0.009s, latency=0.017s, White loses on time");
        assert_eq!((late.used_ms, late.clock_ms, late.over_ms), (Some(55.0), None, Some(9.0)));
        assert_eq!(read("0.05/19 0.055s, latency=-0.001s").latency_ms, Some(0.0));
        let own = read("[%clk 0:00:09.424] [%emt 0:00:00.776] [%eval 0.65,4] [%nodes 326] [%budget 0:00:00.737]");
        assert_eq!((own.clock_ms, own.used_ms, own.budget_ms), (Some(9_424.0), Some(776.0), Some(737.0)));
    }
}
