//! `zeitnot lichess`: the engine on lichess' analysis board, by its protocol for external engines.
//!
//! lichess keeps the name of the engine for the user; a broker hands out requests, one long poll each, and takes the
//! `info` lines of the search as the body of another request. One engine serves them all and keeps its tree.
//!
//! | file | content |
//! |---|---|
//! | `token` | the user's token: never printed, logged or stored |
//! | `server` | the requests to lichess and to its broker |
//! | `work` | what a request asks for |
//! | `stream` | the lines of a search on their way to the broker |
//! | `poll` | registers, and waits for requests |
//! | `provider` | serves requests with the engine |

mod poll;
mod provider;
mod server;
mod stream;
mod token;
mod work;

use super::engine_options::{self, MAY_INSTALL};
use super::flags::flag;
use super::{interrupt, output::note, progress};
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use provider::Provider;
use server::{Registration, Server};
use std::path::PathBuf;
use std::sync::Arc;
use token::Token;
use zeitnot_engine::engine::Engine;

pub fn command() -> Command {
    let command = Command::new("lichess")
        .about("Be an engine of lichess' analysis board, for whoever the token belongs to")
        .after_long_help(
            "lichess lists the engine in the menu of its analysis board while this runs. The token is read from the environment \
             variable LICHESS_API_TOKEN, or from --token-file, and needs the scopes engine:read and engine:write. Network, threads \
             and memory are those of the engine's options; what lichess asks for is a position, the number of lines, a limit, and \
             fewer threads. docs/lichess.md has more.",
        )
        .arg(
            flag("token-file", "FILE")
                .value_parser(value_parser!(PathBuf))
                .help("File with the token, instead of the environment variable LICHESS_API_TOKEN"),
        )
        .arg(flag("name", "NAME").default_value("Zeitnot").value_parser(name).help("Name in the menu of lichess"))
        .arg(flag("url", "URL").default_value("https://lichess.org").hide_short_help(true).help("Address of lichess"))
        .arg(
            flag("broker", "URL")
                .default_value("https://engine.lichess.ovh")
                .hide_short_help(true)
                .help("Address of the broker between lichess and engines"),
        );
    engine_options::add_to(command)
}

/// Checks a name for the engine against the lengths that lichess allows.
fn name(text: &str) -> Result<String, String> {
    match text.chars().count() {
        3..=200 => Ok(text.to_owned()),
        _ => Err("lichess takes a name of 3 to 200 characters".to_owned()),
    }
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let token = Token::find(matches.get_one::<PathBuf>("token-file").map(PathBuf::as_path))?;
    let text = |name: &str| matches.get_one::<String>(name).cloned().with_context(|| format!("--{name} has a default"));
    let (name, url, broker) = (text("name")?, text("url")?, text("broker")?);
    let interrupted = interrupt::on_request()?;
    let engine = engine(matches)?;
    let threads = match engine.options().threads {
        0 => engine.attributes().map_or(1, |attributes| attributes.preferred_threads.max(1) as u64),
        threads => threads,
    };
    let server = Server::new(&url, &broker, token)?;
    let registration = Registration { name, threads, megabytes: megabytes(&engine) };
    let line = progress::line();
    let (provider, events) = Provider::new(engine, Arc::new(server), threads, line);
    provider.serve(registration, &events, &interrupted)
}

/// The engine of all requests.
fn engine(matches: &ArgMatches) -> anyhow::Result<Engine> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    engine_options::limit_memory(&mut engine, 1)?;
    engine.set_analysis(true);
    // lichess writes all moves so.
    engine.set_option("UCI_Chess960", "true")?;
    // Who analyses wants all the time that was asked for, and no move left alone.
    if !engine.options().was_set.contains("SmartPruningFactor") {
        engine.set_option("SmartPruningFactor", "0")?;
    }
    if let Some(news) = engine.prepare()? {
        note!("{news}");
    }
    Ok(engine)
}

/// Megabytes that tree and cache may take, for the engine's entry at lichess.
fn megabytes(engine: &Engine) -> u64 {
    let options = engine.options();
    let set = [options.ram_limit, options.hash].into_iter().filter(|megabytes| *megabytes > 0).min();
    let automatic = options.automatic_memory.map(|bytes| (bytes >> 20) as u64);
    set.or(automatic).unwrap_or(MEGABYTES)
}

/// Megabytes that are reported to lichess where the engine has no limit.
const MEGABYTES: u64 = 1024;
