//! Describes the ONNX Runtime in use and those that can be installed, as `zeitnot runtime status` shows them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::install::Installer;
use super::{Runtime, Variant, load};

/// The ONNX Runtime in use, and those that are or can be installed. Displays as lines for people, serializes for
/// `--json`.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The runtime that loads, if any does.
    pub runtime: Option<Runtime>,
    /// Why no runtime loads.
    pub error: Option<String>,
    /// The pinned packages of this platform.
    pub pinned: Vec<Installed>,
}

/// A package that `zeitnot runtime install` obtains.
#[derive(Debug, Serialize)]
pub struct Installed {
    /// Variant of ONNX Runtime, which is called `flavour` in the JSON.
    #[serde(rename = "flavour")]
    pub variant: Variant,
    /// Name and version.
    pub package: String,
    /// Bytes to download.
    pub bytes: u64,
    /// Path at which the package's library belongs.
    pub library: PathBuf,
    /// Whether all files of the package are there.
    pub installed: bool,
    /// The command that obtains the package.
    pub command: &'static str,
}

impl Installed {
    /// The packages of this platform.
    pub fn all() -> Vec<Installed> {
        let look = |variant: Variant| {
            let installer = Installer::for_this_user(variant).ok()?;
            Some(Installed {
                variant,
                package: installer.pin.title(),
                bytes: installer.pin.bytes(),
                library: installer.library(),
                installed: installer.is_installed(),
                command: variant.command(),
            })
        };
        Variant::ALL.into_iter().filter_map(look).collect()
    }
}

impl Status {
    /// Looks for the runtime as the engine would; `option` is the library that the user asked for.
    pub fn now(option: Option<&Path>) -> Status {
        let (runtime, error) = match load(option) {
            Ok(runtime) => (Some(Runtime::clone(&runtime)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Status { runtime, error, pinned: Installed::all() }
    }
}

impl fmt::Display for Installed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Installed { variant, package, bytes, installed, command, .. } = self;
        if *installed {
            write!(f, "{variant}: {package}, installed")
        } else {
            write!(f, "{variant}: {package}, not installed (`{command}`, {} MB)", super::megabytes(*bytes))
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.runtime, &self.error) {
            (Some(runtime), _) => write!(f, "{runtime}\nproviders: {}", runtime.providers.join(", "))?,
            (None, error) => f.write_str(error.as_deref().unwrap_or("no ONNX Runtime"))?,
        }
        if self.pinned.is_empty() {
            f.write_str("\nthere is no package for this platform")?;
        }
        self.pinned.iter().try_for_each(|package| write!(f, "\n{package}"))
    }
}
