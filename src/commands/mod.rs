//! One file per subcommand. Without one the program is a UCI engine.

mod analyse;
mod backendbench;
mod bench;
mod benchmark;
mod cards;
mod completions;
mod config_file;
mod doctor;
mod engine_options;
mod eval;
mod exit;
mod flags;
mod genfens;
mod interrupt;
mod lc0_spellings;
mod lichess;
mod matches;
mod net;
mod options;
mod output;
mod play;
mod progress;
mod runtime;
mod series;
mod setup;
mod speed_picture;
mod switches;
mod time;
mod tree;
mod uci;
mod uci_input;
mod warnings;

use crate::commands::flags::flag;
use crate::commands::output::{LogOutput, note};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use zeitnot::crash_report;
use zeitnot_engine::runtime::user_cache;

const ABOUT: &str = "A UCI chess engine that runs Lc0 networks and treats the clock as a first-class subject";
const AFTER_HELP: &str = "Without a command, zeitnot is a UCI engine; --help lists its options.";
const AFTER_LONG_HELP: &str = "Without a command, zeitnot is a UCI engine.\n\
                               The environment variable RUST_LOG has finer filters of the log (on standard error) than --log-level.";
const LOG_LEVEL: &str = "log-level";

fn cli() -> Command {
    let commands = [
        engine_options::add_to(Command::new("uci").about("Be a UCI engine (the same as no command)")),
        play::command(),
        matches::command(),
        eval::command(),
        analyse::command(),
        lichess::command(),
        setup::command(),
        doctor::command(),
        net::command(),
        bench::command(),
        backendbench::command(),
        benchmark::command(),
        options::command(),
        time::command(),
        runtime::RuntimeArgs::augment_args(Command::new("runtime")),
        // For OpenBench and packagers.
        tree::command(),
        genfens::command().hide(true),
        completions::completions_command().hide(true),
        completions::man_command().hide(true),
    ];
    let root = Command::new("zeitnot")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(AFTER_HELP)
        .after_long_help(AFTER_LONG_HELP)
        .subcommands(commands)
        .arg(
            flag(LOG_LEVEL, "LEVEL")
                .value_parser(["off", "error", "warn", "info", "debug", "trace"])
                .global(true)
                .help("Least level of the log"),
        )
        .args_conflicts_with_subcommands(true);
    engine_options::add_to(root)
}

/// The date of today in UTC, as PGN writes dates.
fn today() -> String {
    let now = ::time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}

/// Threads that the machine runs at once.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The filter of the log: this program from `level` on if given, else that of `RUST_LOG`, else errors. Parts of
/// `RUST_LOG` that are neither a level nor `TARGET=LEVEL` are reported and left out.
fn log_filter(level: Option<&str>) -> Targets {
    let text = match level {
        Some(level) => format!("zeitnot={level}"),
        None => std::env::var("RUST_LOG").unwrap_or_default(),
    };
    let mut filter = Targets::new().with_default(LevelFilter::ERROR);
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.parse::<Targets>() {
            Ok(read) if !part.contains(['[', '{']) => {
                if let Some(level) = read.default_level() {
                    filter = filter.with_default(level);
                }
                filter = filter.with_targets(read);
            }
            _ => note!("zeitnot: {part:?} of RUST_LOG is left out: it is no level and no TARGET=LEVEL"),
        }
    }
    filter
}

/// Parses the command line and runs the command that it names.
pub fn run() -> ExitCode {
    crash_report::install(user_cache().map(|cache| cache.join("crashes")));
    let arguments = match lc0_spellings::translate(genfens::split_argument(std::env::args_os().collect())) {
        Ok(arguments) => {
            let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
            let change = move |(at, argument)| if at < end { engine_options::switched_off(argument) } else { argument };
            arguments.into_iter().enumerate().map(change)
        }
        Err(line) => return exit::refuse_in_a_line(&line),
    };
    let matches = match cli().mut_subcommand("doctor", doctor::with_probe).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return exit::refuse(&error),
    };
    let log = tracing_subscriber::fmt::layer().with_writer(|| LogOutput).log_internal_errors(false);
    let level = innermost(&matches).get_one::<String>(LOG_LEVEL);
    tracing_subscriber::registry().with(log).with(log_filter(level.map(String::as_str))).init();
    exit::code(dispatch(&matches))
}

/// The matches of the innermost subcommand, which also have the flags for all commands.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

fn dispatch(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        None => uci::run(matches)?,
        Some(("uci", matches)) => uci::run(matches)?,
        Some(("play", matches)) => play::run(matches)?,
        Some(("match", matches)) => matches::run(matches)?,
        Some(("analyse", matches)) => analyse::run(matches)?,
        Some(("lichess", matches)) => lichess::run(matches)?,
        Some(("eval", matches)) => return eval::run(matches),
        Some(("setup", matches)) => setup::run(matches)?,
        Some(("doctor", matches)) => return doctor::run(matches),
        Some(("net", matches)) => return net::run(matches),
        Some(("bench", matches)) => bench::run(matches)?,
        Some(("benchmark", matches)) => benchmark::run(matches)?,
        Some(("backendbench", matches)) => backendbench::run(matches)?,
        Some(("options", matches)) => options::run(matches)?,
        Some(("completions", matches)) => completions::completions(matches, cli())?,
        Some(("man", matches)) => completions::man(matches, cli())?,
        Some(("genfens", matches)) => genfens::run(matches)?,
        Some(("time", matches)) => time::run(matches)?,
        Some(("tree", matches)) => tree::run(matches)?,
        Some(("runtime", matches)) => runtime::run(runtime::RuntimeArgs::from_arg_matches(matches)?)?,
        Some((name, _)) => unreachable!("clap knows no command {name}"),
    }
    Ok(ExitCode::SUCCESS)
}
