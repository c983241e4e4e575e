//! What the structure of a message takes in memory, told before it is decoded.
//!
//! A repeated message of two bytes in a file may take a kilobyte once decoded, so that a small damaged file could claim
//! the memory of a large one. The numbers of tensors need no budget: decoding shares them with the file's content.

use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::{onnx_proto, proto};

/// Structure that any file may have, bytes: what the largest towers ever trained take (40 blocks), several times over.
const ALWAYS: usize = 128 << 10;
/// The share of its content's size that the structure of a larger file may take.
const SHARE: usize = 2;

/// The part of a schema that leads to repeated messages.
pub(crate) struct Schema(&'static [Entry]);

/// A field: its number, what each element takes in memory when it is repeated (0 when it lies within its message), and
/// what lies in it.
type Entry = (u32, usize, &'static Schema);

const LEAF: Schema = Schema(&[]);
const POLICY_HEAD: Schema = Schema(&[(8, size_of::<proto::EncoderLayer>(), &LEAF)]);
const POLICY_HEADS: Schema = Schema(&[
    (3, 0, &POLICY_HEAD),
    (4, 0, &POLICY_HEAD),
    (5, 0, &POLICY_HEAD),
    (6, 0, &POLICY_HEAD),
    (7, size_of::<proto::PolicyHeadMap>(), &Schema(&[(2, 0, &POLICY_HEAD)])),
]);
const WEIGHTS: Schema = Schema(&[
    (2, size_of::<proto::Residual>(), &LEAF),
    (27, size_of::<proto::EncoderLayer>(), &LEAF),
    (21, size_of::<proto::EncoderLayer>(), &LEAF),
    (44, 0, &Schema(&[(4, size_of::<proto::ValueHeadMap>(), &LEAF)])),
    (45, 0, &POLICY_HEADS),
]);
/// An Lc0 network.
pub(crate) const NETWORK: Schema = Schema(&[(10, 0, &WEIGHTS)]);

const TYPE: Schema = Schema(&[(1, 0, &Schema(&[(2, 0, &Schema(&[(1, size_of::<onnx_proto::Dimension>(), &LEAF)]))]))]);
const END: Schema = Schema(&[(2, 0, &TYPE)]);
/// An ONNX model, of which only the ends and the notes are decoded.
pub(crate) const ONNX: Schema = Schema(&[
    (
        7,
        0,
        &Schema(&[
            (11, size_of::<onnx_proto::ValueInfoProto>(), &END),
            (12, size_of::<onnx_proto::ValueInfoProto>(), &END),
        ]),
    ),
    (14, size_of::<onnx_proto::StringStringEntryProto>(), &LEAF),
]);

/// Refuses content whose structure takes more memory than a network of its size can need; the problem as text.
pub(crate) fn check(schema: &Schema, content: &[u8]) -> Result<(), String> {
    let budget = ALWAYS.max(content.len() / SHARE);
    let mut spent = 0;
    spend(schema, content, &mut spent);
    if spent <= budget {
        Ok(())
    } else {
        Err(format!("it claims more structure than {} bytes can hold", content.len()))
    }
}

/// Adds what the repeated fields of a message take. Ends without a word where the message cannot be read: decoding says
/// what is wrong with it.
fn spend(schema: &Schema, mut message: &[u8], spent: &mut usize) {
    while message.has_remaining() {
        let Ok((number, wire_type)) = decode_key(&mut message) else { return };
        let entry = schema.0.iter().find(|entry| entry.0 == number);
        let Some((_, size, inner)) = entry.filter(|_| wire_type == WireType::LengthDelimited) else {
            if skip_field(wire_type, number, &mut message, DecodeContext::default()).is_err() {
                return;
            }
            continue;
        };
        let Ok(length) = decode_varint(&mut message) else { return };
        let Some((content, rest)) = usize::try_from(length).ok().and_then(|length| message.split_at_checked(length))
        else {
            return;
        };
        *spent = spent.saturating_add(*size);
        spend(inner, content, spent);
        message = rest;
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    fn problem(weights: proto::Weights) -> Option<String> {
        let net = proto::Net { weights: Some(weights), ..proto::Net::default() };
        check(&NETWORK, &net.encode_to_vec()).err()
    }

    #[test]
    fn empty_messages_are_counted_wherever_they_lie() {
        let many = |count| vec![proto::EncoderLayer::default(); count];
        let head = |count| proto::PolicyHead { pol_encoder: many(count), ..Default::default() };
        let heads = |count| proto::PolicyHeads {
            policy_head_map: vec![proto::PolicyHeadMap { key: "x".to_owned(), value: head(count) }],
            ..Default::default()
        };
        for (count, fits) in [(20, true), (1000, false)] {
            let cases = [
                proto::Weights { encoder: many(count), ..Default::default() },
                proto::Weights { pol_encoder: many(count), ..Default::default() },
                proto::Weights { residual: vec![proto::Residual::default(); count], ..Default::default() },
                proto::Weights { policy_heads: Some(heads(count)), ..Default::default() },
            ];
            for weights in cases {
                let found = problem(weights.clone());
                assert_eq!(found.is_none(), fits, "{count}: {found:?} of {weights:?}");
            }
        }
    }

    #[test]
    fn what_is_no_message_costs_nothing() {
        for bytes in [&[][..], &[0], &[0xff; 30], &[0x52, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x52, 3, 0x12, 9, 0]] {
            assert_eq!(check(&NETWORK, bytes), Ok(()));
        }
    }
}
