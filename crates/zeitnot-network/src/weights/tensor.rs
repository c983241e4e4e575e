//! One tensor of the file: quantised integers or floats, decoded to `f32` where it is used.

use std::fmt;
use std::sync::Arc;

use half::{bf16, f16};
use prost::bytes::Bytes;

use crate::NetworkError;
use crate::proto::Layer;

/// `Encoding` of the file format.
pub(crate) mod encoding {
    pub(crate) const LINEAR16: i32 = 1;
    pub(crate) const FLOAT16: i32 = 2;
    pub(crate) const BFLOAT16: i32 = 3;
    pub(crate) const FLOAT32: i32 = 4;
}

/// Encoding of a tensor's numbers; all little-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    /// Unsigned 16-bit numbers that count steps from the least value towards the largest.
    Linear16 {
        minimum: f32,
        range: f32,
    },
    Float16,
    Bfloat16,
    Float32,
}

/// A tensor as it lies in the file: decoded number by number where it is used, so that no second copy of a network has
/// to be kept.
#[derive(Clone, PartialEq)]
pub struct Tensor {
    bytes: Bytes,
    encoding: Encoding,
    /// Factors on the numbers: the tensor is as many equal parts as there are factors, each multiplied by its own. They
    /// come from a batch normalisation, folded into the layer.
    factors: Option<Arc<[f32]>>,
}

impl Tensor {
    /// The number of values.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.encoding.width()
    }

    /// The tensor in as many equal parts as there are factors, each part multiplied by its factor.
    pub(crate) fn scaled_by_parts(self, factors: Vec<f32>) -> Tensor {
        debug_assert!(self.len().is_multiple_of(factors.len()));
        Tensor { factors: Some(factors.into()), ..self }
    }

    /// Calls `take` with every number, in order.
    pub fn for_each(&self, mut take: impl FnMut(f32)) {
        match &self.factors {
            None => self.encoding.decode(&self.bytes, take),
            Some(factors) => {
                let part = self.bytes.len() / factors.len();
                for (bytes, factor) in self.bytes.chunks_exact(part.max(1)).zip(factors.iter()) {
                    self.encoding.decode(bytes, |value| take(value * factor));
                }
            }
        }
    }

    /// Every number, in order.
    pub fn values(&self) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.len());
        self.for_each(|value| values.push(value));
        values
    }
}

impl fmt::Debug for Tensor {
    /// Writes the tensor without its numbers, of which there are millions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} numbers, {:?})", self.len(), self.encoding)
    }
}

impl Encoding {
    /// Bytes of a number.
    fn width(self) -> usize {
        match self {
            Encoding::Linear16 { .. } | Encoding::Float16 | Encoding::Bfloat16 => 2,
            Encoding::Float32 => 4,
        }
    }

    /// Calls `take` with the numbers that the bytes encode, in order.
    fn decode(self, bytes: &[u8], take: impl FnMut(f32)) {
        let pairs = bytes.as_chunks::<2>().0.iter().copied();
        match self {
            // In the order of Lc0's arithmetic, so that both round to the same weights.
            Encoding::Linear16 { minimum, range } => {
                pairs.map(|pair| f32::from(u16::from_le_bytes(pair)) / LINEAR16_STEPS * range + minimum).for_each(take)
            }
            Encoding::Float16 => pairs.map(|pair| f16::from_le_bytes(pair).to_f32()).for_each(take),
            Encoding::Bfloat16 => pairs.map(|pair| bf16::from_le_bytes(pair).to_f32()).for_each(take),
            Encoding::Float32 => bytes.as_chunks::<4>().0.iter().map(|&quad| f32::from_le_bytes(quad)).for_each(take),
        }
    }
}

/// Looks up the tensors of one file and words the errors about them.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    name: &'a str,
    /// The encoding of layers that do not state one.
    default_encoding: i32,
}

