//! Damages a network file, by a fixed seed.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use zeitnot_engine::splitmix::SplitMix64 as Random;

use crate::wire::{self, Field, Value};

/// Bytes of a bomb's padding: far more than any network of these tests holds.
const BOMB: usize = 16 << 20;
/// Fields of [`repeat`]: a message of two bytes may take a kilobyte in memory.
const MOST_COPIES: u64 = 100_000;

/// A whole network file, and what its damaged copies start from.
pub struct Original {
    /// Name for the messages of a test.
    pub name: String,
    /// The content, inflated.
    pub content: Vec<u8>,
    zipped: Vec<u8>,
    tree: Vec<Field>,
}

impl Original {
    /// The network with 32-bit numbers most of which are zero and the others of few values.
    pub fn sparse(&self, name: &str) -> Original {
        let mut tree = self.tree.clone();
        for path in wire::places(&self.tree, &is_layer) {
            let (message, place) = wire::around(&mut tree, &path);
            let Value::Message(layer) = &mut message[place].value else { continue };
            let mut random = Random(path.len() as u64);
            for field in layer.iter_mut().filter(|field| is_tensor(field)) {
                let Value::Bytes(bytes) = &mut field.value else { continue };
                let number = |_| if random.below(50) == 0 { random.choice(&[0.25f32, -0.25, 0.5]) } else { 0.0 };
                *bytes = (0..bytes.len() / 2).map(number).flat_map(f32::to_le_bytes).collect();
            }
            layer.retain(|field| field.number != 4);
            layer.push(Field { number: 4, value: Value::Varint(4) });
        }
        let content = wire::write(&tree);
        Original { name: name.to_owned(), zipped: gzip(&content), content, tree }
    }

    /// How many times its size the gzip file inflates to.
    pub fn inflation(&self) -> usize {
        self.content.len() / self.zipped.len()
    }

    /// From the bytes of a file, gzipped or not.
    pub fn new(name: &str, bytes: &[u8]) -> Original {
        let content = if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut content = Vec::new();
            flate2::read::GzDecoder::new(bytes).read_to_end(&mut content).unwrap();
            content
        } else {
            bytes.to_vec()
        };
        // License and names are text, and the numbers of an ONNX tensor (field 9 of an initializer) are no message.
        let is_message = |path: &[u64]| path[0] != 2 && !(path.starts_with(&[7, 5]) && path.len() > 2);
        let tree = wire::read(&content, &mut Vec::new(), &is_message).unwrap();
        assert_eq!(wire::write(&tree), content, "{name}: the tree is the file");
        Original { name: name.to_owned(), zipped: gzip(&content), content, tree }
    }
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

type Damage = fn(&Original, &mut Random) -> Vec<u8>;

/// Every kind of damage, with its name.
pub const KINDS: [(&str, Damage); 19] = [
    ("cut", |net, random| cut(&net.zipped, random)),
    ("cut, whole gzip", |net, random| gzip(&cut(&net.content, random))),
    ("bits flipped", |net, random| flip(net.zipped.clone(), random)),
    ("bits flipped, whole gzip", |net, random| gzip(&flip(net.content.clone(), random))),
    ("bits flipped in the structure", structure),
    ("zeros over a part", |net, random| overwrite(&net.content, random)),
    ("tensor resized", |net, random| gzip(&resize(net, random))),
    ("dimensions", |net, random| gzip(&dimensions(net, random))),
    ("field repeated", |net, random| gzip(&repeat(net, random))),
    ("field absent", |net, random| gzip(&absent(net, random))),
    ("fields swapped", |net, random| gzip(&swapped(net, random))),
    ("wrong length", |net, random| gzip(&lie(net, random))),
    ("bounds of a tensor", |net, random| gzip(&bounds(net, random))),
    ("encoding of a tensor", |net, random| gzip(&encoding(net, random))),
    ("enumeration", |net, random| gzip(&enumeration(net, random))),
    ("zeros after the end", |net, _| gzip(&[&net.content[..], &vec![0; BOMB]].concat())),
    ("unknown field of zeros", |net, random| gzip(&unknown(net, random))),
    ("tensor of zeros", |net, random| gzip(&bomb(net, random))),
    ("not zipped", |net, random| flip(cut(&net.content, random), random)),
];

