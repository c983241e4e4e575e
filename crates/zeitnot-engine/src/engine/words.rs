//! Declares options whose values are words: each value once, with the word that stands for it in UCI, on the command
//! line, in help and in tables. Code matches on the value, and the compiler sees that it matches on all of them.

use zeitnot_network::HistoryFill;

/// A type whose values are words.
pub trait Word: Copy + 'static {
    /// All values, in the order they are listed.
    const ALL: &'static [Self];
    /// The words of all values, in the same order.
    const WORDS: &'static [&'static str];

    /// The word of this value.
    fn word(self) -> &'static str;

    /// The value with this word, in upper or lower case.
    fn from_word(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word().eq_ignore_ascii_case(text))
    }
}

/// Declares an enum whose values have words, or (`impl`) the words of an enum that is declared elsewhere.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $value,)+
        }
        words! { impl $name { $($value = $word,)+ } }
    };
    (impl $name:ident { $($value:ident = $word:literal,)+ }) => {
        impl $crate::engine::words::Word for $name {
            const ALL: &'static [$name] = &[$($name::$value,)+];
            const WORDS: &'static [&'static str] = &[$($word,)+];

            fn word(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }
    };
}
pub(super) use words;

words! {
    /// How unvisited moves are valued, FPU (`FpuStrategy`).
    pub enum FpuStrategy {
        /// Less than their parent, by `FpuValue`.
        Reduction = "reduction",
        /// At `FpuValue`.
        Absolute = "absolute",
    }
}

words! {
    /// The trees that are kept beyond a search (`TreeMemory`).
    pub enum TreeMemory {
        /// Trees of all positions that were searched without a clock, within the memory limit; on a clock as `game`.
        Forest = "forest",
        /// The tree below the moves of the game.
        Game = "game",
        /// None.
        Off = "off",
    }
}

words! {
    /// How unvisited moves of the root are valued (`FpuStrategyAtRoot`).
    pub enum FpuStrategyAtRoot {
        /// The strategy of all other nodes.
        Same = "same",
        /// Less than the root, by `FpuValueAtRoot`.
        Reduction = "reduction",
        /// At `FpuValueAtRoot`.
        Absolute = "absolute",
    }
}

words! {
    impl HistoryFill {
        No = "no",
        FenOnly = "fen_only",
        Always = "always",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ContemptMode, ScoreType, SearchAlgorithm};

    fn check<W: Word + PartialEq + std::fmt::Debug>() {
        assert!(W::ALL.iter().map(|value| value.word()).eq(W::WORDS.iter().copied()));
        for (index, value) in W::ALL.iter().enumerate() {
            assert_eq!(W::from_word(&value.word().to_ascii_uppercase()), Some(*value));
            // Words that differ by case alone would be the same.
            assert!(W::WORDS[..index].iter().all(|earlier| !earlier.eq_ignore_ascii_case(value.word())), "{value:?}");
        }
        assert_eq!(W::from_word(""), None);
    }

    #[test]
    fn every_value_is_found_by_its_own_word() {
        check::<FpuStrategy>();
        check::<FpuStrategyAtRoot>();
        check::<HistoryFill>();
        check::<ContemptMode>();
        check::<ScoreType>();
        check::<SearchAlgorithm>();
    }
}
