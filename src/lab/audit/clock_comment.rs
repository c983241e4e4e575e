//! Reads the times from the comments behind a move, as match runners, servers and this program write them.

/// The times of one move; `None` where the comments do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveTimes {
    /// Time used, in milliseconds.
    pub used_ms: Option<f64>,
    /// The clock after the move, in milliseconds.
    pub clock_ms: Option<f64>,
    /// The time manager's budget, in milliseconds.
    pub budget_ms: Option<f64>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// The move is from a book: its player did not think.
    pub is_book: bool,
}

/// Reads the comments of a move:
///
/// - `[%clk 0:09:59.9]`, `[%emt 0:00:01]`, `[%budget 0:00:02]`, `[%nodes 1000]`: lichess, chess.com, ChessBase and this program;
/// - `d=31, mt=58000, tl=5942000, n=9000`: TCEC, times in milliseconds, in old events as `00:00:58`;
/// - `+0.31/12 1.23s, n=9000, tl=8.5s`: fastchess and cutechess, `book` alone where they played it;
/// - `0.31/12 3` and `-0.10/11 1:05`: CCRL and Arena, in seconds.
pub fn move_times(comments: &[String]) -> MoveTimes {
    let mut times = MoveTimes::default();
    let mut has_score = false;
    for comment in comments {
        let rest = read_commands(comment, &mut times);
        let words: Vec<&str> = rest.split([',', ' ', '\t', '\n', '\r', ';']).filter(|word| !word.is_empty()).collect();
        for (place, word) in words.iter().enumerate() {
            match word.split_once('=') {
                Some((key, value)) => read_pair(key, value, &mut times),
                None if is_score(word) => {
                    has_score = true;
                    let time = words.get(place + 1).and_then(|time| seconds(time.trim_end_matches('s')));
                    times.used_ms = times.used_ms.or(time);
                }
                None if place == 0 && word.eq_ignore_ascii_case("book") => times.is_book = true,
                None => {}
            }
        }
    }
    // People write about books, too.
    times.is_book &= times.used_ms.is_none() && times.clock_ms.is_none() && !has_score;
    times
}

/// Reads `[%name value]` and returns the text without them.
fn read_commands(comment: &str, times: &mut MoveTimes) -> String {
    let mut rest = String::new();
    let mut parts = comment.split("[%");
    rest.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (command, after) = part.split_once(']').unwrap_or((part, ""));
        let (name, value) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let value = value.trim();
        match name {
            "clk" => times.clock_ms = seconds(value).or(times.clock_ms),
            "emt" => times.used_ms = seconds(value).or(times.used_ms),
            "budget" => times.budget_ms = seconds(value).or(times.budget_ms),
            "nodes" => times.nodes = value.parse().ok().or(times.nodes),
            _ => {}
        }
        rest.push(' ');
        rest.push_str(after);
    }
    rest
}

/// Reads `key=value` of TCEC, fastchess and cutechess.
fn read_pair(key: &str, value: &str, times: &mut MoveTimes) {
    let time = || match value.strip_suffix('s') {
        Some(text) => seconds(text),
        None if value.contains(':') => seconds(value),
        None => value.parse().ok().filter(|ms: &f64| is_time(*ms)),
    };
    match key {
        "mt" => times.used_ms = time().or(times.used_ms),
        "tl" | "timeleft" => times.clock_ms = time().or(times.clock_ms),
        "n" => times.nodes = value.parse().ok().or(times.nodes),
        _ => {}
    }
}

/// Whether a word is an evaluation and a depth, such as `+0.31/12` or `-M5/20`.
fn is_score(word: &str) -> bool {
    let Some((score, depth)) = word.split_once('/') else { return false };
    let score = score.trim_start_matches(['+', '-']).trim_start_matches(['M', '#']);
    score.parse::<f64>().is_ok() && depth.parse::<u32>().is_ok()
}

/// Milliseconds of `s`, `m:s` or `h:m:s`, the seconds with or without a fraction.
fn seconds(text: &str) -> Option<f64> {
    let mut sum = 0.0;
    for part in text.split(':') {
        let number: f64 = part.parse().ok().filter(|number| is_time(*number))?;
        sum = sum * 60.0 + number;
    }
    Some((sum * 1e3).round()).filter(|ms| is_time(*ms))
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
        let clock = |clock_ms: f64| MoveTimes { clock_ms: Some(clock_ms), ..none };
        for (comment, times) in [
            ("[%clk 0:09:59.9]", clock(599_900.0)),
            ("[%eval 0.17] [%clk 1:00:30]", clock(3_630_000.0)),
            ("[%emt 0:00:12]", used(12_000.0)),
            ("[%emt 3.5]", used(3_500.0)),
            ("+0.31/12 1.23s", used(1_230.0)),
            ("+M5/20 0.012s, White mates", used(12.0)),
            ("0.10/11 65", used(65_000.0)),
            ("-0.10/11 1:05", used(65_000.0)),
            ("book", MoveTimes { is_book: true, ..none }),
            ("Book, ", MoveTimes { is_book: true, ..none }),
            ("[%clk 0:00:30] Out of book, at last", clock(30_000.0)),
            ("[%clk 0:00:30] Book", clock(30_000.0)),
            ("book +0.31/12", none),
            ("out of book", none),
            ("a good move, 12 years ago", none),
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
            (fastchess.used_ms, fastchess.clock_ms, fastchess.nodes),
            (Some(412.0), Some(8_613.0), Some(318_433))
        );
        let own = read("[%clk 0:00:09.424] [%emt 0:00:00.776] [%eval 0.65,4] [%nodes 326] [%budget 0:00:00.737]");
        assert_eq!((own.clock_ms, own.used_ms, own.budget_ms), (Some(9_424.0), Some(776.0), Some(737.0)));
    }
}
