//! Declares the flags of `time tune`, and refuses those that its kind of judgement does not read.

use crate::commands::matches;
use crate::commands::{engine_options, json_flag};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;

/// Flags that not every judge reads, and the judges that do.
const OF_JUDGES: [(&str, &[&str]); 23] = [
    ("network", &["match"]),
    ("pairs", &["match"]),
    ("check", &["match"]),
    ("openings", &["match"]),
    ("plies", &["match"]),
    ("order", &["match"]),
    ("fen", &["match"]),
    ("clock", &["match"]),
    ("nps", &["match", "simulate"]),
    ("batch-ms", &["match"]),
    ("like", &["match"]),
    ("jitter", &["match"]),
    ("lag", &["match", "simulate"]),
    ("draw", &["match"]),
    ("resign", &["match"]),
    ("tb", &["match"]),
    ("max-moves", &["match"]),
    ("traces", &["replay", "simulate"]),
    ("mean-nodes", &["replay"]),
    ("batch", &["replay", "simulate"]),
    ("part", &["replay"]),
    ("games", &["simulate"]),
    ("point", &["replay", "simulate"]),
];

pub fn command() -> Command {
    let number = |name: &'static str, usual: &'static str, least: u64, help: &'static str| {
        let parser = value_parser!(u64).range(least..=1_000_000_000);
        Arg::new(name).long(name).value_name("N").default_value(usual).value_parser(parser).help(help)
    };
    let command = Command::new("tune")
        .about("Tune parameters of a time manager, or options that are numbers, by SPSA on matches, replays or simulated games")
        .long_about(
            "Tunes parameters of a time manager, or options that are numbers, by SPSA: each iteration moves all of them to both \
             sides, compares the two points in pairs of games on a virtual clock, or by the regret of their stops in recorded \
             searches, or by that of whole simulated games, and steps towards the better one. A point that loses a game on time loses the iteration. The same command \
             goes on after an interruption.",
        )
        .arg(
            Arg::new("parameters")
                .long("parameters")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "The parameters, one a line as OpenBench has them: NAME, int|float, VALUE, MIN, MAX, C_END, R_END; NAME is an \
                     option such as CPuct, or smooth(extension)",
                ),
        )
        .arg(
            Arg::new("on")
                .long("on")
                .value_name("JUDGE")
                .required(true)
                .value_parser(["match", "replay", "simulate"])
                .help(
                    "Compare points in games (match), by the regret of their stops in recorded searches at equal playouts (replay), or by \
                     that of whole games whose clock they share out (simulate)",
                ),
        )
        .arg(number("iterations", "1000", 1, "Iterations, for which the schedule of the steps is made"))
        .arg(super::super::time_controls().help(
            "Time controls, which the iterations take in turn; with --nps A,B,... each has its own speed",
        ))
        .arg(number("pairs", "4", 1, "match: pairs of games of an iteration"))
        .arg(
            Arg::new("network")
                .long("network")
                .value_name("NETWORK")
                .action(ArgAction::Append)
                .help("match: a network, as --weights takes it; may be given again, and iterations take them in turn [default: that of --weights]"),
        )
        .arg(number("check", "100", 0, "match: games of the result against the start with each network at each time control"))
        .arg(super::super::file_list("traces", "replay, simulate: traces of time record; may be given again, and iterations take the files in turn"))
        .arg(number("games", "400", 1, "simulate: games of an iteration, the same for both points"))
        .arg(super::super::mean_nodes())
        .arg(super::super::batch())
        .arg(super::super::part())
        .arg(
            Arg::new("point")
                .long("point")
                .value_name("REGRET")
                .value_parser(value_parser!(f64))
                .help("The difference in regret that counts as one point [default: 0.0001 in replays, 0.01 in simulated games]"),
        )
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FOLDER")
                .default_value("tune")
                .value_parser(value_parser!(PathBuf))
                .help("Where the course, its charts and the result go; a course that is there goes on"),
        )
        .arg(json_flag());
    engine_options::add_to(matches::add_match_flags(command).mut_arg("clock", |clock| clock.default_value("virtual")))
}

/// Refuses flags that were given and would not be read.
pub fn check(matches: &ArgMatches, on: &str) -> anyhow::Result<()> {
    let is_asked = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    if let Some((name, judges)) = OF_JUDGES.iter().find(|(name, judges)| is_asked(name) && !judges.contains(&on)) {
        anyhow::bail!("--{name} has no effect here: it is for --on {}", judges.join(" and --on "));
    }
    anyhow::ensure!(on != "replay" || matches.contains_id("traces"), "--on replay: --traces names recorded searches");
    if let Some(point) = matches.get_one::<f64>("point") {
        anyhow::ensure!(point.is_finite() && *point > 0.0, "--point {point}: a regret is more than 0");
    }
    Ok(())
}
