//! Opens the PGN file and the journal of the match against each opponent, and checks all of them before any is written.

use super::pgn_file::PgnFile;
use serde_json::Value;
use std::path::{Path, PathBuf};
use zeitnot_games::{Journal, MatchPlan, counted};

/// Settings of a match that may change when it goes on after an interruption.
const MAY_DIFFER: [&str; 3] = ["games", "pgn_start", "date"];

/// The files of the match against one opponent.
pub struct MatchFiles {
    /// The games as PGN.
    pub pgn: PgnFile,
    /// The journal, with all that `--resume` needs; locked.
    pub journal: Journal,
    /// The path of the PGN file.
    pub path: PathBuf,
    /// Number of games taken up from the journal that count for the match.
    pub taken_up: u64,
}

impl MatchFiles {
    /// Opens both files without changing them. `settings` are the match's, which the journal compares on a resumption.
    pub fn open(path: &Path, settings: Value, is_resumed: bool) -> anyhow::Result<MatchFiles> {
        let pgn = PgnFile::open(path)?;
        let mut name = path.as_os_str().to_owned();
        name.push(".jsonl");
        let mut journal = match is_resumed {
            true => Journal::resume(Path::new(&name), settings, &MAY_DIFFER)?,
            false => Journal::create(Path::new(&name), settings)?,
        };
        // Another match may have written to the file as long as it had the journal.
        let (start, date) = pgn.start();
        journal.note("pgn_start", start);
        journal.note("date", date);
        Ok(MatchFiles { pgn, journal, path: path.to_owned(), taken_up: 0 })
    }

    /// Takes up the games in the journal, and adds those that the PGN file lacks.
    pub fn take_up(&mut self, plan: &MatchPlan) -> anyhow::Result<()> {
        let (begun, settings) = (self.journal.games(), self.journal.settings());
        let last = begun.keys().next_back().copied().unwrap_or(0);
        anyhow::ensure!(
            last <= plan.games,
            "--games {}: {:?} has game {last} already; a match that goes on may have more games, not fewer",
            plan.games,
            self.journal.path()
        );
        let counted = counted(plan, begun);
        if let (Some(start), Some(date)) = (settings["pgn_start"].as_u64(), settings["date"].as_str()) {
            self.pgn.take_up(start, date, &counted)?;
        }
        self.taken_up = counted.len() as u64;
        Ok(())
    }
}

/// Refuses to replace the journals of an interrupted pool: some have all their games, others do not.
pub fn check_pool(files: &[MatchFiles]) -> anyhow::Result<()> {
    let lacking = files.iter().find(|files| !files.journal.has_other());
    if let (Some(lacking), Some(whole)) = (lacking, files.iter().find(|files| files.journal.has_other())) {
        anyhow::bail!(
            "{} has all games of a pool that was interrupted, {} lacks some: --resume goes on with it; delete the journals, or name \
             another --pgn, to begin anew",
            whole.journal.path().display(),
            lacking.journal.path().display()
        );
    }
    Ok(())
}
