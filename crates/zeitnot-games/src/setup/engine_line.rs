//! Reads an engine that a command line names: its command, with its name, its rating and its options before it.

use super::SetupError;
use zeitnot_engine::child::words;

/// Prefixes of the words that may stand before a command, each followed by its value.
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
    pub command: String,
}

impl EngineLine {
    /// Reads words such as `name=A`, as fastchess spells them and a shell splits them; the text behind them is the
    /// command, unless `cmd=` gives it.
    ///
    /// # Errors
    /// [`SetupError::EngineLine`].
    pub fn parse(text: &str) -> Result<EngineLine, SetupError> {
        let fail = |reason: String| SetupError::EngineLine { text: text.to_owned(), reason };
        let (mut line, mut rest) = (EngineLine::default(), text.trim());
        loop {
            let end = end_of_word(rest);
            let word = words(&rest[..end]).and_then(|mut words| words.pop());
            // A word whose quotation mark is not closed may have been meant as a key.
            let text = word.as_deref().unwrap_or_else(|| rest.trim_start_matches(['\'', '"']));
            let Some(key) = KEYS.into_iter().find(|key| text.starts_with(key)) else { break };
            let value = word.as_deref().map(|word| word[key.len()..].to_owned()).filter(|value| !value.is_empty());
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

/// The byte offset at which the first word of a text ends: the first blank up to which a shell reads one whole word.
fn end_of_word(text: &str) -> usize {
    let is_word = |at: &usize| words(&text[..*at]).is_some_and(|words| words.len() == 1);
    text.match_indices(char::is_whitespace).map(|(at, _)| at).find(is_word).unwrap_or(text.len())
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
    fn words_are_those_of_a_shell() {
        for line in [
            r#"name='A b' 'option.Move Overhead=30' cmd="./x y""#,
            r#""name=A b" option.'Move Overhead'=30 ./x y"#,
            r#"name=A\ b "option.Move Overhead"=30 'cmd=./x y'"#,
            r#"n"ame=A b" option.Move" "Overhead='30' ./x y"#,
        ] {
            if cfg!(windows) && line.contains('\\') {
                continue;
            }
            let line = EngineLine::parse(line).unwrap();
            assert_eq!(line.name.as_deref(), Some("A b"));
            assert_eq!(line.options, [("Move Overhead".to_owned(), "30".to_owned())]);
            assert_eq!(line.command, "./x y");
        }
        assert_eq!(
            EngineLine::parse(r"name=#1 'C:\my engines\x.exe' name=b").unwrap().command,
            r"'C:\my engines\x.exe' name=b"
        );
        assert!(EngineLine::parse("\"name=A x").unwrap_err().to_string().ends_with("a quotation mark is not closed"));
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
