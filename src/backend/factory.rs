//! Backends by name.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    Backend, BackendError, CachedBackend, NativeBackend, OnnxRuntimeBackend, RandomBackend, UniformBackend, runtime,
};
use crate::network::{HistoryFill, Network};

/// The names that [`create`] takes, besides aliases.
pub const BACKENDS: [&str; 5] = ["auto", "native", "onnxruntime", "uniform", "random"];

/// Names by which users of Lc0 ask for a device that this build cannot drive, and what it would need.
const ABSENT: [(&str, &str); 12] = [
    ("onnx-cuda", "ONNX Runtime's CUDA provider"),
    ("onnx-trt", "ONNX Runtime's TensorRT provider"),
    ("onnx-rocm", "ONNX Runtime's ROCm provider"),
    ("onnx-migraphx", "ONNX Runtime's MIGraphX provider"),
    ("onnx-dml", "ONNX Runtime's DirectML provider"),
    ("onnx-coreml", "ONNX Runtime's CoreML provider"),
    ("onnx-openvino", "ONNX Runtime's OpenVINO provider"),
    ("cuda", "CUDA"),
    ("cuda-fp16", "CUDA"),
    ("cuda-auto", "CUDA"),
    ("metal", "Metal"),
    ("opencl", "OpenCL"),
];

/// What a backend is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendOptions {
    /// The library of ONNX Runtime, where the user names one.
    pub runtime: Option<PathBuf>,
    /// Positions in the cache (Lc0's `NNCacheSize`); 0 for none.
    pub cache_size: usize,
    /// Threads of ONNX Runtime inside one worker. One is best: two workers with one thread each do more than one with
    /// two (2.1 times at batch 1, 1.05 times at batch 32; measured on two cores).
    pub session_threads: usize,
    /// What stands for positions before the first one known.
    pub history_fill: HistoryFill,
    /// Seed of the backend `random`.
    pub seed: u64,
}

impl BackendOptions {
    /// Positions in the cache unless told otherwise: Lc0's default (lc0.md E).
    pub const DEFAULT_CACHE_SIZE: usize = 2_000_000;
}

impl Default for BackendOptions {
    fn default() -> BackendOptions {
        BackendOptions {
            runtime: None,
            cache_size: BackendOptions::DEFAULT_CACHE_SIZE,
            session_threads: 1,
            history_fill: HistoryFill::FenOnly,
            seed: 0,
        }
    }
}

/// What a name means.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Native,
    OnnxRuntime,
    Uniform,
    Random,
}

fn kind(name: &str) -> Result<Kind, BackendError> {
    match name.to_ascii_lowercase().as_str() {
        "auto" | "onnxruntime" | "onnxruntime-cpu" | "onnx" | "onnx-cpu" => Ok(Kind::OnnxRuntime),
        "native" => Ok(Kind::Native),
        "uniform" | "trivial" => Ok(Kind::Uniform),
        "random" => Ok(Kind::Random),
        lower => {
            let (name, known) = (name.to_owned(), BACKENDS.join(", "));
            let absent = ABSENT.iter().find(|(absent, _)| *absent == lower);
            Err(match absent {
                Some((_, needs)) => BackendError::NotInThisBuild { name, needs: (*needs).to_owned(), known },
                None => BackendError::Unknown { name, known },
            })
        }
    }
}

/// Whether the backend `name` runs a network.
///
/// # Errors
///
/// When there is no such backend, or not in this build.
pub fn needs_network(name: &str) -> Result<bool, BackendError> {
    Ok(matches!(kind(name)?, Kind::Native | Kind::OnnxRuntime))
}

/// Makes the backend `name`, with a cache in front unless its size is 0.
///
/// `auto` is the fastest that can run the network on this machine; what it took, [`Backend::attributes`] says. Names are
/// case-insensitive; `onnx`, `onnx-cpu` and `onnxruntime-cpu` are `onnxruntime`, and `trivial` is `uniform` (Lc0's names).
///
/// # Errors
///
/// When there is no such backend, when it is one of another build or device (a device that was asked for is never
/// replaced by the CPU), when it needs a network and has none, or when it cannot run this one. Nothing is downloaded:
/// see [`runtime::ensure_installed`].
pub fn create(
    name: &str,
    network: Option<&Network>,
    options: &BackendOptions,
) -> Result<Arc<dyn Backend>, BackendError> {
    let inner: Arc<dyn Backend> = match kind(name)? {
        Kind::Native => {
            let network = network.ok_or_else(|| BackendError::NoNetwork(name.to_owned()))?;
            Arc::new(NativeBackend::new(network, None, options.history_fill)?)
        }
        Kind::OnnxRuntime => {
            let network = network.ok_or_else(|| BackendError::NoNetwork(name.to_owned()))?;
            let runtime = runtime::load(options.runtime.as_deref())?;
            Arc::new(OnnxRuntimeBackend::new(runtime, network, options.session_threads, options.history_fill)?)
        }
        Kind::Uniform => Arc::new(UniformBackend::new()),
        Kind::Random => Arc::new(RandomBackend::new(options.seed)),
    };
    Ok(match options.cache_size {
        0 => inner,
        size => Arc::new(CachedBackend::new(inner, size)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> String {
        create(name, None, &BackendOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        assert_eq!(line("gpu9000"), "unknown backend gpu9000; there are: auto, native, onnxruntime, uniform, random");
    }

    #[test]
    fn a_device_of_another_build_is_an_error() {
        let text = line("onnx-cuda");
        assert!(
            text.starts_with("the backend onnx-cuda needs ONNX Runtime's CUDA provider, which is not in"),
            "{text}"
        );
    }

    #[test]
    fn a_network_is_needed_to_run_one() {
        for name in ["auto", "onnxruntime", "ONNX-CPU"] {
            assert_eq!(line(name), format!("the backend {name} needs a network, and none was given"));
        }
    }

    #[test]
    fn a_cache_stands_in_front_unless_its_size_is_0() {
        let with = |cache_size| {
            let options = BackendOptions { cache_size, ..BackendOptions::default() };
            create("uniform", None, &options).unwrap().cache_fill()
        };
        assert_eq!((with(0), with(10)), (None, Some(0)));
    }
}
