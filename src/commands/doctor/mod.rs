//! `zeitnot doctor`: checks everything that a user can get wrong, piece by piece.

mod books_and_tables;
mod devices;
mod machine;
mod report;

use super::engine_options::{self, ONLY_FIND};
use super::output::say;
use crate::commands::flags::{json_flag, switch};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::process::ExitCode;
use zeitnot_base::files::named_path;
use zeitnot_engine::backend::{self, BackendSettings, Isa};
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::Engine;
use zeitnot_engine::network::{self, Location, Network};
use zeitnot_engine::runtime::Provider;

/// The hidden flag with which the command starts itself again, to try whether a provider loads: a process has only one
/// ONNX Runtime.
const PROBE: &str = "probe-provider";

const REPORT: &str = "report";

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// Nothing is wrong.
    Ok,
    /// The thing is not needed, and may be missing.
    Unused,
    /// The engine plays, but not as well as it might.
    Warning,
    /// The engine cannot play as configured.
    Error,
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Check {
    /// Subject of the check.
    name: String,
    verdict: Verdict,
    /// The finding, in one line.
    finding: String,
    /// Advice on the finding.
    advice: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, finding: impl Into<String>) -> Check {
        Check { name: name.into(), verdict: Verdict::Ok, finding: finding.into(), advice: None }
    }

    fn unused(name: impl Into<String>, finding: impl Into<String>) -> Check {
        Check { verdict: Verdict::Unused, ..Check::ok(name, finding) }
    }

    fn warning(name: impl Into<String>, finding: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { verdict: Verdict::Warning, advice: Some(advice.into()), ..Check::ok(name, finding) }
    }

    /// A check that ends in an error, without separate advice: the finding's text contains its own.
    fn error(name: impl Into<String>, finding: impl Into<String>) -> Check {
        Check { verdict: Verdict::Error, ..Check::ok(name, finding) }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Unused => "unused",
            Verdict::Warning => "warning",
            Verdict::Error => "error",
        };
        write!(f, "{verdict:<8} {}: {}", self.name, self.finding)?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

pub fn command() -> Command {
    let command = Command::new("doctor")
        .about("Check everything that a user can get wrong, with advice")
        .after_long_help(
            "One line a check: ok, unused, warning or error. It takes the engine's own options and fails when the engine could not \
             play with them. Nothing is downloaded.",
        )
        .arg(json_flag())
        .arg(
            switch(REPORT, "One text to paste into an issue, without the folders of private paths").conflicts_with("json"),
        );
    engine_options::add_to(command)
}

/// Adds the hidden flag [`PROBE`] to `command`. Only parsing needs it: completions and manual pages, which are made
/// without it, would show it to everybody.
pub fn with_probe(command: Command) -> Command {
    command.arg(Arg::new(PROBE).long(PROBE).hide(true))
}

/// Runs the checks. The exit code is 0 if the engine can play as configured, else 1.
pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let mut engine = engine_options::engine(matches, ONLY_FIND)?;
    let library = named_path(&engine.options().runtime);
    let options = BackendSettings { runtime: library.clone(), ..BackendSettings::default() };
    if let Some(name) = matches.get_one::<String>(PROBE) {
        let provider = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        backend::probe_provider(&options, provider.context("no such provider")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (json, report) = (matches.get_flag("json"), matches.get_flag(REPORT));
    let mut checks = Vec::new();
    let mut look = |check: Check| {
        if !json && !report {
            say!("{check}");
        }
        checks.push(check);
    };
    machine::checks(engine.options(), &mut look);
    let name = engine.options().backend.clone();
    let options = BackendSettings { device: engine.options().backend_options.parse().unwrap_or_default(), ..options };
    let interface = &options.device.interface;
    let mut passed_over = None;
    let find = || {
        network::load(named_path(&engine.options().weights).as_deref(), interface, |error| {
            passed_over = Some(error.to_string());
        })
    };
    let network = backend::needs_network(&name).unwrap_or(false).then(find);
    let is_native = |(_, network): &(_, Network)| backend::takes_native(&name, network, &options).unwrap_or(false);
    let in_use = match &network {
        Some(Ok(found)) if is_native(found) => None,
        _ => backend::provider_of(&name, &options).ok().flatten(),
    };
    devices::checks(library.as_deref(), in_use, name.eq_ignore_ascii_case("auto"), &mut look);
    match network {
        Some(Ok((location, network))) => {
            let finding = format!("{location}: {}", network.description());
            look(match passed_over {
                Some(advice) => Check::warning("network", finding, advice),
                None => Check::ok("network", finding),
            });
            let is_native = in_use.is_none() && options.device.isa.is_none() && options.device.arithmetic.is_none();
            if matches!(location, Location::BuiltIn(_)) && is_native && Isa::best().is_fast_in_8_bits() {
                look(Check::ok("a stronger network", STRONGER.to_owned()));
            }
        }
        Some(Err(error)) => look(Check::error("network", error.to_string())),
        None => {}
    }
    books_and_tables::checks(engine.options(), &mut look);
    look(play_check(&mut engine));
    let can_play = checks.iter().all(|check| check.verdict != Verdict::Error);
    if json {
        let report = json!({ "version": env!("CARGO_PKG_VERSION"), "can_play": can_play, "checks": checks });
        say!("{}", serde_json::to_string_pretty(&report)?);
    } else if report {
        say!("{}", report::text(&checks));
    }
    Ok(if can_play { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Advice for a processor with fast arithmetic on bytes that would play with the built-in network.
const STRONGER: &str = "T1-256 in 8 bits is stronger on a processor such as this one (docs/strength.md has the games); `zeitnot net fetch \
                        T1-256` obtains it (37 MB)";

/// Checks the whole engine: it loads what its options name and evaluates a position.
fn play_check(engine: &mut Engine) -> Check {
    let name = "engine";
    let mut evaluate = || -> anyhow::Result<String> {
        engine.prepare()?;
        let start = engine.now_ms();
        let game = Game::new();
        let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
        engine.network_evaluator()?.evaluate(&game, &moves)?;
        let elapsed_ms = engine.now_ms() - start;
        let attributes = engine.attributes().context("the engine is prepared")?;
        Ok(format!("plays with {attributes}; one evaluation in {elapsed_ms:.1} ms"))
    };
    match evaluate() {
        Ok(finding) => Check::ok(name, finding),
        Err(error) => Check::error(name, format!("{error:#}")),
    }
}
