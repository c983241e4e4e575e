//! Makes text safe to print: characters that could command a terminal, or turn the direction of a line, are written as
//! JSON writes them (`\u001b`). So an output in JSON keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every unsafe character but line breaks and tabs written as `\uXXXX`.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// The text as one line: breaks and tabs become spaces, every other unsafe character `\uXXXX`.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_break = |c: char| c.is_control() && c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}');
    match escaped(text, is_break) {
        safe if safe.contains(is_break) => Cow::Owned(safe.replace(is_break, " ")),
        safe => safe,
    }
}

/// [`line()`] as a string of its own.
pub fn plain(text: &str) -> String {
    line(text).into_owned()
}

/// The beginning of a text as one line, with dots where more than `most` characters are cut off.
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", line(&text[..end])),
        None => plain(text),
    }
}

fn escaped(text: &str, is_left: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_hostile = |c: char| !is_safe(c) && !is_left(c);
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hostile(c) {
            // All of them have four digits.
            true => write!(safe, "\\u{:04x}", u32::from(c)).expect("a string takes every text"),
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Whether a character is safe within a line: neither a control character nor a line break, nor one that turns the
/// direction of text.
pub fn is_safe(c: char) -> bool {
    !c.is_control() && !is_bidi_control(c) && !matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether a character turns the direction of the text around it, and so could make a name look like another one:
/// Unicode's property `Bidi_Control`.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// An address with `***` for its user and password.
pub fn without_password(address: &str) -> Cow<'_, str> {
    const SCHEME_END: &str = "://";
    let Some(start) = address.find(SCHEME_END).map(|at| at + SCHEME_END.len()) else { return Cow::Borrowed(address) };
    let rest = &address[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    match authority.rfind('@') {
        Some(at) => Cow::Owned(format!("{}***{}", &address[..start], &rest[at..])),
        None => Cow::Borrowed(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters that no line may have, each alone.
    const HOSTILE: [char; 16] = [
        '\0', '\u{7}', '\u{8}', '\u{b}', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{9d}', '\u{61c}', '\u{200f}',
        '\u{202e}', '\u{2028}', '\u{2066}', '\u{2069}',
    ];

    #[test]
    fn nothing_hostile_is_left() {
        for c in HOSTILE {
            let text = format!("a{c}b\n\tc");
            let expected = format!("a\\u{:04x}b\n\tc", u32::from(c));
            assert_eq!(lines(&text), expected);
            assert!(line(&text).chars().all(is_safe), "{:?}", line(&text));
        }
        assert_eq!(line("a\tb\r\nc\u{85}d\u{2028}e\u{1b}[2J"), "a b  c d e\\u001b[2J");
    }

    #[test]
    fn the_beginning_is_one_line() {
        assert_eq!(beginning("a\nb", 3), "a b");
        assert_eq!(beginning("żółw\n\u{1b}", 4), "żółw...");
        assert_eq!(beginning(&"\u{1b}x".repeat(1 << 20), 3), "\\u001bx\\u001b...");
    }

    #[test]
    fn letters_of_all_scripts_stay() {
        for text in ["Ж é ß 象棋 שחמט شطرنج 👩‍👩‍👧 ♔", "", "\u{efe9}", "C:\\nets\\u1"] {
            assert!(matches!(lines(text), Cow::Borrowed(same) if same == text), "{text}");
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        for c in HOSTILE {
            let value = serde_json::json!({ "name": format!("a{c}\u{1f600}\"\\") });
            let printed = lines(&value.to_string()).into_owned();
            assert!(printed.chars().all(is_safe), "{printed:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
        }
    }

    #[test]
    fn passwords_are_masked() {
        for (address, shown) in [
            ("http://user:pw@host/net.pb.gz", "http://***@host/net.pb.gz"),
            ("https://token@host:8080/a@b", "https://***@host:8080/a@b"),
            ("http://user:p@w@host", "http://***@host"),
            ("http://user:pw@host?x=/", "http://***@host?x=/"),
            ("http://host/user:pw@x", "http://host/user:pw@x"),
            ("user:pw@host", "user:pw@host"),
            ("", ""),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
