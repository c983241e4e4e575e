//! Reads the command line of an engine, and finds the file that it runs.

use super::error::{ExternalError, one_line};
use std::path::{Path, PathBuf};
use zeitnot_engine::child;
use zeitnot_text::files::to_path;

/// The program of an engine's command line and its arguments.
///
/// # Errors
/// [`ExternalError::Command`].
pub(super) fn split(command: &str) -> Result<(String, Vec<String>), ExternalError> {
    child::split(command).map_err(|reason| ExternalError::Command { command: one_line(command), reason })
}

/// The file that the command line of an engine runs: a path as it is, a name as the system finds it in `PATH`. `None`
/// where there is no such file.
pub fn program_file(command: &str) -> Option<PathBuf> {
    let (program, _) = split(command).ok()?;
    let path = &to_path(&program);
    if path.components().count() > 1 {
        return [path.to_owned(), with_suffix(path)].into_iter().find(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let paths = std::env::split_paths(&folders).map(|folder| folder.join(path));
    paths.flat_map(|path| [with_suffix(&path), path]).find(|path| is_executable(path))
}

/// The path with the suffix that programs have on this system.
fn with_suffix(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(std::env::consts::EXE_SUFFIX);
    path.into()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_as_the_system_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my engine");
        std::fs::write(&path, "").unwrap();
        assert_eq!(program_file(&format!("'{}' --fast", path.display())), Some(path.clone()));
        assert_eq!(program_file(&path.display().to_string()), None, "two words");
        let shell = program_file("sh -c true").unwrap();
        assert!(shell.is_absolute() && shell.ends_with("sh"), "{shell:?}");
        assert_eq!((program_file("no-such-engine"), program_file("'sh")), (None, None));
    }
}
