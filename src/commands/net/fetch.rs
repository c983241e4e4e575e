//! `zeitnot net fetch`: downloads a network to where the engine finds it.

use super::super::output::say;
use super::super::{json_flag, progress};
use super::size;
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use zeitnot_engine::network::{FetchProgress, Fetcher, Source, catalogue, user_folder};

pub fn command() -> Command {
    Command::new("fetch")
        .about("Download a network into the user's folder of networks, where the engine finds it")
        .after_help(
            "A download that was cut goes on where it ended. The file gets its name when its checksum is right and it loads. \
             Where no checksum is known, that of the first file is recorded beside it and later ones are compared with it. \
             An https address is never left for http; an http address is taken where it is typed. A network of the \
             catalogue may have the size that `zeitnot net list` tells (twice as much where that is rounded), any other \
             2 GiB.",
        )
        .arg(
            Arg::new("what")
                .value_name("NAME|URL")
                .required(true)
                .num_args(1..)
                .help("A name from `zeitnot net list`, or the address of a network file"),
        )
        .arg(
            Arg::new("folder")
                .long("folder")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Where it goes [default: zeitnot/networks in the user's data folder]"),
        )
        .arg(
            Arg::new("patience")
                .long("patience")
                .value_name("SECONDS")
                .default_value("30")
                .value_parser(value_parser!(u64).range(1..=3600))
                .help("How long the server may be silent"),
        )
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Download it even if it is there"))
        .arg(json_flag().help("Print one JSON object a network"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().or_else(user_folder);
    let folder = folder.context("this user has no home folder: --folder=FOLDER says where the network goes")?;
    let patience = *matches.get_one::<u64>("patience").context("--patience has a default")?;
    let force = matches.get_flag("force");
    let fetcher = Fetcher { folder, patience: Duration::from_secs(patience), force };
    let sources: Vec<(Source, Option<u64>)> = matches
        .get_many::<String>("what")
        .unwrap_or_default()
        .map(|what| match what.contains("://") {
            true => Ok((Source::from_url(what)?, None)),
            false => catalogue::find(what).map(|entry| (Source::from(entry), Some(entry.size.bytes()))),
        })
        .collect::<Result<_, _>>()?;
    for (source, expected) in sources {
        let bar = progress::bar(expected.unwrap_or(0))?;
        bar.set_message(source.file_name.clone());
        let fetched = fetcher.fetch(&source, &mut |progress| match progress {
            FetchProgress::Downloading { bytes, total } => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(bytes);
            }
            FetchProgress::Checking => bar.set_message(format!("checking {}", source.file_name)),
        });
        bar.finish_and_clear();
        let fetched = fetched?;
        let bytes = std::fs::metadata(&fetched.path)?.len();
        if matches.get_flag("json") {
            say!(
                "{}",
                json!({
                    "path": fetched.path, "bytes": bytes, "sha256": fetched.sha256, "verified": fetched.verified,
                    "was_there": fetched.was_there, "description": fetched.network.description().to_string(),
                })
            );
            continue;
        }
        let news = if fetched.was_there { "already there" } else { "fetched" };
        let checked = if fetched.verified { "checksum right" } else { "no checksum known, this one is recorded" };
        say!("{news}: {} ({}, {checked})", fetched.path.display(), size(bytes));
        say!("sha256: {}", fetched.sha256);
        say!("{}", fetched.network.description());
    }
    Ok(())
}
