//! Counts the results of a match in the order of its games, in whichever order they end.

use super::{Event, MatchEnd, MatchError, MatchPlan, Message};
use crate::games::journal::Journal;
use crate::games::record::{GameRecord, Termination};
use crate::strength::sprt::Decision;
use crate::strength::{GameResult, Results};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// Games of a match that count, in the order of their numbers: up to the first missing game, or to the game by which an
/// SPRT decides.
pub fn counted<'g>(plan: &MatchPlan, games: &'g BTreeMap<u64, GameRecord>) -> Vec<&'g GameRecord> {
    let mut count = Count::new(plan);
    let mut told = 0;
    for (_, game) in games.range(1..=plan.games) {
        count.add(game.clone(), true, &mut |_| told += 1);
    }
    games.values().take(told).collect()
}

/// The games of a match, counted in the order of their numbers.
pub(super) struct Count<'a> {
    plan: &'a MatchPlan,
    /// Finished games that wait for an earlier one, each with whether it is from before an interruption.
    waiting: BTreeMap<u64, (GameRecord, bool)>,
    next: u64,
    /// The result of the first game of a pair whose second game has not ended.
    first_of_pair: Option<GameResult>,
    /// The results of complete pairs.
    pairs: Results,
    forfeits: [u64; 2],
    drawn_forfeits: [u64; 2],
    pub decision: Option<Decision>,
}

impl<'a> Count<'a> {
    pub fn new(plan: &'a MatchPlan) -> Count<'a> {
        Count {
            plan,
            waiting: BTreeMap::new(),
            next: 1,
            first_of_pair: None,
            pairs: Results::default(),
            forfeits: [0; 2],
            drawn_forfeits: [0; 2],
            decision: None,
        }
    }

    /// Takes the messages of the threads until all have ended or the match is decided.
    pub fn collect(
        &mut self,
        receiver: &Receiver<Message>,
        journal: &mut Journal,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), MatchError> {
        // Games broken off are reported last, after the finished games in the order of their numbers.
        let mut broken_off = Vec::new();
        let mut failure = None;
        for message in receiver {
            match message {
                Message::Started(game, [white, black]) => tell(Event::Started { game, players: [&white, &black] }),
                Message::Moved(game, number, last) => tell(Event::Moved { game, number, last: &last }),
                Message::Finished(record) if record.termination == Termination::Unfinished => {
                    tell(Event::Ended(record.game));
                    broken_off.push(record);
                }
                Message::Finished(record) => {
                    tell(Event::Ended(record.game));
                    journal.add((*record).clone())?;
                    self.add(*record, false, tell);
                }
                // Games of other threads that still end are kept.
                Message::Failed(error) => {
                    failure.get_or_insert(error);
                }
            }
            if self.decision.is_some() || failure.is_some() {
                stop.store(true, Ordering::SeqCst);
            }
        }
        // A match whose players cannot all be made has not begun, and no games are reported.
        let has_begun = failure.is_none() || !journal.has_other();
        if self.decision.is_none() && has_begun {
            if !broken_off.is_empty() {
                journal.begin()?;
            }
            broken_off.sort_by_key(|record| record.game);
            broken_off.iter().for_each(|record| tell(Event::BrokenOff(record)));
        }
        failure.map_or(Ok(()), Err)
    }

    /// Adds a finished game, and counts the games whose turn has come.
    pub fn add(&mut self, record: GameRecord, is_resumed: bool, tell: &mut dyn FnMut(Event<'_>)) {
        self.waiting.insert(record.game, (record, is_resumed));
        while self.decision.is_none()
            && let Some((record, is_resumed)) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            let result = record.result_of_first();
            match self.first_of_pair.take() {
                None => self.first_of_pair = Some(result),
                Some(first) => {
                    self.pairs.add_pair([first, result]);
                    self.decision = self.plan.sprt.as_ref().and_then(|sprt| sprt.decision(&self.pairs));
                }
            }
            if let Some(is_first) = record.forfeit_of_first() {
                let is_lost = record.lost_on_time_by_first().is_some();
                let forfeits = if is_lost { &mut self.forfeits } else { &mut self.drawn_forfeits };
                forfeits[usize::from(!is_first)] += 1;
            }
            tell(Event::Finished { record: &record, results: &self.results(), is_resumed });
        }
    }

    /// The results of all games so far.
    fn results(&self) -> Results {
        let mut results = self.pairs.clone();
        if let Some(first) = self.first_of_pair {
            results.add_game(first);
        }
        results
    }

    pub fn end(self) -> MatchEnd {
        let (results, decision) = (self.results(), self.decision);
        let Count { pairs, forfeits, drawn_forfeits, .. } = self;
        MatchEnd { results, pairs, forfeits, drawn_forfeits, decision }
    }
}
