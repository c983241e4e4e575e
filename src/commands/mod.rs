//! One file per subcommand. Without one the program is a UCI engine.

mod backendbench;
mod bench;
mod benchmark;
mod cards;
mod completions;
mod config_file;
mod doctor;
mod engine_options;
mod eval;
mod genfens;
mod interrupt;
mod matches;
mod net;
mod options;
mod output;
mod perft;
mod preload;
mod progress;
mod runtime;
mod speed_picture;
mod time;
mod uci;

use crate::commands::output::{LogOutput, note};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use std::borrow::Cow;
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use zeitnot::crash_report;
use zeitnot_engine::chess::{FenError, Game};
use zeitnot_engine::engine::{SearchAlgorithm, Word as _};
use zeitnot_engine::runtime::user_cache;
use zeitnot_text::{files, printable};

const ABOUT: &str = "A UCI chess engine that runs Lc0 networks and treats the clock as a first-class subject";
const AFTER_HELP: &str =
    "Without a command, zeitnot is a UCI engine; as policyhead or valuehead it is one that asks the network alone.";
const LOG_LEVEL: &str = "log-level";

fn cli() -> Command {
    let uci = engine_options::add_to(Command::new("uci").about("Be a UCI engine (the same as no command)"));
    // Lc0 names its searches by the first word.
    let algorithms = SearchAlgorithm::WORDS.iter().map(|name| {
        engine_options::add_to(Command::new(*name).about(format!("`zeitnot uci --search-algorithm={name}`")).hide(true))
    });
    let commands = [
        uci,
        matches::command(),
        eval::command(),
        doctor::command(),
        net::command(),
        bench::command(),
        backendbench::command(),
        benchmark::command(),
        options::command(),
        perft::command(),
        genfens::command(),
        time::command(),
        completions::completions_command(),
        completions::man_command(),
        runtime::RuntimeArgs::augment_args(Command::new("runtime")),
    ];
    let root = Command::new("zeitnot")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(AFTER_HELP)
        .subcommands(commands)
        .subcommands(algorithms)
        .arg(
            Arg::new(LOG_LEVEL)
                .long(LOG_LEVEL)
                .value_name("LEVEL")
                .value_parser(["off", "error", "warn", "info", "debug", "trace"])
                .global(true)
                .help("The least level of the log on standard error; RUST_LOG has finer filters"),
        )
        .args_conflicts_with_subcommands(true);
    engine_options::add_to(root)
}

/// A switch that asks for machine-readable output.
fn json_flag() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines")
}

/// Threads that the machine runs at once.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// `--fen`; without it the command takes the start position.
fn fen_option() -> Arg {
    Arg::new("fen").long("fen").help("The position: a FEN, or startpos [default: startpos]")
}

/// The game that `--fen` names.
fn game_from(fen: Option<&str>, chess960: bool) -> Result<Game, FenError> {
    match fen {
        None | Some("startpos") => Ok(Game::new()),
        Some(fen) => Game::from_fen(fen, chess960),
    }
}

/// A time in seconds that something is measured for.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.001 to 86400 is needed".to_owned())
}

/// What the log has: this program from the level that was asked for, else what `RUST_LOG` asks for, else errors. Parts of a
/// `RUST_LOG` that are meant for another kind of filter are named and left out.
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

/// Parses the command line and runs what it names: 0 on success, 1 on failure, 2 on a wrong command line.
pub fn run() -> ExitCode {
    crash_report::install(user_cache().map(|cache| cache.join("crashes")));
    let arguments = genfens::split_argument(std::env::args_os().collect());
    let matches = match cli().mut_subcommand("doctor", doctor::with_probe).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    let log = tracing_subscriber::fmt::layer().with_writer(|| LogOutput).log_internal_errors(false);
    let level = innermost(&matches).get_one::<String>(LOG_LEVEL);
    tracing_subscriber::registry().with(log).with(log_filter(level.map(String::as_str))).init();
    match dispatch(&matches) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note!("zeitnot: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints help, the version, or why the command line is refused. A quotation of it that could command the terminal costs the
/// colours.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    match printable::lines(&text) {
        // Nobody may read it.
        Cow::Borrowed(_) => error.print().unwrap_or_default(),
        Cow::Owned(safe) => note!("{}", safe.trim_end()),
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Reads a flag's text that may name a path, whose bytes need not be UTF-8.
fn text_with_paths() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|text| files::from_os(&text))
}

/// The matches of the command that was given, where flags for all commands stand too.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

fn dispatch(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        None => uci::run(matches, None)?,
        Some(("uci", matches)) => uci::run(matches, None)?,
        Some(("match", matches)) => matches::run(matches)?,
        Some(("eval", matches)) => return eval::run(matches),
        Some(("doctor", matches)) => return doctor::run(matches),
        Some(("net", matches)) => return net::run(matches),
        Some(("bench", matches)) => bench::run(matches)?,
        Some(("benchmark", matches)) => benchmark::run(matches)?,
        Some(("backendbench", matches)) => backendbench::run(matches)?,
        Some(("options", matches)) => options::run(matches)?,
        Some(("completions", matches)) => completions::completions(matches, cli())?,
        Some(("man", matches)) => completions::man(matches, cli())?,
        Some(("perft", matches)) => perft::run(matches)?,
        Some(("genfens", matches)) => genfens::run(matches)?,
        Some(("time", matches)) => time::run(matches)?,
        Some(("runtime", matches)) => runtime::run(runtime::RuntimeArgs::from_arg_matches(matches)?)?,
        Some((name, matches)) => match SearchAlgorithm::from_word(name) {
            Some(algorithm) => uci::run(matches, Some(algorithm))?,
            None => unreachable!("clap knows no command {name}"),
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// A reader of our output who has seen enough (`zeitnot eval ... | head`) is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(kind))
}
