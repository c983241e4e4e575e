//! Prints and writes the output of commands: to a reader who may have gone, or a disk that may be full. What is printed may quote
//! files, engines and servers of others: nothing of it commands the terminal ([`printable`]).

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use zeitnot::printable;

/// Prints a line to standard error, if anybody reads it: `eprintln!` panics where nobody does (`zeitnot match 2>&1 | head`).
macro_rules! note {
    ($($arg:tt)*) => {{
        let line = format!($($arg)*);
        let line = zeitnot::printable::lines(&line);
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
    }};
}
pub(super) use note;

/// Prints a text. When nobody reads any more (`zeitnot options | head`) the program ends quietly; any other failure
/// is named and ends it with an error.
pub fn text(text: impl Display) {
    match print(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            note!("zeitnot: cannot write the output: {error}");
            std::process::exit(1);
        }
    }
}

/// Prints a text as [`text`] does, where the program has something to finish when nobody reads any more. Returns whether
/// somebody does.
pub fn is_read(text: impl Display) -> bool {
    let printed = print(text);
    if let Err(error) = &printed {
        note!("zeitnot: cannot write the output: {error}");
    }
    printed.is_ok()
}

fn print(text: impl Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(printable::lines(&text.to_string()).as_bytes())?;
    stdout.flush()
}

/// [`text`] and a line break; formats like `println!`.
macro_rules! say {
    ($($arg:tt)*) => { $crate::commands::output::text(format_args!("{}\n", format_args!($($arg)*))) };
}
pub(super) use say;

/// Standard error for a log, which comes in whole lines.
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

/// Writes a file that is there as a whole or not at all; of two processes that write it, each a whole one.
///
/// # Errors
///
/// The operating system's.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        // A full disk has room again.
        fs::remove_file(&unfinished).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shard.bin.gz");
        fs::create_dir_all(path.join("in the way")).unwrap();
        write_whole(&path, b"games").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
