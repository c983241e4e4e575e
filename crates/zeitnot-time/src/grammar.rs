//! The grammar `name(param=value,...)` in which a time manager is chosen (docs/lc0.md, 1.2).
//!
//! ```text
//! list  = [ entry { "," entry } [ "," ] ]
//! entry = name "=" value | name "(" list ")" | name
//! name  = identifier | quoted string
//! value = number | identifier | quoted string      (true and false are flags)
//! ```
//!
//! White space between tokens is ignored. Where this differs from Lc0:
//!
//! - kinder: there is one kind of number (`5`, `5.0`, `+5`, `.5e1` are the same value; Lc0 wants a point for some
//!   parameters and none for others), and `init-nps` and `nps-update-rate`, which its documentation names and its
//!   program refuses, exist;
//! - stricter, where Lc0 takes something else than is written (docs/lc0.md, 7.7): hexadecimal (0 there), trailing junk
//!   inside a number, a value out of range, and a list without a name are errors.

use thiserror::Error;

/// Deepest nesting accepted, so that hostile input cannot exhaust the stack. Real specifications use two levels.
const MAX_DEPTH: usize = 16;

/// One `name=value`, `name(...)` or bare `name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name as written, without quotes.
    pub name: String,
    /// Place of the name, in bytes from the start of the text.
    pub offset: usize,
    /// The value or group of the name.
    pub content: Content,
}

/// The value or group of a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// `name=0.7`; always finite.
    Number(f64),
    /// `name=true` or `name=false`.
    Flag(bool),
    /// `name='text'` or `name=text`.
    Text(String),
    /// `name(...)`, or a bare `name`, which is an empty group.
    Group(Vec<Entry>),
}

/// An error in a text that does not follow the grammar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at offset {offset}: {message}")]
pub struct SyntaxError {
    /// Place of the error, in bytes from the start of the text.
    pub offset: usize,
    /// The found and the expected text, in words.
    pub message: String,
}

