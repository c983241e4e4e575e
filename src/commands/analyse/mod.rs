//! `zeitnot analyse`: searches positions that others name.
//!
//! | file | content |
//! |---|---|
//! | `stdio` | requests and answers in JSON, a line each, for other programs |

mod stdio;

use super::engine_options;
use clap::{ArgMatches, Command};

pub fn command() -> Command {
    let command = Command::new("analyse")
        .about("Search positions for another program, by requests in JSON")
        .after_long_help(stdio::HELP)
        .args(stdio::flags());
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    stdio::run(matches)
}
