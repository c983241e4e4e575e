//! Plays the games of a match, several at once, and hands them over in the order of their numbers.

mod count;

use crate::games::journal::Journal;
use crate::games::journal_error::JournalError;
use crate::games::openings::Starts;
use crate::games::play::{Pairing, Rules, play};
use crate::games::player::{Player, PlayerError};
use crate::games::record::{GameRecord, MoveRecord};
use crate::strength::Results;
use crate::strength::sprt::{Decision, Sprt};
use count::Count;
pub use count::counted;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use thiserror::Error;

/// The two players of a match, first and second.
pub type Players = [Box<dyn Player>; 2];

/// A match.
pub struct MatchPlan {
    /// The rules of each game.
    pub rules: Rules,
    /// Number of games; games 1 and 2, 3 and 4 and so on have the same opening, with colours swapped.
    pub games: u64,
    /// The start positions of the pairs of games.
    pub starts: Starts,
    /// Whether castling follows the rules of Chess960.
    pub chess960: bool,
    /// Games that are played at once.
    pub concurrency: usize,
    /// The test that ends the match as soon as the results decide, if any.
    pub sprt: Option<Sprt>,
    /// Whether each move is reported, too.
    pub tells_moves: bool,
}

/// The news of a match.
pub enum Event<'a> {
    /// A game begins.
    Started {
        /// The number of the game.
        game: u64,
        /// The names of White and Black.
        players: [&'a str; 2],
    },
    /// A move was made.
    Moved {
        /// The number of the game.
        game: u64,
        /// The number of the move, as PGN counts moves.
        number: usize,
        last: &'a MoveRecord,
    },
    /// A game is over; earlier games may go on.
    Ended(u64),
    /// A game is over, as are all earlier games.
    Finished {
        record: &'a GameRecord,
        /// The results so far.
        results: &'a Results,
        /// Whether the game was played before an interruption.
        is_resumed: bool,
    },
    BrokenOff(&'a GameRecord),
}

#[derive(Clone, Debug)]
pub struct MatchEnd {
    /// The results of the first player.
    pub results: Results,
    /// The results of whole pairs of games, by which the SPRT decides.
    pub pairs: Results,
    /// Games that the first and that the second player lost on time.
    pub forfeits: [u64; 2],
    /// Drawn games in which the first, and the second, player's clock ran out against a bare king.
    pub drawn_forfeits: [u64; 2],
    /// The decision of the SPRT, if there is one.
    pub decision: Option<Decision>,
}

/// Why a match cannot go on. Displays as one line; the journal keeps the games that ended.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum MatchError {
    /// An engine of this program failed, or a player cannot play.
    #[error("game {game}: {error}")]
    Player { game: u64, error: PlayerError },
    /// The players cannot be made.
    #[error(transparent)]
    Players(#[from] PlayerError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A thread cannot be started.
    #[error("cannot start a thread for games: {0}")]
    Thread(std::io::Error),
}

/// The messages of the threads that play.
enum Message {
    Started(u64, [String; 2]),
    Moved(u64, usize, Box<MoveRecord>),
    Finished(Box<GameRecord>),
    Failed(MatchError),
}

/// Plays a match. `make` makes the players of a thread, by its number from 0. `journal` gets each finished game at
/// once; games that it has are not played again, and if its file holds another match, that stays until a game of this
/// one ends or is broken off. `tell` gets the news on the caller's thread, finished games in the order of their
/// numbers. `interrupted` ends the match.
///
/// The games of players on virtual clocks depend on the plan alone: not on how many are played at once, nor on an
/// interruption. An SPRT decides by the games in their order, and drops later games.
///
/// # Errors
/// [`MatchError`]; what was reported before holds.
pub fn run_match(
    plan: &MatchPlan,
    make: &(dyn Fn(usize) -> Result<Players, PlayerError> + Sync),
    journal: &mut Journal,
    interrupted: &AtomicBool,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<MatchEnd, MatchError> {
    let mut count = Count::new(plan);
    let played: Vec<u64> = journal.games().range(1..=plan.games).map(|(number, _)| *number).collect();
    for number in &played {
        count.add(journal.games()[number].clone(), true, tell);
    }
    let missing: Vec<u64> = (1..=plan.games).filter(|number| played.binary_search(number).is_err()).collect();
    if count.decision.is_some() || missing.is_empty() {
        return Ok(count.end());
    }
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let threads = plan.concurrency.clamp(1, missing.len());
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let thread_of_games =
                GameThread { plan, missing: &missing, next: &next, stop: &stop, interrupted, sender: sender.clone() };
            let builder = std::thread::Builder::new().name(format!("game {thread}"));
            if let Err(error) = builder.spawn_scoped(scope, move || thread_of_games.play_games(thread, make)) {
                stop.store(true, Ordering::SeqCst);
                return Err(MatchError::Thread(error));
            }
        }
        drop(sender);
        let end = count.collect(&receiver, journal, &stop, tell);
        stop.store(true, Ordering::SeqCst);
        end
    })?;
    Ok(count.end())
}

/// One of the threads that play.
struct GameThread<'a> {
    plan: &'a MatchPlan,
    missing: &'a [u64],
    /// The index in `missing` of the game to be begun next, by whichever thread is free.
    next: &'a AtomicU64,
    stop: &'a AtomicBool,
    interrupted: &'a AtomicBool,
    sender: Sender<Message>,
}

impl GameThread<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || self.interrupted.load(Ordering::SeqCst)
    }

    fn play_games(&self, thread: usize, make: &(dyn Fn(usize) -> Result<Players, PlayerError> + Sync)) {
        // Sending fails once the match has ended, when nobody listens any more.
        let mut players = match make(thread) {
            Ok(players) => players,
            Err(PlayerError::Interrupted(_)) => return,
            Err(error) => return drop(self.sender.send(Message::Failed(error.into()))),
        };
        while !self.is_over() {
            let at = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(&game) = usize::try_from(at).ok().and_then(|at| self.missing.get(at)) else { return };
            let message = self.play_game(&mut players, game);
            let failed = matches!(message, Message::Failed(_));
            if self.sender.send(message).is_err() || failed {
                return;
            }
        }
    }

    fn play_game(&self, players: &mut Players, game: u64) -> Message {
        let (pair, first_is_white) = ((game - 1) / 2, game % 2 == 1);
        let start = self.plan.starts.get(pair);
        let pairing = Pairing { game, start, chess960: self.plan.chess960, first_is_white };
        if self.plan.tells_moves {
            let mut names = players.each_ref().map(|player| player.name().to_owned());
            if !first_is_white {
                names.reverse();
            }
            let _ = self.sender.send(Message::Started(game, names));
        }
        let on_move = |record: &GameRecord| {
            if self.plan.tells_moves
                && let Some(last) = record.moves.last()
            {
                let _ = self.sender.send(Message::Moved(game, record.number_of_last(), Box::new(last.clone())));
            }
            if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let [first, second] = players;
        match play([&mut **first, &mut **second], &self.plan.rules, &pairing, on_move) {
            Ok(record) => Message::Finished(Box::new(record)),
            Err(error) => Message::Failed(MatchError::Player { game, error }),
        }
    }
}

#[cfg(test)]
mod tests;
