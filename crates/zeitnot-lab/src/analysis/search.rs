//! Searches the positions of a game from the last one back, so that what a later position has shown is known before the
//! earlier one is asked.

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
            facts.push(match outcome {
                Some(outcome) => PositionFacts::of_outcome(outcome),
                None => {
                    let found = self.position(&until, effort, &[])?;
                    match facts.last().zip(game.moves().get(ply)) {
                        Some((after, played)) => self.corrected(&until, effort, found, *played, after)?,
                        None => found,
                    }
                }
            });
        }
        facts.reverse();
        Ok(Some(facts))
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

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::engine::{RuntimePolicy, load_network};

    fn analyst() -> Analyst {
        let mut options = Options::default();
        options.set("Backend", "random").unwrap();
        let backend = load_network(&options, RuntimePolicy::FindOnly, &Default::default()).unwrap().backend;
        Analyst::new(&options, backend, false).unwrap()
    }

    fn game(moves: &[&str]) -> Game {
        let mut game = Game::new();
        moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
        game
    }

    #[test]
    fn a_game_has_the_same_facts_whatever_was_analysed_before() {
        let go_on = AtomicBool::new(false);
        let facts = |analyst: &mut Analyst, moves: &[&str]| {
            analyst.facts(&game(moves), &|| Effort::Nodes(400), &go_on).unwrap().unwrap()
        };
        let fool = ["f2f3", "e7e5", "g2g4", "d8h4"];
        let first = facts(&mut analyst(), &fool);
        let mut other = analyst();
        facts(&mut other, &["e2e4", "e7e5"]);
        assert_eq!(facts(&mut other, &fool), first);
        assert_eq!(first.len(), 5);
        assert_eq!((first[4].mate, first[4].wdl), (Some(0), Some([0, 0, 1000])));
        // One move mates, from Black's side and so against White.
        assert_eq!((first[3].mate, first[3].line[0].as_str()), (Some(-1), "d8h4"));
        assert!(first[..4].iter().all(|facts| facts.early.is_some() && !facts.line.is_empty()));
    }

    #[test]
    fn a_move_that_turned_out_worse_is_compared_with_the_others() {
        let mut analyst = analyst();
        // The search would play it and sees nothing; behind it Black mates.
        let until = game(&["f2f3", "e7e5"]);
        let played = zeitnot_engine::chess::parse_uci(until.current().chess(), "g2g4").unwrap();
        let found = PositionFacts {
            wdl: Some([300, 400, 300]),
            line: vec!["g2g4".to_owned()],
            early: Some("g2g4".to_owned()),
            ..PositionFacts::of(super::super::Eval::Cp(0))
        };
        let after = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(super::super::Eval::Mate(-1)) };
        let effort = Effort::Nodes(100);
        let corrected = analyst.corrected(&until, effort, found.clone(), played, &after).unwrap();
        assert!(corrected.line[0] != "g2g4" && corrected.mate.is_none(), "{corrected:?}");
        assert_eq!(corrected.early.as_deref(), Some("g2g4"));
        // Where it is as good as the search said, or another move is the search's, nothing changes.
        let same = PositionFacts { wdl: Some([280, 400, 320]), ..found.clone() };
        assert_eq!(analyst.corrected(&until, effort, found.clone(), played, &same).unwrap(), found);
        let other = PositionFacts { line: vec!["e2e4".to_owned()], ..found };
        assert_eq!(analyst.corrected(&until, effort, other.clone(), played, &after).unwrap(), other);
        // No other move is legal: what comes behind it counts, a move later.
        let forced = Game::from_fen("7k/8/8/8/8/8/1q6/K7 w - - 0 1", false).unwrap();
        let only = forced.current().legal_moves()[0];
        let found = PositionFacts {
            wdl: Some([300, 400, 300]),
            line: vec![to_uci(only, false)],
            ..PositionFacts::of(super::super::Eval::Cp(0))
        };
        let won = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(super::super::Eval::Mate(-3)) };
        let corrected = analyst.corrected(&forced, effort, found.clone(), only, &won).unwrap();
        assert_eq!((corrected.mate, corrected.line), (Some(-3), found.line));
    }

    #[test]
    fn an_interruption_leaves_nothing() {
        let stopped = AtomicBool::new(true);
        assert_eq!(analyst().facts(&game(&["e2e4"]), &|| Effort::Nodes(4), &stopped).unwrap(), None);
    }
}
