//! Reads the fields of a protobuf message without a schema and without copies: models are large.

use prost::encoding::{WireType, decode_key, decode_varint};

/// A field of a message: its number, all its bytes, and the bytes after its key and length (none for a varint).
#[allow(missing_docs, reason = "the fields are listed above")]
pub struct Field<'a> {
    pub number: u32,
    pub whole: &'a [u8],
    pub content: &'a [u8],
}

/// Takes the first field off a message; `None` if no field can be read.
fn next<'a>(rest: &mut &'a [u8]) -> Option<Field<'a>> {
    let start = *rest;
    let (number, wire) = decode_key(rest).ok()?;
    let length = match wire {
        WireType::Varint => decode_varint(rest).ok().map(|_| 0),
        WireType::SixtyFourBit => Some(8),
        WireType::ThirtyTwoBit => Some(4),
        WireType::LengthDelimited => usize::try_from(decode_varint(rest).ok()?).ok(),
        WireType::StartGroup | WireType::EndGroup => None,
    };
    let (content, after) = rest.split_at_checked(length?)?;
    *rest = after;
    Some(Field { number, whole: &start[..start.len() - after.len()], content })
}

/// The fields of a message; `None` if the bytes are no message.
pub fn fields(mut rest: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        fields.push(next(&mut rest)?);
    }
    Some(fields)
}

/// The contents of all fields with this number, up to where the message cannot be read.
pub fn all(mut rest: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    let fields = std::iter::from_fn(move || next(&mut rest));
    fields.filter(move |field| field.number == number).map(|field| field.content)
}
