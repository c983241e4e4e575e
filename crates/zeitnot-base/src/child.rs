//! Finds other programs, and starts them as child processes that end with their owner.

use crate::files::{to_os, to_path};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Time between two checks whether a process has ended.
const POLL: Duration = Duration::from_millis(1);

/// A child process that ends when this is dropped. On Unix it is in a group of its own, which Ctrl-C does not reach, and
/// the processes that it has started end with it.
#[derive(Debug)]
pub struct OwnedChild(Child);

impl OwnedChild {
    /// Starts a program; `prepare` sets its streams.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn start(program: &str, args: &[String], prepare: impl FnOnce(&mut Command)) -> io::Result<OwnedChild> {
        let mut command = Command::new(to_os(program));
        command.args(args.iter().map(|arg| to_os(arg)));
        prepare(&mut command);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(OwnedChild)
    }

    /// The exit status of the process, if it ends by itself within a time.
    pub fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            match self.0.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL),
                end => return end.ok().flatten(),
            }
        }
    }

    /// Kills the process and those that it has started, and does not wait for their end.
    pub fn kill_all(&mut self) {
        // Errors mean that there is nothing left to kill. A program that has ended by itself may have left children,
        // which keep the number of its group from being given to others.
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
    }
}

impl Deref for OwnedChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for OwnedChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        self.kill_all();
        let _ = self.0.wait();
    }
}

/// The program of a command line and its arguments. Words are split as a shell splits them: quotes hold them together.
///
/// # Errors
/// The problem, in words.
pub fn split(command: &str) -> Result<(String, Vec<String>), &'static str> {
    let mut words = words(command).ok_or("a quotation mark is not closed")?.into_iter();
    let program = words.next().filter(|word| !word.is_empty()).ok_or("it names no program")?;
    Ok((program, words.collect()))
}

/// The words of a text as a shell splits them; `None` where a quotation mark is not closed.
pub fn words(text: &str) -> Option<Vec<String>> {
    // Backslashes in the paths of Windows quote nothing.
    let escaped = if cfg!(windows) { text.replace('\\', "\\\\") } else { text.to_owned() };
    shlex::split(&escaped)
}

/// The command line of these words: [`split`] finds them again.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|word| format!("'{}'", word.replace('\'', "'\"'\"'")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The file that the command line runs: a path as it is, a name as the system finds it in `PATH`. `None`
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

/// Whether a file may be run as a program.
#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether `path` is a file or a link. The links by which Windows names the programs of its shop cannot be followed.
#[cfg(not(unix))]
pub fn is_executable(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again() {
        let words = ["a b", "it's", "smooth(x=\"1\")", "c:\\d", ""];
        assert_eq!(super::words(&join(words)).unwrap(), words);
    }

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
