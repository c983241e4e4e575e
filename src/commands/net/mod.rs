//! `zeitnot net`: describes, converts, lists and downloads network files, and prepares a device for one.

mod convert;
mod describe;
mod fetch;
mod list;
mod prepare;

use clap::{ArgMatches, Command};
use std::process::ExitCode;

pub fn command() -> Command {
    Command::new("net")
        .about("Describe, convert, list, fetch and prepare networks")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([describe::command(), convert::command(), list::command(), fetch::command(), prepare::command()])
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        Some(("describe", matches)) => return describe::run(matches),
        Some(("convert", matches)) => convert::run(matches)?,
        Some(("list", matches)) => list::run(matches),
        Some(("fetch", matches)) => fetch::run(matches)?,
        Some(("prepare", matches)) => prepare::run(matches)?,
        _ => unreachable!("clap asks for one of the commands"),
    }
    Ok(ExitCode::SUCCESS)
}

/// A file size for people.
fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
