//! The units of terms and parameters.

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
    /// The units in the order of their declaration, each with its short form for machines, its long form for messages, and
    /// the decimals that people are shown.
    const TABLE: [(Self, &str, &str, usize); 11] = [
        (Self::Milliseconds, "ms", "milliseconds", 0),
        (Self::Seconds, "s", "seconds", 2),
        (Self::Minutes, "min", "minutes", 1),
        (Self::Moves, "moves", "moves", 1),
        (Self::Plies, "plies", "plies", 0),
        (Self::Nodes, "nodes", "nodes", 0),
        (Self::NodesPerSecond, "nps", "nodes per second", 0),
        (Self::Iterations, "iterations", "iterations", 0),
        (Self::Centipawns, "cp", "centipawns", 0),
        (Self::Ratio, "ratio", "no unit", 3),
        (Self::Percent, "%", "percent", 3),
    ];

    /// The short form that machines read.
    pub(super) fn symbol(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// The long form, for messages.
    pub fn in_words(self) -> &'static str {
        Self::TABLE[self as usize].2
    }

    /// The number of decimals that people are shown.
    pub(super) fn decimals(self) -> usize {
        Self::TABLE[self as usize].3
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
        let row = Self::TABLE.into_iter().find(|row| row.1 == symbol);
        row.map(|row| row.0).ok_or_else(|| serde::de::Error::custom(format!("unknown unit \"{symbol}\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn every_unit_stands_in_its_row() {
        for (index, (unit, symbol, ..)) in Unit::TABLE.into_iter().enumerate() {
            assert_eq!((unit as usize, unit.symbol()), (index, symbol));
            assert_eq!(serde_json::from_value::<Unit>(symbol.into()).unwrap(), unit);
        }
    }
}
