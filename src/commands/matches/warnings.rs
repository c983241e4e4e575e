//! Counts what `--fail-on-warning` fails by.

use crate::commands::output::note;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeitnot_engine::announcer::Announcer;
use zeitnot_lab::GameRecord;

/// The warnings of a match so far: flags without effect, games that may repeat each other, and games that were lost on
/// time or by an engine's fault.
#[derive(Clone, Default)]
pub struct Warnings(Arc<AtomicU64>);

impl Warnings {
    /// Tells a warning.
    pub fn warn(&self, line: &str) {
        self.0.fetch_add(1, Ordering::SeqCst);
        note!("{line}");
    }

    /// An announcer whose every line is a warning.
    pub fn announcer(&self) -> Announcer {
        let warnings = self.clone();
        Announcer::new(move |line| warnings.warn(line))
    }

    /// Counts a game that a clock or a fault ended, which is reported as all games are.
    pub fn look_at(&self, game: &GameRecord) {
        if game.error.is_some() || game.forfeit.is_some() {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Fails if there was a warning.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            1 => anyhow::bail!("--fail-on-warning: there was a warning"),
            count => anyhow::bail!("--fail-on-warning: there were {count} warnings"),
        }
    }
}
