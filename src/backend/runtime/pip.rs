//! Runs the user's pip and reads what it says.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::install::InstallError;

/// How often the size of the download is looked at.
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

/// What pip says when the index lists nothing at all. The package exists for every pinned platform, so the index was not
/// reached, or is a mirror without it.
const NO_VERSIONS: &str = "(from versions: none)";

/// The commands under which Python is usually found on this platform.
pub(super) fn usual_pythons() -> Vec<Vec<String>> {
    let commands: &[&[&str]] =
        if cfg!(windows) { &[&["py", "-3"], &["python"], &["python3"]] } else { &[&["python3"], &["python"]] };
    commands.iter().map(|command| command.iter().map(|&word| word.to_owned()).collect()).collect()
}

fn command(python: &[String]) -> Option<Command> {
    let (program, first) = python.split_first()?;
    let mut command = Command::new(program);
    // A setting of the user's for his own projects; nothing is installed into any environment here.
    command.args(first).args(["-m", "pip"]).env("PIP_REQUIRE_VIRTUALENV", "false").stdin(Stdio::null());
    Some(command)
}

/// The first of the commands that starts a Python with pip.
pub(super) fn find_python(pythons: &[Vec<String>]) -> Result<Vec<String>, InstallError> {
    let mut without_pip = None;
    for python in pythons {
        let Some(mut command) = command(python) else { continue };
        match command.arg("--version").output() {
            Ok(output) if output.status.success() => return Ok(python.clone()),
            Ok(output) if String::from_utf8_lossy(&output.stderr).contains("No module named pip") => {
                without_pip.get_or_insert(python.join(" "));
            }
            // Not there, or something else of that name (such as the shop's placeholder on Windows).
            Ok(_) | Err(_) => {}
        }
    }
    let tried = pythons.iter().map(|python| python.join(" ")).collect::<Vec<_>>().join(", ");
    Err(without_pip.map_or(InstallError::NoPython(tried), InstallError::NoPip))
}

/// Runs pip with `folder` for its temporary files as well, and tells `progress` how many bytes lie there.
pub(super) fn run(
    python: &[String],
    arguments: &[String],
    folder: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), InstallError> {
    let Some(mut command) = command(python) else { return Err(InstallError::NoPython(String::new())) };
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

/// One line for what pip wrote to its error output.
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
        let error = find_python(&pythons).unwrap_err();
        assert!(matches!(error, InstallError::NoPython(_)));
        let line = error.to_string();
        assert!(line.contains("zeitnot-no-such-python") && !line.contains('\n'), "{line}");
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
