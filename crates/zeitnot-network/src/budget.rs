//! Bounds the memory that decoding a message takes, from the message's structure and before it is decoded.
//!
//! A repeated message of two bytes in a file may take a kilobyte once decoded, so that a small damaged file could claim
//! the memory of a large one. Tensors need no budget: decoding shares their bytes with the file's content.

use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::{onnx_proto, proto};

/// Bytes of structure that any file may have: several times those of the largest towers ever trained (40 blocks).
const ALWAYS: usize = 128 << 10;
/// Divisor of a file's size: in a large file, the decoded structure may take the size divided by this.
const SHARE: usize = 2;

/// Bytes that a number of a repeated field takes while its list grows: the list doubles, and the old list is held too.
const NUMBER: usize = 3 * size_of::<u32>();

/// The repeated fields of a message type, whose memory is counted, and the fields inside which they lie.
pub(crate) struct Schema {
    /// The fields with a schema of their own.
    fields: &'static [Field],
    /// The schema of all other length-delimited fields; `None` if they hold no repeated fields.
    others: Option<&'static Schema>,
    /// Number of the field that is repeated and holds numbers, if there is one.
    numbers: Option<u32>,
}

/// A field: its number, the bytes of each element if it is repeated (else 0), and its schema.
type Field = (u32, usize, &'static Schema);

const fn fields(fields: &'static [Field]) -> Schema {
    Schema { fields, others: None, numbers: None }
}

const fn fields_and_layers(fields: &'static [Field]) -> Schema {
    Schema { fields, others: Some(&LAYER), numbers: None }
}

const LEAF: Schema = fields(&[]);
/// Schema of a layer, whose dimensions are a repeated field of numbers.
const LAYER: Schema = Schema { fields: &[], others: None, numbers: Some(5) };
const LAYERS: Schema = fields_and_layers(&[]);
const RESIDUAL: Schema = Schema { fields: &[], others: Some(&LAYERS), numbers: None };
const ENCODER: Schema = fields_and_layers(&[(1, 0, &fields_and_layers(&[(9, 0, &LAYERS)])), (4, 0, &LAYERS)]);
const POLICY_HEAD: Schema =
    fields_and_layers(&[(8, size_of::<proto::EncoderLayer>(), &ENCODER), (10, 0, &LAYERS), (11, 0, &LAYERS)]);
const POLICY_HEADS: Schema = fields_and_layers(&[
    (3, 0, &POLICY_HEAD),
    (4, 0, &POLICY_HEAD),
    (5, 0, &POLICY_HEAD),
    (6, 0, &POLICY_HEAD),
    (7, size_of::<proto::PolicyHeadMap>(), &fields(&[(2, 0, &POLICY_HEAD)])),
]);
const VALUE_HEAD: Schema = fields_and_layers(&[(11, 0, &LAYERS)]);
const VALUE_HEADS: Schema = fields(&[
    (1, 0, &VALUE_HEAD),
    (2, 0, &VALUE_HEAD),
    (3, 0, &VALUE_HEAD),
    (4, size_of::<proto::ValueHeadMap>(), &fields(&[(2, 0, &VALUE_HEAD)])),
]);
const WEIGHTS: Schema = fields_and_layers(&[
    (1, 0, &LAYERS),
    (2, size_of::<proto::Residual>(), &RESIDUAL),
    (3, 0, &LAYERS),
    (6, 0, &LAYERS),
    (11, 0, &LAYERS),
    (12, 0, &LAYERS),
    (21, size_of::<proto::EncoderLayer>(), &ENCODER),
    (27, size_of::<proto::EncoderLayer>(), &ENCODER),
    (41, 0, &LAYERS),
    (44, 0, &VALUE_HEADS),
    (45, 0, &POLICY_HEADS),
]);
/// Schema of an Lc0 network file.
pub(crate) const NETWORK: Schema = fields(&[(10, 0, &WEIGHTS)]);

const SHAPE: Schema = fields(&[(1, size_of::<onnx_proto::Dimension>(), &LEAF)]);
const TYPE: Schema = fields(&[(1, 0, &fields(&[(2, 0, &SHAPE)]))]);
const END: Schema = fields(&[(2, 0, &TYPE)]);
/// Schema of an ONNX model, of which only the inputs, the outputs and the metadata are decoded.
pub const ONNX: Schema = fields(&[
    (
        7,
        0,
        &fields(&[
            (11, size_of::<onnx_proto::ValueInfoProto>(), &END),
            (12, size_of::<onnx_proto::ValueInfoProto>(), &END),
        ]),
    ),
    (14, size_of::<onnx_proto::StringStringEntryProto>(), &LEAF),
]);

/// Refuses a file's `content` if its decoded structure would take more memory than a network of that size can need.
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

/// Adds the bytes of a message's repeated fields to `spent`. Stops silently where the message cannot be read: decoding
/// reports the error.
fn spend(schema: &Schema, mut message: &[u8], spent: &mut usize) {
    while message.has_remaining() {
        let Ok((number, wire_type)) = decode_key(&mut message) else { return };
        let is_number = schema.numbers == Some(number);
        let found = schema.fields.iter().find(|field| field.0 == number).map(|&(_, size, inner)| (size, inner));
        let inner = found.or_else(|| schema.others.map(|inner| (0, inner)));
        let has_length = wire_type == WireType::LengthDelimited && (is_number || inner.is_some());
        if !has_length {
            *spent = spent.saturating_add(if is_number { NUMBER } else { 0 });
            if skip_field(wire_type, number, &mut message, DecodeContext::default()).is_err() {
                return;
            }
            continue;
        }
        let Ok(length) = decode_varint(&mut message) else { return };
        let Some((content, rest)) = usize::try_from(length).ok().and_then(|length| message.split_at_checked(length))
        else {
            return;
        };
        if is_number {
            // Packed: a byte or more for each.
            *spent = spent.saturating_add(content.len().saturating_mul(NUMBER));
        } else if let Some((size, inner)) = inner {
            *spent = spent.saturating_add(size);
            spend(inner, content, spent);
        }
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
    fn the_sizes_of_layers_are_counted_wherever_they_lie() {
        for (count, fits) in [(4, true), (20_000, false)] {
            let layer = || Some(proto::Layer { dims: vec![1; count], ..Default::default() });
            let block = || Some(proto::ConvBlock { bn_means: layer(), ..Default::default() });
            let encoder = || proto::EncoderLayer {
                mha: Some(proto::Mha { q_w: layer(), ..Default::default() }),
                ..Default::default()
            };
            let head = || proto::PolicyHead { pol_encoder: vec![encoder()], ..Default::default() };
            let residual = proto::Residual { conv1: block(), ..Default::default() };
            let cases = [
                proto::Weights { ip2_val_b: layer(), ..Default::default() },
                proto::Weights { input: block(), ..Default::default() },
                proto::Weights { residual: vec![residual], ..Default::default() },
                proto::Weights { encoder: vec![encoder()], ..Default::default() },
                proto::Weights {
                    policy_heads: Some(proto::PolicyHeads {
                        policy_head_map: vec![proto::PolicyHeadMap { key: "x".to_owned(), value: head() }],
                        ..Default::default()
                    }),
                    ..Default::default()
                },
            ];
            for (case, weights) in cases.into_iter().enumerate() {
                assert_eq!(problem(weights).is_none(), fits, "{count} in case {case}");
            }
        }
    }

    #[test]
    fn packed_sizes_are_counted() {
        let field = |tag: u8, content: Vec<u8>| {
            let mut bytes = vec![tag];
            prost::encoding::encode_varint(content.len() as u64, &mut bytes);
            bytes.extend(content);
            bytes
        };
        // Net.weights (10), ip1_val_w (7), dims (5).
        let net = |count| field(10 << 3 | 2, field(7 << 3 | 2, field(5 << 3 | 2, vec![1; count])));
        assert_eq!(check(&NETWORK, &net(4)), Ok(()));
        assert!(check(&NETWORK, &net(20_000)).is_err());
    }

    #[test]
    fn bytes_that_are_no_message_cost_nothing() {
        for bytes in [&[][..], &[0], &[0xff; 30], &[0x52, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x52, 3, 0x12, 9, 0]] {
            assert_eq!(check(&NETWORK, bytes), Ok(()));
        }
    }
}
