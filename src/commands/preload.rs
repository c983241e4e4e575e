//! `--preload`: a switch of Lc0's command line and config file that is no UCI option. It loads the network when the
//! engine starts, not at the first `isready` or `go` (docs/lc0.md, 1.1).

use super::flags;
use clap::{Arg, ArgMatches};

/// The flag, without dashes.
pub const PRELOAD: &str = "preload";

/// The flag of the command line, a switch that may have a value.
pub fn flag() -> Arg {
    flags::flag(PRELOAD, "BOOL").num_args(0..=1).require_equals(true).default_missing_value("true").help(
        "As a UCI engine, load the network and make its backend ready at the start, not at the first isready or go; \
             other commands load it at once in any case [default: false]",
    )
}

/// The value of `--preload` on the command line; `None` without the flag.
///
/// # Errors
/// When the value is neither true nor false.
pub fn given(matches: &ArgMatches) -> anyhow::Result<Option<bool>> {
    matches.get_one::<String>(PRELOAD).map(|text| read(text)).transpose()
}

/// Reads a value of `--preload`.
///
/// # Errors
/// When the text is neither true nor false.
pub fn read(text: &str) -> anyhow::Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => anyhow::bail!("--{PRELOAD}: \"{text}\" is not true or false"),
    }
}
