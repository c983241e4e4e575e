//! `zeitnot time explain`: shows how a time manager comes to its decisions: about one move, about the events of a
//! script, or about a move of a game that was played.

mod game;
mod script;
mod single_move;

use crate::commands::flags::{flag, json_flag};
use crate::commands::output;
use clap::builder::ValueParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use zeitnot_engine::engine::Options;
use zeitnot_time::Plan;

/// Explains names in a plan's formulas that have no line in its table; `zeitnot_time::formulas` reads them in this way.
const ABSENT: &str = "In formulas, a name that has no line is a parameter, or is 0 in this decision.\n";

pub fn command() -> Command {
    Command::new("explain")
        .about("Explain the decision of a time manager about a move")
        .override_usage(
            "zeitnot time explain move --clock MS [OPTIONS]\n       zeitnot time explain script|game FILE [OPTIONS]",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([single_move::command(), script::command(), game::command()])
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some(("move", matches)) => single_move::run(matches),
        Some(("script", matches)) => script::run(matches),
        Some(("game", matches)) => game::run(matches),
        _ => unreachable!("clap requires one of the commands"),
    }
}

fn number(name: &'static str, value_name: &'static str, parser: impl Into<ValueParser>, help: &'static str) -> Arg {
    flag(name, value_name).allow_negative_numbers(true).value_parser(parser).help(help)
}

/// A command with the flags of every explanation.
fn explanation(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .arg(flag("manager", "SPEC").help("Time manager, as the option TimeManager has it [default: that option's]"))
        .arg(number(
            "overhead",
            "MS",
            value_parser!(f64),
            "Time lost between engine and clock, per move [default: that of MoveOverheadMs]",
        ))
        .arg(json_flag())
}

/// The flag `--nps`, for the speed that the manager expects.
fn nps() -> Arg {
    number("nps", "N", value_parser!(f64), "The manager's estimate of speed, as if learned")
}

/// The move overhead that the flags or the default give, in milliseconds.
fn overhead_ms(matches: &ArgMatches) -> anyhow::Result<f64> {
    check_times(matches, &["overhead"])?;
    Ok(matches.get_one("overhead").copied().unwrap_or(Options::default().move_overhead as f64))
}

/// Checks that the values of these flags are times of 0 ms or more.
fn check_times(matches: &ArgMatches, names: &[&str]) -> anyhow::Result<()> {
    for name in names {
        if let Some(ms) = matches.get_one::<f64>(name) {
            let is_time = ms.is_finite() && *ms >= 0.0;
            anyhow::ensure!(is_time, "--{name} {ms}: a time is a number of milliseconds, 0 or more");
        }
    }
    Ok(())
}

/// Prints a plan with all its terms.
pub fn show(plan: &Plan) {
    output::text(format_args!("{plan:#}{ABSENT}"));
}
