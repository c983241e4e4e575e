//! Searches the positions of a game from the last one back, so that what a later position has shown is known before the
//! earlier one is asked.

use super::evaluation::{Eval, as_stockfish, winning_chances};
use super::position_facts::PositionFacts;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use thiserror::Error;
use zeitnot_engine::backend::Backend;
use zeitnot_engine::chess::{Color, Game, Move, mate_by_checks, parse_uci, to_uci, winning_material};
use zeitnot_engine::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_engine::engine::{Engine, EngineError, GoParams, Options, ScoreType, SearchEnd, score, wdl_permille};

/// The part of a search's effort after which its best move so far is noted: an eighth.
const EARLY_PART: f64 = 0.125;
/// Factor of the effort for the searches of the other legal moves, when the compared ones disappoint.
const OTHERS_PART: f64 = 0.5;
/// Winning chances by which the best move may turn out worse than its search said before other moves are searched.
const DISAPPOINTMENT: f64 = 0.06;
/// Most moves of a position that are compared by a search of the position behind each.
const MOST_COMPARED: usize = 4;
/// Losses of winning chances that are close enough to a judgement's bounds for a second look.
const DOUBTFUL: std::ops::Range<f64> = 0.06..0.4;
/// Factor of the effort for a second look.
const SECOND_LOOK: f64 = 2.0;
/// Most plies of a mate by checks that is looked for in each position.
const MATE_PLIES: u32 = 5;
/// Plies, and then captures behind them, in which a win of material is looked for that the search may have missed.
const MATERIAL_PLIES: i32 = 3;
/// The worth of a mate on the scale of winning chances, -1 to 1, and what each move to the mate takes off.
const MATE: (f64, f64) = (2.0, 1e-3);
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
    fn times(self, factor: f64) -> Effort {
        match self {
            Effort::Nodes(nodes) => Effort::Nodes(((nodes as f64 * factor) as u64).max(1)),
            Effort::Time(ms) => Effort::Time(ms * factor),
        }
    }
}

/// Why a game is not analysed. The text is one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum AnalysisError {
    /// The engine cannot search.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A search failed.
    #[error("ply {ply}: {reason}")]
    Search { ply: usize, reason: String },
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
            if interrupted.load(Memory::SeqCst) {
                return Ok(None);
            }
            until.truncate(ply);
            let effort = effort();
            // A game may go on after its third repetition.
            let outcome = until.outcome().filter(|_| ply == plies || until.current().legal_moves().is_empty());
            let found = match outcome {
                Some(outcome) => PositionFacts::of_outcome(outcome),
                None => {
                    let found = self.best(&until, effort, next_of(game, ply, &facts))?;
                    let next = next_of(game, ply, &facts);
                    if next.is_some_and(|(played, after)| is_doubtful(&until, played, &found, after)) {
                        let again = self.second_look(game, &until, effort, &mut facts)?;
                        PositionFacts { early: found.early, ..again }
                    } else {
                        found
                    }
                }
            };
            if let Some(behind) = next_of(game, ply, &facts).and_then(|next| behind_mate(&until, &found, next)) {
                facts.pop();
                facts.push(behind);
            }
            facts.push(found);
        }
        facts.reverse();
        Ok(Some(facts))
    }

    /// Searches again, with more effort, a position and the one behind the move that was played. Returns the new facts
    /// of the position, and replaces the last of `facts`, those behind the move; its `early` is kept.
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
                    let again = self.best(&behind, effort, next_of(game, ply + 1, facts))?;
                    PositionFacts { early: known.early, ..again }
                }
            });
        }
        self.best(until, effort, next_of(game, ply, facts))
    }

    /// The facts of the last position of a game. `next` is the move that was played there, with the facts of the
    /// position behind it. The search's choice is searched from behind, too, and the facts are those of the better of
    /// the two moves, so that the search's own choice loses nothing. Where the choice turns out worse than the search
    /// said, other moves are compared as well.
    fn best(
        &mut self,
        game: &Game,
        effort: Effort,
        next: Option<(Move, &PositionFacts)>,
    ) -> Result<PositionFacts, AnalysisError> {
        let mut found = self.with_tactics(game, effort)?;
        let Some((played, after)) = next else { return Ok(found) };
        let position = game.current();
        let (turn, early, depth) = (position.turn(), found.early.clone(), found.depth);
        let mut compared = vec![(played, after.clone())];
        let behind_worth = |facts: &PositionFacts| worth(facts, turn.other(), turn);
        loop {
            let choice = found.line.first().and_then(|uci| parse_uci(position.chess(), uci).ok()).unwrap_or(played);
            let said = worth(&found, turn, turn);
            if choice != played && compared.iter().any(|(_, facts)| behind_worth(facts) >= said) {
                break;
            }
            if said > 1.0 {
                return Ok(PositionFacts { early, ..found });
            }
            if choice != played {
                compared.push((choice, self.behind(game, choice, effort, true)?));
            }
            let is_as_said =
                |(mv, facts): &(Move, PositionFacts)| *mv == choice && said - behind_worth(facts) < DISAPPOINTMENT;
            if compared.iter().any(is_as_said) {
                break;
            }
            let is_compared = |mv: &Move| compared.iter().any(|(known, _)| known == mv);
            let others: Vec<Move> = position.legal_moves().into_iter().filter(|mv| !is_compared(mv)).collect();
            if compared.len() >= MOST_COMPARED || others.is_empty() {
                break;
            }
            found = self.position(game, effort.times(OTHERS_PART), &others)?;
        }
        let by_worth = |(mv, facts): &(Move, PositionFacts)| (behind_worth(facts), *mv == played);
        let best = compared.into_iter().max_by(|a, b| by_worth(a).partial_cmp(&by_worth(b)).unwrap_or(Ordering::Equal));
        let Some((mv, behind)) = best else { return Ok(found) };
        Ok(PositionFacts { early, depth, ..ahead(game, mv, behind) })
    }

    /// Searches the last position of a game. A move that wins material at once, where the search prefers another, is
    /// searched as well, and the better of the two gives the facts.
    fn with_tactics(&mut self, game: &Game, effort: Effort) -> Result<PositionFacts, AnalysisError> {
        let found = self.position(game, effort, &[])?;
        let turn = game.current().turn();
        let is_news = |mv: &Move| found.mate.is_none() && found.line.first() != Some(&to_uci(*mv, game.is_chess960()));
        let Some(mv) = winning_material(game.current(), MATERIAL_PLIES).filter(is_news) else { return Ok(found) };
        let behind = self.behind(game, mv, effort.times(OTHERS_PART), false)?;
        Ok(match worth(&behind, turn.other(), turn) > worth(&found, turn, turn) {
            true => PositionFacts { early: found.early, depth: found.depth, ..ahead(game, mv, behind) },
            false => found,
        })
    }

    /// The facts of the position that `mv` leads to from the last position of a game.
    fn behind(
        &mut self,
        game: &Game,
        mv: Move,
        effort: Effort,
        has_tactics: bool,
    ) -> Result<PositionFacts, AnalysisError> {
        let mut behind = game.clone();
        behind.push(mv);
        match behind.outcome() {
            Some(outcome) => Ok(PositionFacts::of_outcome(outcome)),
            None if has_tactics => self.with_tactics(&behind, effort),
            None => self.position(&behind, effort, &[]),
        }
    }

    /// Searches the last position of a game, with only the moves in `moves`, or with all if it is empty.
    fn position(&mut self, game: &Game, effort: Effort, moves: &[Move]) -> Result<PositionFacts, AnalysisError> {
        if let Some(line) = mate_by_checks(game.current(), MATE_PLIES).filter(|_| moves.is_empty()) {
            return Ok(PositionFacts::of_mate(game, &line));
        }
        let early = effort.times(EARLY_PART);
        let rest = if let Effort::Time(_) = effort { effort.times(1.0 - EARLY_PART) } else { effort };
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
            cp: line.mate.is_none().then(|| {
                let score_type = self.engine.options().score_type;
                let cp = score(score_type, line, has_wdl);
                sign * if score_type == ScoreType::WdlMu { as_stockfish(cp) } else { cp }
            }),
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

/// The move played after `ply` plies of a game, with the last of `facts`, which are those behind that move.
fn next_of<'a>(game: &Game, ply: usize, facts: &'a [PositionFacts]) -> Option<(Move, &'a PositionFacts)> {
    game.moves().get(ply).copied().zip(facts.last())
}

