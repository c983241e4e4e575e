//! Writes numbers for people: times in the unit that suits them, shares, counts and Elo differences.

/// A time given in milliseconds, in the unit that suits it, from milliseconds to hours. The decimals are fine enough
/// for what decides games: below ten seconds a millisecond, below a minute a hundredth of a second.
pub fn time(ms: f64) -> String {
    let seconds = ms / 1e3;
    let text = |value: f64, unit: &str| {
        let decimals = if unit == "s" { decimals_of(value) } else { usize::from(value.abs() < 99.95) };
        format!("{} {unit}", trimmed(&format!("{value:.decimals$}")))
    };
    match seconds.abs() {
        _ if !ms.is_finite() => BEYOND.to_owned(),
        _ if ms.abs() < 0.05 => "0 s".to_owned(),
        below if below < 1.0 => text(ms, "ms"),
        below if below < 600.0 => text(seconds, "s"),
        below if below < 7_200.0 => text(seconds / 60.0, "min"),
        _ => text(seconds / 3_600.0, "h"),
    }
}

/// A time given in milliseconds as people tell it: 4.2 s, 17 s, 2:05, 1:02:30.
pub fn told_time(ms: f64) -> String {
    match ms / 1e3 {
        seconds if !seconds.is_finite() => BEYOND.to_owned(),
        seconds if seconds < 9.95 => format!("{seconds:.1} s"),
        seconds if seconds < 59.5 => format!("{seconds:.0} s"),
        seconds => {
            let seconds = seconds.round() as u64;
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
        }
    }
}

/// The number of seconds of a time given in milliseconds, with the decimals of [`time()`].
pub fn seconds(ms: f64) -> String {
    let seconds = ms / 1e3;
    format!("{seconds:.decimals$}", decimals = decimals_of(seconds).max(1))
}

/// Number of decimals that matter in a number of seconds.
fn decimals_of(seconds: f64) -> usize {
    match seconds.abs() {
        below if below < 9.9995 => 3,
        below if below < 59.995 => 2,
        below if below < 99.95 => 1,
        _ => 0,
    }
}

/// A number without the zeros at the end of its decimals.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A share of 1 in per cent.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if !percent.is_finite() {
        return BEYOND.to_owned();
    }
    let decimals = match percent.abs() {
        below if below < 1.0 => 2,
        below if below < 9.95 => 1,
        _ => 0,
    };
    let number = format!("{percent:.decimals$}");
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number} %")
}

/// A count, or a mean of counts, with commas between thousands.
pub fn count(number: f64) -> String {
    grouped(number, 0)
}

/// Text for infinity and not-a-number, for instance the sum of the largest numbers.
const BEYOND: &str = "beyond measure";

/// A number with `decimals` decimals and commas between thousands.
pub fn grouped(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return BEYOND.to_owned();
    }
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    format!("{}{grouped}{rest}", if number < 0.0 && !is_zero { "-" } else { "" })
}

/// An Elo difference with its error.
pub fn elo(elo: Option<f64>, error: Option<f64>) -> String {
    match (elo, error) {
        (Some(elo), Some(error)) => format!("{elo:+.1} ± {error:.1}"),
        (Some(elo), None) => format!("{elo:+.1}, its error beyond measure"),
        (None, _) => BEYOND.to_owned(),
    }
}

/// A count with its noun: `1 game`, `20 games`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number as f64), if number == 1 { "" } else { "s" })
}

/// Words in a row: `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A name for a file or an identifier: letters and digits of the text with single `-` between; `none` without such.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        // Every system limits the length of file names.
        if slug.len() >= 80 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "none".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_tell_them() {
        for (ms, text) in [
            (0.0, "0.0 s"),
            (9_940.0, "9.9 s"),
            (9_960.0, "10 s"),
            (59_600.0, "1:00"),
            (125_400.0, "2:05"),
            (3_750_000.0, "1:02:30"),
        ] {
            assert_eq!(told_time(ms), text, "{ms}");
        }
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (ms, text) in [
            (0.0, "0 s"),
            (2.34, "2.3 ms"),
            (340.2, "340 ms"),
            (2_500.0, "2.5 s"),
            (10_000.0, "10 s"),
            (395_000.0, "395 s"),
            (2_700_000.0, "45 min"),
            (9_000_000.0, "2.5 h"),
            (-1_500.0, "-1.5 s"),
        ] {
            assert_eq!(time(ms), text, "{ms}");
        }
    }

    #[test]
    fn short_times_have_the_digits_that_decide_games() {
        for (ms, words, number) in [
            (46.0, "46 ms", "0.046"),
            (110.0, "110 ms", "0.110"),
            (2_534.0, "2.534 s", "2.534"),
            (9_999.6, "10 s", "10.00"),
            (12_345.0, "12.35 s", "12.35"),
            (61_240.0, "61.2 s", "61.2"),
            (395_000.0, "395 s", "395.0"),
        ] {
            assert_eq!((time(ms).as_str(), seconds(ms).as_str()), (words, number));
        }
    }

    #[test]
    fn numbers_are_rounded_and_grouped() {
        assert_eq!(
            [0.0, 0.004, 0.0035, 0.015, 0.25, 0.996, 1.0].map(percent),
            ["0 %", "0.4 %", "0.35 %", "1.5 %", "25 %", "100 %", "100 %"]
        );
        assert_eq!(
            (grouped(1_234_567.89, 1), grouped(-0.001, 1), grouped(-999.0, 0)),
            ("1,234,567.9".into(), "0.0".into(), "-999".into())
        );
        assert_eq!(elo(Some(12.34), Some(5.6)), "+12.3 ± 5.6");
        assert_eq!(elo(None, Some(1.0)), "beyond measure");
        assert_eq!((counted(1, "game"), counted(1_200, "game")), ("1 game".into(), "1,200 games".into()));
        assert_eq!(listed(&["a", "b", "c"].map(str::to_owned)), "a, b and c");
    }

    #[test]
    fn numbers_that_are_none_are_told() {
        assert_eq!([grouped(f64::NAN, 1), percent(1e308), time(f64::INFINITY)], [BEYOND; 3]);
    }

    #[test]
    fn slugs_are_names_of_files() {
        assert_eq!(slug("../<script> Héllo (preset=lc0).pgn"), "script-h-llo-preset-lc0-pgn");
        assert_eq!((slug("///"), slug(&"x".repeat(500)).len()), ("none".into(), 80));
    }
}
