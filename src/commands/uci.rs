//! `zeitnot` and `zeitnot uci`: the engine under a GUI or a match runner.

use super::engine_options;
use clap::ArgMatches;
use std::sync::Arc;
use zeitnot::uci;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::RuntimePolicy;

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let clock = Arc::new(MonotonicClock::new());
    let (mut engine, switches) = engine_options::engine_and_switches(matches, clock, RuntimePolicy::FindOnly)?;
    engine_options::limit_memory(&mut engine, 1)?;
    let output = uci::Output::new(std::io::stdout()).with_console(std::io::stderr());
    Ok(uci::run(engine, switches, std::io::stdin().lock(), &output)?)
}
