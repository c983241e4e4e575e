//! Reads networks from the bytes of a file, whose kind is recognised by its content and not by its name.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use flate2::read::MultiGzDecoder;
use prost::Message;
use prost::bytes::Bytes;

use super::description::Description;
use super::gzip::{Members, is_gzip};
use super::header::{Header, Structure};
use super::weights::layers::Layers;
use super::weights::tensor::Decoder;
use super::{
    Body, InputFormat, NetworkError, OnnxInterface, OnnxModel, ValueKind, ValueOutput, budget, maia, onnx, proto,
};
use zeitnot_base::files::open_regular;

/// The magic number of an Lc0 network (docs/lc0.md, 4.6).
pub(crate) const MAGIC: u32 = 0x1c0;
/// The first bytes of an Lc0 network: the tag of field 1 (fixed32) and the magic number.
const NETWORK_START: [u8; 5] = [0x0d, 0xc0, 0x01, 0x00, 0x00];
/// The first field of an ONNX model, the version of its format: field 1 as a varint.
const ONNX_START: u8 = 0x08;
/// The largest content read, and so the largest file: a protobuf message cannot be larger (2 GiB).
pub(super) const LARGEST: u64 = (1 << 31) - 1;
/// Bytes of a file that are looked at before the rest is read.
const HEAD: u64 = 64 << 10;
/// Size of a stretch, the bytes inflated at once while content is only counted: twice as far as a decompressor reads
/// ahead.
const STRETCH: usize = 64 << 10;
/// Content bytes per compressed byte above which a stretch counts as empty: deflate packs 172 to 1032 zeros into a
/// byte, but far fewer bytes of a network's weights, even of weights that are mostly zero.
const EMPTY_INFLATION: usize = 128;
/// Bytes of empty stretches that any file may have: twice as many as in heads that are padded with zeros to the sizes
/// that Lc0 knows.
const MOST_EMPTY: u64 = MIB;
/// Memory reserved for a gzip file's content, in halves of the file's size: enough for every real network.
const ROOM_HALVES: usize = 3;
const MIB: u64 = 1 << 20;

/// The kind of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Network,
    Onnx,
    Text,
    Unknown,
}

/// The kind of inflated content that begins with the bytes `head`, of which five suffice.
fn kind(head: &[u8]) -> FileKind {
    if head.starts_with(&NETWORK_START) {
        FileKind::Network
    } else if head.starts_with(b"1\n") || head.starts_with(b"2\n") || head.starts_with(b"1\r") {
        // The version of the old text format, alone on its line.
        FileKind::Text
    } else if head.first() == Some(&ONNX_START) {
        FileKind::Onnx
    } else {
        FileKind::Unknown
    }
}

/// The bytes of a file, compressed or not; of a file that cannot be a network only its beginning, which [`parse`] then
/// refuses.
pub fn read(path: &Path) -> Result<Vec<u8>, NetworkError> {
    let error = |reason| NetworkError::Read { path: path.to_owned(), reason };
    let (mut file, metadata) = open_regular(path).map_err(error)?;
    let size = metadata.len();
    if size > LARGEST {
        return Err(too_large(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()));
    }
    let mut bytes = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut bytes).map_err(error)?;
    if can_be_a_network(&bytes) {
        // One byte more than the file holds, so that reading to the end does not grow the vector.
        bytes.reserve_exact((size as usize + 1).saturating_sub(bytes.len()));
        // The file may have grown meanwhile.
        file.take(LARGEST + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(error)?;
    }
    Ok(bytes)
}

/// Whether a file that begins with `head` can be a network that [`parse`] takes.
fn can_be_a_network(head: &[u8]) -> bool {
    let can_be = |head: &[u8]| matches!(kind(head), FileKind::Network | FileKind::Onnx);
    if !is_gzip(head) {
        return can_be(head);
    }
    let mut content = Vec::new();
    match Members::new(head).take(NETWORK_START.len() as u64).read_to_end(&mut content) {
        Ok(count) if count < NETWORK_START.len() && head.len() as u64 == HEAD => true,
        Ok(_) => can_be(&content),
        // The rest of the file may hold what is missing.
        Err(error) => error.kind() == ErrorKind::UnexpectedEof,
    }
}