/// Parses a whole text into its top-level entries. A repeated parameter stays in the list, in order of writing; a
/// repeated group is an error.
///
/// # Errors
///
/// [`SyntaxError`] at the first place where the text leaves the grammar.
pub fn parse(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let mut parser = Parser { text, position: 0 };
    let entries = parser.list(0)?;
    match parser.peek() {
        None => Ok(entries),
        Some(_) => Err(parser.unexpected("',' or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Place of the next character, in bytes.
    position: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// The next character that is not white space; the position moves up to it.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.position += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { offset, message: message.into() }
    }

    fn unexpected(&mut self, expected: &str) -> SyntaxError {
        let found = match self.peek() {
            Some(c) => format!("found {c:?}"),
            None => "found the end".to_owned(),
        };
        self.error(self.position, format!("{found}, expected {expected}"))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Entry>, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(self.position, format!("more than {MAX_DEPTH} nested parentheses")));
        }
        let mut entries: Vec<Entry> = Vec::new();
        while !matches!(self.peek(), None | Some(')')) {
            let entry = self.entry(depth)?;
            let is_group = |e: &Entry| matches!(e.content, Content::Group(_));
            if is_group(&entry) && depth > 0 && entries.iter().any(|e| is_group(e) && e.name == entry.name) {
                return Err(self.error(entry.offset, format!("{:?} is given twice", entry.name)));
            }
            entries.push(entry);
            if !self.eat(',') {
                break;
            }
        }
        Ok(entries)
    }

    fn entry(&mut self, depth: usize) -> Result<Entry, SyntaxError> {
        let next = self.peek();
        let offset = self.position;
        let name = match next {
            Some(quote @ ('\'' | '"')) => self.quoted(quote)?,
            Some(c) if starts_identifier(c) => self.identifier().to_owned(),
            _ => return Err(self.unexpected("a name")),
        };
        let content = if self.eat('=') {
            self.value(&name)?
        } else if self.eat('(') {
            let inner = self.list(depth + 1)?;
            if !self.eat(')') {
                return Err(self.unexpected(&format!("',' or the ')' that closes {name:?}")));
            }
            Content::Group(inner)
        } else {
            Content::Group(Vec::new())
        };
        Ok(Entry { name, offset, content })
    }

    fn value(&mut self, name: &str) -> Result<Content, SyntaxError> {
        match self.peek() {
            Some(quote @ ('\'' | '"')) => self.quoted(quote).map(Content::Text),
            Some(c) if starts_identifier(c) => Ok(match self.identifier() {
                "true" => Content::Flag(true),
                "false" => Content::Flag(false),
                word => Content::Text(word.to_owned()),
            }),
            Some('0'..='9' | '.' | '+' | '-') => self.number(),
            _ => Err(self.unexpected(&format!("a value for {name:?}"))),
        }
    }

    fn identifier(&mut self) -> &'a str {
        self.take_while(continues_identifier)
    }

    fn number(&mut self) -> Result<Content, SyntaxError> {
        let offset = self.position;
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'));
        // `f64::from_str` also reads "-inf" and "+nan"; the alphabet rules them out.
        let plain = word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        match word.parse::<f64>() {
            Ok(value) if plain && value.is_finite() => Ok(Content::Number(value)),
            _ => Err(self.error(offset, format!("{word:?} is not a number"))),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, SyntaxError> {
        let offset = self.position;
        self.position += quote.len_utf8();
        let inner = self.take_while(|c| c != quote);
        if self.rest().is_empty() {
            return Err(self.error(offset, "the quoted text has no end"));
        }
        self.position += quote.len_utf8();
        Ok(inner.to_owned())
    }
}

/// Whether a character may start an identifier. A `/` may, as in Lc0, whose grammar also reads backend options' paths.
fn starts_identifier(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '/'
}

fn continues_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

/// Whether a text is an identifier, which needs no quotes.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(starts_identifier) && text.chars().all(continues_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, offset: usize, content: Content) -> Entry {
        Entry { name: name.to_owned(), offset, content }
    }

    #[test]
    fn every_kind_of_value_and_a_nested_group() {
        let parsed = parse(" a ( b = 1 , 'c d'=.5e1, e=true, f=\"x,)\" , g-h(i=no/path.7 ,) , j )").unwrap();
        let inner = vec![
            entry("b", 5, Content::Number(1.0)),
            entry("c d", 13, Content::Number(5.0)),
            entry("e", 25, Content::Flag(true)),
            entry("f", 33, Content::Text("x,)".into())),
            entry("g-h", 43, Content::Group(vec![entry("i", 47, Content::Text("no/path.7".into()))])),
            entry("j", 64, Content::Group(vec![])),
        ];
        assert_eq!(parsed, vec![entry("a", 1, Content::Group(inner))]);
    }

    #[test]
    fn whole_real_and_signed_numbers_are_one_kind() {
        for text in ["x=5", "x=5.0", "x=+5", "x=5.", "x=.5e1", "x=0.5E+1", "x=50e-1"] {
            assert_eq!(parse(text).unwrap()[0].content, Content::Number(5.0), "{text}");
        }
        assert_eq!(parse("x=-.7e-1").unwrap()[0].content, Content::Number(-0.07));
    }

    #[test]
    fn empty_text_is_an_empty_list_and_repeated_parameters_stay() {
        assert_eq!(parse("  ").unwrap(), vec![]);
        assert_eq!(parse("a=1,a=2").unwrap().len(), 2);
    }

    #[test]
    fn syntax_errors_name_the_place() {
        let cases = [
            ("smooth(init-timeuse=0.7", 23, "found the end, expected ',' or the ')' that closes \"smooth\""),
            ("smooth init-timeuse=0.7", 7, "found 'i', expected ',' or the end"),
            ("smooth(_x=1)", 7, "found '_', expected a name"),
            ("(init-timeuse=0.7)", 0, "found '(', expected a name"),
            ("smooth)", 6, "found ')', expected ',' or the end"),
            ("smooth(,)", 7, "found ',', expected a name"),
            ("smooth(a=)", 9, "found ')', expected a value for \"a\""),
            ("smooth(a=0x10)", 9, "\"0x10\" is not a number"),
            ("smooth(a=3000ms)", 9, "\"3000ms\" is not a number"),
            ("smooth(a=1-2)", 9, "\"1-2\" is not a number"),
            ("smooth(a=1e999)", 9, "\"1e999\" is not a number"),
            ("smooth(a=-inf)", 9, "\"-inf\" is not a number"),
            ("smooth(a=.)", 9, "\".\" is not a number"),
            ("smooth(a='x)", 9, "the quoted text has no end"),
            ("smooth(g,g(a=1))", 9, "\"g\" is given twice"),
            ("é=1", 0, "found 'é', expected a name"),
        ];
        for (text, offset, message) in cases {
            assert_eq!(parse(text).unwrap_err(), SyntaxError { offset, message: message.into() }, "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let error = parse(&"a(".repeat(100_000)).unwrap_err();
        assert_eq!(error.message, "more than 16 nested parentheses");
    }

    proptest::proptest! {
        #[test]
        fn parse_never_panics(text in "[a-c0-2=(),.+'\" é_-]{0,40}") {
            if let Err(error) = parse(&text) {
                proptest::prop_assert!(text.is_char_boundary(error.offset));
            }
        }
    }
}