impl<'a> Decoder<'a> {
    /// A decoder for the file `name`; `default_encoding` is that of the file's header, 0 when the header states none.
    pub fn new(name: &'a str, default_encoding: i32) -> Decoder<'a> {
        let default_encoding = if default_encoding == 0 { encoding::LINEAR16 } else { default_encoding };
        Decoder { name, default_encoding }
    }

    /// The error that `tensor` has this `problem`.
    pub fn error(&self, tensor: &str, problem: impl Into<String>) -> NetworkError {
        NetworkError::Tensor { name: self.name.to_owned(), tensor: tensor.to_owned(), problem: problem.into() }
    }

    /// The error that the file is of a kind that cannot run; `what` is the kind and its verb.
    pub(crate) fn unsupported(&self, what: impl Into<String>) -> NetworkError {
        NetworkError::Unsupported { name: self.name.to_owned(), what: what.into() }
    }

    /// The tensor, which must be there.
    pub(crate) fn required(&self, tensor: &str, layer: Option<&Layer>) -> Result<Tensor, NetworkError> {
        self.optional(tensor, layer)?.ok_or_else(|| self.error(tensor, "is missing"))
    }

    /// The tensor, which must be there and hold `length` numbers.
    pub(crate) fn sized(&self, tensor: &str, layer: Option<&Layer>, length: usize) -> Result<Tensor, NetworkError> {
        let found = self.required(tensor, layer)?;
        self.check_length(tensor, found, length)
    }

    /// The tensor if it is there; then it must hold `length` numbers.
    pub(crate) fn optional_sized(
        &self,
        tensor: &str,
        layer: Option<&Layer>,
        length: usize,
    ) -> Result<Option<Tensor>, NetworkError> {
        self.optional(tensor, layer)?.map(|found| self.check_length(tensor, found, length)).transpose()
    }

    /// The tensor if it is there; a tensor without data counts as absent.
    ///
    /// A number that is not finite is an error.
    pub(crate) fn optional(&self, tensor: &str, layer: Option<&Layer>) -> Result<Option<Tensor>, NetworkError> {
        let Some(layer) = layer else { return Ok(None) };
        let bytes = layer.params.clone().unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let encoding = match layer.encoding.filter(|&encoding| encoding != 0).unwrap_or(self.default_encoding) {
            encoding::LINEAR16 => {
                let minimum = layer.min_val.unwrap_or(0.0);
                Encoding::Linear16 { minimum, range: layer.max_val.unwrap_or(0.0) - minimum }
            }
            encoding::FLOAT16 => Encoding::Float16,
            encoding::BFLOAT16 => Encoding::Bfloat16,
            encoding::FLOAT32 => Encoding::Float32,
            other => return Err(self.error(tensor, format!("has the unknown encoding {other}"))),
        };
        let width = encoding.width();
        if !bytes.len().is_multiple_of(width) {
            return Err(self.error(tensor, format!("has {} bytes, not a multiple of {width}", bytes.len())));
        }
        let found = Tensor { bytes, encoding, factors: None };
        self.check_dimensions(tensor, layer, found.len())?;
        let mut finite = true;
        match encoding {
            // Every value lies between the ends.
            Encoding::Linear16 { minimum, range } => finite = minimum.is_finite() && range.is_finite(),
            _ => found.for_each(|value| finite &= value.is_finite()),
        }
        if finite { Ok(Some(found)) } else { Err(self.error(tensor, "holds a value that is not a finite number")) }
    }

    fn check_length(&self, tensor: &str, found: Tensor, length: usize) -> Result<Tensor, NetworkError> {
        if found.len() == length {
            Ok(found)
        } else {
            Err(self.error(tensor, format!("has {} values where {length} fit the rest of the network", found.len())))
        }
    }

    /// Checks that the sizes that a layer states, if it does, give the number of its values.
    fn check_dimensions(&self, tensor: &str, layer: &Layer, length: usize) -> Result<(), NetworkError> {
        let product = layer.dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim as usize));
        if layer.dims.is_empty() || product == Some(length) {
            Ok(())
        } else {
            let (shown, rest) = layer.dims.split_at(layer.dims.len().min(MOST_DIMS));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            Err(self.error(tensor, format!("has {length} values but states the sizes {shown:?}{more}")))
        }
    }
}