fn cut(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    // Half of the cuts where there is most to break: at the start and the end.
    let length = match random.below(4) {
        0 => random.below(200),
        1 => bytes.len() - 1 - random.below(200),
        _ => random.below(bytes.len()),
    };
    bytes[..length].to_vec()
}

fn flip(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    for _ in 0..1 + random.below(8) {
        let place = random.below(bytes.len());
        bytes[place] ^= 1 << random.below(8);
    }
    bytes
}

/// Flips bits outside the numbers of tensors.
fn structure(net: &Original, random: &mut Random) -> Vec<u8> {
    // What stays when the bytes of every tensor are taken out, and where it stood.
    let mut bytes = net.content.clone();
    let longest = random.choice(&[16, 64, 256]);
    let tensors =
        wire::places(&net.tree, &|field| matches!(&field.value, Value::Bytes(bytes) if bytes.len() > longest));
    let mut tree = net.tree.clone();
    let mut holes = Vec::new();
    let mut from = 0;
    for path in tensors {
        let (message, place) = wire::around(&mut tree, &path);
        let Value::Bytes(tensor) = &message[place].value else { continue };
        if let Some(at) = find(&net.content[from..], tensor) {
            holes.push(from + at..from + at + tensor.len());
            from += at + tensor.len();
        }
    }
    for _ in 0..1 + random.below(4) {
        let place =
            (0..1000).map(|_| random.below(bytes.len())).find(|place| !holes.iter().any(|hole| hole.contains(place)));
        if let Some(place) = place {
            bytes[place] ^= 1 << random.below(8);
        }
    }
    gzip(&bytes)
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn overwrite(content: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = content.to_vec();
    let start = random.below(bytes.len());
    let length = (1 + random.below(bytes.len() / 4)).min(bytes.len() - start);
    bytes[start..start + length].fill(random.choice(&[0, 0xff]));
    gzip(&bytes)
}

/// A copy of the tree with one field changed, which `wanted` chooses among.
fn changed(
    net: &Original,
    random: &mut Random,
    wanted: &dyn Fn(&Field) -> bool,
    change: impl FnOnce(&mut Vec<Field>, usize, &mut Random),
) -> Vec<u8> {
    let mut tree = net.tree.clone();
    let places = wire::places(&tree, wanted);
    if let Some(path) = places.get(random.below(places.len())) {
        let (message, place) = wire::around(&mut tree, path);
        change(message, place, random);
    }
    wire::write(&tree)
}

/// Whether a field holds the numbers of a tensor: the parameters of a layer, or the raw data of an ONNX tensor.
fn is_tensor(field: &Field) -> bool {
    matches!(field.number, 3 | 9) && matches!(&field.value, Value::Bytes(bytes) if bytes.len() > 1)
}

fn resize(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &is_tensor, |message, place, random| {
        let Value::Bytes(bytes) = &mut message[place].value else { return };
        let length = bytes.len();
        let wanted = match random.below(7) {
            0 => 0,
            1 => length - 1,
            2 => length - 2,
            3 => length + 2,
            4 => length / 2,
            5 => length * 2,
            _ => random.below(2 * length),
        };
        bytes.resize_with(wanted, || random.next_u64() as u8);
    })
}

fn is_layer(field: &Field) -> bool {
    matches!(&field.value, Value::Message(inner) if inner.iter().any(is_tensor))
}

fn dimensions(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &is_layer, |message, place, random| {
        let Value::Message(layer) = &mut message[place].value else { return };
        // Field 5 of an Lc0 layer; field 1 of an ONNX tensor, whose data are field 9.
        let number = if layer.iter().any(|field| field.number == 9) { 1 } else { 5 };
        layer.retain(|field| field.number != number);
        // Sometimes far more of them than numbers: each takes two bytes here, and more once it is read.
        if random.below(4) == 0 {
            let sizes =
                vec![Field { number, value: Value::Varint(1) }; (net.content.len() / 8).min(MOST_COPIES as usize)];
            layer.extend(sizes);
        } else if random.below(4) == 0 && number == 5 {
            layer.push(Field { number, value: Value::Bytes(vec![1; net.content.len() / 4]) });
        }
        for _ in 0..random.below(6) {
            let size = random.choice(&[0, 1, 2, 3, 8, 64, 1 << 20, u64::from(u32::MAX), 1 << 40, u64::MAX]);
            layer.insert(0, Field { number, value: Value::Varint(size) });
        }
    })
}

