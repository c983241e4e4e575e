//! Declares and reads the flags that the commands of `time` share: managers, time controls, speeds and recordings.

use super::{flag, switch};
use crate::commands::engine_options;
use crate::commands::output::note;
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use std::path::PathBuf;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_engine::engine::Options;
use zeitnot_games::{LagModel, TimeControl};
use zeitnot_lab::recordings::{RecordedSearch, apply, judgement_of, read_recording};

/// Managers that are taken without `--manager`.
const USUAL_MANAGERS: [&str; 3] = ["smooth", "legacy", "simple"];

/// The argument for the files that a command reads.
pub fn files(help: &'static str) -> Arg {
    Arg::new("files").value_name("FILE").required(true).num_args(1..).value_parser(value_parser!(PathBuf)).help(help)
}

/// A flag that names a file and may be given again.
pub fn file_list(name: &'static str, help: &'static str) -> Arg {
    flag(name, "FILE").action(ArgAction::Append).value_parser(value_parser!(PathBuf)).help(help)
}

pub fn named_files(matches: &ArgMatches) -> impl Iterator<Item = &PathBuf> {
    matches.get_many("files").unwrap_or_default()
}

/// The flag `--manager`, which names time managers; `more` is added to its long help.
pub fn managers(help: &str, more: &str) -> Arg {
    let usual = USUAL_MANAGERS.join(", ");
    flag("manager", "SPEC")
        .action(ArgAction::Append)
        .help(format!("{help} [default: {usual}]"))
        .long_help(format!("{help}{more}; may be given again [default: {usual}]"))
}

/// The managers that were named, or the usual ones.
pub fn named_managers(matches: &ArgMatches) -> Vec<&str> {
    match matches.get_many::<String>("manager") {
        Some(specs) => specs.map(String::as_str).collect(),
        None => USUAL_MANAGERS.to_vec(),
    }
}

/// The engine's options with a manager, or with the options that a text such as `TimeManager=legacy;CPuct=2` names.
pub fn options_of(spec: &str) -> anyhow::Result<Options> {
    options_with(&Options::default(), engine_options::settings_of(spec)).with_context(|| format!("--manager {spec}"))
}

/// A copy of the options `base` with these settings, such as `CPuct=2`.
pub fn options_with(base: &Options, settings: impl IntoIterator<Item = impl AsRef<str>>) -> anyhow::Result<Options> {
    let mut options = base.clone();
    for setting in settings {
        let (name, value) = engine_options::name_value(setting.as_ref())?;
        options.set(name, value)?;
    }
    Ok(options)
}

/// The flag `--tc`: the time control of the games.
pub fn time_control() -> Arg {
    let parser = super::time_control::<TimeControl>;
    flag("tc", "TC").default_value("10+0.1").value_parser(parser).help("Time control of the games, in seconds")
}

/// The time control of `--tc`.
pub fn control(matches: &ArgMatches) -> anyhow::Result<TimeControl> {
    matches.get_one("tc").copied().context("--tc has a default")
}

/// The flag `--lag`: the time that the GUI takes in simulated games.
pub fn lag() -> Arg {
    flag("lag", "MS[,WORST]")
        .value_parser(|text: &str| text.parse::<LagModel>())
        .help("Lag of the GUI, its average and its worst [default: 0]")
        .long_help(
            "Lag of the GUI, its average and its worst; without it no search takes longer than its limit, and no game is lost on time \
             [default: 0]",
        )
}

/// The flag `--batch`: the playouts of a batch, after each of which the search may stop.
pub fn batch() -> Arg {
    flag("batch", "N")
        .default_value("8")
        .value_parser(value_parser!(u64).range(1..=1_000_000))
        .help("Playouts between two looks of the stoppers")
}

/// The flag `--mean-nodes`: the mean playouts of a replayed move.
pub fn mean_nodes() -> Arg {
    flag("mean-nodes", "N")
        .value_parser(value_parser!(f64))
        .help("Playouts of a move on average [default: those of the recording's moves]")
        .long_help(
            "Playouts of a move on average, the same for all managers: each is replayed at the speed that leads there [default: those \
             of the recording's moves]",
        )
}

/// The flag `--part`: the part of the recorded searches that is used.
pub fn part() -> Arg {
    flag("part", "N/M")
        .value_parser(part_of)
        .help("Part of the games: the N-th of M, by pairs")
        .long_help(
            "Part of the games: every M-th pair, from the N-th on. Parts of the same recordings have no game and no opening of a match \
             in common",
        )
}

