//! Reads which time managers are asked about the moves of games, and their move overhead: for `time audit` and
//! `time report`.

use crate::commands::flags::{flag, time_flags};
use clap::{Arg, ArgMatches, value_parser};
use std::collections::BTreeSet;
use zeitnot_engine::engine::Options;
use zeitnot_engine::managers;

/// The flags for the managers, their move overhead and the one player to look at.
pub fn args(help: &'static str) -> [Arg; 3] {
    let overhead = flag("overhead", "MS")
        .value_parser(value_parser!(f64))
        .help("Overhead of a move that the managers keep clear [default: that of MoveOverheadMs]");
    [time_flags::managers(help, ""), overhead, flag("player", "NAME").help("Player that alone is looked at")]
}

/// The managers of the flags, without repetitions, and their move overhead in milliseconds.
pub fn managers(matches: &ArgMatches) -> anyhow::Result<(Vec<String>, f64)> {
    let overhead_ms = matches.get_one("overhead").copied().unwrap_or(Options::default().move_overhead as f64);
    anyhow::ensure!((0.0..1e9).contains(&overhead_ms), "--overhead {overhead_ms}: a time is a number of milliseconds");
    let mut managers: Vec<String> = time_flags::named_managers(matches).into_iter().map(str::to_owned).collect();
    let mut named = BTreeSet::new();
    // A manager named twice is one column and one curve.
    managers.retain(|spec| named.insert(spec.clone()));
    for spec in &managers {
        managers::check(spec)?;
    }
    Ok((managers, overhead_ms))
}
