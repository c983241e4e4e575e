//! `zeitnot net fetch`: downloads a network to where the engine finds it, and prepares a device for it.

use super::super::output::{note, say};
use super::super::{engine_options, progress};
use super::prepare::prepare;
use super::size;
use crate::commands::flags::{flag, json_flag, switch};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use zeitnot_engine::network::{FetchProgress, Fetched, Fetcher, Source, catalogue, user_folder};

/// The engine's option that names a network.
const WEIGHTS: &str = "WeightsFile";
/// The name of the argument for what is downloaded.
const WHAT: &str = "what";

pub fn command() -> Command {
    let command = Command::new("fetch")
        .about("Download a network into the user's folder of networks, where the engine finds it")
        .after_long_help(
            "A download that was cut goes on where it ended. The file gets its name when its checksum is right and it loads. \
             Where no checksum is known, that of the first file is recorded beside it and later ones are compared with it. \
             An https address is never left for http; an http address is taken where it is typed. A network of the \
             catalogue may have the size that `zeitnot net list` prints (twice as much where that is rounded), any other \
             2 GiB.\n\n\
             --prepare loads the network as the engine would, with the same --backend and --backend-opts; a device of its own runs \
             every size of batch once. What TensorRT, CoreML and OpenVINO on a graphics card compile on the way (TensorRT's \
             engines take minutes) is kept in the user's cache, where the engine finds it. The other devices, a CPU among them, \
             keep nothing: for them this only shows that the network runs.",
        )
        .arg(
            Arg::new(WHAT)
                .value_name("NAME|URL")
                .required_unless_present("prepare")
                .num_args(1..)
                .help("Name from `zeitnot net list`, or address of a network file"),
        )
        .arg(
            flag("folder", "FOLDER")
                .value_parser(value_parser!(PathBuf))
                .requires(WHAT)
                .help("Folder of the network [default: zeitnot/networks in the user's data folder]"),
        )
        .arg(
            flag("patience", "SECONDS")
                .default_value("30")
                .value_parser(value_parser!(u64).range(1..=3600))
                .requires(WHAT)
                .help("Longest silence of the server"),
        )
        .arg(switch("force", "Download even of a network that is there").requires(WHAT))
        .arg(
            switch("prepare", "Preparation of a device for the network, or without NAME for that of --weights"),
        )
        .arg(json_flag().help("Output as JSON, one object a network, or about the preparation alone"));
    // The engine's flags are for the preparation; that of the network says what is prepared without a name.
    let is_engines = |arg: &Arg| arg.get_help_heading() == Some(engine_options::HEADING);
    engine_options::add_to(command)
        .mut_args(|arg| if is_engines(&arg) { arg.requires("prepare") } else { arg })
        // clap asks for no argument that another one excludes: beside --weights the flags of a download would be ignored.
        .mut_arg(WEIGHTS, |arg| arg.conflicts_with_all([WHAT, "folder", "patience", "force"]))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (is_json, prepares) = (matches.get_flag("json"), matches.get_flag("prepare"));
    let Some(names) = matches.get_many::<String>(WHAT) else {
        let line = prepare(matches, None)?;
        if is_json {
            say!("{}", json!({ "preparation": line }))
        } else {
            say!("{line}")
        }
        return Ok(());
    };
    let folder = matches.get_one::<PathBuf>("folder").cloned().or_else(user_folder);
    let folder = folder.context("this user has no home folder: --folder=FOLDER says where the network goes")?;
    let patience = *matches.get_one::<u64>("patience").context("--patience has a default")?;
    let force = matches.get_flag("force");
    let fetcher = Fetcher { folder, patience: Duration::from_secs(patience), force };
    let source = |name: &String| match name.contains("://") {
        true => Ok((Source::from_url(name)?, None)),
        false => catalogue::find(name).map(|entry| (Source::from(entry), Some(entry.size.bytes()))),
    };
    let sources: Vec<(Source, Option<u64>)> = names.map(source).collect::<Result<_, _>>()?;
    for (source, expected) in sources {
        let fetched = fetch(&fetcher, &source, expected)?;
        show(&fetched, is_json)?;
        if prepares {
            let line = prepare(matches, Some(&fetched.path))?;
            if is_json { note!("{line}") } else { say!("{line}") }
        }
    }
    Ok(())
}

/// Downloads a network with a progress bar; `expected` is its size in bytes, where known.
fn fetch(fetcher: &Fetcher, source: &Source, expected: Option<u64>) -> anyhow::Result<Fetched> {
    let bar = progress::bar(expected.unwrap_or(0))?;
    bar.set_message(source.file_name.clone());
    let fetched = fetcher.fetch(source, &mut |progress| match progress {
        FetchProgress::Downloading { bytes, total } => {
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(bytes);
        }
        FetchProgress::Checking => bar.set_message(format!("checking {}", source.file_name)),
    });
    bar.finish_and_clear();
    Ok(fetched?)
}

fn show(fetched: &Fetched, is_json: bool) -> anyhow::Result<()> {
    let bytes = std::fs::metadata(&fetched.path)?.len();
    if is_json {
        say!(
            "{}",
            json!({
                "path": fetched.path, "bytes": bytes, "sha256": fetched.sha256, "verified": fetched.verified,
                "was_there": fetched.was_there, "description": fetched.network.description().to_string(),
            })
        );
        return Ok(());
    }
    let news = if fetched.was_there { "already there" } else { "fetched" };
    let checked = if fetched.verified { "checksum right" } else { "no checksum known, this one is recorded" };
    say!("{news}: {} ({}, {checked})", fetched.path.display(), size(bytes));
    say!("sha256: {}", fetched.sha256);
    say!("{}", fetched.network.description());
    Ok(())
}