/// The flag that takes regret from judgements.
pub fn judged() -> Arg {
    switch("judged", "Regret by the judge of time judge, in place of the recorded searches' own values")
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

/// The recorded searches of all files in the part of `--part`, and the playouts with which each was recorded.
pub fn searches_of_part<'a>(
    matches: &ArgMatches,
    paths: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<(Vec<RecordedSearch>, u64)> {
    let (mut searches, nodes) = searches(matches, paths)?;
    if let Some((number, parts)) = matches.get_one::<(u32, u32)>("part") {
        searches.retain(|search| search.pair() % parts == number - 1);
        anyhow::ensure!(!searches.is_empty(), "--part {number}/{parts}: there are not as many pairs of games");
    }
    Ok((searches, nodes))
}

/// The recorded searches of all files in the part of `--part`, and the mean playouts of a move in their replay.
pub fn searches_to_replay<'a>(
    matches: &ArgMatches,
    paths: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<(Vec<RecordedSearch>, f64)> {
    let (searches, nodes) = searches_of_part(matches, paths)?;
    let nodes = matches.get_one::<f64>("mean-nodes").copied().unwrap_or(nodes as f64);
    anyhow::ensure!(nodes >= 1.0 && nodes.is_finite(), "--mean-nodes {nodes}: a search has one playout at least");
    Ok((searches, nodes))
}

/// The flag `--tc` with several time controls.
pub fn time_controls() -> Arg {
    time_control()
        .value_name("TC,...")
        .value_delimiter(',')
        .help("Time controls in seconds; with --nps A,B,... each has its own speed")
}

/// The speeds of `--nps`, in nodes a second; an error if one is not above 0.
pub fn speeds(matches: &ArgMatches) -> anyhow::Result<Vec<f64>> {
    let speeds: Vec<f64> = matches.get_many("nps").unwrap_or_default().copied().collect();
    if let Some(nps) = speeds.iter().find(|nps| !(nps.is_finite() && **nps > 0.0)) {
        anyhow::bail!("--nps {nps}: a speed is more than 0");
    }
    Ok(speeds)
}

/// The time controls of `--tc`; an error if one is named twice.
pub fn controls(matches: &ArgMatches) -> anyhow::Result<Vec<TimeControl>> {
    let tcs: Vec<TimeControl> = matches.get_many("tc").unwrap_or_default().copied().collect();
    let texts: Vec<_> = matches.get_raw("tc").unwrap_or_default().map(|text| text.to_string_lossy()).collect();
    texts.windows(2).for_each(|pair| super::note_comma(&pair[0], &pair[1]));
    let twice = tcs.iter().enumerate().find(|(index, tc)| tcs[..*index].contains(tc));
    if let Some((_, tc)) = twice {
        anyhow::bail!("--tc has {tc} twice: its games would be counted twice");
    }
    Ok(tcs)
}

/// The time controls of `--tc`, as [`controls`] reads them; fails if `--nps` has several speeds, but not one for each.
pub fn controls_with_speeds(matches: &ArgMatches) -> anyhow::Result<Vec<TimeControl>> {
    let tcs = controls(matches)?;
    let speeds = matches.get_many::<f64>("nps").unwrap_or_default().len();
    anyhow::ensure!(
        speeds <= 1 || speeds == tcs.len(),
        "--nps has {speeds} speeds for {} time controls: one for all, or one for each",
        tcs.len()
    );
    Ok(tcs)
}

/// The recorded searches of all files, and the playouts with which each was recorded, the same in all files. Games are
/// renumbered, so that no pair of games is made of two files. With `--judged` the searches have their judge's values.
pub fn searches<'a>(
    matches: &ArgMatches,
    paths: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<(Vec<RecordedSearch>, u64)> {
    let (mut all, mut nodes, mut games) = (Vec::new(), None, 0_u32);
    for path in paths {
        let (header, mut searches) = read_recording(path)?;
        if matches.get_flag("judged") {
            let judge = apply(&judgement_of(path), &sha256_of_file(path)?, &mut searches)?;
            let name = judge["judge"].as_str().unwrap_or_default();
            note!("{}: regret by {name} at {} nodes", path.display(), judge["nodes"]);
        }
        searches.retain(|search| !search.snapshots.is_empty());
        anyhow::ensure!(!searches.is_empty() && header.nodes > 0, "{} holds no recorded search", path.display());
        let others = *nodes.get_or_insert(header.nodes);
        anyhow::ensure!(
            header.nodes == others,
            "{} was recorded with --nodes {}, the files before it with {others}",
            path.display(),
            header.nodes
        );
        searches.iter_mut().for_each(|search| search.game = search.game.saturating_add(games));
        games = searches.last().map_or(games, |search| search.game).saturating_add(2) & !1;
        all.extend(searches);
    }
    Ok((all, nodes.context("clap requires a file")?))
}
