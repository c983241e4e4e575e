//! `zeitnot time verify`: checks that the time managers of a match make the same decisions when asked again.

use crate::commands::flags::{json_flag, time_flags};
use crate::commands::output::say;
use anyhow::Context as _;
use clap::{ArgMatches, Command};
use std::fs;
use std::path::{Path, PathBuf};
use zeitnot_games::{Verified, verify_decisions};
use zeitnot_lab::results::LabResult;

/// The ending of an event log.
const ENDING: &str = "jsonl";

pub fn command() -> Command {
    Command::new("verify")
        .about("Check that every decision of a match's time managers comes out again, to the last bit")
        .arg(time_flags::files("Event logs of match --decisions, or the folder of them").value_name("FOLDER|FILE"))
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut sum = Verified::default();
    for path in time_flags::named_files(matches) {
        for path in event_logs(path)? {
            let Verified { games, moves, answers } = verify_decisions(&path)?;
            sum = Verified { games: sum.games + games, moves: sum.moves + moves, answers: sum.answers + answers };
        }
    }
    if matches.get_flag("json") {
        say!("{}", serde_json::to_string(&LabResult::Verification(sum))?);
    } else {
        let Verified { games, moves, answers } = sum;
        say!(
            "{answers} decisions about {moves} moves of {games} games, each player's for itself, came out again to the last bit"
        );
    }
    Ok(())
}

/// The event logs that a path names: the file itself, or those in the folder, sorted by name.
fn event_logs(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot_read = || format!("cannot read {}", path.display());
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>).with_context(cannot_read)?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == ENDING)).collect();
    anyhow::ensure!(!logs.is_empty(), "{} has no event log (FILE.{ENDING})", path.display());
    logs.sort();
    Ok(logs)
}
