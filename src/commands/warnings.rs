//! Counts the warnings of a match, and prints them.

use super::output::note;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeitnot_base::words::counted;
use zeitnot_engine::announcer::{Announcer, ERROR};
use zeitnot_games::GameRecord;

/// The warnings of games so far: errors of players, flags without effect, games that may repeat each other, and games
/// that were lost on time or by an engine's fault.
#[derive(Clone, Default)]
pub struct Warnings {
    count: Arc<AtomicU64>,
    /// The number of players' errors among the warnings.
    errors: Arc<AtomicU64>,
    /// The errors of players that were printed.
    told: Arc<Mutex<BTreeSet<String>>>,
}

impl Warnings {
    /// Counts a warning and prints it.
    pub fn warn(&self, line: &str) {
        self.add();
        note!("{line}");
    }

    fn add(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// An announcer whose every line is a warning.
    pub fn announcer(&self) -> Announcer {
        let warnings = self.clone();
        Announcer::new(move |line| warnings.warn(line))
    }

    /// An announcer for the players in a thread's games. An error, which begins with its player's name, is counted, and
    /// printed above the bar at its first occurrence; other lines are printed for thread 0 alone, since all threads
    /// have the same.
    pub fn of_players(&self, thread: usize, bar: Option<&ProgressBar>) -> Announcer {
        let (warnings, bar) = (self.clone(), bar.cloned());
        Announcer::new(move |line| match line.contains(ERROR) {
            true => warnings.player_error(line, bar.as_ref()),
            false if thread == 0 => print(line, bar.as_ref()),
            false => {}
        })
    }

    /// Counts an error of a player, also from a game that was resumed, and prints it at its first occurrence.
    pub fn player_error(&self, line: &str, bar: Option<&ProgressBar>) {
        self.add();
        self.errors.fetch_add(1, Ordering::SeqCst);
        if self.told.lock().insert(line.to_owned()) {
            print(line, bar);
        }
    }

    /// The line for the end of a match that says how many errors players had; `None` without any.
    pub fn player_errors(&self) -> Option<String> {
        let errors = self.errors.load(Ordering::SeqCst) as usize;
        (errors > 0).then(|| {
            let errors = counted(errors, "error");
            format!(
                "players had {errors}, of which each kind is told above: the figures are not of what was named alone"
            )
        })
    }

    /// Counts a game that was lost on time or by an error; the game itself is reported elsewhere.
    pub fn look_at(&self, game: &GameRecord) {
        if game.error.is_some() || game.forfeit.is_some() {
            self.add();
        }
    }

    /// Fails if there was a warning.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.count.load(Ordering::SeqCst) {
            0 => Ok(()),
            1 => anyhow::bail!("--fail-on-warning: there was a warning"),
            count => anyhow::bail!("--fail-on-warning: there were {count} warnings"),
        }
    }
}

/// Prints a line, above the bar if there is one.
fn print(line: &str, bar: Option<&ProgressBar>) {
    let print = || note!("{line}");
    bar.map_or_else(print, |bar| bar.suspend(print));
}
