//! `zeitnot net describe`: what is in network files.

use super::super::json_flag;
use super::super::output::say;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zeitnot::network::{self, Network};

pub fn command() -> Command {
    Command::new("describe")
        .about("Say what network files are: architecture, heads, input, size")
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("Network files (.pb.gz, .pb or .onnx) [default: the one the engine would take]"),
        )
        .arg(json_flag().help("Print one JSON object a line"))
}

/// A file that cannot be described is named on standard error; the others are described, and the exit code is 1.
pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let files: Vec<PathBuf> = match matches.get_many("files") {
        Some(files) => files.cloned().collect(),
        None => vec![network::find(None)?],
    };
    let mut code = ExitCode::SUCCESS;
    for file in &files {
        match Network::load(file) {
            Ok(network) if matches.get_flag("json") => say!("{}", as_json(file, &network)?),
            Ok(network) if files.len() == 1 => say!("{}", network.description()),
            Ok(network) => say!("{}: {}", file.display(), network.description()),
            Err(error) => {
                eprintln!("zeitnot: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// The description's own fields, and before them the file, its size in bytes, and the description in words.
fn as_json(file: &Path, network: &Network) -> anyhow::Result<Value> {
    let object = json!({
        "file": file.display().to_string(),
        "bytes": std::fs::metadata(file)?.len(),
        "text": network.description().to_string(),
    });
    Ok(object)
}
