//! Installs a pinned ONNX Runtime: it fetches the wheels with pip, by package name, version and hash, and unpacks their
//! libraries.
//!
//! Everything happens in one folder of the user's cache, under a lock. A wheel gets its final name only when its hash
//! is right, ONNX Runtime's own library comes last, and a list of what was installed after it: an installation that was
//! interrupted anywhere leaves nothing that a later start could load, and the next one goes on from the last finished
//! step.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::pins::{PYTHON_ABI, PYTHON_VERSION, Pin, Variant, Wheel};
use super::{InstallError, candidates, pip, wheel};

/// Name of the file, in the folder of the libraries, that lists what was installed.
const MANIFEST: &str = "installed.json";

/// A step of an installation, for a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another process is installing; waiting for it.
    Waiting,
    /// A wheel is being downloaded.
    Downloading {
        /// Package of the wheel.
        package: &'static str,
        /// Bytes downloaded so far, of all wheels together.
        bytes: u64,
        /// The size of all wheels in bytes.
        total: u64,
    },
    /// The libraries of a wheel are being unpacked.
    Unpacking {
        /// Package of the wheel.
        package: &'static str,
    },
}

/// The record of an installation.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Manifest {
    /// The hashes of the wheels.
    wheels: Vec<String>,
    /// The files unpacked from the wheels, and their sizes in bytes.
    files: Vec<(String, u64)>,
}

/// An installation of one pinned package below one folder.
#[derive(Debug, Clone)]
pub struct Installer {
    /// The folder of all runtimes of this user.
    pub root: PathBuf,
    /// The packages to install.
    pub pin: Pin,
    /// Commands that may start a Python with pip, best first; each is a program and its first arguments.
    pub pythons: Vec<Vec<String>>,
}

impl Installer {
    /// The installer of a variant for this user on this platform.
    ///
    /// # Errors
    /// When there is no package for the platform, or the user has no home folder.
    pub fn for_this_user(variant: Variant) -> Result<Installer, InstallError> {
        let pin = variant.pin().ok_or_else(|| InstallError::NoWheel { variant, platform: platform() })?;
        let root = candidates::cache_root().ok_or(InstallError::NoCacheFolder)?;
        Ok(Installer { root, pin: *pin, pythons: pip::usual_pythons() })
    }

