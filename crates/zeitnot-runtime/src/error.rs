//! Describes the errors of finding, loading and installing ONNX Runtime.

use std::io;
use std::path::{Path, PathBuf};

use super::candidates::Origin;
use super::cuda_version::CudaVersion;
use super::pins::Variant;
use super::provider::Provider;

/// Why ONNX Runtime is not available.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum RuntimeError {
    /// The crate was built without the feature `onnxruntime`.
    #[error("this build has no ONNX Runtime (feature onnxruntime)")]
    NotInThisBuild,
    /// The program is linked statically with musl, whose loader is not in it.
    #[error(
        "this program is static and can load no ONNX Runtime: take the one for glibc, or a network that the backend native runs"
    )]
    StaticProgram,
    /// The file that the user named is not there.
    #[error("there is no ONNX Runtime at {path} ({origin})", path = path.display())]
    Missing { path: PathBuf, origin: Origin },
    /// The system cannot load the file.
    #[error("{path} ({origin}) cannot be loaded: {reason}", path = path.display())]
    NotLoadable { path: PathBuf, origin: Origin, reason: String },
    /// The file is a library, but not ONNX Runtime.
    #[error("{path} ({origin}) is not ONNX Runtime", path = path.display())]
    NotOnnxRuntime { path: PathBuf, origin: Origin },
    /// The version is below what this build needs.
    #[cfg(feature = "onnxruntime")]
    #[error("{path} is ONNX Runtime {version}; 1.{minimum} or later is needed", path = path.display(), minimum = ort::MINOR_VERSION)]
    TooOld { path: PathBuf, version: String },
    /// The library loaded but would not start.
    #[error("ONNX Runtime at {path} does not start: {reason}", path = path.display())]
    NotStarting { path: PathBuf, reason: String },
    /// No usable library anywhere.
    #[error("ONNX Runtime was not found; `zeitnot runtime install` obtains it{}", also_found(.0))]
    NotFound(
        /// The files that were found and could not be used, with the reason.
        Vec<RuntimeError>,
    ),
    /// Library that works, but was built without the execution provider that is needed.
    #[error("{path} is ONNX Runtime {version} without {provider} ({source})",
        path = path.display(), source = source_of(*provider))]
    WithoutProvider { path: PathBuf, version: String, provider: Provider },
    /// Library for a CUDA that this machine does not run.
    #[error("{path} is for {cuda}, and {reason}", path = path.display())]
    WrongCuda { path: PathBuf, cuda: CudaVersion, reason: String },
    /// No card that the execution provider could drive is found: no other library would help.
    #[error("{provider} cannot run here: {reason}")]
    NoCard { provider: Provider, reason: String },
    /// No usable library with the execution provider was found anywhere.
    #[error("no ONNX Runtime with {provider} was found; {}{}", source_of(*provider), also_found(.unfit))]
    NotFoundWith {
        provider: Provider,
        /// The files that were found and could not be used, with the reason.
        unfit: Vec<RuntimeError>,
    },
    /// The process has already loaded an ONNX Runtime without the execution provider, and cannot load another.
    #[error("{provider} needs another ONNX Runtime than the one loaded from {loaded}, and a process has only one: \
        restart with this backend chosen from the start{hint}", loaded = loaded.display())]
    LoadedWithout {
        provider: Provider,
        loaded: PathBuf,
        /// Addition in brackets on how to get a library with the provider; empty where one is installed.
        hint: String,
    },
    /// The process has already loaded another ONNX Runtime, and can load only one.
    #[error("ONNX Runtime is already loaded from {loaded}: restart to use {wanted}", loaded = loaded.display(), wanted = wanted.display())]
    AlreadyLoaded { loaded: PathBuf, wanted: PathBuf },
    /// Failure to obtain a library that was not there.
    #[error("ONNX Runtime was not found and could not be installed: {0}")]
    Install(InstallError),
}

/// Written by hand: `#[from]` would make the inner error the outer one's source, and show its text twice.
impl From<InstallError> for RuntimeError {
    fn from(error: InstallError) -> RuntimeError {
        RuntimeError::Install(error)
    }
}

/// Words that say how to get a runtime with `provider`.
pub(super) fn source_of(provider: Provider) -> String {
    let is_there = match provider {
        Provider::CoreMl => cfg!(target_os = "macos"),
        provider => provider.variants().iter().any(|variant| variant.pin().is_some()),
    };
    match is_there {
        // TensorRT's own libraries are in no package.
        true if provider == Provider::TensorRt => {
            format!("`{}` obtains it, but not TensorRT 10 itself (docs/devices.md)", provider.command())
        }
        true => format!("`{}` obtains it", provider.command()),
        false => "there is no package of it for this platform".to_owned(),
    }
}

/// The list of unusable files at the end of [`RuntimeError::NotFound`]'s text; empty without any.
fn also_found(reasons: &[RuntimeError]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let list: Vec<String> = reasons.iter().map(RuntimeError::to_string).collect();
    format!(" (found but not usable: {})", list.join("; "))
}

/// An ONNX Runtime that could not be installed, and the reason.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum InstallError {
    /// The package has no wheel for this platform.
    #[error(
        "there is no {variant} package of ONNX Runtime for {platform}; obtain ONNX Runtime 1.22 or later for it and set \
         ORT_DYLIB_PATH to its library"
    )]
    NoWheel { variant: Variant, platform: String },
    /// The user has no home folder.
    #[error("no cache folder: the home folder of this user is not known")]
    NoCacheFolder,
    /// No Python was found.
    #[error(
        "no Python found (tried {0}); ONNX Runtime is obtained with python3 and its pip: install them and try again"
    )]
    NoPython(String),
    /// Python was found, but not pip.
    #[error("{0} has no pip; install pip (such as `{0} -m ensurepip` or the package python3-pip) and try again")]
    NoPip(String),
    /// pip could not reach the index.
    #[error("pip cannot reach the package index: {0}")]
    NoNetwork(String),
    /// pip failed for another reason; its own words.
    #[error("pip could not do its work: {0}")]
    Pip(String),
    /// A file does not have the pinned hash.
    #[error("{path} is not the pinned file: its sha256 is {actual}, not {expected}", path = path.display())]
    HashMismatch { path: PathBuf, expected: String, actual: String },
    /// The wheel cannot be unpacked.
    #[error("{wheel} cannot be unpacked: {reason}", wheel = wheel.display())]
    BrokenWheel { wheel: PathBuf, reason: String },
    /// The wheel does not hold the library.
    #[error("{wheel} holds no {library}", wheel = wheel.display())]
    NoLibrary { wheel: PathBuf, library: String },
    /// A file operation failed.
    #[error("cannot {action} {path}: {reason}", path = path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        /// The system's reason; it is in the text already, so it is not the error's source as well.
        reason: io::Error,
    },
}

impl InstallError {
    /// A function for `map_err` that adds to an I/O error what was tried with which file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
        let path = path.to_path_buf();
        move |reason| InstallError::Io { action, path, reason }
    }
}
