//! Checks that the games of a match do not repeat each other.

use super::{Contestant, MatchClock, SetupError};
use crate::games::{LagModel, Limits, MatchPlan};
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::engine::Options;

impl MatchPlan {
    /// Checks that the games of two players do not repeat each other. On a virtual clock two games between the same
    /// players from one position are the same game, unless something is random. On the machine's clock games that may
    /// be the same are announced.
    ///
    /// # Errors
    /// [`SetupError::Repetition`].
    pub fn check_repetition(
        &self,
        clock: &MatchClock,
        players: [&Contestant; 2],
        announcer: &Announcer,
    ) -> Result<(), SetupError> {
        let (games, openings) = (self.games, self.starts.len() as u64);
        let is_random = |options: &Options| options.temperature > 0.0 || options.noise_epsilon > 0.0;
        // Nodes and depth alone end searches where there is no clock.
        let has_time = self.rules.limits.iter().any(Limits::has_time);
        // The jitter of a batch is the same in every game: it does not make them differ.
        let varied = has_time && self.rules.lag.as_ref().is_some_and(LagModel::varies);
        let varied = varied || players.iter().filter_map(|player| player.options()).any(is_random);
        if games.div_ceil(2) <= openings || varied {
            return Ok(());
        }
        let s = if openings == 1 { "" } else { "s" };
        let would = format!("{games} games from {openings} opening{s} would repeat each other");
        if clock.is_virtual() {
            return Err(SetupError::Repetition(would));
        }
        // On the machine's clock, or with several threads, a search differs from itself.
        let is_single = |player: &Contestant| player.options().is_some_and(|options| options.threads == 1);
        if !has_time && players.into_iter().all(is_single) {
            announcer.say(&format!(
                "{would}, with a fixed number of nodes and one thread: --openings names files with more"
            ));
        }
        Ok(())
    }
}
