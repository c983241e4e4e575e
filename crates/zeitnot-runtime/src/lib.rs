//! Finds, loads and installs ONNX Runtime, the library that runs networks on the devices of this machine.
//!
//! | file | what |
//! |---|---|
//! | `candidates` | the places where a library is looked for |
//! | `probe` | the version and the providers of a library file, before it is loaded for good |
//! | `provider` | the execution providers |
//! | `cuda_version` | the package for CUDA 13 or for CUDA 12, by driver and cards |
//! | `library`, `nvidia_libraries` | loading shared libraries, and those of NVIDIA that a provider needs |
//! | [`cuda_copies`] | copies to and from NVIDIA's cards |
//! | `tensorrt_rtx` | the plugin of TensorRT for RTX, and the cards that it drives |
//! | `missing_library` | the library that a provider misses, and how to get it |
//! | [`nvidia`], `nvidia_readings` | NVIDIA's driver and its cards; their power, clocks and memory |
//! | [`vulkan`], `vulkan_calls` | the device that WebGPU takes |
//! | `ort_log` | the last error in ONNX Runtime's log |
//! | `pins` | the packages that can be installed |
//! | `install`, `pip`, `wheel` | their installation |
//! | `error` | errors |
//! | `status` | the library in use and the installed ones, for people and programs |
//!
//! ```no_run
//! let runtime = zeitnot_runtime::load(None)?;
//! println!("{runtime}");
//! # Ok::<(), zeitnot_runtime::RuntimeError>(())
//! ```

#![cfg_attr(
    not(feature = "onnxruntime"),
    allow(dead_code, unused_imports, reason = "what only ONNX Runtime needs has no other use")
)]

mod candidates;
pub mod cuda_copies;
mod cuda_version;
mod error;
mod install;
mod library;
pub mod missing_library;
pub mod nvidia;
#[cfg(feature = "onnxruntime")]
mod nvidia_libraries;
#[cfg(feature = "nvml")]
pub mod nvidia_readings;
#[cfg(feature = "onnxruntime")]
pub mod ort_log;
mod pins;
mod pip;
#[cfg(feature = "onnxruntime")]
mod probe;
mod provider;
mod status;
pub mod tensorrt_rtx;
pub mod vulkan;
mod vulkan_calls;
mod wheel;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use zeitnot_base::files::is_same_file;

use candidates::{Candidate, Locations};
pub use candidates::{Origin, user_cache};
pub use cuda_version::CudaVersion;
use error::source_of;
pub use error::{InstallError, RuntimeError};
pub use install::{Installer, Progress};
pub use pins::{Pin, Variant};
pub use provider::Provider;
pub use status::{Installed, Status};

/// The loaded ONNX Runtime. A process has at most one and keeps it to its end.
#[derive(Debug, Clone, Serialize)]
pub struct Runtime {
    /// The library file; a bare name when the system's loader found it.
    pub path: PathBuf,
    /// The reason why the file was tried.
    pub origin: Origin,
    /// Version, such as `1.31.1`.
    pub version: String,
    /// The execution providers that the library was built with, such as `CPU` or `CUDA`.
    pub providers: Vec<String>,
    #[cfg(feature = "onnxruntime")]
    #[serde(skip)]
    environment: ort::environment::Environment,
}

impl Runtime {
    /// The process's ONNX Runtime environment, which sessions are made under.
    #[cfg(feature = "onnxruntime")]
    pub fn environment(&self) -> &ort::environment::Environment {
        &self.environment
    }

    /// Whether the library has this execution provider.
    pub fn has(&self, provider: Provider) -> bool {
        provider == Provider::Cpu || self.providers.iter().any(|name| name == provider.runtime_name())
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ONNX Runtime {} ({}) {}", self.version, self.origin, self.path.display())
    }
}

static LOADED: Mutex<Option<Arc<Runtime>>> = Mutex::new(None);

/// The process's ONNX Runtime: the one loaded already, or else the first usable library of the usual places
/// (`Locations::of_this_process`). `option` is the library (or its folder) that the user asked for.
///
/// Nothing is downloaded. An error leaves the process as it was: another call, with another path, may succeed.
pub fn load(option: Option<&Path>) -> Result<Arc<Runtime>, RuntimeError> {
    load_with(option, Provider::Cpu)
}

/// The process's ONNX Runtime as by [`load`], which must have this execution provider. Without a card that the provider
/// drives (see [`without_card`]) it is an error, and no library is looked for.
pub fn load_with(option: Option<&Path>, provider: Provider) -> Result<Arc<Runtime>, RuntimeError> {
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        return Err(RuntimeError::StaticProgram);
    }
    if let Some(reason) = without_card(provider) {
        return Err(RuntimeError::NoCard { provider, reason });
    }
    load_from(&Locations::of_this_process(option), provider)
}

/// The device file of AMD's driver for computing.
const AMD_DRIVER: &str = "/dev/kfd";

