//! `zeitnot time`: shows the decisions of a time manager, compares managers in games and over recorded searches, and writes
//! reports about all of it.

mod asked;
mod audit;
mod audit_tables;
mod compare;
mod explain;
mod explain_game;
mod map;
mod record;
mod replay;
mod report;
mod script;
mod simulate;
mod tune;

use super::engine_options;
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_engine::digest::sha256;
use zeitnot_engine::engine::Options;
use zeitnot_lab::TimeControl;
use zeitnot_lab::recordings::{RecordedSearch, read_recording};

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
        .subcommand(map::command())
        .subcommand(tune::command())
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
        Some(("map", matches)) => map::run(matches),
        Some(("tune", matches)) => tune::run(matches),
        Some(("report", matches)) => report::run(matches),
        _ => unreachable!("clap requires one of the commands"),
    }
}

/// Managers that are asked unless told.
const USUAL_MANAGERS: [&str; 3] = ["smooth", "legacy", "simple"];

/// An interval in words; `shown` is what 1 is shown as.
fn interval(ends: Option<[f64; 2]>, shown: f64, digits: usize) -> String {
    match ends {
        Some([low, high]) => format!("({:.digits$} to {:.digits$})", low * shown, high * shown),
        None => "(one pair of games has no interval)".to_owned(),
    }
}

/// The files that a command reads.
fn files(help: &'static str) -> Arg {
    Arg::new("files").value_name("FILE").required(true).num_args(1..).value_parser(value_parser!(PathBuf)).help(help)
}

/// A flag that names files.
fn file_list(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("FILE")
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .help(help)
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
    options_with(&Options::default(), engine_options::settings_of(spec)).with_context(|| format!("--manager {spec}"))
}

/// The options with settings such as `CPuct=2`.
fn options_with(base: &Options, settings: impl IntoIterator<Item = impl AsRef<str>>) -> anyhow::Result<Options> {
    let mut options = base.clone();
    for setting in settings {
        let (name, value) = engine_options::name_value(setting.as_ref())?;
        options.set(name, value)?;
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

/// The flag of the mean playouts of replays.
fn mean_nodes() -> Arg {
    Arg::new("mean-nodes")
        .long("mean-nodes")
        .value_name("N")
        .value_parser(value_parser!(f64))
        .help("Playouts of a move on average, the same for all: each is replayed at the speed that leads there [default: those of the recording's moves]")
}

/// The flag of the part of the traces that is replayed.
fn part() -> Arg {
    Arg::new("part")
        .long("part")
        .value_name("N/M")
        .value_parser(part_of)
        .help("Only every M-th pair of games, from the N-th on: parts of the same traces have no game and no opening of a match in common")
}

/// Reads `N/M`: the part and the number of parts.
fn part_of(text: &str) -> Result<(u32, u32), String> {
    let (number, parts) = text.split_once('/').ok_or("no N/M such as 1/2")?;
    match (number.trim().parse(), parts.trim().parse()) {
        (Ok(number), Ok(parts)) if (1..=parts).contains(&number) => Ok((number, parts)),
        (Ok(_), Ok(_)) => Err("N is 1 to M".to_owned()),
        _ => Err("no N/M such as 1/2".to_owned()),
    }
}

/// The traces of all files as far as `--part` says, and the playouts of their moves.
fn traces_of_part<'a>(
    matches: &ArgMatches,
    paths: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<(Vec<RecordedSearch>, u64)> {
    let (mut traces, nodes) = traces(paths)?;
    if let Some((number, parts)) = matches.get_one::<(u32, u32)>("part") {
        traces.retain(|trace| trace.pair() % parts == number - 1);
        anyhow::ensure!(!traces.is_empty(), "--part {number}/{parts}: there are not as many pairs of games");
    }
    Ok((traces, nodes))
}

/// The same, and the playouts of a move that they are replayed with.
fn traces_to_replay<'a>(
    matches: &ArgMatches,
    paths: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<(Vec<RecordedSearch>, f64)> {
    let (traces, nodes) = traces_of_part(matches, paths)?;
    let nodes = matches.get_one::<f64>("mean-nodes").copied().unwrap_or(nodes as f64);
    anyhow::ensure!(nodes >= 1.0 && nodes.is_finite(), "--mean-nodes {nodes}: a search has one playout at least");
    Ok((traces, nodes))
}

/// The flag of the clocks that games begin with.
fn time_controls() -> Arg {
    time_control()
        .value_name("TC,...")
        .value_delimiter(',')
        .help("Time controls; with --nps A,B,... each has its own speed")
}

/// The speeds of `--nps`, in nodes a second, each more than 0.
fn speeds(matches: &ArgMatches) -> anyhow::Result<Vec<f64>> {
    let speeds: Vec<f64> = matches.get_many("nps").unwrap_or_default().copied().collect();
    if let Some(nps) = speeds.iter().find(|nps| !(nps.is_finite() && **nps > 0.0)) {
        anyhow::bail!("--nps {nps}: a speed is more than 0");
    }
    Ok(speeds)
}

/// The clocks that games begin with, each once, and as many speeds if any.
fn controls(matches: &ArgMatches) -> anyhow::Result<Vec<TimeControl>> {
    let tcs: Vec<TimeControl> = matches.get_many("tc").unwrap_or_default().copied().collect();
    let twice = tcs.iter().enumerate().find(|(index, tc)| tcs[..*index].contains(tc));
    if let Some((_, tc)) = twice {
        anyhow::bail!("--tc has {tc} twice: its games would be counted twice");
    }
    let speeds = matches.get_many::<f64>("nps").unwrap_or_default().len();
    anyhow::ensure!(
        speeds <= 1 || speeds == tcs.len(),
        "--nps has {speeds} speeds for {} time controls: one for all, or one for each",
        tcs.len()
    );
    Ok(tcs)
}

/// The digest of recorded searches, by which runs over the same ones are known.
fn identity(traces: &[RecordedSearch]) -> anyhow::Result<String> {
    let mut text = String::new();
    for trace in traces {
        let last = trace.snapshots.last().map(|last| &last.visits);
        text.push_str(&format!("{} {} {} {last:?}\n", trace.game, trace.ply, trace.fen));
    }
    Ok(sha256(text.as_bytes())?)
}

/// The traces of all files, pairs of games of different files apart, and the playouts of their moves, which are the same in all.
fn traces<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<(Vec<RecordedSearch>, u64)> {
    let (mut all, mut nodes, mut games) = (Vec::new(), None, 0_u32);
    for path in paths {
        let (header, mut traces) = read_recording(path)?;
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
