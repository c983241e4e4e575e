//! Shares one copy of the weights among all sessions on a CPU.
//!
//! Usually every session keeps weights of its own, in the order that its convolutions want. Here a first session
//! optimises the network and writes down the result; its tensors are read once, and lent to each session that is made
//! from it. A second session of a 20x256 network then takes less than a megabyte instead of 96, and no optimisation.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array1, ArrayD, IxDyn, ShapeError, s};
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{DynValue, Tensor};
use prost::Message as _;
use prost::bytes::Bytes;
use tempfile::NamedTempFile;

use zeitnot_network::onnx_proto::data_type::FLOAT;
use zeitnot_network::onnx_proto::{ModelProto, TensorProto};

/// The alignment of weights, in numbers: a cache line and AVX-512's width, as for ONNX Runtime's own weights.
const ALIGNMENT: usize = 16;
/// Tensors of fewer numbers than this stay in the model: lending has its price too.
const SMALLEST: usize = 256;

/// A network as ONNX Runtime optimised it, and its weights.
pub(super) struct SharedWeights {
    model: Optimised,
    tensors: Vec<(String, Arc<DynValue>)>,
}

/// Place of the optimised model.
enum Optimised {
    /// A file without a name, read through this path of `/proc`: nothing is left behind however the process ends.
    Nameless { path: PathBuf, _open: File },
    /// Memory, where files must have names, at the price of a second copy of the weights. ONNX Runtime writes only to a
    /// named file, which exists while the network loads.
    Memory(Bytes),
}

impl Optimised {
    /// A file without a name and a path that reaches it; an error where the system has no such path.
    fn unnamed_file() -> std::io::Result<(File, PathBuf)> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd as _;
            let file = tempfile::tempfile()?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            // Without /proc there is no such path.
            path.metadata()?;
            Ok((file, path))
        }
        #[cfg(not(target_os = "linux"))]
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Lets `write` write a model to a path; returns the model and its bytes.
    fn new(write: impl FnOnce(&Path) -> ort::Result<()>) -> ort::Result<(Optimised, Bytes)> {
        let failed = |error: std::io::Error| ort::Error::new(format!("no optimised model: {error}"));
        if let Ok((file, path)) = Optimised::unnamed_file() {
            write(&path)?;
            let bytes = Bytes::from(std::fs::read(&path).map_err(failed)?);
            return Ok((Optimised::Nameless { path, _open: file }, bytes));
        }
        let path = NamedTempFile::with_prefix("zeitnot-").map_err(failed)?.into_temp_path();
        write(&path)?;
        let bytes = Bytes::from(std::fs::read(&path).map_err(failed)?);
        Ok((Optimised::Memory(bytes.clone()), bytes))
    }
}

impl SharedWeights {
    /// Optimises a model for this processor; `builder` has the settings that all sessions are to have.
    ///
    /// # Errors
    /// When ONNX Runtime does not take the model, or there is no room for it in the folder for temporary files.
    pub(super) fn new(builder: SessionBuilder, model: &[u8]) -> ort::Result<SharedWeights> {
        let write = |path: &Path| builder.with_optimized_model_path(path)?.commit_from_memory(model).map(drop);
        let (kept, bytes) = Optimised::new(write)?;
        let optimised = ModelProto::decode(bytes).map_err(|error| ort::Error::new(error.to_string()))?;
        let initializers = optimised.graph.map(|graph| graph.initializer).unwrap_or_default();
        let mut tensors = Vec::new();
        for initializer in &initializers {
            if let Some((name, numbers)) = numbers(initializer) {
                let array = aligned(&initializer.dims, numbers).map_err(|error| ort::Error::new(error.to_string()))?;
                tensors.push((name.to_owned(), Arc::new(Tensor::from_array(array)?.into_dyn())));
            }
        }
        Ok(SharedWeights { model: kept, tensors })
    }

    /// A session with these weights.
    pub(super) fn session(&self, builder: SessionBuilder) -> ort::Result<Session> {
        // It is optimised already.
        let mut builder = builder.with_optimization_level(GraphOptimizationLevel::Disable)?;
        for (name, tensor) in &self.tensors {
            builder = builder.with_initializer(name, Arc::clone(tensor))?;
        }
        match &self.model {
            Optimised::Nameless { path, .. } => builder.commit_from_file(path),
            Optimised::Memory(bytes) => builder.commit_from_memory(bytes),
        }
    }
}