/// Why there is no card here that the provider drives, as far as that can be known without a library; `None` where there
/// may be one.
pub fn without_card(provider: Provider) -> Option<String> {
    match (provider, provider.is_nvidia().then(nvidia::driver)) {
        (_, Some(Err(reason))) => Some(reason.to_string()),
        (Provider::TensorRtRtx, Some(Ok(driver))) => tensorrt_rtx::problem_with(&driver),
        (Provider::MiGraphX, _) if cfg!(target_os = "linux") && !Path::new(AMD_DRIVER).exists() => {
            Some(format!("there is no AMD driver for computing ({AMD_DRIVER} is missing)"))
        }
        // Elsewhere WebGPU goes through the system's own Direct3D 12 or Metal.
        (Provider::WebGpu, _) if cfg!(target_os = "linux") => vulkan::device().err().map(|reason| reason.to_string()),
        _ => None,
    }
}

/// The process's ONNX Runtime with this execution provider, looked for at these places.
fn load_from(locations: &Locations, provider: Provider) -> Result<Arc<Runtime>, RuntimeError> {
    let mut loaded = LOADED.lock();
    let candidates = locations.candidates();
    let runtime = match &*loaded {
        Some(runtime) => fit_for(runtime, candidates.first(), provider)?,
        None => Arc::clone(loaded.insert(Arc::new(first_usable(&candidates, provider)?))),
    };
    #[cfg(feature = "onnxruntime")]
    if provider.needs_cuda() {
        nvidia_libraries::load(&runtime.path);
    }
    Ok(runtime)
}

/// The `runtime` that the process has loaded; an error where the user names another file or it lacks the provider.
fn fit_for(
    runtime: &Arc<Runtime>,
    first: Option<&Candidate>,
    provider: Provider,
) -> Result<Arc<Runtime>, RuntimeError> {
    if let Some(first) =
        first.filter(|first| first.origin == Origin::Option && !is_same_file(&first.path, &runtime.path))
    {
        return Err(RuntimeError::AlreadyLoaded { loaded: runtime.path.clone(), wanted: first.path.clone() });
    }
    if !runtime.has(provider) {
        let is_installed = |variant: &Variant| Installer::for_this_user(*variant).is_ok_and(|it| it.is_installed());
        let installed = provider.variants().iter().any(is_installed);
        let hint = if installed { String::new() } else { format!(" ({})", source_of(provider)) };
        return Err(RuntimeError::LoadedWithout { provider, loaded: runtime.path.clone(), hint });
    }
    Ok(Arc::clone(runtime))
}

#[cfg(feature = "onnxruntime")]
fn first_usable(candidates: &[Candidate], provider: Provider) -> Result<Runtime, RuntimeError> {
    let mut unfit = Vec::new();
    for candidate in candidates {
        match start(candidate, provider) {
            Ok(runtime) => return Ok(runtime),
            Err(error) if candidate.origin.is_explicit() => return Err(error),
            // A bare name that the loader does not know is not a file that was found.
            Err(RuntimeError::NotLoadable { path, .. }) if !path.is_absolute() => {}
            // A library for another device is no failure either.
            Err(RuntimeError::WithoutProvider { .. }) => {}
            Err(error) => unfit.push(error),
        }
    }
    Err(match provider {
        Provider::Cpu => RuntimeError::NotFound(unfit),
        provider => RuntimeError::NotFoundWith { provider, unfit },
    })
}

#[cfg(not(feature = "onnxruntime"))]
fn first_usable(_: &[Candidate], _: Provider) -> Result<Runtime, RuntimeError> {
    Err(RuntimeError::NotInThisBuild)
}

/// Whether [`load_with`] would find a library with this execution provider. Nothing stays loaded.
pub fn is_there_with(option: Option<&Path>, provider: Provider) -> bool {
    if let Some(runtime) = &*LOADED.lock() {
        return runtime.has(provider);
    }
    let candidates = Locations::of_this_process(option).candidates();
    candidates.iter().any(|candidate| is_usable(candidate, provider))
}

#[cfg(feature = "onnxruntime")]
fn is_usable(candidate: &Candidate, provider: Provider) -> bool {
    examine(candidate, provider).is_ok()
}

#[cfg(not(feature = "onnxruntime"))]
fn is_usable(_: &Candidate, _: Provider) -> bool {
    false
}

/// The process's ONNX Runtime, installed first where it is missing; `announce` gets one line before a download starts.
///
/// For commands that a person runs and for tests. The engine under a GUI uses [`load`], which never downloads.
pub fn ensure_installed(announce: &dyn Fn(&str)) -> Result<Arc<Runtime>, RuntimeError> {
    ensure_installed_at(None, announce)
}

/// The process's ONNX Runtime, installed first where it is missing and the user has not named a library.
pub fn ensure_installed_at(option: Option<&Path>, announce: &dyn Fn(&str)) -> Result<Arc<Runtime>, RuntimeError> {
    match load(option) {
        Err(RuntimeError::NotFound(_)) => {}
        result => return result,
    }
    let installer = Installer::for_this_user(Variant::Cpu)?;
    announce(&format!(
        "installing {} ({} MB) with pip into {}",
        installer.pin.title(),
        megabytes(installer.pin.bytes()),
        installer.folder().display()
    ));
    installer.install(false, &mut |_| ())?;
    load(option)
}

