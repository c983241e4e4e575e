//! Why there is no ONNX Runtime to run with.

use std::path::PathBuf;

use super::install::InstallError;
use super::locate::Origin;
use crate::backend::provider::Provider;

/// Why ONNX Runtime is not available.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The file that the user named is not there.
    #[error("there is no ONNX Runtime at {path} ({origin})", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Who named it.
        origin: Origin,
    },
    /// The system cannot load the file.
    #[error("{path} cannot be loaded: {reason}", path = path.display())]
    NotLoadable {
        /// The file.
        path: PathBuf,
        /// The loader's reason.
        reason: String,
    },
    /// The file is a library, but not this one.
    #[error("{path} is not ONNX Runtime", path = path.display())]
    NotOnnxRuntime {
        /// The file.
        path: PathBuf,
    },
    /// The version is below what this build needs.
    #[error("{path} is ONNX Runtime {version}; 1.{minimum} or later is needed", path = path.display(), minimum = ort::MINOR_VERSION)]
    TooOld {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: String,
    },
    /// The library loaded but would not start.
    #[error("ONNX Runtime at {path} does not start: {reason}", path = path.display())]
    NotStarting {
        /// The file.
        path: PathBuf,
        /// Its own words.
        reason: String,
    },
    /// Nothing usable was found anywhere.
    #[error("ONNX Runtime was not found; `zeitnot runtime install` obtains it{}", also_found(.0))]
    NotFound(
        /// The files that were found and could not be used, with the reason.
        Vec<RuntimeError>,
    ),
    /// It works, but it was built without the execution provider that is needed.
    #[error("{path} is ONNX Runtime {version} without {provider} ({source})",
        path = path.display(), source = source_of(*provider))]
    WithoutProvider {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: String,
        /// What it lacks.
        provider: Provider,
    },
    /// No usable library with the execution provider was found anywhere.
    #[error("no ONNX Runtime with {provider} was found; {}{}", source_of(*provider), also_found(.unfit))]
    NotFoundWith {
        /// The execution provider.
        provider: Provider,
        /// The files that were found and could not be used, with the reason.
        unfit: Vec<RuntimeError>,
    },
    /// A process can load only one, and it has one that lacks the execution provider.
    #[error("{provider} needs another ONNX Runtime than the one loaded from {loaded}, and a process has only one: \
        restart with this backend chosen from the start{hint}", loaded = loaded.display())]
    LoadedWithout {
        /// The execution provider.
        provider: Provider,
        /// The file in use.
        loaded: PathBuf,
        /// How to get the other one, where it is not there yet.
        hint: String,
    },
    /// A process can load only one.
    #[error("ONNX Runtime is already loaded from {loaded}: restart to use {wanted}", loaded = loaded.display(), wanted = wanted.display())]
    AlreadyLoaded {
        /// The file in use.
        loaded: PathBuf,
        /// The file that was asked for now.
        wanted: PathBuf,
    },
    /// It was not there and could not be obtained.
    #[error("ONNX Runtime was not found and could not be installed: {0}")]
    Install(InstallError),
}

/// Not derived: the inner error's text is in the outer one's already, so it must not be its source as well.
impl From<InstallError> for RuntimeError {
    fn from(error: InstallError) -> RuntimeError {
        RuntimeError::Install(error)
    }
}

/// How a user gets a runtime with this provider.
pub(super) fn source_of(provider: Provider) -> String {
    let is_there = match provider {
        Provider::CoreMl => cfg!(target_os = "macos"),
        provider => provider.flavour().pin().is_some(),
    };
    match is_there {
        true => format!("`{}` obtains it", provider.flavour().command()),
        false => "there is no package of it for this platform".to_owned(),
    }
}

/// The rest of the line of [`RuntimeError::NotFound`].
fn also_found(reasons: &[RuntimeError]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let list: Vec<String> = reasons.iter().map(RuntimeError::to_string).collect();
    format!(" (found but not usable: {})", list.join("; "))
}
