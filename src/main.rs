//! The command line: parsing, dispatch, exit codes. What the commands do lives in `commands/`.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run()
}
