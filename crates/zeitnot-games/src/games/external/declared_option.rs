//! Reads the options that an engine declares, and checks values against them.

/// The kinds of option that UCI has, with the values that they take.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Check,
    Spin {
        min: i64,
        max: i64,
    },
    Combo(Vec<String>),
    Button,
    /// Any text; also an option of an unknown kind.
    Text,
}

/// An option that an engine declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredOption {
    name: String,
    kind: Kind,
}

impl DeclaredOption {
    /// Reads a line such as `option name Hash type spin default 16 min 1 max 1024`; `None` for other lines. Names and
    /// values may have spaces.
    pub fn parse(line: &str) -> Option<DeclaredOption> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let ["option", "name", words @ ..] = &words[..] else { return None };
        let type_at = words.iter().position(|word| *word == "type")?;
        let (name, rest) = (words[..type_at].join(" "), &words[type_at + 1..]);
        let number =
            |keyword| rest.iter().skip_while(|word| **word != keyword).nth(1).and_then(|word| word.parse().ok());
        let kind = match *rest.first()? {
            "check" => Kind::Check,
            "spin" => Kind::Spin { min: number("min").unwrap_or(i64::MIN), max: number("max").unwrap_or(i64::MAX) },
            "combo" => Kind::Combo(rest.split(|word| *word == "var").skip(1).map(|words| words.join(" ")).collect()),
            "button" => Kind::Button,
            _ => Kind::Text,
        };
        (!name.is_empty()).then_some(DeclaredOption { name, kind })
    }

    /// Whether the option has this name, in any case of letters, as UCI has it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The command that sets the option; `None` for a button that is not pressed.
    ///
    /// # Errors
    /// The reason why the option does not take this value.
    pub fn command(&self, value: &str) -> Result<Option<String>, String> {
        if value.contains(['\n', '\r', '\0']) {
            return Err("a value is one line".to_owned());
        }
        let wrong = |what: &str| Err(format!("{value:?} is not {what}"));
        let value = match &self.kind {
            Kind::Check => match value.to_ascii_lowercase() {
                value if value == "true" || value == "false" => value,
                _ => return wrong("true or false"),
            },
            Kind::Spin { min, max } => match value.trim().parse::<i64>() {
                Ok(number) if (*min..=*max).contains(&number) => number.to_string(),
                _ => return wrong(&format!("a whole number from {min} to {max}")),
            },
            Kind::Combo(values) => match values.iter().find(|known| known.eq_ignore_ascii_case(value)) {
                Some(known) => known.clone(),
                None => return wrong(&format!("one of {}", values.join(", "))),
            },
            Kind::Button => match value {
                "" | "true" => return Ok(Some(format!("setoption name {}", self.name))),
                "false" => return Ok(None),
                _ => return wrong("true or false (it is a button)"),
            },
            Kind::Text => value.to_owned(),
        };
        Ok(Some(format!("setoption name {} value {value}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_options_check_their_values() {
        for (line, value, expected) in [
            ("option name Hash type spin default 16 min 1 max 1024", " 64", Ok("Hash value 64")),
            (
                "option name Hash type spin default 16 min 1 max 1024",
                "0",
                Err("\"0\" is not a whole number from 1 to 1024"),
            ),
            ("option name Hash type spin default 16 min 1 max 1024", "x", Err("\"x\" is not a whole")),
            ("option name Ponder type check default false", "True", Ok("Ponder value true")),
            ("option name Ponder type check default false", "yes", Err("\"yes\" is not true or false")),
            (
                "option name Play Style type combo default Solid var Solid var Very Risky",
                "very risky",
                Ok("Play Style value Very Risky"),
            ),
            (
                "option name Play Style type combo default Solid var Solid var Very Risky",
                "x",
                Err("one of Solid, Very Risky"),
            ),
            ("option name Clear Hash type button", "", Ok("Clear Hash")),
            ("option name Clear Hash type button", "12", Err("it is a button")),
            ("option name Book File type string default <empty>", "C:\\a b", Ok("Book File value C:\\a b")),
            ("option name Book File type string default <empty>", "a\nquit", Err("one line")),
            ("option name Odd type float", "1.5", Ok("Odd value 1.5")),
        ] {
            let command = DeclaredOption::parse(line).unwrap().command(value);
            match expected {
                Ok(rest) => assert_eq!(command, Ok(Some(format!("setoption name {rest}"))), "{line}"),
                Err(part) => {
                    assert!(command.as_ref().is_err_and(|reason| reason.contains(part)), "{line}: {command:?}")
                }
            }
        }
        assert_eq!(DeclaredOption::parse("option name Clear Hash type button").unwrap().command("false"), Ok(None));
    }

    #[test]
    fn names_are_found_in_any_case() {
        let option = DeclaredOption::parse("option  name  UCI_Chess960 type check default false").unwrap();
        assert!(option.is_called("uci_chess960") && !option.is_called("uci"));
    }

    #[test]
    fn broken_declarations_are_passed_over() {
        for line in
            ["option", "option name", "option name type spin", "option name X", "option name X type", "id name X"]
        {
            assert_eq!(DeclaredOption::parse(line), None, "{line}");
        }
        let endless = DeclaredOption::parse("option name X type spin min max").unwrap();
        assert_eq!(endless.kind, Kind::Spin { min: i64::MIN, max: i64::MAX });
    }
}
