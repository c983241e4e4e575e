//! Prints and writes the output of commands: to a reader who may have gone, or a disk that may be full. The output may
//! quote files, engines and servers of others: nothing in it may command the terminal ([`printable`]).

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
use zeitnot_base::printable;
use zeitnot_engine::announcer::Announcer;

/// Bytes at the beginning of a file that are searched for the mark of its kind.
const MOST_HEAD: u64 = 4_096;

/// Prints a line to standard error, if anybody reads it: `eprintln!` panics where nobody does
/// (`zeitnot match 2>&1 | head`).
macro_rules! note {
    ($($arg:tt)*) => {{
        let line = format!($($arg)*);
        let line = zeitnot_base::printable::lines(&line);
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
    }};
}
pub(super) use note;

/// Announces progress on standard error.
pub fn notes() -> Announcer {
    Announcer::new(|line| note!("{line}"))
}

/// Prints a text. When nobody reads any more (`zeitnot options | head`) the program ends quietly; any other failure
/// is named and ends it with an error.
pub fn text(text: impl Display) {
    exact(&printable::lines(&text.to_string()));
}

/// Prints a text as [`text`] does, but unchanged: control characters reach a terminal.
pub fn exact(text: &str) {
    match print(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            note!("zeitnot: cannot write the output: {error}");
            std::process::exit(1);
        }
    }
}

/// Prints a text as [`text`] does, but never ends the program, which may have work to finish. Returns whether the text
/// could be printed.
pub fn is_read(text: impl Display) -> bool {
    let printed = print(&printable::lines(&text.to_string()));
    if let Err(error) = &printed {
        note!("zeitnot: cannot write the output: {error}");
    }
    printed.is_ok()
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a line as [`text`] does; formats like `println!`.
macro_rules! say {
    ($($arg:tt)*) => { $crate::commands::output::text(format_args!("{}\n", format_args!($($arg)*))) };
}
pub(super) use say;

/// Fails unless a file may be overwritten: it is missing or empty, or its beginning has `mark`, as in files of ours.
pub fn check_is_ours(path: &Path, mark: &str) -> anyhow::Result<()> {
    let mut begin = Vec::new();
    let is_file = path.is_file();
    let read = File::open(path).and_then(|file| file.take(MOST_HEAD).read_to_end(&mut begin));
    let is_ours = read.is_ok() && (begin.is_empty() || String::from_utf8_lossy(&begin).contains(mark));
    anyhow::ensure!(
        !is_file || is_ours,
        "{} has something else in it: delete it, or name another file",
        path.display()
    );
    Ok(())
}

/// A writer of log lines to standard error, made safe for a terminal.
pub struct LogOutput;

impl io::Write for LogOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().write_all(printable::lines(&text).as_bytes()).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