/// Whether a file looks like a network that [`parse`] can try: a first glance for choosing among files.
pub(crate) fn looks_like_a_network(path: &Path) -> bool {
    let mut head = Vec::new();
    let glance =
        |file: &mut dyn Read, head: &mut Vec<u8>| file.take(NETWORK_START.len() as u64).read_to_end(head).is_ok();
    if !File::open(path).is_ok_and(|mut file| glance(&mut file, &mut head)) {
        return false;
    }
    if is_gzip(&head) {
        head.clear();
        if !File::open(path).is_ok_and(|file| glance(&mut MultiGzDecoder::new(file), &mut head)) {
            return false;
        }
        return kind(&head) == FileKind::Network;
    }
    match kind(&head) {
        FileKind::Network => true,
        // One byte proves little: an ONNX model must also be called one to be taken unasked.
        FileKind::Onnx => path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")),
        FileKind::Text | FileKind::Unknown => false,
    }
}

/// A network as it was read.
pub(crate) struct Parsed {
    pub description: Description,
    pub body: Body,
    /// The rating of the players whose moves a Maia learned.
    pub maia: Option<u32>,
}

/// Reads a network from `bytes`, the content of the file `name`. Borrowed bytes are copied only where they are kept.
pub fn parse(bytes: Cow<'_, [u8]>, name: &str, interface: &OnnxInterface) -> Result<Parsed, NetworkError> {
    if bytes.is_empty() {
        return Err(NetworkError::Empty { name: name.to_owned() });
    }
    let content = inflate(bytes, name)?;
    if content.len() as u64 > LARGEST {
        return Err(too_large(name));
    }
    let maia = maia::rating(&content);
    let (mut description, body) = match kind(&content) {
        FileKind::Text => return Err(NetworkError::TextNetwork { name: name.to_owned() }),
        FileKind::Network => network(Bytes::from(content.into_owned()), name, interface)?,
        FileKind::Unknown => return Err(NetworkError::NotANetwork { name: name.to_owned() }),
        FileKind::Onnx => match onnx::inspect(Bytes::from(content.into_owned()), None, interface, name)? {
            Some((model, input)) => {
                // Lc0's own exports do not state their input format.
                let input_is_assumed = input.is_none();
                let input = input.unwrap_or(InputFormat::Classical);
                let description = describe_onnx(&model, input, &proto::Net::default());
                let description = Description { input_is_assumed, ..description };
                (description, Body::Onnx(model))
            }
            None => return Err(NetworkError::NotANetwork { name: name.to_owned() }),
        },
    };
    if let Some(input) = interface.input_format {
        let stated = description.input;
        if !description.input_is_assumed && stated != input {
            let problem = format!("its input format is {stated}, as it states, and not {input}");
            return Err(NetworkError::Interface { name: name.to_owned(), problem });
        }
        (description.input, description.input_is_assumed) = (input, false);
    }
    Ok(Parsed { description, body, maia })
}

/// The content of a gzip file, or the bytes of any other file.
///
/// The first bytes are looked at before the rest is inflated, so that a foreign file costs nothing. Content that is
/// larger than expected is only counted first, so that memory never holds a decompression bomb.
fn inflate<'a>(bytes: Cow<'a, [u8]>, name: &str) -> Result<Cow<'a, [u8]>, NetworkError> {
    if !is_gzip(&bytes) {
        return Ok(bytes);
    }
    let damaged = |reason| NetworkError::Gzip { name: name.to_owned(), reason };
    let mut decoder = Members::new(&bytes);
    let mut content = Vec::new();
    (&mut decoder).take(NETWORK_START.len() as u64).read_to_end(&mut content).map_err(damaged)?;
    match kind(&content) {
        FileKind::Network | FileKind::Onnx => {}
        FileKind::Text => return Ok(Cow::Owned(content)),
        FileKind::Unknown => return Err(NetworkError::NotANetwork { name: name.to_owned() }),
    }
    let room = (bytes.len() / 2 * ROOM_HALVES).max(1024);
    content.reserve_exact(room);
    // A vector that is full grows to twice its size before it learns that nothing follows: one byte stays free.
    (&mut decoder).take(room as u64 - 1).read_to_end(&mut content).map_err(damaged)?;
    if content.len() >= room {
        let Inflated { size, empty } = count(&bytes).map_err(damaged)?;
        if size > LARGEST {
            return Err(too_large(name));
        }
        // Weights of few different values compress well, and yet every stretch of them holds something.
        if empty > MOST_EMPTY.max(size / 2) {
            let problem = format!("more than half of the {} MiB that it inflates to are empty", size.div_ceil(MIB));
            return Err(NetworkError::Damaged { name: name.to_owned(), problem });
        }
        content.reserve_exact(size as usize + 1 - content.len());
        decoder.read_to_end(&mut content).map_err(damaged)?;
    }
    Ok(Cow::Owned(content))
}

