//! ONNX Runtime as a library file: where it is, which version it is, loading it once for the process, obtaining it.
//!
//! ```no_run
//! let runtime = zeitnot::backend::runtime::load(None)?;
//! println!("{runtime}");
//! # Ok::<(), zeitnot::backend::runtime::RuntimeError>(())
//! ```

pub mod install;
pub mod locate;
pub mod pins;
mod pip;
mod probe;
mod status;
mod wheel;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

pub use install::{InstallError, Installer, Progress};
pub use locate::{Candidate, Locations, Origin};
pub use status::{Pinned, Status};

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
    #[error("ONNX Runtime was not found; `zeitnot runtime install` obtains it{}", unfit(.0))]
    NotFound(
        /// The files that were found and could not be used, with the reason.
        Vec<RuntimeError>,
    ),
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

/// The rest of the line of [`RuntimeError::NotFound`].
fn unfit(reasons: &[RuntimeError]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let list: Vec<String> = reasons.iter().map(RuntimeError::to_string).collect();
    format!(" (found but not usable: {})", list.join("; "))
}

/// The loaded ONNX Runtime. A process has at most one and keeps it to its end.
#[derive(Debug, Clone, Serialize)]
pub struct Runtime {
    /// The library file; a bare name when the system's loader found it.
    pub path: PathBuf,
    /// Which rule found it.
    pub origin: Origin,
    /// Its version, such as `1.31.1`.
    pub version: String,
    /// The execution providers that it was built with, such as `CPU` or `CUDA`.
    pub providers: Vec<String>,
    #[serde(skip)]
    environment: ort::environment::Environment,
}

impl Runtime {
    /// The process's ONNX Runtime environment, which sessions are made under.
    pub fn environment(&self) -> &ort::environment::Environment {
        &self.environment
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ONNX Runtime {} ({}) {}", self.version, self.origin, self.path.display())
    }
}

static LOADED: Mutex<Option<Arc<Runtime>>> = Mutex::new(None);

/// The process's ONNX Runtime: what is loaded already, or the first usable library of the usual places
/// ([`Locations::of_this_process`]). `option` is the library (or its folder) that the user asked for.
///
/// Nothing is downloaded. An error leaves the process as it was: another call, with another path, may succeed.
pub fn load(option: Option<&Path>) -> Result<Arc<Runtime>, RuntimeError> {
    load_from(&Locations::of_this_process(option))
}

/// The same with the places given as values.
pub fn load_from(locations: &Locations) -> Result<Arc<Runtime>, RuntimeError> {
    let mut loaded = LOADED.lock();
    let candidates = locations.candidates();
    if let Some(runtime) = &*loaded {
        return match candidates.first() {
            Some(first) if first.origin == Origin::Option && !same_file(&first.path, &runtime.path) => {
                Err(RuntimeError::AlreadyLoaded { loaded: runtime.path.clone(), wanted: first.path.clone() })
            }
            _ => Ok(Arc::clone(runtime)),
        };
    }
    let mut unfit = Vec::new();
    for candidate in &candidates {
        match start(candidate) {
            Ok(runtime) => return Ok(Arc::clone(loaded.insert(Arc::new(runtime)))),
            Err(error) if candidate.origin.is_explicit() => return Err(error),
            // A bare name that the loader does not know is not a file that was found.
            Err(RuntimeError::NotLoadable { path, .. }) if !path.is_absolute() => {}
            Err(error) => unfit.push(error),
        }
    }
    Err(RuntimeError::NotFound(unfit))
}

/// The process's ONNX Runtime, installed first if there is none; `announce` gets one line before a download starts.
///
/// For commands that a person runs and for tests. The engine under a GUI uses [`load`], which never downloads.
pub fn ensure_installed(announce: &dyn Fn(&str)) -> Result<Arc<Runtime>, RuntimeError> {
    ensure_installed_at(None, announce)
}

/// The same with the library that the user asked for: if that one cannot be used, nothing is installed in its place.
pub fn ensure_installed_at(option: Option<&Path>, announce: &dyn Fn(&str)) -> Result<Arc<Runtime>, RuntimeError> {
    match load(option) {
        Err(RuntimeError::NotFound(_)) => {}
        result => return result,
    }
    let installer = Installer::for_this_user()?;
    announce(&format!(
        "installing {} {} ({} MB) with pip into {}",
        pins::PACKAGE,
        pins::VERSION,
        installer.pin.wheel_bytes / 1_000_000,
        installer.folder().display()
    ));
    installer.install(false, &mut |_| ())?;
    load(option)
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Loads one file and makes the process's environment with it.
fn start(candidate: &Candidate) -> Result<Runtime, RuntimeError> {
    let Candidate { origin, path } = candidate;
    // `ort` would resolve a relative path against the executable; people mean the folder they are in.
    let is_bare = path.parent() == Some(Path::new("")) && !origin.is_explicit();
    let path = if is_bare { path.clone() } else { std::path::absolute(path).unwrap_or_else(|_| path.clone()) };
    if !is_bare && !path.is_file() {
        return Err(RuntimeError::Missing { path, origin: *origin });
    }
    let version = match probe::version(&path) {
        Ok(version) => version,
        Err(probe::Unfit::NotLoadable(reason)) => return Err(RuntimeError::NotLoadable { path, reason }),
        Err(probe::Unfit::NotOnnxRuntime) => return Err(RuntimeError::NotOnnxRuntime { path }),
    };
    if probe::minor(&version).is_none_or(|minor| minor < ort::MINOR_VERSION) {
        return Err(RuntimeError::TooOld { path, version });
    }
    let not_starting = |reason: String| RuntimeError::NotStarting { path: path.clone(), reason };
    let environment = ort::init_from(&path)
        .map_err(|error| not_starting(error.to_string()))?
        .with_name("zeitnot")
        .with_telemetry(false)
        .build()
        .map_err(|error| not_starting(error.to_string()))?;
    environment.set_log_level(ort::logging::LogLevel::Error);
    Ok(Runtime { origin: *origin, version, providers: probe::providers(), environment, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_for(path: &Path) -> RuntimeError {
        start(&Candidate { origin: Origin::Option, path: path.to_path_buf() }).unwrap_err()
    }

    #[test]
    fn unfit_files_are_one_clear_line() {
        let folder = tempfile::tempdir().unwrap();
        let missing = error_for(&folder.path().join("nothing.so"));
        assert!(matches!(missing, RuntimeError::Missing { .. }), "{missing}");
        let text = folder.path().join("text.so");
        std::fs::write(&text, "not a library").unwrap();
        let not_loadable = error_for(&text);
        assert!(matches!(not_loadable, RuntimeError::NotLoadable { .. }), "{not_loadable}");
        for error in [missing, not_loadable] {
            let line = error.to_string();
            assert!(line.contains(&*folder.path().to_string_lossy()) && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn nothing_found_names_the_command_and_what_was_unfit() {
        let line = RuntimeError::NotFound(Vec::new()).to_string();
        assert!(line.contains("zeitnot runtime install") && !line.contains("not usable"), "{line}");
        let old = RuntimeError::TooOld { path: PathBuf::from("lib"), version: "1.9.0".to_owned() };
        let line = RuntimeError::NotFound(vec![old]).to_string();
        assert!(line.contains("1.9.0") && line.contains("1.22"), "{line}");
    }
}
