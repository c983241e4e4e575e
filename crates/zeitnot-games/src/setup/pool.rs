//! Reads a pool: a file of other engines that this one plays against.

use super::{Contestant, SetupError};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::path::Path;
use zeitnot_base::files::read_text;

/// An engine of a pool, as the pool's file has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PoolEntry {
    name: String,
    command: String,
    #[serde(default)]
    options: InOrder,
    rating: Option<f64>,
}

/// The members of a JSON object in the order of the file: engines get their options in that order.
#[derive(Default)]
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InOrder, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = InOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of options")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(InOrder(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The engines of a pool, a JSON file: an array of objects with `name`, `command`, and optional `options` and `rating`.
///
/// # Errors
/// When the file cannot be read, is no pool, or has no engine.
pub fn pool(path: &Path) -> Result<Vec<Contestant>, SetupError> {
    let text = read_text(path).map_err(|error| SetupError::Read { path: path.to_owned(), error })?;
    let entries: Vec<PoolEntry> =
        serde_json::from_str(&text).map_err(|error| SetupError::NoPool { path: path.to_owned(), error })?;
    if entries.is_empty() {
        return Err(SetupError::EmptyPool(path.to_owned()));
    }
    let contestant = |entry: PoolEntry| {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let options = entry.options.0.into_iter().map(|(name, value)| (name, text(value))).collect();
        Contestant { rating: entry.rating, ..Contestant::external(entry.command, options, entry.name) }
    };
    Ok(entries.into_iter().map(contestant).collect())
}
