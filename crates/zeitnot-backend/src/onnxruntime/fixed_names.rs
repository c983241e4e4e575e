//! Replaces the names in a model that may change while the network does not.
//!
//! The engines that a provider compiles are kept by the model's bytes, and TensorRT's provider puts the graph's name
//! into the names of its engines. A file that was renamed, or a new version of this program, would cost minutes for the
//! same engine.

use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use zeitnot_network::onnx_fields::{Field, fields};
use zeitnot_network::onnx_proto::field::GRAPH;

/// Field number of `ModelProto.producer_version`.
const PRODUCER_VERSION: u32 = 3;
/// Field number of `GraphProto.name`.
const NAME: u32 = 2;
/// The name that every graph gets, for a graph must have one.
const GRAPH_NAME: &str = "network";

/// The model with [`GRAPH_NAME`] for its graph's name and without its maker's version, otherwise unchanged; `None` if
/// the bytes are no model.
pub(super) fn model(model: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(model.len() + GRAPH_NAME.len());
    for field in fields(model)? {
        match field.number {
            PRODUCER_VERSION => {}
            GRAPH => {
                let inner: Vec<Field<'_>> =
                    fields(field.content)?.into_iter().filter(|field| field.number != NAME).collect();
                let name = key_len(NAME) + encoded_len_varint(GRAPH_NAME.len() as u64) + GRAPH_NAME.len();
                let length = name + inner.iter().map(|field| field.whole.len()).sum::<usize>();
                encode_key(GRAPH, WireType::LengthDelimited, &mut out);
                encode_varint(length as u64, &mut out);
                encode_key(NAME, WireType::LengthDelimited, &mut out);
                encode_varint(GRAPH_NAME.len() as u64, &mut out);
                out.extend_from_slice(GRAPH_NAME.as_bytes());
                inner.iter().for_each(|field| out.extend_from_slice(field.whole));
            }
            _ => out.extend_from_slice(field.whole),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use zeitnot_network::onnx_proto::ModelProto;
    use zeitnot_network::testing::random_network;
    use zeitnot_network::{Conversion, Network};

    /// A converted network as a file of this name has it, and its model.
    fn converted(name: &str, seed: u64) -> (Vec<u8>, ModelProto) {
        let network = Network::from_bytes(&random_network(seed, 1, 8), name).unwrap();
        let bytes = network.onnx(&Conversion::default()).unwrap().bytes;
        let model = ModelProto::decode(bytes.as_slice()).unwrap();
        (bytes, model)
    }

    #[test]
    fn a_renamed_network_and_a_new_version_are_the_same_model() {
        let (bytes, mut proto) = converted("a.pb.gz", 1);
        let (renamed, _) = converted("a-much-longer-name.pb.gz", 1);
        assert_ne!(bytes, renamed);
        let short = model(&bytes).unwrap();
        assert_eq!(short, model(&renamed).unwrap());
        assert_ne!(short, model(&converted("a.pb.gz", 2).0).unwrap(), "another network is another model");
        proto.producer_version = Some("99.0.0".into());
        assert_eq!(ModelProto::decode(&*model(&proto.encode_to_vec()).unwrap()), ModelProto::decode(&*short));
        // All else is there.
        proto.producer_version = None;
        proto.graph.as_mut().unwrap().name = Some(GRAPH_NAME.into());
        assert_eq!(ModelProto::decode(&*short), Ok(proto));
    }

    #[test]
    fn what_is_no_model_is_left_alone() {
        for bytes in [&b"\x3a\xff\x01x"[..], b"\xff", b"\x3a\x02\x12\x05", b"\x0b"] {
            assert_eq!(model(bytes), None, "{bytes:?}");
        }
    }
}