/// The name and the numbers of a tensor worth sharing: of float32, large, and written in full; else `None`.
fn numbers(tensor: &TensorProto) -> Option<(&str, &[[u8; 4]])> {
    let (numbers, rest) = tensor.raw_data.as_ref()?.as_chunks::<4>();
    let count = tensor.dims.iter().try_fold(1, |count, &dim| usize::try_from(dim).ok()?.checked_mul(count))?;
    let fits = tensor.data_type == Some(FLOAT) && rest.is_empty() && numbers.len() == count && count >= SMALLEST;
    Some((tensor.name.as_deref()?, numbers)).filter(|_| fits)
}

/// The numbers as an array that begins at a multiple of [`ALIGNMENT`], somewhere in a vector with room to spare:
/// weights that are not aligned cost the convolutions a tenth of their speed. (ONNX Runtime shares only what it has not
/// allocated itself.)
fn aligned(dims: &[i64], numbers: &[[u8; 4]]) -> Result<ArrayD<f32>, ShapeError> {
    let mut vector = Vec::with_capacity(numbers.len() + ALIGNMENT);
    let past = (vector.as_ptr() as usize / size_of::<f32>()) % ALIGNMENT;
    let start = (ALIGNMENT - past) % ALIGNMENT;
    vector.resize(start, 0.0);
    vector.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
    let dims: Vec<usize> = dims.iter().map(|&dim| dim as usize).collect();
    Array1::from_vec(vector).slice_move(s![start..]).into_shape_with_order(IxDyn(&dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_numbers_are_aligned() {
        for count in [1, 17, 512, 100_000] {
            let numbers: Vec<[u8; 4]> = (0..count).map(|number| (number as f32).to_le_bytes()).collect();
            let array = aligned(&[1, count, 1], &numbers).unwrap();
            assert_eq!(array.as_ptr() as usize % (ALIGNMENT * size_of::<f32>()), 0);
            assert_eq!((array.shape(), array.is_standard_layout()), (&[1, count as usize, 1][..], true));
            assert!(array.iter().enumerate().all(|(index, &number)| number == index as f32));
        }
    }

    #[test]
    fn a_kept_model_has_no_name() {
        let mut named = PathBuf::new();
        let (kept, bytes) = Optimised::new(|path| {
            named = path.to_path_buf();
            std::fs::write(path, "model").map_err(|error| ort::Error::new(error.to_string()))
        })
        .unwrap();
        assert_eq!(bytes, "model");
        match kept {
            Optimised::Nameless { path, _open } => {
                assert_eq!(std::fs::read(&path).unwrap(), b"model");
                let name = std::fs::read_link(&path).unwrap();
                assert!(!name.exists(), "{}", name.display());
            }
            Optimised::Memory(kept) => assert_eq!((&kept, named.exists()), (&bytes, false)),
        }
    }

    #[test]
    fn only_whole_and_large_tensors_of_float32_are_shared() {
        let tensor = |dims: &[i64], data_type, bytes: usize| TensorProto {
            dims: dims.to_vec(),
            data_type: Some(data_type),
            name: Some("w".into()),
            raw_data: Some(vec![0; bytes].into()),
            ..TensorProto::default()
        };
        assert_eq!(
            numbers(&tensor(&[16, 32], FLOAT, 2048)).map(|(name, numbers)| (name, numbers.len())),
            Some(("w", 512))
        );
        for other in [
            tensor(&[16, 32], 10, 1024),
            tensor(&[4, 4], FLOAT, 64),
            tensor(&[16, 32], FLOAT, 2044),
            tensor(&[16, 32], FLOAT, 2047),
            tensor(&[-1, 32], FLOAT, 2048),
            tensor(&[i64::MAX, i64::MAX], FLOAT, 2048),
            TensorProto { raw_data: None, ..tensor(&[16, 32], FLOAT, 0) },
        ] {
            assert!(numbers(&other).is_none(), "{:?}", other.dims);
        }
    }
}
