//! Runs the user's pip and reads its messages.
//!
//! Nothing of the working folder is run: it may be a folder of downloads, and a `pip.py` there is not pip. Python is
//! started by its absolute path, in a folder of our own, with flags to leave its environment variables and the user's
//! own packages aside.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::InstallError;
use zeitnot_base::child::is_executable;

/// Interval at which the size of the download is read.
const POLL: Duration = Duration::from_millis(100);

/// Phrases by which pip (or its HTTP library) says that the index could not be reached.
const NETWORK_PHRASES: [&str; 9] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "nodename nor servname",
    "getaddrinfo failed",
    "NewConnectionError",
    "ConnectTimeoutError",
    "Connection refused",
    "Network is unreachable",
    "Cannot connect to proxy",
];

/// pip's words when the index lists no version at all. Every pinned package exists, so the index was not reached, or is
/// a mirror without the package.
const NO_VERSIONS: &str = "(from versions: none)";

/// The commands under which Python is usually found on this platform.
pub(super) fn usual_pythons() -> Vec<Vec<String>> {
    let commands: &[&[&str]] =
        if cfg!(windows) { &[&["py", "-3"], &["python"], &["python3"]] } else { &[&["python3"], &["python"]] };
    commands.iter().map(|command| command.iter().map(|&word| word.to_owned()).collect()).collect()
}

/// Python's option to import from its own folders alone.
const ISOLATED: &str = "-I";
/// Python's option to ignore its environment variables, `PYTHONPATH` among them: for a pip among the user's own
/// packages, which [`ISOLATED`] would leave aside. Python still imports first from the folder that it is started in,
/// which is ours.
const WITHOUT_ENVIRONMENT: &str = "-E";

/// A Python that has pip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Python {
    /// The program's absolute path.
    program: PathBuf,
    /// Arguments before those of pip, the isolating option among them.
    arguments: Vec<String>,
}

impl Python {
    /// The Python that `command` (a program and its first arguments) starts, with the option `isolation` such as
    /// [`ISOLATED`]; `None` if there is no such program.
    fn new(command: &[String], isolation: &str) -> Option<Python> {
        let (program, first) = command.split_first()?;
        let arguments = first.iter().cloned().chain([isolation.to_owned()]).collect();
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        Some(Python { program: find_program(program, &search_path)?, arguments })
    }

    /// The command that starts pip in `folder`, which must be ours and hold nothing that Python could import.
    fn pip(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(["-m", "pip"]).current_dir(folder).stdin(Stdio::null());
        // A setting of the user's for his own projects; nothing is installed into any environment here.
        command.env("PIP_REQUIRE_VIRTUALENV", "false");
        command
    }
}

/// The absolute path of a program: the given path, or, for a mere name, the file in the first folder of `search_path`
/// that has it; `None` where no folder has it.
///
/// Relative entries of `search_path` are skipped, the empty one among them: they mean the working folder or lie in it.
fn find_program(program: &str, search_path: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() != 1 || path.is_absolute() {
        return std::path::absolute(path).ok();
    }
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&file))
        .find(|path| is_executable(path))
}

/// The first of the commands that starts a Python with pip, at best with a pip of its own, else with one among the
/// user's packages. Python is started in `folder`, see [`Python::pip`].
pub(super) fn find_python(pythons: &[Vec<String>], folder: &Path) -> Result<Python, InstallError> {
    let mut without_pip = None;
    for isolation in [ISOLATED, WITHOUT_ENVIRONMENT] {
        for command in pythons {
            let Some(python) = Python::new(command, isolation) else { continue };
            match python.pip(folder).arg("--version").output() {
                Ok(output) if output.status.success() => return Ok(python),
                Ok(output) if String::from_utf8_lossy(&output.stderr).contains("No module named pip") => {
                    without_pip.get_or_insert(command.join(" "));
                }
                // Something else of that name (such as the shop's placeholder on Windows).
                Ok(_) | Err(_) => {}
            }
        }
    }
    let tried = pythons.iter().map(|python| python.join(" ")).collect::<Vec<_>>().join(", ");
    Err(without_pip.map_or(InstallError::NoPython(tried), InstallError::NoPip))
}

