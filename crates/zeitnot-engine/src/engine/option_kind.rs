//! Describes the kinds of option values: how they are read, checked and printed.

use super::words::Word;
use std::fmt;
use thiserror::Error;
use zeitnot_backend::DeviceOptionsError;

/// The values an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Check,
    /// A whole number in an inclusive range.
    Spin {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A real number in an inclusive range. UCI has no such type: it is advertised as a string, as Lc0 does.
    Float {
        /// Smallest value.
        min: f32,
        /// Largest value.
        max: f32,
    },
    /// A real number that people set in whole steps: advertised as a spin, unless its value has decimals.
    Steps {
        /// Smallest value.
        min: f32,
        /// Largest value.
        max: f32,
    },
    /// One of these words.
    Combo(&'static [&'static str]),
    /// Any text.
    Text,
    /// A file; printed and read as text.
    File,
}

impl Kind {
    /// The [`Kind::Combo`] of the words of enum `W`.
    pub(super) const fn of_words<W: Word>() -> Kind {
        Kind::Combo(W::WORDS)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Check => f.write_str("true or false"),
            Kind::Spin { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Float { min, max } | Kind::Steps { min, max } => write!(f, "a number from {min} to {max}"),
            Kind::Combo(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Text => f.write_str("a text"),
            Kind::File => f.write_str("a file"),
        }
    }
}

/// Why an option was not set; displays as one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No option has this name.
    #[error("unknown option \"{0}\"")]
    Unknown(String),
    /// `TimeManager` does not describe a time manager.
    #[error("option TimeManager: {0}")]
    TimeManager(String),
    /// Invalid `BackendOptions`.
    #[error("option BackendOptions: {0}")]
    BackendOptions(DeviceOptionsError),
    /// Invalid `Contempt`.
    #[error("option Contempt: \"{0}\" is not [name=]value,... with values in Elo")]
    Contempt(String),
    /// The option does not take this value.
    #[error("option {name}: \"{value}\" is not {expected}")]
    Value {
        /// The option.
        name: String,
        /// The value as it came.
        value: String,
        /// The values that the option takes, in words.
        expected: String,
    },
}

/// A type of option values.
pub(super) trait OptionValue: Sized {
    /// `None` when the text is not a value of this kind.
    fn read(text: &str, kind: Kind) -> Option<Self>;
    fn print(&self) -> String;
}

impl OptionValue for bool {
    fn read(text: &str, _: Kind) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
    fn print(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for u64 {
    fn read(text: &str, kind: Kind) -> Option<Self> {
        let value = text.parse().ok()?;
        match kind {
            Kind::Spin { min, max } => (min..=max).contains(&value).then_some(value),
            _ => None,
        }
    }
    fn print(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for f32 {
    fn read(text: &str, kind: Kind) -> Option<Self> {
        let value: f32 = text.parse().ok()?;
        match kind {
            // A NaN is in no range.
            Kind::Float { min, max } | Kind::Steps { min, max } => (min..=max).contains(&value).then_some(value),
            _ => None,
        }
    }
    fn print(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for String {
    fn read(text: &str, kind: Kind) -> Option<Self> {
        // UCI cannot send an empty value; this is how GUIs write it. The other one is Lc0's default for `WeightsFile`.
        let empty = text == "<empty>" || kind == Kind::File && text == "<autodiscover>";
        Some(if empty { String::new() } else { text.to_owned() })
    }
    fn print(&self) -> String {
        self.clone()
    }
}

impl<W: Word> OptionValue for W {
    fn read(text: &str, _: Kind) -> Option<Self> {
        W::from_word(text)
    }
    fn print(&self) -> String {
        self.word().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ScoreType;

    #[test]
    fn values_keep_to_their_kind() {
        let spin = Kind::Spin { min: 1, max: 500 };
        assert_eq!(u64::read("500", spin), Some(500));
        for text in ["0", "501", "-1", "1.5", "", "99999999999999999999999"] {
            assert_eq!(u64::read(text, spin), None, "{text}");
        }
        let float = Kind::Float { min: 0.0, max: 10.0 };
        assert_eq!(f32::read("1", float), Some(1.0));
        for text in ["nan", "inf", "-0.1", "ten", ""] {
            assert_eq!(f32::read(text, float), None, "{text}");
        }
        assert_eq!(f32::read("2.5", Kind::Steps { min: 0.0, max: 10.0 }), Some(2.5));
        assert_eq!(bool::read("True", Kind::Check), Some(true));
        assert_eq!(bool::read("1", Kind::Check), None);
        assert_eq!(ScoreType::read("q", Kind::of_words::<ScoreType>()), Some(ScoreType::Q));
        assert_eq!(String::read("<empty>", Kind::Text), Some(String::new()));
        assert_eq!(String::read("<autodiscover>", Kind::File), Some(String::new()));
        assert_eq!(String::read("a <empty> folder", Kind::File), Some("a <empty> folder".into()));
    }
}
