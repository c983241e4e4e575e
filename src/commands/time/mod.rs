//! `zeitnot time`: shows the decisions of a time manager, compares managers in games and over recorded searches, and writes
//! reports about all of it.

mod audit;
mod compare;
mod explain;
mod explain_game;
mod record;
mod replay;
mod report;
mod report_in_terminal;
mod script;
mod simulate;

use super::engine_options;
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot::engine::Options;
use zeitnot::lab::TimeControl;
use zeitnot::lab::traces::{SearchTrace, read_traces};

pub fn command() -> Command {
    Command::new("time")
        .about("Look into the time managers")
        .subcommand_required(true)
        .subcommand(explain::command())
        .subcommand(compare::command())
        .subcommand(audit::command())
        .subcommand(record::command())
        .subcommand(replay::command())
        .subcommand(simulate::command())
        .subcommand(report::command())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some(("explain", matches)) => explain::run(matches),
        Some(("compare", matches)) => compare::run(matches),
        Some(("audit", matches)) => audit::run(matches),
        Some(("record", matches)) => record::run(matches),
        Some(("replay", matches)) => replay::run(matches),
        Some(("simulate", matches)) => simulate::run(matches),
        Some(("report", matches)) => report::run(matches),
        _ => unreachable!("clap requires one of the commands"),
    }
}

/// Managers that are asked unless told.
const USUAL_MANAGERS: [&str; 3] = ["smooth", "legacy", "simple"];

/// The files that a command reads.
fn files(help: &'static str) -> Arg {
    Arg::new("files").value_name("FILE").required(true).num_args(1..).value_parser(value_parser!(PathBuf)).help(help)
}

/// The files that were named.
fn named_files(matches: &ArgMatches) -> impl Iterator<Item = &PathBuf> {
    matches.get_many("files").unwrap_or_default()
}

/// The flag that names time managers.
fn managers(help: &'static str) -> Arg {
    let help = format!("{help}; may be given again [default: {}]", USUAL_MANAGERS.join(", "));
    Arg::new("manager").long("manager").value_name("SPEC").action(ArgAction::Append).help(help)
}

/// The managers that were named, or the usual ones.
fn named_managers(matches: &ArgMatches) -> Vec<&str> {
    match matches.get_many::<String>("manager") {
        Some(specs) => specs.map(String::as_str).collect(),
        None => USUAL_MANAGERS.to_vec(),
    }
}

/// The engine's options with a manager, or with the options that a text such as `TimeManager=legacy;CPuct=2` names.
fn options_of(spec: &str) -> anyhow::Result<Options> {
    let mut options = Options::default();
    for setting in engine_options::settings_of(spec) {
        let (name, value) = engine_options::name_value(&setting).with_context(|| format!("--manager {spec}"))?;
        options.set(name, value).with_context(|| format!("--manager {spec}"))?;
    }
    Ok(options)
}

/// The flag of the clock that games begin with.
fn time_control() -> Arg {
    let parser = |text: &str| text.parse::<TimeControl>();
    Arg::new("tc")
        .long("tc")
        .value_name("TC")
        .default_value("10+0.1")
        .value_parser(parser)
        .help("The clock of each game")
}

/// The clock that games begin with.
fn control(matches: &ArgMatches) -> anyhow::Result<TimeControl> {
    matches.get_one("tc").copied().context("--tc has a default")
}

/// The flag of the size of batches.
fn batch() -> Arg {
    Arg::new("batch")
        .long("batch")
        .value_name("N")
        .default_value("8")
        .value_parser(value_parser!(u64).range(1..=1_000_000))
        .help("Playouts between two looks of the stoppers")
}

/// The traces of all files, pairs of games of different files apart, and the playouts of their moves, which are the same in all.
fn traces<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<(Vec<SearchTrace>, u64)> {
    let (mut all, mut nodes, mut games) = (Vec::new(), None, 0_u32);
    for path in paths {
        let (header, mut traces) = read_traces(path)?;
        traces.retain(|trace| !trace.snapshots.is_empty());
        anyhow::ensure!(!traces.is_empty() && header.nodes > 0, "{} holds no trace", path.display());
        let others = *nodes.get_or_insert(header.nodes);
        anyhow::ensure!(
            header.nodes == others,
            "{} was recorded with --nodes {}, the files before it with {others}",
            path.display(),
            header.nodes
        );
        traces.iter_mut().for_each(|trace| trace.game = trace.game.saturating_add(games));
        games = traces.last().map_or(games, |trace| trace.game).saturating_add(2) & !1;
        all.extend(traces);
    }
    Ok((all, nodes.context("clap requires a file")?))
}
