//! `zeitnot net`: describes, converts, lists and downloads network files, and prepares devices for them.

mod convert;
mod describe;
mod fetch;
mod list;
mod prepare;

use crate::commands::flags::flag;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use std::process::ExitCode;
use zeitnot_engine::backend::DeviceOptions;
use zeitnot_engine::network::OnnxInterface;

/// The name of the flag `--backend-opts`, which sets the engine's option `BackendOptions`.
const BACKEND_OPTS: &str = "backend-opts";

pub fn command() -> Command {
    Command::new("net")
        .about("Describe, convert, list and fetch networks")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([describe::command(), convert::command(), list::command(), fetch::command()])
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        Some(("describe", matches)) => return describe::run(matches),
        Some(("convert", matches)) => convert::run(matches)?,
        Some(("list", matches)) => list::run(matches),
        Some(("fetch", matches)) => fetch::run(matches)?,
        _ => unreachable!("clap asks for one of the commands"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The flag `--backend-opts`, for the keys that say how an ONNX model is read.
fn interface_flag() -> Arg {
    flag(BACKEND_OPTS, "TEXT")
        .help("BackendOptions by which an ONNX model is read (input_format=NAME, input_planes=NAME, ...)")
        .long_help("BackendOptions by which an ONNX model is read: input_format=NAME, input_planes=NAME, output_policy=NAME, ...")
}

/// The way to read an ONNX model that `--backend-opts` describes; keys about other things have no effect here.
fn interface(matches: &ArgMatches) -> anyhow::Result<OnnxInterface> {
    let text = matches.get_one::<String>(BACKEND_OPTS).map_or("", String::as_str);
    let options: DeviceOptions = text.parse().with_context(|| format!("--{BACKEND_OPTS}"))?;
    Ok(options.interface)
}

/// A file size for people.
fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
