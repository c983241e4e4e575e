//! `zeitnot` and `zeitnot uci`: the engine under a GUI or a match runner.

use super::engine_options;
use super::output::note;
use super::uci_input;
use clap::ArgMatches;
use std::io::IsTerminal as _;
use std::sync::Arc;
use zeitnot::uci;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::RuntimePolicy;

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let clock = Arc::new(MonotonicClock::new());
    let (mut engine, switches) = engine_options::engine_and_switches(matches, clock, RuntimePolicy::FindOnly)?;
    engine_options::limit_memory(&mut engine, 1)?;
    let output = uci::Output::new(std::io::stdout());
    let output = match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        // Who types the commands sees both outputs, and needs to be told once.
        true => {
            note!("Zeitnot {}: help lists the commands", env!("CARGO_PKG_VERSION"));
            output
        }
        false => output.with_console(std::io::stderr()),
    };
    Ok(uci::run(engine, switches, uci_input::standard()?, &output)?)
}
