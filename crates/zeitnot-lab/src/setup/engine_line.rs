//! Reads an engine that a command line names: its command, with its name, its rating and its options before it.

use super::SetupError;

/// Begins of the words that may stand before a command.
const KEYS: [&str; 4] = ["name=", "rating=", "option.", "cmd="];

/// An engine as a command line names it: `name=A option.Hash=16 stockfish`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineLine {
    /// The name, where one is given.
    pub name: Option<String>,
    /// The rating, where one is given.
    pub rating: Option<f64>,
    /// The options, in the order in which they are given.
    pub options: Vec<(String, String)>,
    /// The command.
    pub command: String,
}

impl EngineLine {
    /// Reads the words before the command as a shell splits them, in the spelling of fastchess; the rest is the command,
    /// unless `cmd=` gives it.
    ///
    /// # Errors
    /// [`SetupError::EngineLine`].
    pub fn parse(text: &str) -> Result<EngineLine, SetupError> {
        let fail = |reason: String| SetupError::EngineLine { text: text.to_owned(), reason };
        let (mut line, mut rest) = (EngineLine::default(), text.trim());
        while let Some(key) = KEYS.into_iter().find(|key| rest.starts_with(key)) {
            let end = end_of_word(rest);
            let words = shlex::split(&rest[key.len()..end]).filter(|words| words.len() == 1);
            let value = words.and_then(|mut words| words.pop()).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| fail(format!("{key} has no value, or a quotation mark is not closed")))?;
            match (key, value.split_once('=')) {
                ("name=", _) => line.name = Some(value),
                ("cmd=", _) => line.command = value,
                ("rating=", _) => {
                    line.rating = Some(value.parse().map_err(|_| fail(format!("{value} is no rating")))?);
                }
                (_, Some((name, value))) => line.options.push((name.to_owned(), value.to_owned())),
                (_, None) => return Err(fail(format!("option.{value} has no value"))),
            }
            rest = rest[end..].trim_start();
        }
        match (line.command.is_empty(), rest.is_empty()) {
            (true, true) => Err(fail("it has no command".to_owned())),
            (true, false) => Ok(EngineLine { command: rest.to_owned(), ..line }),
            (false, true) => Ok(line),
            (false, false) => Err(fail(format!("it has a command by cmd=, and then {rest:?}"))),
        }
    }
}

/// The end of the first word of a text; quotation marks hold words together.
fn end_of_word(text: &str) -> usize {
    let mut quote = None;
    let is_end = |(_, c): &(usize, char)| {
        match (*c, quote) {
            ('\'' | '"', None) => quote = Some(*c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        quote.is_none() && c.is_whitespace()
    };
    text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_before_the_command() {
        let line = EngineLine::parse(
            " name='My engine' rating=2900.5  option.Hash=16 option.\"Play Style\"=\"a b\" ./x 'y z' name=b ",
        );
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = EngineLine {
            name: Some("My engine".into()),
            rating: Some(2900.5),
            options: vec![option("Hash", "16"), option("Play Style", "a b")],
            command: "./x 'y z' name=b".into(),
        };
        assert_eq!(line.unwrap(), expected);
        let fastchess = EngineLine { name: Some("x".into()), command: "./x --fast".into(), ..EngineLine::default() };
        for text in ["cmd='./x --fast' name=x", "name=x cmd=\"./x --fast\""] {
            assert_eq!(EngineLine::parse(text).unwrap(), fastchess);
        }
        let plain = EngineLine { command: "stockfish".into(), ..EngineLine::default() };
        assert_eq!(EngineLine::parse("stockfish").unwrap(), plain);
    }

    #[test]
    fn lines_without_a_command_or_a_value_are_refused() {
        for (text, reason) in [
            ("", "it has no command"),
            ("name=A", "it has no command"),
            ("name= x", "name= has no value, or a quotation mark is not closed"),
            ("name='A x", "name= has no value, or a quotation mark is not closed"),
            ("rating=good x", "good is no rating"),
            ("option.Hash x", "option.Hash has no value"),
            ("cmd=x --fast name=A", "it has a command by cmd=, and then \"--fast name=A\""),
        ] {
            let error = EngineLine::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("\"{text}\" is no engine: {reason}"));
        }
    }
}
