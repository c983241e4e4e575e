//! Describes the errors of making a backend and of evaluating positions.

use std::io;
use std::path::PathBuf;

use super::device_options::DeviceOptionsError;
use zeitnot_network::NetworkError;
use zeitnot_runtime::RuntimeError;

/// An error in making a backend or in evaluating positions. The text is one line for the user.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum BackendError {
    /// There is no backend of that name.
    #[error("unknown backend {name}; there are: {known}")]
    Unknown { name: String, known: String },
    /// A backend that Lc0 has or that people try, but that is not in this program. `instead` is the advice; no other
    /// backend is taken in its place.
    #[error("the backend {name} is not in this program, {instead}; there are: {known}")]
    Absent { name: String, instead: &'static str, known: String },
    /// Invalid `BackendOptions`.
    #[error("backend options: {0}")]
    Options(DeviceOptionsError),
    /// A library that the backend's execution provider needs is not there. Another backend is never taken in its place.
    #[error("the backend {backend} cannot be used, for {library} is missing: {advice}")]
    MissingLibrary { backend: &'static str, library: String, advice: String },
    /// The backend's execution provider does not load for another reason.
    #[error("the backend {backend} cannot be used: {reason}")]
    Provider { backend: &'static str, reason: String },
    /// Some of several devices cannot be used; the text says which, and why.
    #[error("{0}")]
    Devices(String),
    /// A backend of several devices was given none.
    #[error("no device was named to run on")]
    NoDevice,
    /// No folder is known for networks that a provider compiles.
    #[error("no cache folder: the home folder of this user is not known; name one with cache_dir in BackendOptions")]
    NoCacheFolder,
    /// The folder for networks that a provider compiles cannot be made.
    #[error("cannot write the cache folder {folder}: {reason}", folder = folder.display())]
    Cache { folder: PathBuf, reason: io::Error },
    /// The backend runs a network and none was given.
    #[error("the backend {0} needs a network, and none was given")]
    NoNetwork(String),
    /// An error of the network's file or of its conversion.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// ONNX Runtime is missing or does not load.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// ONNX Runtime does not take the network.
    #[error("ONNX Runtime cannot load the network {network}: {reason}")]
    Load { network: String, reason: String },
    /// The network's inputs or outputs are not those of a chess network.
    #[error("the network {network} cannot be used: {problem}")]
    Shape { network: String, problem: String },
    /// A run failed.
    #[error("ONNX Runtime failed on the network {network}: {reason}")]
    Run { network: String, reason: String },
    /// The network's answer is not an evaluation.
    #[error("the network {network} gave {problem}")]
    Output { network: String, problem: String },
    /// A device whose evaluations are not those of the network.
    #[error("{backend} computes this network wrongly: {problem}")]
    Wrong { backend: String, problem: String },
    /// A query that the backend cannot answer, which is a mistake of the caller's.
    #[error("the network {network} was asked {problem}")]
    Query { network: String, problem: String },
}

/// Written by hand, because `#[from]` would make the inner error a source although the outer text includes it already.
impl From<DeviceOptionsError> for BackendError {
    fn from(error: DeviceOptionsError) -> BackendError {
        BackendError::Options(error)
    }
}