/// Whole megabytes, for messages.
fn megabytes(bytes: u64) -> u64 {
    (bytes + 500_000) / 1_000_000
}

/// Checks that a candidate is usable; returns its path (absolute, or a bare name) and what the library says of itself.
#[cfg(feature = "onnxruntime")]
fn examine(candidate: &Candidate, provider: Provider) -> Result<(PathBuf, probe::Found), RuntimeError> {
    let Candidate { origin, path } = candidate;
    // `ort` would resolve a relative path against the executable; people mean the folder they are in.
    let is_bare = path.parent() == Some(Path::new("")) && !origin.is_explicit();
    let path = if is_bare { path.clone() } else { std::path::absolute(path).unwrap_or_else(|_| path.clone()) };
    if !is_bare && !path.is_file() {
        return Err(RuntimeError::Missing { path, origin: *origin });
    }
    if provider.needs_cuda()
        && let Some(problem) = wrong_cuda(candidate)
    {
        return Err(problem);
    }
    let mut found = match probe::ask(&path) {
        Ok(found) => found,
        Err(probe::Unfit::NotLoadable(reason)) => {
            return Err(RuntimeError::NotLoadable { path, origin: *origin, reason });
        }
        Err(probe::Unfit::NotOnnxRuntime) => return Err(RuntimeError::NotOnnxRuntime { path, origin: *origin }),
    };
    let version = found.version.clone();
    let Some(minor) = probe::minor(&version).filter(|&minor| minor >= ort::MINOR_VERSION) else {
        return Err(RuntimeError::TooOld { path, version });
    };
    if minor >= tensorrt_rtx::OLDEST_RUNTIME && tensorrt_rtx::plugin_for(&path).is_some() {
        found.providers.push(Provider::TensorRtRtx.runtime_name().to_owned());
    }
    // Every library has the CPU provider, also one that does not say so.
    if provider != Provider::Cpu && !found.providers.iter().any(|name| name == provider.runtime_name()) {
        return Err(RuntimeError::WithoutProvider { path, version, provider });
    }
    Ok((path, found))
}

/// The error for an installed runtime whose CUDA this machine's driver or cards do not run; `None` for any other
/// candidate. Without a driver it is `None` too, since [`load_with`] reports the missing driver.
#[cfg(feature = "onnxruntime")]
fn wrong_cuda(candidate: &Candidate) -> Option<RuntimeError> {
    let folder = candidate.path.parent().filter(|_| candidate.origin == Origin::Cache)?;
    let is_here = |variant: &Variant| candidates::installed_folder(*variant).as_deref() == Some(folder);
    let cuda = Variant::ALL.into_iter().find(is_here)?.cuda()?;
    let reason = cuda.problem_with(&nvidia::driver().ok()?)?;
    Some(RuntimeError::WrongCuda { path: candidate.path.clone(), cuda, reason })
}

/// Loads one file and makes the process's environment with it.
#[cfg(feature = "onnxruntime")]
fn start(candidate: &Candidate, provider: Provider) -> Result<Runtime, RuntimeError> {
    let (path, probe::Found { version, providers }) = examine(candidate, provider)?;
    let not_starting = |reason: String| RuntimeError::NotStarting { path: path.clone(), reason };
    let environment = ort::init_from(&path)
        .map_err(|error| not_starting(error.to_string()))?
        .with_name("zeitnot")
        .with_telemetry(false)
        .with_logger(Arc::new(ort_log::keep))
        .build()
        .map_err(|error| not_starting(error.to_string()))?;
    environment.set_log_level(ort::logging::LogLevel::Error);
    Ok(Runtime { origin: candidate.origin, version, providers, environment, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_for(path: &Path) -> RuntimeError {
        start(&Candidate { origin: Origin::Option, path: path.to_path_buf() }, Provider::Cpu).unwrap_err()
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
            assert!(line.contains("(given as option)"), "{line}");
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

    #[test]
    fn a_missing_provider_names_the_command_that_brings_it() {
        for (provider, command) in [
            (Provider::Cuda, "`zeitnot runtime install --gpu`"),
            (Provider::TensorRt, "`zeitnot runtime install --gpu`"),
            (Provider::OpenVino, "`zeitnot runtime install --openvino`"),
        ] {
            let not_found = first_usable(&[], provider).unwrap_err().to_string();
            let without = RuntimeError::WithoutProvider { path: "lib".into(), version: "1.31.1".into(), provider };
            for line in [not_found, without.to_string()] {
                let has_package = provider.variants().iter().any(|variant| variant.pin().is_some());
                let source = if has_package { command } else { "no package" };
                assert!(line.contains(source) && line.contains(&provider.to_string()), "{line}");
            }
        }
        let nowhere = if cfg!(target_os = "macos") { Provider::DirectMl } else { Provider::CoreMl };
        assert!(first_usable(&[], nowhere).unwrap_err().to_string().contains("no package of it for this platform"));
    }
}
