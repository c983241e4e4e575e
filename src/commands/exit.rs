//! Maps the end of a command to an exit code: 0 on success, 1 on failure, 2 on a wrong command line, 130 after Ctrl-C.

use super::output::note;
use std::borrow::Cow;
use std::io;
use std::process::ExitCode;
use zeitnot_base::printable;

/// The exit code after Ctrl-C, which is the one that shells report.
pub const INTERRUPTED: i32 = 130;

/// The exit code of a wrong command line, which is clap's.
const WRONG_COMMAND_LINE: u8 = 2;

/// The exit code for the result of a command, whose error is printed.
pub fn code(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note!("zeitnot: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints help, the version, or why the command line is refused. A text with characters that could command the terminal
/// is printed without colours.
pub fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    match printable::lines(&text) {
        // Nobody may read it.
        Cow::Borrowed(_) => error.print().unwrap_or_default(),
        Cow::Owned(safe) => note!("{}", safe.trim_end()),
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Prints one line on why the command line is refused, for cases where clap's own message would not help.
pub fn refuse_in_a_line(line: &str) -> ExitCode {
    note!("zeitnot: {line}");
    ExitCode::from(WRONG_COMMAND_LINE)
}

/// Whether the error only means that nobody reads our output any more (`zeitnot eval ... | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(kind))
}
