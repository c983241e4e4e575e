//! From the bytes of a file to a network, by their content and not by the file's name.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use prost::Message;
use prost::bytes::Bytes;

use super::description::Description;
use super::header::{Header, Structure};
use super::weights::layers::Layers;
use super::weights::tensor::Decoder;
use super::{Body, InputFormat, NetworkError, OnnxModel, ValueKind, ValueOutput, onnx, proto};

/// The magic number of an Lc0 network (lc0.md D.6).
pub(crate) const MAGIC: u32 = 0x1c0;
/// How an Lc0 network begins: the tag of field 1 (fixed32) and the magic number.
const NETWORK_START: [u8; 5] = [0x0d, 0xc0, 0x01, 0x00, 0x00];
/// How a gzip file begins (RFC 1952).
const GZIP_START: [u8; 2] = [0x1f, 0x8b];
/// The first field of an ONNX model, the version of its format: field 1 as a varint.
const ONNX_START: u8 = 0x08;
/// The largest content read: a protobuf message cannot be larger (2 GiB). It also bounds what a decompression bomb does.
const LARGEST: u64 = (1 << 31) - 1;
/// Residual blocks or encoders that a file may claim. A message of two bytes may claim one, which takes a kilobyte in
/// memory; the largest tower ever trained has 40.
const MOST_BLOCKS: usize = 1024;
const MIB: u64 = 1 << 20;
/// A buffer that is full grows by this part of its size, but at least by [`MINIMUM_GROWTH`] bytes.
const GROWTH: usize = 4;
const MINIMUM_GROWTH: usize = 4096;

/// What a file is by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Network,
    Onnx,
    Text,
    Unknown,
}

/// The kind of inflated content that begins with `head`; a few bytes suffice.
fn kind(head: &[u8]) -> Kind {
    if head.starts_with(&NETWORK_START) {
        Kind::Network
    } else if head.starts_with(b"1\n") || head.starts_with(b"2\n") || head.starts_with(b"1\r") {
        // The version of the old text format, alone on its line.
        Kind::Text
    } else if head.first() == Some(&ONNX_START) {
        Kind::Onnx
    } else {
        Kind::Unknown
    }
}

/// The content of a file, as it lies there.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, NetworkError> {
    let error = |reason| NetworkError::Read { path: path.to_owned(), reason };
    // A pipe would wait for its writer, a device be read without end.
    if !std::fs::metadata(path).map_err(error)?.is_file() {
        return Err(error(Error::new(ErrorKind::InvalidInput, "it is not a regular file")));
    }
    let file = File::open(path).map_err(error)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(error)?;
    Ok(bytes)
}

/// Whether a file looks like a network that [`parse`] can try: a first glance for choosing among files.
pub(crate) fn looks_like_a_network(path: &Path) -> bool {
    let mut head = Vec::new();
    let glance =
        |file: &mut dyn Read, head: &mut Vec<u8>| file.take(NETWORK_START.len() as u64).read_to_end(head).is_ok();
    if !File::open(path).is_ok_and(|mut file| glance(&mut file, &mut head)) {
        return false;
    }
    if head.starts_with(&GZIP_START) {
        head.clear();
        if !File::open(path).is_ok_and(|file| glance(&mut GzDecoder::new(file), &mut head)) {
            return false;
        }
        return kind(&head) == Kind::Network;
    }
    match kind(&head) {
        Kind::Network => true,
        // One byte proves little: an ONNX model must also be called one to be taken unasked.
        Kind::Onnx => path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")),
        Kind::Text | Kind::Unknown => false,
    }
}

/// Reads the content of the file `name`. Borrowed bytes are copied only where they are kept.
pub(crate) fn parse(bytes: Cow<'_, [u8]>, name: &str) -> Result<(Description, Body), NetworkError> {
    if bytes.is_empty() {
        return Err(NetworkError::Empty { name: name.to_owned() });
    }
    let content = inflate(bytes, name)?;
    if content.len() as u64 > LARGEST {
        return Err(too_large(name));
    }
    match kind(&content) {
        Kind::Text => Err(NetworkError::TextNetwork { name: name.to_owned() }),
        Kind::Network => network(Bytes::from(content.into_owned()), name),
        Kind::Unknown => Err(NetworkError::NotANetwork { name: name.to_owned() }),
        Kind::Onnx => match onnx::inspect(Bytes::from(content.into_owned()), None, name)? {
            Some((model, input)) => {
                let input = input.unwrap_or(InputFormat::Classical);
                let description = describe_onnx(&model, input, &proto::Net::default());
                Ok((description, Body::Onnx(model)))
            }
            None => Err(NetworkError::NotANetwork { name: name.to_owned() }),
        },
    }
}