/// The facts of the last position of a game if `mv` is its best move; `behind` are those of the position it leads to.
fn ahead(game: &Game, mv: Move, behind: PositionFacts) -> PositionFacts {
    let own = std::iter::once(to_uci(mv, game.is_chess960()));
    let line = own.chain(behind.line.iter().cloned()).take(LONGEST_LINE).collect();
    // The side that mates needs the move on the board, too.
    let sign = if game.current().turn().is_white() { 1 } else { -1 };
    let mate = behind.mate.map(|moves| if sign * moves >= 0 { moves + sign } else { moves });
    PositionFacts { line, mate, ..behind }
}

/// The corrected facts of the position behind the played move, where that move begins a mate which only the search
/// before it saw; else `None`.
fn behind_mate(game: &Game, found: &PositionFacts, (played, after): (Move, &PositionFacts)) -> Option<PositionFacts> {
    let turn = game.current().turn();
    let begins_mate = worth(found, turn, turn) > 1.0 && found.line.first() == Some(&to_uci(played, game.is_chess960()));
    let mate = found.mate.filter(|_| begins_mate && worth(after, turn.other(), turn) <= 1.0)?;
    let (wdl, line) = (found.wdl, found.line[1..].to_vec());
    Some(PositionFacts { cp: None, mate: Some(mate - mate.signum()), wdl, line, ..after.clone() })
}

/// The worth of a position with `turn` to move, seen from `mover`: winning chances, with mates beyond them ([`MATE`]).
fn worth(facts: &PositionFacts, turn: Color, mover: Color) -> f64 {
    let mate = |sign: i32, moves: i32| MATE.0 * f64::from(sign) - MATE.1 * f64::from(moves);
    let white = match facts.eval(turn) {
        Some(Eval::Cp(cp)) => winning_chances(cp),
        Some(Eval::Mate(moves)) => mate(moves.signum(), moves),
        Some(Eval::Checkmate(winner)) => mate(if winner.is_white() { 1 } else { -1 }, 0),
        None => 0.0,
    };
    if mover.is_white() { white } else { -white }
}

/// Whether a second look could change the judgement of a move, with the facts `found` before it and `after` it.
fn is_doubtful(until: &Game, played: Move, found: &PositionFacts, after: &PositionFacts) -> bool {
    let turn = until.current().turn();
    let is_best = found.line.first() == Some(&to_uci(played, until.is_chess960()));
    !is_best && DOUBTFUL.contains(&(worth(found, turn, turn) - worth(after, turn.other(), turn)))
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
