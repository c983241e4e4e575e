//! Declares the commands of `time tune` and their flags.

use super::scan;
use crate::commands::engine_options;
use crate::commands::flags::{flag, json_flag, match_flags, time_flags};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;

pub fn command() -> Command {
    Command::new("tune")
        .about("Tune parameters of time managers, or options: by SPSA, or scan a grid of values")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([on_matches(), on_replays(), on_simulations(), scan::command()])
}

fn number(name: &'static str, usual: &'static str, least: u64, help: &'static str) -> Arg {
    let parser = value_parser!(u64).range(least..=1_000_000_000);
    flag(name, "N").default_value(usual).value_parser(parser).help(help)
}

fn on_matches() -> Command {
    let command = tuning("match", "Tune in pairs of games on a virtual clock; a point that loses a game on time loses")
        .arg(number("pairs", "4", 1, "Pairs of games of an iteration"))
        .arg(
            flag("network", "NETWORK")
                .action(ArgAction::Append)
                .help("Network, as --weights takes it; may be given again [default: that of --weights]")
                .long_help("Network, as --weights takes it; may be given again, and iterations take them in turn [default: that of --weights]"),
        )
        .arg(
            number("check", "100", 0, "Games of the result against the start in the end")
                .long_help("Games of the result against the start in the end, with each network at each time control"),
        );
    let command = match_flags::add_to(command).mut_arg("clock", |clock| clock.default_value("virtual"));
    engine_options::add_to(command)
}

fn on_replays() -> Command {
    let command = tuning("replay", "Tune by the regret of the stops in recorded searches, at equal playouts")
        .arg(recordings().required(true))
        .arg(time_flags::mean_nodes())
        .arg(time_flags::batch())
        .arg(time_flags::part())
        .arg(point("Difference in regret that counts as one point [default: 0.0001]"))
        .arg(seed());
    engine_options::add_to(command)
}

fn on_simulations() -> Command {
    let command = tuning("simulate", "Tune by the regret of whole simulated games, whose clock the moves share out")
        .arg(recordings())
        .arg(number("games", "400", 1, "Games of an iteration, the same for both points"))
        .arg(
            flag("nps", "N")
                .value_delimiter(',')
                .value_parser(value_parser!(f64))
                .help("Playouts a second, one for all time controls or one for each [default: 1000]"),
        )
        .arg(time_flags::lag())
        .arg(time_flags::batch())
        .arg(point("Difference in regret of a game that counts as one point [default: 0.01]"))
        .arg(seed());
    engine_options::add_to(command)
}

/// A command with the flags of every tuning.
fn tuning(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .long_about(format!(
            "{about}.\n\nParameters of a time manager, or options that are numbers, are tuned by SPSA: each iteration moves all of \
             them to both sides, compares the two points, and steps towards the better one. The same command goes on after an \
             interruption."
        ))
        .arg(
            flag("parameters", "FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Parameters, one a line as OpenBench has them")
                .long_help(
                    "Parameters, one a line as OpenBench has them: NAME, int|float, VALUE, MIN, MAX, C_END, R_END; NAME is an option \
                     such as CPuct, or smooth(extension)",
                ),
        )
        .arg(number("iterations", "1000", 1, "Iterations, for which the schedule of the steps is made"))
        .arg(time_flags::time_controls().help("Time controls, which iterations take in turn").long_help(
            "Time controls, which the iterations take in turn; with --nps A,B,... each has its own speed",
        ))
        .arg(
            flag("out", "FOLDER")
                .default_value("tune")
                .value_parser(value_parser!(PathBuf))
                .help("Folder of the course, its charts and the result; a course there goes on"),
        )
        .arg(json_flag())
}

fn recordings() -> Arg {
    time_flags::file_list("traces", "Recordings of time record; may be given again, and iterations take them in turn")
}

fn point(help: &'static str) -> Arg {
    flag("point", "REGRET").value_parser(value_parser!(f64)).help(help)
}

fn seed() -> Arg {
    let parser = value_parser!(u64);
    flag("seed", "N").default_value("1").value_parser(parser).help("Seed of all that is random")
}

/// The difference in regret that counts as one point.
pub fn point_of(matches: &ArgMatches, usual: f64) -> anyhow::Result<f64> {
    let point = matches.get_one("point").copied().unwrap_or(usual);
    anyhow::ensure!(f64::is_finite(point) && point > 0.0, "--point {point}: a regret is more than 0");
    Ok(point)
}
