//! Defines the units of terms and parameters.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Unit of a [`Term`](super::Term) or of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Moves of one side.
    Moves,
    /// Half-moves.
    Plies,
    /// Nodes of the search tree.
    Nodes,
    /// Nodes per second.
    NodesPerSecond,
    /// Iterations of a search, each of which doubles the nodes.
    Iterations,
    /// Hundredths of a pawn.
    Centipawns,
    /// A pure number.
    Ratio,
    /// A hundredth.
    Percent,
}

impl Unit {
    /// Every unit.
    const ALL: [Self; 11] = [
        Self::Milliseconds,
        Self::Seconds,
        Self::Minutes,
        Self::Moves,
        Self::Plies,
        Self::Nodes,
        Self::NodesPerSecond,
        Self::Iterations,
        Self::Centipawns,
        Self::Ratio,
        Self::Percent,
    ];

    /// The short form that machines read.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "min",
            Self::Moves => "moves",
            Self::Plies => "plies",
            Self::Nodes => "nodes",
            Self::NodesPerSecond => "nps",
            Self::Iterations => "iterations",
            Self::Centipawns => "cp",
            Self::Ratio => "ratio",
            Self::Percent => "%",
        }
    }

    /// The long form, for messages.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Centipawns => "centipawns",
            Self::NodesPerSecond => "nodes per second",
            Self::Ratio => "no unit",
            Self::Percent => "percent",
            Self::Moves | Self::Plies | Self::Nodes | Self::Iterations => self.symbol(),
        }
    }

    /// Number of decimals that people are shown.
    pub(super) fn decimals(self) -> usize {
        match self {
            Self::Milliseconds | Self::Nodes | Self::NodesPerSecond | Self::Plies => 0,
            Self::Iterations | Self::Centipawns => 0,
            Self::Moves | Self::Minutes => 1,
            Self::Seconds => 2,
            Self::Ratio | Self::Percent => 3,
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let symbol = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let unit = Self::ALL.into_iter().find(|unit| unit.symbol() == symbol);
        unit.ok_or_else(|| serde::de::Error::custom(format!("unknown unit \"{symbol}\"")))
    }
}
