//! `zeitnot` and `zeitnot uci`: the engine under a GUI or a match runner.

use super::engine_options;
use clap::ArgMatches;
use zeitnot::engine::RuntimePolicy;
use zeitnot::uci;

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let engine = engine_options::engine(matches, RuntimePolicy::FindOnly)?;
    let output = uci::Output::new(std::io::stdout());
    Ok(uci::run(engine, std::io::stdin().lock(), &output)?)
}