/// Runs pip in `folder`, which also takes its temporary files, and reports that folder's size in bytes to `progress`.
pub(super) fn run(
    python: &Python,
    arguments: &[String],
    folder: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), InstallError> {
    let mut command = python.pip(folder);
    // pip writes a download to its temporary folder first. With that folder in ours, its growth can be watched, and
    // what an interrupted pip leaves behind is removed with it.
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, folder);
    }
    let mut child = command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| InstallError::Pip(format!("it cannot be started: {error}")))?;
    let mut stderr = child.stderr.take();
    // Read beside the polling, or a talkative pip would block on a full pipe.
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(stderr) = &mut stderr {
            // What could not be read is missing from a message and nowhere else.
            let _ = stderr.read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {
                progress(size_of_folder(folder));
                std::thread::sleep(POLL);
            }
            Err(error) => return Err(InstallError::Pip(format!("it cannot be waited for: {error}"))),
        }
    };
    let said = reader.join().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(explain(&said)) }
}

/// The size in bytes of all files below a folder, as far as it can be read while another process writes there.
fn size_of_folder(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of_folder(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(size).sum()
}

/// The error, in one line, for what pip wrote to its error output.
fn explain(said: &str) -> InstallError {
    if let Some(phrase) = NETWORK_PHRASES.iter().find(|&&phrase| said.contains(phrase)) {
        return InstallError::NoNetwork((*phrase).to_owned());
    }
    if said.contains(NO_VERSIONS) {
        return InstallError::NoNetwork("no network, a proxy in between, or a mirror without the package".to_owned());
    }
    let errors = || said.lines().map(str::trim).filter(|line| line.starts_with("ERROR:"));
    let line = errors().next().or_else(|| said.lines().map(str::trim).rfind(|line| !line.is_empty()));
    let line = line.unwrap_or("it failed without a word");
    InstallError::Pip(line.trim_start_matches("ERROR:").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_network_is_told_from_other_failures() {
        let offline = "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/onnxruntime/\n\
                       ERROR: No matching distribution found for onnxruntime==1.31.1\n";
        assert!(matches!(explain(offline), InstallError::NoNetwork(_)));
        let quiet = "ERROR: Could not find a version that satisfies the requirement (from versions: none)\n";
        assert!(matches!(explain(quiet), InstallError::NoNetwork(_)));
        let other = "  some talk\nERROR: No matching distribution found for onnxruntime==1.31.1\n";
        let line = explain(other).to_string();
        assert!(line.ends_with(": No matching distribution found for onnxruntime==1.31.1"), "{line}");
        assert!(explain("").to_string().contains("without a word"));
    }

    #[test]
    fn a_missing_python_is_one_clear_line() {
        let pythons = [vec!["zeitnot-no-such-python".to_owned()]];
        let error = find_python(&pythons, &std::env::temp_dir()).unwrap_err();
        assert!(matches!(error, InstallError::NoPython(_)));
        let line = error.to_string();
        assert!(line.contains("zeitnot-no-such-python") && !line.contains('\n'), "{line}");
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_looked_for_in_absolute_folders_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let [file, program] = ["file", "program"].map(|name| home.path().join(name));
        for (folder, mode) in [(&file, 0o644), (&program, 0o755)] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("python3"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(folder.join("python3"), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let working = std::env::current_dir().unwrap();
        let up: PathBuf = working.components().skip(1).map(|_| "..").collect();
        let relative = up.join(program.strip_prefix("/").unwrap());
        assert!(relative.join("python3").is_file() && relative.is_relative());
        let find = |folders: &[&Path]| find_program("python3", &std::env::join_paths(folders).unwrap());
        assert_eq!(find(&[Path::new(""), Path::new("."), &relative]), None, "of the working folder");
        assert_eq!(find(&[&file, &home.path().join("none")]), None, "no program");
        let found = Some(program.join("python3"));
        assert_eq!(find(&[&relative, &file, &program]), found);
        assert_eq!(find_program(&program.join("python3").to_string_lossy(), OsStr::new("")), found, "a path");
    }

    #[test]
    fn size_counts_nested_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("a"), [0; 10]).unwrap();
        std::fs::write(folder.path().join("inner/b"), [0; 32]).unwrap();
        assert_eq!(size_of_folder(folder.path()), 42);
    }
}
