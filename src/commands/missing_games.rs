//! Plays the games that a journal lacks, for the commands that play many pairs of players.

use super::warnings::Warnings;
use indicatif::ProgressBar;
use std::sync::atomic::AtomicBool;
use zeitnot_lab::setup::{Contestant, MatchClock};
use zeitnot_lab::{Event, GameRecord, Journal, MatchError, MatchPlan, run_match};

/// Plays the missing games of two players, and moves the bar. Returns all games of the plan that the journal has then, in
/// order.
///
/// # Errors
/// Those of [`run_match`].
pub fn play(
    plan: &MatchPlan<'_>,
    [first, second]: [&Contestant; 2],
    clock: &MatchClock,
    journal: &mut Journal,
    bar: &ProgressBar,
    interrupted: &AtomicBool,
    warnings: &Warnings,
) -> Result<Vec<GameRecord>, MatchError> {
    let make = |thread: usize| {
        let announcer = warnings.of_players(thread, Some(bar));
        Ok([first.player(clock, &announcer, None)?, second.player(clock, &announcer, None)?])
    };
    run_match(plan, &make, journal, interrupted, &mut |event| {
        if let Event::Finished { is_resumed, .. } = event {
            bar.inc(1);
            if is_resumed {
                bar.reset_eta();
            }
        }
    })?;
    Ok(journal.games().range(1..=plan.games).map(|(_, game)| game.clone()).collect())
}
