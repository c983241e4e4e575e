//! Searches the positions of a game from the last one back, so that what a later position has shown is known before the
//! earlier one is asked.

use super::judgement::{Judgement, judge};
use super::position_facts::PositionFacts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;
use zeitnot_engine::backend::Backend;
use zeitnot_engine::chess::{Color, Game, Move, to_uci};
use zeitnot_engine::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_engine::engine::{Engine, EngineError, GoParams, Options, SearchEnd, score, wdl_permille};

/// The part of a search after which its choice is noted: an eighth.
const EARLY_PART: u64 = 8;
/// Expected score by which the position behind a move may be worse than the search of the move said.
const DISAPPOINTMENT: f64 = 0.05;
/// The effort, as a multiple, for the positions before and behind a move that lost much.
const SECOND_LOOK: u32 = 4;
/// Most plies of a line that are kept, as many as lichess keeps.
const LONGEST_LINE: usize = 12;

/// The effort for a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// Visits of the position.
    Nodes(u64),
    /// Time in milliseconds.
    Time(f64),
}

impl Effort {
    fn times(self, factor: u32) -> Effort {
        match self {
            Effort::Nodes(nodes) => Effort::Nodes(nodes.saturating_mul(u64::from(factor))),
            Effort::Time(ms) => Effort::Time(ms * f64::from(factor)),
        }
    }
}

/// Why a game is not analysed. The text is one line.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// The engine cannot search.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A search failed.
    #[error("ply {ply}: {reason}")]
    Search {
        /// Plies before the position.
        ply: usize,
        /// The search's error.
        reason: String,
    },
}

/// An engine that analyses games, one after another.
pub struct Analyst {
    engine: Engine,
}

impl Analyst {
    /// An analyst on a loaded network. A search has one thread, and nothing but its effort ends it. Unless `is_timed`,
    /// the same game gives the same facts, whatever was analysed before.
    ///
    /// # Errors
    /// When the backend has no room for another engine.
    pub fn new(options: &Options, backend: Arc<dyn Backend>, is_timed: bool) -> Result<Analyst, AnalysisError> {
        let options = Options {
            threads: 1,
            multi_pv: 1,
            smart_pruning_factor: 0.0,
            minimum_kld_gain: 0.0,
            random_seed: 1,
            own_book: false,
            ..options.clone()
        };
        let clock: Arc<dyn Clock> =
            if is_timed { Arc::new(MonotonicClock::new()) } else { Arc::new(VirtualClock::default()) };
        let mut engine = Engine::with_backend(options, clock, backend)?;
        engine.set_analysis(true);
        Ok(Analyst { engine })
    }

    /// The facts of every position of a game, the one before the first move included; `None` where `interrupted` has
    /// ended the work. `effort` is asked before each position.
    ///
    /// # Errors
    /// [`AnalysisError`].
    pub fn facts(
        &mut self,
        game: &Game,
        effort: &dyn Fn() -> Effort,
        interrupted: &AtomicBool,
    ) -> Result<Option<Vec<PositionFacts>>, AnalysisError> {
        self.engine.new_game();
        let plies = game.moves().len();
        let mut facts = Vec::with_capacity(plies + 1);
        let mut until = game.clone();
        for ply in (0..=plies).rev() {
            if interrupted.load(Ordering::SeqCst) {
                return Ok(None);
            }
            until.truncate(ply);
            let effort = effort();
            // A game may go on after its third repetition.
            let outcome = until.outcome().filter(|_| ply == plies || until.current().legal_moves().is_empty());
            let found = match outcome {
                Some(outcome) => PositionFacts::of_outcome(outcome),
                None => {
                    let found = self.looked_at(&until, effort, next_of(game, ply, &facts))?;
                    let next = next_of(game, ply, &facts);
                    if next.is_some_and(|(played, after)| has_lost_much(&until, played, &found, after)) {
                        let again = self.second_look(game, &until, effort, &mut facts)?;
                        PositionFacts { early: found.early, ..again }
                    } else {
                        found
                    }
                }
            };
            facts.push(found);
        }
        facts.reverse();
        Ok(Some(facts))
    }

    /// The facts of the position at the end of `until`, corrected by those of the next one, where there is one.
    fn looked_at(
        &mut self,
        until: &Game,
        effort: Effort,
        next: Option<(Move, &PositionFacts)>,
    ) -> Result<PositionFacts, AnalysisError> {
        let found = self.position(until, effort, &[])?;
        match next {
            Some((played, after)) => self.corrected(until, effort, found, played, after),
            None => Ok(found),
        }
    }

    /// Looks with more effort at a position and at the one behind the move that was played, whose facts are the last of
    /// `facts` and are replaced, but for the choice after an eighth of the first effort.
    fn second_look(
        &mut self,
        game: &Game,
        until: &Game,
        effort: Effort,
        facts: &mut Vec<PositionFacts>,
    ) -> Result<PositionFacts, AnalysisError> {
        let (ply, effort) = (until.moves().len(), effort.times(SECOND_LOOK));
        let mut behind = game.clone();
        behind.truncate(ply + 1);
        if let Some(known) = facts.pop() {
            facts.push(match behind.outcome() {
                Some(_) => known,
                None => {
                    let again = self.looked_at(&behind, effort, next_of(game, ply + 1, facts))?;
                    PositionFacts { early: known.early, ..again }
                }
            });
        }
        self.looked_at(until, effort, next_of(game, ply, facts))
    }

