//! Writes entries of the [`grammar`](super::grammar) as text that parses to the same entries.

use super::grammar::{Content, Entry, is_identifier};
use std::fmt;

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name in quotes may hold anything; a bare name has to be an identifier.
        if is_identifier(&self.name) {
            f.write_str(&self.name)?
        } else {
            quoted(f, &self.name)?
        }
        match &self.content {
            Content::Number(value) => write!(f, "={value}"),
            Content::Flag(flag) => write!(f, "={flag}"),
            Content::Text(text) => {
                f.write_str("=")?;
                // Without quotes these two words are flags.
                let is_plain = is_identifier(text) && text != "true" && text != "false";
                if is_plain { f.write_str(text) } else { quoted(f, text) }
            }
            Content::Group(inner) if inner.is_empty() => Ok(()),
            Content::Group(inner) => {
                for (index, entry) in inner.iter().enumerate() {
                    write!(f, "{}{entry}", if index == 0 { "(" } else { "," })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Writes a text in quotes of the kind that the text does not contain; the grammar has no text with both kinds.
fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') { '"' } else { '\'' };
    write!(f, "{quote}{text}{quote}")
}

#[cfg(test)]
mod tests {
    use super::super::grammar::parse;

    fn written(text: &str) -> String {
        parse(text).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn text_is_written_without_what_says_nothing() {
        assert_eq!(written(" smooth( preset = 'lc0', x(), y=.50, z=1e-7,) "), "smooth(preset=lc0,x,y=0.5,z=0.0000001)");
        assert_eq!(written("a(b='true',c=true,'d e'=\"it's\")"), "a(b='true',c=true,'d e'=\"it's\")");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_again(text in "[a-c0-2=(),.'\" -]{0,40}") {
            if parse(&text).is_ok() {
                let once = written(&text);
                proptest::prop_assert_eq!(written(&once), once);
            }
        }
    }
}