    /// The folder that the libraries are put into.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(self.pin.folder())
    }

    /// The path of ONNX Runtime's own library, whether or not it is there.
    pub fn library(&self) -> PathBuf {
        self.folder().join(self.pin.library)
    }

    /// Path of a downloaded wheel, which is removed once its libraries are unpacked.
    fn wheel(&self, wheel: &Wheel) -> PathBuf {
        self.folder().join(format!("{}-{}.whl", wheel.package, wheel.version))
    }

    /// Whether every file of the pinned wheels is there in its full size. Where the installation has no list of its
    /// files: whether the library is the pinned one and needs no other.
    pub fn is_installed(&self) -> bool {
        let folder = self.folder();
        let Ok(bytes) = fs::read(folder.join(MANIFEST)) else {
            return self.pin.library_sha256.is_some_and(|sha256| wheel::verify(&self.library(), sha256).is_ok());
        };
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&bytes) else { return false };
        let size = |name: &str| fs::metadata(folder.join(name)).map(|metadata| metadata.len()).ok();
        manifest.wheels == self.hashes() && manifest.files.iter().all(|(name, bytes)| size(name) == Some(*bytes))
    }

    fn hashes(&self) -> Vec<String> {
        self.pin.wheels.iter().map(|wheel| wheel.sha256.to_owned()).collect()
    }

    /// Installs the libraries unless they are already there and whole (`force`: even then), and returns the path of
    /// ONNX Runtime's own library.
    ///
    /// Only one process at a time installs; a second one waits and then finds the work done.
    ///
    /// # Errors
    /// [`InstallError`]. What was downloaded whole is kept for the next attempt.
    pub fn install(&self, force: bool, report: &mut dyn FnMut(Progress)) -> Result<PathBuf, InstallError> {
        let folder = self.folder();
        fs::create_dir_all(&folder).map_err(InstallError::io("create", &folder))?;
        let _lock = self.lock(report)?;
        if !force && self.is_installed() {
            return Ok(self.library());
        }
        let mut done = 0;
        for wheel in self.pin.wheels {
            if wheel::verify(&self.wheel(wheel), wheel.sha256).is_err() {
                self.download(wheel, done, report)?;
            }
            done += wheel.bytes;
        }
        let mut files = Vec::new();
        // ONNX Runtime's own wheel, the first, is unpacked last: other libraries are never loaded without it.
        for wheel in self.pin.wheels.iter().rev() {
            report(Progress::Unpacking { package: wheel.package });
            files.extend(wheel::unpack(&self.wheel(wheel), &folder)?);
        }
        if !files.iter().any(|(name, _)| name == self.pin.library) {
            let wheel = self.wheel(&self.pin.wheels[0]);
            return Err(InstallError::NoLibrary { wheel, library: self.pin.library.to_owned() });
        }
        let path = folder.join(MANIFEST);
        let manifest = serde_json::to_vec(&Manifest { wheels: self.hashes(), files }).unwrap_or_default();
        fs::write(&path, manifest).map_err(InstallError::io("write", &path))?;
        // The libraries are in place: the wheels have done their work. pip's own cache may still have them.
        for wheel in self.pin.wheels {
            let path = self.wheel(wheel);
            fs::remove_file(&path).map_err(InstallError::io("remove", &path))?;
        }
        Ok(self.library())
    }

    /// Holds the folder's lock until the returned file is dropped.
    fn lock(&self, report: &mut dyn FnMut(Progress)) -> Result<File, InstallError> {
        let path = self.folder().join("install.lock");
        let file = File::create(&path).map_err(InstallError::io("create", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                report(Progress::Waiting);
                file.lock().map_err(InstallError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(InstallError::io("lock", &path)(error)),
        }
        Ok(file)
    }

    /// Lets pip download a wheel, checks it and moves it to its path. `done` bytes were downloaded before it.
    fn download(&self, wheel: &Wheel, done: u64, report: &mut dyn FnMut(Progress)) -> Result<(), InstallError> {
        // Absolute, since pip runs in it.
        let part = self.folder().join("download.part");
        let part = std::path::absolute(&part).map_err(InstallError::io("find", &part))?;
        if part.exists() {
            fs::remove_dir_all(&part).map_err(InstallError::io("remove", &part))?;
        }
        fs::create_dir_all(&part).map_err(InstallError::io("create", &part))?;
        let python = pip::find_python(&self.pythons, &part)?;
        let requirements = part.join("requirements.txt");
        let Wheel { package, version, sha256, .. } = wheel;
        let line = format!("{package}=={version} --hash=sha256:{sha256}\n");
        fs::write(&requirements, line).map_err(InstallError::io("write", &requirements))?;

        let arguments = pip_arguments(wheel, &part, &requirements);
        let total = self.pin.bytes();
        report(Progress::Downloading { package, bytes: done, total });
        pip::run(&python, &arguments, &part, &mut |bytes| {
            report(Progress::Downloading { package, bytes: done + bytes.min(wheel.bytes), total });
        })?;

        let fetched = fs::read_dir(&part)
            .map_err(InstallError::io("read", &part))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .ok_or_else(|| InstallError::Pip("it reported success, but there is no wheel".to_owned()))?;
        // pip has checked the same hash; it is a program of the user's machine, and checking again costs little.
        wheel::verify(&fetched, sha256)?;
        let path = self.wheel(wheel);
        fs::rename(&fetched, &path).map_err(InstallError::io("write", &path))?;
        fs::remove_dir_all(&part).map_err(InstallError::io("remove", &part))
    }
}

/// The platform that this program was built for, for messages.
fn platform() -> String {
    let musl = if cfg!(target_env = "musl") { " with musl" } else { "" };
    format!("{} on {}{musl}", std::env::consts::OS, std::env::consts::ARCH)
}

/// pip's arguments: fetch exactly the pinned wheel, on any Python and platform that pip itself runs on.
fn pip_arguments(wheel: &Wheel, destination: &Path, requirements: &Path) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--progress-bar=off"]
            .map(str::to_owned)
            .into();
    arguments.push("--disable-pip-version-check".to_owned());
    for (name, value) in [
        ("--implementation", "cp"),
        ("--python-version", PYTHON_VERSION),
        ("--abi", PYTHON_ABI),
        ("--platform", wheel.tag),
        ("--dest", &destination.to_string_lossy()),
        ("--requirement", &requirements.to_string_lossy()),
    ] {
        arguments.extend([name.to_owned(), value.to_owned()]);
    }
    arguments
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
