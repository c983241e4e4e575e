//! What `zeitnot runtime status` shows.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::install::Installer;
use super::{Runtime, load, pins};

/// The ONNX Runtime in use, and the one that can be installed. Displays as lines for people, serializes for `--json`.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The runtime that loads, if any does.
    pub runtime: Option<Runtime>,
    /// Why none loads.
    pub error: Option<String>,
    /// The pinned package, where this platform has one.
    pub pinned: Option<Pinned>,
}

/// The package that `zeitnot runtime install` obtains.
#[derive(Debug, Serialize)]
pub struct Pinned {
    /// Name on PyPI.
    pub package: &'static str,
    /// Version.
    pub version: &'static str,
    /// Where its library belongs.
    pub library: PathBuf,
    /// Whether it is there, byte for byte.
    pub installed: bool,
}

impl Status {
    /// Looks for the runtime as the engine would; `option` is the library that the user asked for.
    pub fn now(option: Option<&Path>) -> Status {
        let (runtime, error) = match load(option) {
            Ok(runtime) => (Some(Runtime::clone(&runtime)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let pinned = Installer::for_this_user().ok().map(|installer| Pinned {
            package: pins::PACKAGE,
            version: pins::VERSION,
            library: installer.library(),
            installed: installer.is_installed(),
        });
        Status { runtime, error, pinned }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.runtime, &self.error) {
            (Some(runtime), _) => write!(f, "{runtime}\nproviders: {}", runtime.providers.join(", "))?,
            (None, error) => f.write_str(error.as_deref().unwrap_or("no ONNX Runtime"))?,
        }
        match &self.pinned {
            Some(Pinned { package, version, installed: true, .. }) => {
                write!(f, "\npinned: {package} {version}, installed")
            }
            Some(Pinned { package, version, .. }) => {
                write!(f, "\npinned: {package} {version}, not installed (`zeitnot runtime install`)")
            }
            None => write!(f, "\npinned: none for this platform"),
        }
    }
}