fn repeat(net: &Original, random: &mut Random) -> Vec<u8> {
    let message = |field: &Field| matches!(field.value, Value::Message(_));
    let length = net.content.len();
    changed(net, random, &message, |message, place, random| {
        let mut field = message[place].clone();
        if random.below(2) == 0 {
            field.value = Value::Message(Vec::new());
        }
        // Not so often that the file becomes another size of file: what is measured is what a small one costs.
        let size = wire::write(std::slice::from_ref(&field)).len();
        let copies = (1 + random.below(3) as u64 * (length / 4 / size) as u64 / 2).min(MOST_COPIES);
        message.splice(place..place, (0..copies).map(|_| field.clone()));
    })
}

fn absent(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &|_| true, |message, place, _| {
        message.remove(place);
    })
}

fn swapped(net: &Original, random: &mut Random) -> Vec<u8> {
    let mut tree = net.tree.clone();
    let layers = wire::places(&tree, &is_layer);
    let paths = [random.below(layers.len()), random.below(layers.len())].map(|index| &layers[index]);
    let [a, b] = paths.map(|path| {
        let (message, place) = wire::around(&mut tree, path);
        message[place].value.clone()
    });
    for (path, value) in paths.into_iter().zip([b, a]) {
        let (message, place) = wire::around(&mut tree, path);
        message[place].value = value;
    }
    wire::write(&tree)
}

fn lie(net: &Original, random: &mut Random) -> Vec<u8> {
    let lengthy = |field: &Field| matches!(field.value, Value::Message(_) | Value::Bytes(_));
    changed(net, random, &lengthy, |message, place, random| {
        let content = match &message[place].value {
            Value::Bytes(content) => content.clone(),
            Value::Message(inner) => wire::write(inner),
            _ => return,
        };
        let length = content.len() as u64;
        let other = [length + 1, length.saturating_sub(1), 2 * length, 1 << 31, (1 << 32) - 1, 1 << 40, u64::MAX];
        message[place].value = Value::Lie(random.choice(&other), content);
    })
}

fn bounds(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &|field| matches!(field.value, Value::Fixed32(_)), |message, place, random| {
        let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, 1e-40];
        message[place].value = Value::Fixed32(random.choice(&values).to_le_bytes());
    })
}

fn encoding(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &is_layer, |message, place, random| {
        let Value::Message(layer) = &mut message[place].value else { return };
        // Field 4 of an Lc0 layer; field 2, the type, of an ONNX tensor.
        let number = if layer.iter().any(|field| field.number == 9) { 2 } else { 4 };
        layer.retain(|field| field.number != number);
        layer.push(Field { number, value: Value::Varint(random.choice(&[0, 1, 2, 3, 4, 5, 7, 99, u64::MAX])) });
    })
}

fn enumeration(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &|field| matches!(field.value, Value::Varint(_)), |message, place, random| {
        message[place].value =
            Value::Varint(random.choice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 132, 133, 134, 1 << 20, u64::MAX]));
    })
}

fn unknown(net: &Original, random: &mut Random) -> Vec<u8> {
    let mut tree = net.tree.clone();
    // Known to no schema, or the license.
    let field = Field { number: random.choice(&[2, 15, 1000]), value: Value::Bytes(vec![0; BOMB]) };
    tree.insert(random.below(tree.len() + 1).max(1), field);
    wire::write(&tree)
}

fn bomb(net: &Original, random: &mut Random) -> Vec<u8> {
    changed(net, random, &is_tensor, |message, place, _| {
        message[place].value = Value::Bytes(vec![0; BOMB]);
    })
}
