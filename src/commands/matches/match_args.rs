//! Declares the flags that `match` alone has, and reads the limits of its players.

use super::args;
use crate::commands::{engine_options, json_flag, text_with_paths};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_lab::{Limits, PRESETS, Preset, TimeControl, TimeControls};

pub fn command() -> Command {
    let option = |name: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name("NAME=VALUE").action(ArgAction::Append).help(help);
        arg.value_parser(text_with_paths())
    };
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let per_player = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N[,N]")
            .value_delimiter(',')
            .num_args(1)
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let command = Command::new("match")
        .about("Play timed games between two configurations of this engine")
        .arg(
            Arg::new("tc")
                .long("tc")
                .value_name("[MOVES/]TIME[+INC]")
                .default_value("10+0.1")
                .allow_hyphen_values(true)
                .value_parser(|text: &str| text.parse::<TimeControls>())
                .help(
                    "Time control in seconds (or minutes:seconds), or two for different ones (T1,T2); the clocks begin with TIME \
                     and INC, as in fastchess",
                ),
        )
        .arg(
            Arg::new("preset")
                .long("preset")
                .value_name("NAME")
                .value_parser(|name: &str| {
                    let names = PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
                    Preset::find(name).ok_or_else(|| format!("there are: {names}"))
                })
                .conflicts_with("tc")
                .help(
                    "A time control by name: bullet (1+0 minutes), blitz (3+2), rapid (10+5), classical (30+0), and \
                     fixed-depth or infinite (no clock, every move to depth 5)",
                ),
        )
        .arg(per_player("nodes", "Nodes a move, without a clock unless --tc is given; two for different ones"))
        .arg(per_player("depth", "Depth of each move, without a clock unless --tc is given; two for different ones"))
        .arg(
            Arg::new("games")
                .long("games")
                .value_name("N")
                .default_value("1")
                .value_parser(value_parser!(u64).range(1..=1_000_000))
                .help("Games to play; the sides alternate, and each opening is played with both colours"),
        )
        .arg(
            Arg::new("sprt")
                .long("sprt")
                .value_name("ELO0,ELO1[,MODEL]")
                .allow_hyphen_values(true)
                .help("End when a sequential probability ratio test decides between these Elo differences, normalized (default) or logistic (5 % errors)"),
        )
        .arg(
            Arg::new("pgn")
                .long("pgn")
                .value_name("FILE")
                .default_value("match.pgn")
                .value_parser(value_parser!(PathBuf))
                .help("Where the games go; a file that exists is added to. FILE.jsonl keeps all that --resume needs"),
        )
        .arg(
            Arg::new("resume")
                .long("resume")
                .action(ArgAction::SetTrue)
                .help("Go on with the match that was interrupted, whose other flags must be the same"),
        )
        .arg(
            text("decisions", "FOLDER", "Keep all that the time managers are asked, see and decide, for time replay --decisions")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with("resume"),
        )
        .after_help(
            "A line a move, where one game is played at a time: the budget that the time manager granted and the hard limit that the \
             search may stretch it to, the time used, the nodes of the tree, q as White sees it (-1 to 1), and the clocks of White \
             and Black.",
        )
        .arg(option("option1", "A UCI option of the first configuration alone; may be given again"))
        .arg(option("option2", "A UCI option of the second configuration, or of --engine2, alone; may be given again"))
        .arg(
            text("engine2", "COMMAND", "Another engine as the second player, on the machine's clock")
                .value_parser(text_with_paths()),
        )
        .arg(text("name2", "NAME", "How results name --engine2 [default: what it calls itself]").requires("engine2"))
        .arg(
            text("rating2", "ELO", "The rating of the second player; the first one's is estimated from it")
                .value_parser(value_parser!(f64))
                .requires("engine2"),
        )
        .arg(
            text("pool", "FILE", "Engines to play --games games with each: a JSON array of {name, command, options, rating}")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with_all(["engine2", "option2"]),
        )
        .arg(
            Arg::new("live")
                .long("live")
                .action(ArgAction::SetTrue)
                .help("Show the running games in the terminal: their clocks, and each move beside its budget"),
        )
        .arg(json_flag());
    engine_options::add_to(args::add_to(command))
}

/// The limits of the two players.
pub fn limits(matches: &ArgMatches) -> anyhow::Result<[Limits; 2]> {
    let pair = |name: &str| -> anyhow::Result<[Option<u64>; 2]> {
        let given: Vec<u64> = matches.get_many(name).unwrap_or_default().copied().collect();
        match given[..] {
            [] => Ok([None; 2]),
            [both] => Ok([Some(both); 2]),
            [first, second] => Ok([Some(first), Some(second)]),
            _ => anyhow::bail!("--{name}: one number, or one for each player"),
        }
    };
    let (nodes, depth) = (pair("nodes")?, pair("depth")?);
    let controls = match matches.get_one::<Preset>("preset") {
        Some(preset) => TimeControls::from(preset.control),
        None => *matches.get_one::<TimeControls>("tc").context("--tc has a default")?,
    };
    let is_asked = matches.value_source("tc") == Some(clap::parser::ValueSource::CommandLine);
    let has_clock = is_asked || matches.contains_id("preset") || nodes == [None; 2] && depth == [None; 2];
    let limits = |control: TimeControl, player: usize| Limits {
        clock: (has_clock && control.depth.is_none()).then_some(control),
        nodes: nodes[player],
        depth: depth[player].map(|depth| depth.min(u64::from(u32::MAX)) as u32).or(control.depth),
    };
    Ok([limits(controls.first, 0), limits(controls.second, 1)])
}
