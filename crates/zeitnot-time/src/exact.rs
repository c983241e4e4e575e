//! The serialisation of numbers, which read back bit by bit: JSON has no infinity and no "not a number", so these are the
//! texts `inf`, `-inf` and `nan`.

use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
}

impl Written {
    fn value<E: serde::de::Error>(self) -> Result<f64, E> {
        match self {
            Self::Number(value) => Ok(value),
            Self::Text(text) => match text.as_str() {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                "nan" => Ok(f64::NAN),
                _ => Err(E::custom(format!("\"{text}\" is no number"))),
            },
        }
    }
}

fn write<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        value if value.is_finite() => serializer.serialize_f64(value),
        value if value.is_nan() => serializer.serialize_str("nan"),
        value if value > 0.0 => serializer.serialize_str("inf"),
        _ => serializer.serialize_str("-inf"),
    }
}

/// Serialisation of a field of type `f64`.
pub(super) mod float {
    use super::{Deserialize, Deserializer, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(*value, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Written::deserialize(deserializer)?.value()
    }
}

/// Serialisation of a field of type `Option<f64>`.
pub(super) mod option {
    use super::{Deserialize, Deserializer, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::write(*value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Option::<Written>::deserialize(deserializer)?.map(Written::value).transpose()
    }
}
