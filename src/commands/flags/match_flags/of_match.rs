//! Declares the flags that `match` alone has, and reads the limits of its players.

use super::{Declared, add_declared, add_to, arg as text, free, same};
use crate::commands::engine_options;
use crate::commands::flags::{json_flag, preset_flag, switch, text_with_paths, time_control};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_games::{Limits, Preset, TimeControl, TimeControls};

/// Largest time margin, in milliseconds: an engine that is later than this hangs.
const MOST_MARGIN_MS: u64 = 10_000;

pub fn command() -> Command {
    let command = Command::new("match")
        .about("Play timed games between two configurations of this engine, or with other engines");
    let command = add_declared(command, declared())
        .arg(json_flag())
        .after_long_help(
            "A line a move, where one game is played at a time: the budget that the time manager granted and the hard limit that the \
             search may stretch it to, the time used, the nodes of the tree, q as White sees it (-1 to 1), and the clocks of White \
             and Black.",
        );
    engine_options::add_to(add_to(command))
}

/// A flag with a number for both players, or one for each.
fn per_player(name: &'static str, help: &'static str) -> Arg {
    text(name, "N[,N]", help).value_delimiter(',').num_args(1).value_parser(value_parser!(u64).range(1..))
}

/// A flag `NAME=VALUE` that sets an option of one player and may be given again.
fn options(name: &'static str, help: &'static str) -> Arg {
    text(name, "NAME=VALUE", help).action(ArgAction::Append).value_parser(text_with_paths())
}

/// The flags of `match` alone: those of the short help, and the rarer ones.
pub(super) fn declared() -> [Vec<Declared>; 2] {
    let common = vec![
        same(text("tc", "[MOVES/]TIME[+INC]", "Time control in seconds, or two for different ones (T1,T2)")
            .long_help(
                "Time control in seconds (or minutes:seconds, or 3m), or two for different ones (T1,T2); the clocks begin with TIME and INC, as \
                 in fastchess",
            )
            .default_value("10+0.1")
            .allow_hyphen_values(true)
            .value_parser(time_control::<TimeControls>)),
        same(per_player("nodes", "Nodes of each move, instead of a clock")
            .long_help("Nodes of each move, without a clock unless --tc is given; two for different ones")),
        same(per_player("depth", "Depth of each move, instead of a clock")
            .long_help("Depth of each move, without a clock unless --tc is given; two for different ones")),
        free(text("games", "N", "Games; each opening is played with both colours")
            .long_help("Games; the sides alternate, and each opening is played with both colours")
            .default_value("1")
            .value_parser(value_parser!(u64).range(1..=1_000_000))),
        same(text("sprt", "ELO0,ELO1[,MODEL]", "Sequential probability ratio test that ends the match")
            .long_help(
                "Sequential probability ratio test that ends the match as soon as it decides between these Elo differences, normalized \
                 (default) or logistic (5 % errors)",
            )
            .allow_hyphen_values(true)),
        free(text("pgn", "FILE", "File of the games; one that exists is added to")
            .long_help("File of the games; one that exists is added to. FILE.jsonl keeps all that --resume needs")
            .default_value("match.pgn")
            .value_parser(value_parser!(PathBuf))),
        free(switch("resume", "Continuation of a match that was interrupted, with the same other flags")),
        free(options("option1", "UCI option of the first configuration alone; may be given again")),
        free(options("option2", "UCI option of the second configuration, or of --engine2; may be given again")),
        free(text("engine2", "COMMAND", "Another engine as the second player, on the machine's clock").value_parser(text_with_paths())),
    ];
    let rare = vec![
        same(per_player("movetime", "Milliseconds of each move, instead of a clock")
            .long_help("Milliseconds of each move, of which nothing is kept, instead of a clock; two for different ones")
            .value_name("MS[,MS]")
            .conflicts_with_all(["tc", "preset"])),
        same(preset_flag()),
        free(text("decisions", "FOLDER", "Folder of the event logs of the time managers, for time verify and time explain script")
            .value_parser(value_parser!(PathBuf))
            .conflicts_with("resume")),
        free(text("name1", "NAME", "Name of the first player in results and PGN [default: Zeitnot 1 and its options]")),
        free(text("name2", "NAME", "Name of the second player [default: Zeitnot 2 and its options, or the engine's own]")
            .conflicts_with("pool")),
        free(text("rating2", "ELO", "Rating of the second player, from which the first one's is estimated")
            .value_parser(value_parser!(f64))
            .requires("engine2")),
        free(text("pool", "FILE", "Engines to play --games games with each: a JSON array of {name, command, options, rating}")
            .value_parser(value_parser!(PathBuf))
            .conflicts_with_all(["engine2", "option2"])),
        free(text("engine", "[KEYS] COMMAND", "Another engine of a round robin; given once for each engine")
            .long_help(
                "Another engine of a round robin, in which all play --games games with each; given once for each engine. Before the \
                 command may stand name=NAME, rating=ELO and option.NAME=VALUE; cmd=COMMAND may stand among these",
            )
            .action(ArgAction::Append)
            .value_parser(text_with_paths())
            .conflicts_with_all([
                "engine2", "pool", "option1", "option2", "name1", "name2", "rating2", "decisions", "sprt",
            ])),
        same(text("time-margin", "MS", "Milliseconds beyond the clock after which a move is lost on time [default: 0]")
            .value_parser(value_parser!(u64).range(0..=MOST_MARGIN_MS))),
        free(switch("fail-on-warning", "Failure at the end if a game was lost on time or by an engine's fault, or may repeat another")),
        free(switch("live", "Running games in the terminal: their clocks, and each move beside its budget")),
    ];
    [common, rare]
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
    let (movetime, nodes, depth) = (pair("movetime")?, pair("nodes")?, pair("depth")?);
    let controls = match matches.get_one::<Preset>("preset") {
        Some(preset) => TimeControls::from(preset.control),
        None => *matches.get_one::<TimeControls>("tc").context("--tc has a default")?,
    };
    let is_asked = matches.value_source("tc") == Some(clap::parser::ValueSource::CommandLine);
    let has_limit = [movetime, nodes, depth].iter().any(|limit| *limit != [None; 2]);
    let has_clock = is_asked || matches.contains_id("preset") || !has_limit;
    let limits = |control: TimeControl, player: usize| Limits {
        clock: (has_clock && control.depth.is_none()).then_some(control),
        movetime_ms: movetime[player].map(|ms| ms as f64),
        nodes: nodes[player],
        depth: depth[player].map(|depth| depth.min(u64::from(u32::MAX)) as u32).or(control.depth),
    };
    Ok([limits(controls.first, 0), limits(controls.second, 1)])
}