/// The most sizes of a tensor that an error lists: more than any tensor has.
const MOST_DIMS: usize = 8;
/// Steps between the least and the largest value of a LINEAR16 tensor (docs/lc0.md, 4.6).
const LINEAR16_STEPS: f32 = u16::MAX as f32;

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(encoding: Option<i32>, params: &[u8]) -> Layer {
        Layer {
            min_val: Some(-1.0),
            max_val: Some(3.0),
            params: Some(params.to_vec().into()),
            encoding,
            dims: Vec::new(),
        }
    }

    fn decode(layer: &Layer) -> Result<Vec<f32>, NetworkError> {
        Ok(Decoder::new("x.pb", 0).required("input.weights", Some(layer))?.values())
    }

    #[test]
    fn tensors_of_every_encoding_decode() {
        assert_eq!(decode(&layer(None, &[0, 0, 0xff, 0xff])).unwrap(), [-1.0, 3.0]);
        let middle = decode(&layer(Some(encoding::LINEAR16), &[0, 0x80])).unwrap()[0];
        assert!((middle - 1.0).abs() < 1e-4, "{middle}");
        assert_eq!(decode(&layer(Some(encoding::FLOAT16), &[0x00, 0x3e])).unwrap(), [1.5]);
        assert_eq!(decode(&layer(Some(encoding::BFLOAT16), &[0xc0, 0x3f])).unwrap(), [1.5]);
        assert_eq!(decode(&layer(Some(encoding::FLOAT32), &1.5f32.to_le_bytes())).unwrap(), [1.5]);
    }

    #[test]
    fn the_header_gives_the_default_encoding() {
        let decoder = Decoder::new("x.pb", encoding::FLOAT16);
        assert_eq!(decoder.required("t", Some(&layer(None, &[0x00, 0x3e]))).unwrap().values(), [1.5]);
    }

    #[test]
    fn factors_multiply_their_parts_of_a_tensor() {
        let tensor = Decoder::new("x.pb", 0).required("t", Some(&layer(None, &[0, 0, 0xff, 0xff]))).unwrap();
        assert_eq!(tensor.clone().scaled_by_parts(vec![2.0, 3.0]).values(), [-2.0, 9.0]);
        assert_eq!(tensor.scaled_by_parts(vec![0.5]).values(), [-0.5, 1.5]);
    }

    #[test]
    fn bad_tensors_are_named() {
        let cases = [
            (layer(None, &[1, 2, 3]), "3 bytes"),
            (layer(Some(encoding::FLOAT32), &[1, 2]), "multiple of 4"),
            (layer(Some(7), &[1, 2]), "unknown encoding 7"),
            (layer(Some(encoding::FLOAT32), &f32::NAN.to_le_bytes()), "not a finite number"),
            (Layer { max_val: Some(f32::INFINITY), ..layer(None, &[1, 2]) }, "not a finite number"),
            (layer(None, &[]), "is missing"),
            (Layer { dims: vec![2, 2], ..layer(None, &[1, 2]) }, "states the sizes [2, 2]"),
            (
                Layer { dims: vec![1; 9], ..layer(None, &[1, 2, 3, 4]) },
                "states the sizes [1, 1, 1, 1, 1, 1, 1, 1] and 1 more",
            ),
            (Layer { dims: vec![u32::MAX; 9], ..layer(None, &[1, 2]) }, "and 1 more"),
        ];
        for (layer, wanted) in cases {
            let error = decode(&layer).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("input.weights") && error.contains("x.pb"), "{error}");
        }
    }
}
