//! Starts other programs as child processes that end with their owner.

use std::io;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command};
use zeitnot_text::files::to_os;

/// A child process in a group of its own, which Ctrl-C does not reach. Dropping it kills it, on Unix together with the
/// processes that it has started.
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
        // Errors mean that there is nothing left to kill. A program that has ended by itself may have left children,
        // which keep the number of its group from being given to others.
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program of a command line and its arguments. Words are split as a shell splits them: quotes hold them together.
///
/// # Errors
/// The problem, in words.
pub fn split(command: &str) -> Result<(String, Vec<String>), &'static str> {
    // Backslashes in the paths of Windows quote nothing.
    let escaped = if cfg!(windows) { command.replace('\\', "\\\\") } else { command.to_owned() };
    let mut words = shlex::split(&escaped).ok_or("a quotation mark is not closed")?.into_iter();
    let program = words.next().filter(|word| !word.is_empty()).ok_or("it names no program")?;
    Ok((program, words.collect()))
}