/// The inflated size of a gzip file, bytes.
struct Inflated {
    /// Bytes of the content; counting stops above [`LARGEST`].
    size: u64,
    /// Bytes of the content in empty stretches.
    empty: u64,
}

/// Counts the bytes of a gzip file's content without keeping them, and those in stretches that are next to empty.
fn count(bytes: &[u8]) -> Result<Inflated, Error> {
    let mut decoder = Members::new(bytes);
    let mut stretch = vec![0; STRETCH];
    let mut inflated = Inflated { size: 0, empty: 0 };
    loop {
        let before = decoder.rest().len();
        let mut filled = 0;
        while filled < STRETCH {
            match decoder.read(&mut stretch[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        inflated.size += filled as u64;
        let came_from = before - decoder.rest().len();
        if filled > came_from.saturating_mul(EMPTY_INFLATION) {
            inflated.empty += filled as u64;
        }
        if filled < STRETCH || inflated.size > LARGEST {
            return Ok(inflated);
        }
    }
}

fn too_large(name: &str) -> NetworkError {
    NetworkError::TooLarge { name: name.to_owned(), limit_mib: LARGEST.div_ceil(MIB) }
}

/// Reads a network in Lc0's format.
fn network(content: Bytes, name: &str, interface: &OnnxInterface) -> Result<(Description, Body), NetworkError> {
    let damaged = |problem: String| NetworkError::Damaged { name: name.to_owned(), problem };
    budget::check(&budget::NETWORK, &content).map_err(damaged)?;
    let mut net = proto::Net::decode(content).map_err(|error| damaged(error.to_string()))?;
    if net.magic != Some(MAGIC) {
        return Err(NetworkError::NotANetwork { name: name.to_owned() });
    }
    let header = Header::of(&net, name)?;
    if header.structure == Structure::Onnx {
        let outer = net.onnx_model.take().unwrap_or_default();
        let bytes = outer.model.clone().unwrap_or_default();
        let (model, _) = onnx::inspect(bytes, Some(&outer), interface, name)?
            .ok_or_else(|| damaged("the ONNX model in it is missing or unreadable".to_owned()))?;
        return Ok((describe_onnx(&model, header.input, &net), Body::Onnx(model)));
    }
    let weights = net.weights.take().ok_or_else(|| damaged("it holds no weights".to_owned()))?;
    let encoding = net.format.as_ref().and_then(|format| format.weights_encoding).unwrap_or(0);
    let layers = Layers::read(&weights, &header, Decoder::new(name, encoding))?;
    // Only a network that could be used reports a wrong wish, which ends the search for a network.
    if let Some(key) = interface.first_key() {
        let problem = format!("it is in Lc0's own format, and {key} is for ONNX models");
        return Err(NetworkError::Interface { name: name.to_owned(), problem });
    }
    let description = Description::of(&layers, header.input, &net);
    Ok((description, Body::Layers { layers: Box::new(layers), decoded: OnceLock::new() }))
}

fn describe_onnx(model: &OnnxModel, input: InputFormat, net: &proto::Net) -> Description {
    let value = match model.value {
        ValueOutput::Wdl(_) | ValueOutput::LossDrawWinLogits(_) => ValueKind::Wdl,
        ValueOutput::Scalar(_) => ValueKind::Scalar,
    };
    Description::of_onnx(model.bytes.len(), value, model.moves_left.is_some(), input, net)
}
