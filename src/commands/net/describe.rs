//! `zeitnot net describe`: describes network files.

use super::super::output::{note, say};
use crate::commands::flags::json_flag;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use zeitnot_engine::network::{self, Location, Network, NetworkError};

pub fn command() -> Command {
    Command::new("describe")
        .about("Describe network files: architecture, heads, input, size")
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("Network files (.pb.gz, .pb or .onnx) [default: the one the engine would take]"),
        )
        .arg(super::interface_flag())
        .arg(json_flag().help("Output as JSON, one object a line"))
}

/// Describes the files. One that cannot be described is named on standard error, and the exit code is 1.
pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let interface = super::interface(matches)?;
    // A user who named one file knows which it is.
    let is_named = matches.get_many::<PathBuf>("files").is_some_and(|files| files.len() == 1);
    let tell = |location: &Location, network: &Network| -> anyhow::Result<()> {
        match matches.get_flag("json") {
            true => say!("{}", as_json(location, network)?),
            false if is_named => say!("{}", network.description()),
            false => say!("{location}: {}", network.description()),
        }
        Ok(())
    };
    let Some(files) = matches.get_many::<PathBuf>("files") else {
        let passed_over = |error: &NetworkError| note!("zeitnot: {error}; it is passed over");
        let (location, network) = network::load(None, &interface, passed_over)?;
        tell(&location, &network)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut code = ExitCode::SUCCESS;
    for file in files {
        // A mere name is looked for as by --weights; one that is nowhere is reported in its turn.
        let location = network::find(Some(file)).unwrap_or(Location::File(file.clone()));
        match location.load(&interface) {
            Ok(network) => tell(&location, &network)?,
            Err(error) => {
                note!("zeitnot: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// A network as JSON: the file (null for the network inside the program), its size in bytes, the description in words,
/// and the description's own fields.
fn as_json(location: &Location, network: &Network) -> anyhow::Result<Value> {
    let mut object = json!({
        "file": location.path().map(|path| path.display().to_string()),
        "bytes": location.size()?,
        "text": network.description().to_string(),
    });
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, serde_json::to_value(network.description())?)
    {
        object.extend(fields);
    }
    Ok(object)
}