    /// Corrects the facts of a position by those of the next one: where the search would play `played`, and the position
    /// behind it turned out worse, the other moves are searched, and the better of both counts.
    fn corrected(
        &mut self,
        game: &Game,
        effort: Effort,
        found: PositionFacts,
        played: Move,
        after: &PositionFacts,
    ) -> Result<PositionFacts, AnalysisError> {
        let turn = game.current().turn();
        let of_mover = |facts: &PositionFacts, turn_there: Color| {
            let white = facts.expected(turn_there).unwrap_or(0.5);
            if turn.is_white() { white } else { 1.0 - white }
        };
        let uci = to_uci(played, game.is_chess960());
        let behind = of_mover(after, turn.other());
        if found.line.first() != Some(&uci) || of_mover(&found, turn) - behind < DISAPPOINTMENT {
            return Ok(found);
        }
        let others: Vec<Move> = game.current().legal_moves().into_iter().filter(|mv| *mv != played).collect();
        if !others.is_empty() {
            let other = self.position(game, effort, &others)?;
            if of_mover(&other, turn) > behind {
                return Ok(PositionFacts { early: found.early, ..other });
            }
        }
        let line = std::iter::once(&uci).chain(&after.line).take(LONGEST_LINE).cloned().collect();
        // The side that mates needs the move on the board, too.
        let mates = |moves: i32| (moves > 0) == turn.is_white();
        let mate = after.mate.map(|moves| if mates(moves) { moves + moves.signum() } else { moves });
        Ok(PositionFacts { line, mate, early: found.early, depth: found.depth, ..after.clone() })
    }

    /// The facts of the last position of a game, of the moves in `moves`; of all where there are none.
    fn position(&mut self, game: &Game, effort: Effort, moves: &[Move]) -> Result<PositionFacts, AnalysisError> {
        let early = match effort {
            Effort::Nodes(nodes) => Effort::Nodes((nodes / EARLY_PART).max(1)),
            Effort::Time(ms) => Effort::Time(ms / EARLY_PART as f64),
        };
        let rest = match (effort, early) {
            (Effort::Time(ms), Effort::Time(early_ms)) => Effort::Time(ms - early_ms),
            (whole, _) => whole,
        };
        self.engine.set_game(game.clone());
        let early = self.search(game, early, moves)?;
        let end = self.search(game, rest, moves)?;
        let is_chess960 = game.is_chess960();
        let is_white = game.current().turn() == Color::White;
        let Some(line) = end.report.lines.first() else {
            let reason = "the search has no line".to_owned();
            return Err(AnalysisError::Search { ply: game.moves().len(), reason });
        };
        let has_wdl = self.engine.attributes().is_some_and(|attributes| attributes.has_wdl);
        let sign = if is_white { 1 } else { -1 };
        let (win, draw, loss) = wdl_permille(line);
        Ok(PositionFacts {
            cp: line.mate.is_none().then(|| sign * score(self.engine.options().score_type, line, has_wdl)),
            mate: line.mate.map(|mate| sign * mate),
            wdl: Some(if is_white { [win, draw, loss] } else { [loss, draw, win] }),
            depth: end.report.depth,
            line: line.moves.iter().take(LONGEST_LINE).map(|mv| to_uci(*mv, is_chess960)).collect(),
            early: early.report.lines.first().and_then(|line| line.moves.first()).map(|mv| to_uci(*mv, is_chess960)),
        })
    }

    fn search(&mut self, game: &Game, effort: Effort, moves: &[Move]) -> Result<SearchEnd, AnalysisError> {
        let (nodes, movetime) = match effort {
            Effort::Nodes(nodes) => (Some(nodes), None),
            Effort::Time(ms) => (None, Some(ms)),
        };
        let go = GoParams { nodes, movetime, search_moves: moves.to_vec(), ..GoParams::default() };
        let failed = |reason| AnalysisError::Search { ply: game.moves().len(), reason };
        let start_ms = self.engine.now_ms();
        let (end, _) = self.engine.run(&go, start_ms, None)?;
        match &end.error {
            Some(error) => Err(failed(error.clone())),
            None => Ok(end),
        }
    }
}

/// The move played after `ply` plies of a game, and the facts of the position behind it, which are the last ones.
fn next_of<'a>(game: &Game, ply: usize, facts: &'a [PositionFacts]) -> Option<(Move, &'a PositionFacts)> {
    game.moves().get(ply).copied().zip(facts.last())
}

/// Whether a move is a mistake or a blunder by the facts before and behind it.
fn has_lost_much(until: &Game, played: Move, found: &PositionFacts, after: &PositionFacts) -> bool {
    let turn = until.current().turn();
    let is_best = found.line.first() == Some(&to_uci(played, until.is_chess960()));
    let judged = || judge(found.eval(turn)?, after.eval(turn.other())?, turn);
    !is_best && judged().is_some_and(|judgement| judgement != Judgement::Inaccuracy)
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
