//! One tensor of the file: quantised integers or short floats, decoded to `f32`.

use half::{bf16, f16};

use crate::network::NetworkError;
use crate::network::proto::Layer;

/// `Encoding` of the file format.
pub(crate) mod encoding {
    pub(crate) const LINEAR16: i32 = 1;
    pub(crate) const FLOAT16: i32 = 2;
    pub(crate) const BFLOAT16: i32 = 3;
    pub(crate) const FLOAT32: i32 = 4;
}

/// Decodes tensors of one file and words the errors about them.
#[derive(Clone, Copy)]
pub(crate) struct Decoder<'a> {
    name: &'a str,
    /// The encoding of layers that do not say theirs.
    default_encoding: i32,
}

impl<'a> Decoder<'a> {
    /// A decoder for the file `name`; `default_encoding` is that of the file's header, 0 when it says none.
    pub(crate) fn new(name: &'a str, default_encoding: i32) -> Decoder<'a> {
        let default_encoding = if default_encoding == 0 { encoding::LINEAR16 } else { default_encoding };
        Decoder { name, default_encoding }
    }

    /// The error that `tensor` has this `problem`.
    pub(crate) fn error(&self, tensor: &str, problem: impl Into<String>) -> NetworkError {
        NetworkError::Tensor { name: self.name.to_owned(), tensor: tensor.to_owned(), problem: problem.into() }
    }

    /// The tensor, which must be there.
    pub(crate) fn required(&self, tensor: &str, layer: Option<&Layer>) -> Result<Vec<f32>, NetworkError> {
        self.optional(tensor, layer)?.ok_or_else(|| self.error(tensor, "is missing"))
    }

    /// The tensor, which must be there and hold `length` numbers.
    pub(crate) fn sized(&self, tensor: &str, layer: Option<&Layer>, length: usize) -> Result<Vec<f32>, NetworkError> {
        let values = self.required(tensor, layer)?;
        self.check_length(tensor, values, length)
    }

    /// The tensor if it is there; then it must hold `length` numbers.
    pub(crate) fn optional_sized(
        &self,
        tensor: &str,
        layer: Option<&Layer>,
        length: usize,
    ) -> Result<Option<Vec<f32>>, NetworkError> {
        self.optional(tensor, layer)?.map(|values| self.check_length(tensor, values, length)).transpose()
    }

    /// The tensor if it is there; one without data counts as absent.
    pub(crate) fn optional(&self, tensor: &str, layer: Option<&Layer>) -> Result<Option<Vec<f32>>, NetworkError> {
        let Some(layer) = layer else { return Ok(None) };
        let bytes: &[u8] = layer.params.as_deref().unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let encoding = layer.encoding.filter(|&encoding| encoding != 0).unwrap_or(self.default_encoding);
        let width = match encoding {
            encoding::LINEAR16 | encoding::FLOAT16 | encoding::BFLOAT16 => 2,
            encoding::FLOAT32 => 4,
            other => return Err(self.error(tensor, format!("has the unknown encoding {other}"))),
        };
        if !bytes.len().is_multiple_of(width) {
            return Err(self.error(tensor, format!("has {} bytes, not a multiple of {width}", bytes.len())));
        }
        let values: Vec<f32> = match encoding {
            encoding::LINEAR16 => {
                let minimum = layer.min_val.unwrap_or(0.0);
                let range = layer.max_val.unwrap_or(0.0) - minimum;
                pairs(bytes)
                    .map(|pair| f32::from(u16::from_le_bytes(pair)) / LINEAR16_STEPS * range + minimum)
                    .collect()
            }
            encoding::FLOAT16 => pairs(bytes).map(|pair| f16::from_le_bytes(pair).to_f32()).collect(),
            encoding::BFLOAT16 => pairs(bytes).map(|pair| bf16::from_le_bytes(pair).to_f32()).collect(),
            _ => bytes.as_chunks::<4>().0.iter().map(|&quad| f32::from_le_bytes(quad)).collect(),
        };
        self.check_dimensions(tensor, layer, values.len())?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(self.error(tensor, "holds a value that is not a finite number"));
        }
        Ok(Some(values))
    }

    fn check_length(&self, tensor: &str, values: Vec<f32>, length: usize) -> Result<Vec<f32>, NetworkError> {
        if values.len() == length {
            Ok(values)
        } else {
            Err(self.error(tensor, format!("has {} values where {length} fit the rest of the network", values.len())))
        }
    }

    /// The sizes that a layer states, where it does, must give the number of its values.
    fn check_dimensions(&self, tensor: &str, layer: &Layer, length: usize) -> Result<(), NetworkError> {
        let product = layer.dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim as usize));
        if layer.dims.is_empty() || product == Some(length) {
            Ok(())
        } else {
            Err(self.error(tensor, format!("has {length} values but states the sizes {:?}", layer.dims)))
        }
    }
}

/// Steps between the least and the largest value of a LINEAR16 tensor (lc0.md D.6).
const LINEAR16_STEPS: f32 = u16::MAX as f32;

fn pairs(bytes: &[u8]) -> impl Iterator<Item = [u8; 2]> + '_ {
    bytes.as_chunks::<2>().0.iter().copied()
}

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
        Decoder::new("x.pb", 0).required("input.weights", Some(layer))
    }

    #[test]
    fn every_encoding() {
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
        assert_eq!(decoder.required("t", Some(&layer(None, &[0x00, 0x3e]))).unwrap(), [1.5]);
    }

    #[test]
    fn bad_tensors_are_named() {
        let cases = [
            (layer(None, &[1, 2, 3]), "3 bytes"),
            (layer(Some(encoding::FLOAT32), &[1, 2]), "multiple of 4"),
            (layer(Some(7), &[1, 2]), "unknown encoding 7"),
            (layer(Some(encoding::FLOAT32), &f32::NAN.to_le_bytes()), "not a finite number"),
            (layer(None, &[]), "is missing"),
            (Layer { dims: vec![2, 2], ..layer(None, &[1, 2]) }, "states the sizes [2, 2]"),
            (Layer { dims: vec![u32::MAX; 9], ..layer(None, &[1, 2]) }, "states the sizes"),
        ];
        for (layer, wanted) in cases {
            let error = decode(&layer).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("input.weights") && error.contains("x.pb"), "{error}");
        }
    }
}