/// The content of a gzip file, or the bytes themselves when they are none.
///
/// The first bytes are looked at before the rest is inflated, so that a foreign file costs nothing.
fn inflate<'a>(bytes: Cow<'a, [u8]>, name: &str) -> Result<Cow<'a, [u8]>, NetworkError> {
    if !bytes.starts_with(&GZIP_START) {
        return Ok(bytes);
    }
    let damaged = |reason| NetworkError::Gzip { name: name.to_owned(), reason };
    let mut decoder = GzDecoder::new(&*bytes);
    // Weights hardly shrink, and growth by a quarter keeps the peak of a reallocation low.
    let mut content = Vec::with_capacity(bytes.len() + bytes.len() / GROWTH);
    (&mut decoder).take(NETWORK_START.len() as u64).read_to_end(&mut content).map_err(damaged)?;
    match kind(&content) {
        Kind::Network | Kind::Onnx => loop {
            let room = content.capacity() - content.len();
            let read = (&mut decoder).take(room as u64).read_to_end(&mut content).map_err(damaged)?;
            if read < room || content.len() as u64 > LARGEST {
                break;
            }
            content.reserve_exact((content.len() / GROWTH).max(MINIMUM_GROWTH));
        },
        Kind::Text => {}
        Kind::Unknown => return Err(NetworkError::NotANetwork { name: name.to_owned() }),
    }
    Ok(Cow::Owned(content))
}

fn too_large(name: &str) -> NetworkError {
    NetworkError::TooLarge { name: name.to_owned(), limit_mib: LARGEST.div_ceil(MIB) }
}

/// A network in Lc0's format.
fn network(content: Bytes, name: &str) -> Result<(Description, Body), NetworkError> {
    let damaged = |problem: String| NetworkError::Damaged { name: name.to_owned(), problem };
    check_counts(&content).map_err(damaged)?;
    let mut net = proto::Net::decode(content).map_err(|error| damaged(error.to_string()))?;
    if net.magic != Some(MAGIC) {
        return Err(NetworkError::NotANetwork { name: name.to_owned() });
    }
    let header = Header::of(&net, name)?;
    if header.structure == Structure::Onnx {
        let outer = net.onnx_model.take().unwrap_or_default();
        let bytes = outer.model.clone().unwrap_or_default();
        let (model, _) = onnx::inspect(bytes, Some(&outer), name)?
            .ok_or_else(|| damaged("the ONNX model in it is missing or unreadable".to_owned()))?;
        return Ok((describe_onnx(&model, header.input, &net), Body::Onnx(model)));
    }
    let weights = net.weights.take().ok_or_else(|| damaged("it holds no weights".to_owned()))?;
    let encoding = net.format.as_ref().and_then(|format| format.weights_encoding).unwrap_or(0);
    let layers = Layers::read(&weights, &header, Decoder::new(name, encoding))?;
    let description = Description::of(&layers, header.input, &net);
    Ok((description, Body::Layers { layers: Box::new(layers), decoded: OnceLock::new() }))
}

/// Refuses a message that claims absurdly many parts, before they take memory.
fn check_counts(content: &Bytes) -> Result<(), String> {
    let text = |error: prost::DecodeError| error.to_string();
    let check = |count: usize, what: &str| match count {
        0..=MOST_BLOCKS => Ok(()),
        count => Err(format!("it claims {count} {what}")),
    };
    for weights in proto::NetOutline::decode(content.clone()).map_err(text)?.weights {
        let weights = proto::WeightsOutline::decode(weights).map_err(text)?;
        check(weights.residual.len().max(weights.encoder.len()).max(weights.pol_encoder.len()), "blocks")?;
        for heads in weights.policy_heads {
            let heads = proto::PolicyHeadsOutline::decode(heads).map_err(text)?;
            check(heads.policy_head_map.len(), "policy heads")?;
            let mapped = (heads.policy_head_map.into_iter())
                .map(|entry| Ok(proto::MapOutline::decode(entry).map_err(text)?.value.unwrap_or_default()))
                .collect::<Result<Vec<_>, String>>()?;
            let fixed = [heads.vanilla, heads.optimistic_st, heads.soft, heads.opponent];
            let mut encoders = 0;
            for head in fixed.into_iter().flatten().chain(mapped) {
                encoders += proto::PolicyHeadOutline::decode(head).map_err(text)?.pol_encoder.len();
            }
            check(encoders, "blocks")?;
        }
        for heads in weights.value_heads {
            check(proto::ValueHeadsOutline::decode(heads).map_err(text)?.value_head_map.len(), "value heads")?;
        }
    }
    Ok(())
}

fn describe_onnx(model: &OnnxModel, input: InputFormat, net: &proto::Net) -> Description {
    let value = match model.value {
        ValueOutput::Wdl(_) => ValueKind::Wdl,
        ValueOutput::Scalar(_) => ValueKind::Scalar,
    };
    Description::of_onnx(model.bytes.len(), value, model.moves_left.is_some(), input, net)
}
