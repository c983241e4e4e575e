//! Plays the games of pairs of players, one pair after another: for `match`, `time compare` and its declared cells.

use crate::commands::interrupt;
use crate::commands::output::notes;
use crate::commands::warnings::Warnings;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_games::setup::{self, Contestant, MatchClock};
use zeitnot_games::{DecisionLog, Event, Journal, MatchEnd, MatchError, MatchPlan, PlayerError, run_match};

/// The matches of several pairs.
pub struct Series {
    /// The plan of each pair's match.
    pub plan: MatchPlan,
    pub interrupted: Arc<AtomicBool>,
    pub warnings: Warnings,
    program: Option<String>,
}

/// A pair of players, and how they play.
pub struct Pair<'a> {
    pub players: [&'a Contestant; 2],
    pub clock: &'a MatchClock,
    /// The progress bar of their games, above which errors are printed.
    pub bar: Option<&'a ProgressBar>,
    /// The path of the log of decisions, for player 1 or 2 and the index of a thread; `None` where none is kept.
    pub decisions: &'a (dyn Fn(usize, usize) -> Option<PathBuf> + Sync),
}

impl Series {
    /// Prepares a series; from then on Ctrl-C ends its games in order.
    pub fn new(plan: MatchPlan, warnings: Warnings) -> anyhow::Result<Series> {
        Ok(Series { plan, interrupted: interrupt::on_request()?, warnings, program: setup::program_sha256() })
    }

    /// The settings in the journal of a pair with these identities: `more`, the players, and what decides all games.
    pub fn settings(&self, [first, second]: [&Value; 2], mut more: Value) -> Value {
        for (name, value) in [("first", first), ("second", second)] {
            more[name] = value.clone();
        }
        more["program"] = json!(self.program);
        more["games"] = json!(self.plan.games);
        more
    }

    /// Plays the games of a pair that the journal lacks. `tell` gets the news.
    pub fn play(
        &self,
        pair: &Pair<'_>,
        journal: &mut Journal,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<MatchEnd, MatchError> {
        let make = |thread: usize| {
            let announcer = self.warnings.of_players(thread, pair.bar);
            let player = |number: usize| {
                let decisions = (pair.decisions)(number, thread).map(decision_log).transpose()?;
                pair.players[number - 1].player(pair.clock, &announcer, decisions)
            };
            Ok([player(1)?, player(2)?])
        };
        run_match(&self.plan, &make, journal, &self.interrupted, &mut |event| {
            if let Event::Finished { record, is_resumed: true, .. } = event {
                record.player_errors.iter().for_each(|line| self.warnings.player_error(line, pair.bar));
            }
            tell(event);
        })
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Creates the file of a player's decisions.
fn decision_log(path: PathBuf) -> Result<DecisionLog, PlayerError> {
    let name = path.display().to_string();
    DecisionLog::create(path, notes()).map_err(|error| PlayerError::Unfit(format!("cannot write {name}: {error}")))
}
