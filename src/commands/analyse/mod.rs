//! `zeitnot analyse`: searches every position of games, and writes evaluations, judgements and an audit of the clocks; or
//! searches positions that another program names.
//!
//! | file | content |
//! |---|---|
//! | `effort` | how much effort an analysis may take |
//! | `sources` | the games of the files |
//! | `games` | the searches, on several threads, and the work file |
//! | `results` | the results, and their files |
//! | `stdio` | requests and answers in JSON, a line each, for other programs |

mod effort;
mod games;
mod results;
mod sources;
mod stdio;

use super::engine_options;
use crate::commands::flags::{flag, switch, time_flags};
use clap::{Arg, ArgMatches, Command, value_parser};
use effort::Limit;
use results::Outputs;
use sources::Sources;
use std::path::{Path, PathBuf};

/// The name of the switch with which another program sends requests.
const STDIO: &str = "stdio";

pub fn command() -> Command {
    let file = |name, value, help| flag(name, value).value_parser(value_parser!(PathBuf)).help(help);
    let of_games = |arg: Arg| arg.conflicts_with(STDIO);
    let command = Command::new("analyse")
        .about("Analyse games: evaluations, judgements, accuracy, and where the time went; or serve another program")
        .after_long_help(stdio::HELP)
        .arg(of_games(time_flags::files("Games in PGN")).required(false).required_unless_present(STDIO))
        .arg(
            of_games(file("out", "FILE.pgn", "Judged games (-: standard output); interrupted work goes on"))
                .required_unless_present_any([STDIO, "json", "html"]),
        )
        .arg(of_games(file("json", "FILE", "The analysis as JSON (-: standard output)")))
        .arg(of_games(file("html", "FILE", "The analysis as a page: board, curves, judgements, clocks")))
        .args(effort::flags().into_iter().map(of_games))
        .arg(
            of_games(switch("trust-evals", "Evaluations of the games' own comments ([%eval]) instead of searches"))
                .conflicts_with_all(["nodes", "time", "budget"]),
        )
        .arg(
            flag("parallel", "N")
                .value_parser(value_parser!(u64).range(1..=stdio::MOST_ENGINES))
                .help("Games at once [default: the machine's cores], or searches for another program"),
        )
        .arg(stdio::switch());
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    if matches.get_flag(STDIO) {
        return stdio::run(matches);
    }
    if engine_options::given(matches).any(|name| name == "TreeFile") {
        anyhow::bail!("--tree-file is for an analysis of positions, and analyse has its own work file");
    }
    let named: Vec<&Path> = time_flags::named_files(matches).map(PathBuf::as_path).collect();
    let outputs = Outputs::of(matches, &named)?;
    let sources = Sources::new(time_flags::named_files(matches))?;
    outputs.check(&sources)?;
    if matches.get_flag("trust-evals") {
        sources.positions()?;
        return outputs.write(&sources, None, "evaluations of comments");
    }
    let limit = Limit::of(matches);
    let searched = games::search(matches, &sources, limit, outputs.file())?;
    outputs.write(&sources, Some(&searched), &limit.words())?;
    searched.forget()
}
