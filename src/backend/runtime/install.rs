//! Obtains the pinned ONNX Runtime: the wheel with pip, by package name, version and hash; the library out of it.
//!
//! Everything happens in one folder of the user's cache, under a lock. A file gets its final name only when it is whole
//! and its hash is right, so an installation that was interrupted anywhere leaves nothing that a later start could
//! load, and the next one goes on from the last finished step.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::pins::{PACKAGE, PYTHON_ABI, PYTHON_VERSION, Pin, VERSION};
use super::{locate, pins, pip, wheel};

/// Why the runtime could not be obtained.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The package has no wheel for this platform.
    #[error(
        "there is no {PACKAGE} {VERSION} package for {0}; obtain ONNX Runtime 1.22 or later for it and set ORT_DYLIB_PATH \
         to its library"
    )]
    NoWheel(String),
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
    #[error("pip could not download {PACKAGE} {VERSION}: {0}")]
    Pip(String),
    /// A file is not the pinned one.
    #[error("{path} is not the pinned file: its sha256 is {actual}, not {expected}", path = path.display())]
    HashMismatch {
        /// The file.
        path: PathBuf,
        /// The pinned hash.
        expected: String,
        /// The file's hash.
        actual: String,
    },
    /// The wheel cannot be unpacked.
    #[error("{wheel} cannot be unpacked: {reason}", wheel = wheel.display())]
    BrokenWheel {
        /// The wheel.
        wheel: PathBuf,
        /// What the unpacking said.
        reason: String,
    },
    /// The wheel has no such member.
    #[error("{wheel} holds no {library}", wheel = wheel.display())]
    NoLibrary {
        /// The wheel.
        wheel: PathBuf,
        /// The member that was looked for.
        library: String,
    },
    /// A file operation failed.
    #[error("cannot {action} {path}: {reason}", path = path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason; it is in the text already, so it is not the error's source as well.
        reason: io::Error,
    },
}

impl InstallError {
    /// For `map_err`: an I/O error that names what was tried with which file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
        let path = path.to_path_buf();
        move |reason| InstallError::Io { action, path, reason }
    }
}

/// What the installation is doing, for a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another process is installing; waiting for it.
    Waiting,
    /// The wheel is coming in.
    Downloading {
        /// Bytes so far.
        bytes: u64,
        /// The wheel's size in bytes.
        total: u64,
    },
    /// The library is being unpacked.
    Unpacking,
}

/// An installation of one pinned wheel below one folder.
#[derive(Debug, Clone)]
pub struct Installer {
    /// The folder of all runtimes of this user.
    pub root: PathBuf,
    /// What to install.
    pub pin: Pin,
    /// Commands that may start a Python with pip, best first; each is a program and its first arguments.
    pub pythons: Vec<Vec<String>>,
}

impl Installer {
    /// The installer for this user on this platform.
    pub fn for_this_user() -> Result<Installer, InstallError> {
        let pin = pins::for_this_platform().ok_or_else(|| InstallError::NoWheel(platform()))?;
        let root = locate::cache_root().ok_or(InstallError::NoCacheFolder)?;
        Ok(Installer { root, pin: *pin, pythons: pip::usual_pythons() })
    }

    /// The folder that the library is put into.
    pub fn folder(&self) -> PathBuf {
        self.root.join(self.pin.folder())
    }

    /// The installed library's path, whether or not it is there.
    pub fn library(&self) -> PathBuf {
        self.folder().join(self.pin.library_name())
    }

    /// The wheel's place while it is needed.
    fn wheel(&self) -> PathBuf {
        self.folder().join(format!("{PACKAGE}-{VERSION}-{PYTHON_ABI}-{PYTHON_ABI}-{}.whl", self.pin.tag))
    }

    /// Whether the library is there and is, byte for byte, the pinned one.
    pub fn is_installed(&self) -> bool {
        wheel::verify(&self.library(), self.pin.library_sha256).is_ok()
    }

    /// Installs the library unless it is already there and whole (`force`: even then), and returns its path.
    ///
    /// Only one process at a time installs; a second one waits and then finds the work done.
    pub fn install(&self, force: bool, report: &mut dyn FnMut(Progress)) -> Result<PathBuf, InstallError> {
        let folder = self.folder();
        fs::create_dir_all(&folder).map_err(InstallError::io("create", &folder))?;
        let _lock = self.lock(report)?;
        let library = self.library();
        if !force && self.is_installed() {
            return Ok(library);
        }
        let wheel = self.wheel();
        if wheel::verify(&wheel, self.pin.wheel_sha256).is_err() {
            self.download(&wheel, report)?;
        }
        report(Progress::Unpacking);
        wheel::extract(&wheel, self.pin.library, self.pin.library_sha256, &library)?;
        // The library is whole and in place: the wheel has done its work. pip's own cache may still have it.
        fs::remove_file(&wheel).map_err(InstallError::io("remove", &wheel))?;
        Ok(library)
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

    /// Lets pip fetch the wheel into a folder of its own, checks it and gives it its place.
    fn download(&self, wheel: &Path, report: &mut dyn FnMut(Progress)) -> Result<(), InstallError> {
        let part = self.folder().join("download.part");
        if part.exists() {
            fs::remove_dir_all(&part).map_err(InstallError::io("remove", &part))?;
        }
        fs::create_dir_all(&part).map_err(InstallError::io("create", &part))?;
        let requirements = part.join("requirements.txt");
        let line = format!("{PACKAGE}=={VERSION} --hash=sha256:{}\n", self.pin.wheel_sha256);
        fs::write(&requirements, line).map_err(InstallError::io("write", &requirements))?;

        let python = pip::find_python(&self.pythons)?;
        let arguments = pip_arguments(&self.pin, &part, &requirements);
        let total = self.pin.wheel_bytes;
        report(Progress::Downloading { bytes: 0, total });
        pip::run(&python, &arguments, &part, &mut |bytes| {
            report(Progress::Downloading { bytes: bytes.min(total), total });
        })?;

        let fetched = fs::read_dir(&part)
            .map_err(InstallError::io("read", &part))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .ok_or_else(|| InstallError::Pip("it reported success, but there is no wheel".to_owned()))?;
        // pip has checked the same hash; it is a program of the user's machine, and checking again costs little.
        wheel::verify(&fetched, self.pin.wheel_sha256)?;
        fs::rename(&fetched, wheel).map_err(InstallError::io("write", wheel))?;
        fs::remove_dir_all(&part).map_err(InstallError::io("remove", &part))
    }
}

/// The platform that this program was built for, for messages.
fn platform() -> String {
    let musl = if cfg!(target_env = "musl") { " with musl" } else { "" };
    format!("{} on {}{musl}", std::env::consts::OS, std::env::consts::ARCH)
}

/// pip's arguments: fetch exactly the pinned wheel, whatever Python and platform pip itself runs on.
pub fn pip_arguments(pin: &Pin, destination: &Path, requirements: &Path) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--progress-bar=off"]
            .map(str::to_owned)
            .into();
    arguments.push("--disable-pip-version-check".to_owned());
    for (name, value) in [
        ("--implementation", "cp"),
        ("--python-version", PYTHON_VERSION),
        ("--abi", PYTHON_ABI),
        ("--platform", pin.tag),
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
