//! `zeitnot time`: shows the decisions of a time manager, compares managers in games and over recorded searches, lends
//! them to other engines, and writes reports about all of it.

mod asked;
mod audit;
mod audit_tables;
mod charts;
mod compare;
mod drive;
mod explain;
mod judge;
mod record;
mod replay;
mod report;
mod simulate;
mod verify;

pub use explain::show as show_plan;

use clap::{ArgMatches, Command};
use zeitnot_engine::digest::sha256;
use zeitnot_lab::recordings::RecordedSearch;

pub fn command() -> Command {
    Command::new("time").about("Look into the time managers").subcommand_required(true).subcommands([
        explain::command(),
        compare::command(),
        drive::command(),
        audit::command(),
        record::command(),
        judge::command(),
        replay::command(),
        verify::command(),
        simulate::command(),
        report::command(),
    ])
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some(("explain", matches)) => explain::run(matches),
        Some(("compare", matches)) => compare::run(matches),
        Some(("drive", matches)) => drive::run(matches),
        Some(("audit", matches)) => audit::run(matches),
        Some(("record", matches)) => record::run(matches),
        Some(("judge", matches)) => judge::run(matches),
        Some(("replay", matches)) => replay::run(matches),
        Some(("verify", matches)) => verify::run(matches),
        Some(("simulate", matches)) => simulate::run(matches),
        Some(("report", matches)) => report::run(matches),
        _ => unreachable!("clap requires one of the commands"),
    }
}

/// An interval as text, with its ends multiplied by `shown` and rounded to `digits` decimals.
fn interval(ends: Option<[f64; 2]>, shown: f64, digits: usize) -> String {
    match ends {
        Some([low, high]) => format!("({:.digits$} to {:.digits$})", low * shown, high * shown),
        None => "(one pair of games has no interval)".to_owned(),
    }
}

/// The digest of recorded searches, which shows whether two runs were over the same searches.
fn identity(searches: &[RecordedSearch]) -> anyhow::Result<String> {
    let mut text = String::new();
    for search in searches {
        let last = search.snapshots.last().map(|last| &last.visits);
        text.push_str(&format!("{} {} {} {last:?}\n", search.game, search.ply, search.fen));
        if !search.judged.is_empty() {
            text.push_str(&format!("{:?}\n", search.judged));
        }
    }
    Ok(sha256(text.as_bytes())?)
}
