//! Starts the search of a move: its plan, its request, and the answer of a book in its place.

use super::algorithm::Configured;
use super::game_state::Grown;
use super::ponder::{Pondering, Unstarted, longest_batch_ms};
use super::turn::{Positions, Turn};
use super::words::TreeMemory;
use super::{Choice, Engine, EngineError, GoParams, Options, SideClock, algorithm, tree_file};
use crate::search::{EndReason, Listener, Report, Search, SearchEnd, SearchRequest, Tree, WdlRescale};
use std::sync::Arc;
use zeitnot_chess::Game;
use zeitnot_time::event_log::{BookMove, SearchStart};
use zeitnot_time::{Begun, MoveRequest, Plan};

/// Largest share of the remaining clock that `MoveOverheadMs` may reserve: with less than the overhead on the clock a
/// search still gets the rest, since a clock that could run so low shows that less time is lost.
const MOST_OVERHEAD: f64 = 0.75;

/// Line for the user where the clock is within `MoveOverheadMs`.
const TWICE: &str = "the clock has less than Move Overhead: a quarter of it is searched. Where lichess-bot or a GUI takes an overhead of its \
                     own off the clock, a smaller Move Overhead leaves more";

impl Engine {
    /// Starts to search the position. `start_ms` is when the move's clock started. Returns the plan of a timed move. A
    /// move from the book is answered at once, and so is one that no time is left for. Pondering has no answer before
    /// [`Engine::ponder_hit`] or [`Engine::stop`], and a search without an end none before `stop`, even where it has
    /// failed.
    ///
    /// # Errors
    /// [`EngineError`] when nothing can be searched with: then there is no answer through the listener.
    pub fn go(
        &mut self,
        params: &GoParams,
        start_ms: f64,
        listener: Arc<dyn Listener>,
    ) -> Result<Option<Plan>, EngineError> {
        self.finish();
        self.state.note_clock(params, start_ms, self.options.keep_time_stats);
        let turn = self.turn(params);
        let is_open = turn.limits.infinite || turn.limits.ponder;
        let started = self.start(turn, start_ms, Arc::clone(&listener));
        if params.ponder {
            let (params, options) = (params.clone(), self.options.clone());
            self.running.pondering = Some(Pondering { params, options, listener: Arc::clone(&listener) });
        }
        match started {
            Err(error) if is_open => {
                listener.failed(&error.to_string());
                self.running.unstarted = Some(Unstarted { listener, error });
                Ok(None)
            }
            started => started,
        }
    }

    /// The answer from the book, if it has one and the search is not for analysis. It costs no time.
    fn book_answer(&mut self, turn: &Turn) -> Option<SearchEnd> {
        if turn.limits.infinite || turn.limits.ponder || turn.limits.mate.is_some() {
            return None;
        }
        let fixed = Some(self.options.random_seed).filter(|seed| self.options.own_book && *seed != 0);
        let seed = fixed.map(|fixed| self.state.next_seed(fixed));
        let Choice { mv, reply, weight, total } = self.shelf.books_and_tables.book_move(
            &self.state.game,
            &turn.go.search_moves,
            &self.options,
            seed,
            &self.announcer,
        )?;
        self.state.tree_changed();
        let ply = self.state.ply();
        if let (Some(clock), Some(time)) = (turn.clock.filter(|clock| clock.is_own), &mut self.state.time) {
            let SideClock { time_ms: clock_ms, increment_ms, .. } = clock;
            time.book_move(BookMove { ply, clock_ms, increment_ms });
        }
        Some(SearchEnd {
            best: Some(mv),
            ponder: reply,
            report: Report::default(),
            not_drawn: None,
            move_stats: Vec::new(),
            reason: EndReason::Book { weight, total },
            error: None,
            time: None,
        })
    }

    /// Starts the search of a turn whose clock was noted.
    pub(super) fn start(
        &mut self,
        turn: Turn,
        start_ms: f64,
        listener: Arc<dyn Listener>,
    ) -> Result<Option<Plan>, EngineError> {
        if let Some(end) = self.book_answer(&turn) {
            listener.finished(&end);
            return Ok(None);
        }
        let evaluators = self.device.loaded()?.evaluators(&turn.options)?;
        let is_timed = turn.clock.is_some();
        let (request, tree, plan) = self.request(turn, start_ms)?;
        if let Some(plan) = &plan {
            listener.planned(plan);
        }
        let backend = Arc::clone(&self.device.loaded()?.backend);
        let clock = Arc::clone(&self.clock);
        let search = Search::start(&mut self.running.threads, evaluators, tree, backend, clock, request, listener);
        match search {
            Ok(search) => {
                if !is_timed {
                    self.save_during(&search);
                }
                self.running.search = Some(search);
            }
            Err(failed) => {
                self.take_back(*failed.remains);
                return Err(EngineError::Thread(failed.error));
            }
        }
        Ok(plan)
    }

    /// Searches on the caller's thread, with one worker and over any clock, and returns the end and the plan of a timed
    /// move: on a virtual clock the same game gives the same moves and times on any machine (`Search::run`).
    /// `stop_ms`: when [`Engine::stop`] would come, on the engine's clock; it ends pondering and analysis.
    ///
    /// # Errors
    /// [`EngineError`] when nothing can be searched with, or when the search would have no end.
    pub fn run(
        &mut self,
        params: &GoParams,
        start_ms: f64,
        stop_ms: Option<f64>,
    ) -> Result<(SearchEnd, Option<Plan>), EngineError> {
        self.finish();
        self.state.note_clock(params, start_ms, self.options.keep_time_stats);
        let turn = self.turn(params);
        let limits = &turn.limits;
        let times = turn.clock.is_some() || limits.movetime_ms.is_some() || limits.depth.is_some();
        let by_time = times && !limits.infinite && !limits.ponder;
        if !by_time && limits.nodes.is_none() && limits.playouts.is_none() && stop_ms.is_none() {
            return Err(EngineError::Endless);
        }
        if let Some(end) = self.book_answer(&turn) {
            return Ok((end, None));
        }
        let evaluators = self.device.loaded()?.evaluators(&turn.options)?;
        let mut evaluator = evaluators.lend(|| true).ok_or(EngineError::NothingLoaded)?;
        let (request, tree, plan) = self.request(turn, start_ms)?;
        let backend = Arc::clone(&self.device.loaded()?.backend);
        let stop_ms = stop_ms.map(|stop_ms| stop_ms - start_ms);
        let (end, finished) = Search::run(tree, backend, &mut *evaluator, Arc::clone(&self.clock), request, stop_ms);
        self.take_back(finished);
        Ok((end, plan))
    }

    /// Takes the tree and the timekeeper out of the engine for the search of a turn, and plans its move.
    fn request(&mut self, turn: Turn, start_ms: f64) -> Result<(SearchRequest, Tree, Option<Plan>), EngineError> {
        let (search_moves, probes) =
            self.shelf.books_and_tables.root(&self.state.game, &turn.go.search_moves, &turn.options, &self.announcer);
        let moves = match search_moves.len() {
            0 => self.state.game.current().legal_moves().len(),
            moves => moves,
        };
        let overhead_ms = turn.options.move_overhead as f64;
        let clock_ms = turn.clock.map(|clock| (clock.time_ms - overhead_ms).max(0.0));
        let stoppers = turn.options.stopper_params();
        let Configured { limits, params, stoppers, network_alone } = algorithm::configure(
            turn.options.algorithm,
            moves,
            clock_ms,
            turn.limits.clone(),
            turn.search.clone(),
            stoppers,
        );
        self.prepare_tree(&turn, &params.wdl_rescale, network_alone);
        let seed = self.state.next_seed(self.options.random_seed);
        let mut latency = self.device.loaded()?.latency();
        if let Some(tree) = &mut self.state.tree {
            // Before the plan, which counts on the visits that stay.
            tree.restrict_root(&search_moves);
        }
        let clock = turn.clock.filter(|_| !network_alone);
        let is_within = clock.is_some_and(|clock| clock.time_ms <= overhead_ms) && !self.clock.is_virtual();
        if is_within && !std::mem::replace(&mut self.notes.overhead, true) {
            self.announcer.say(TWICE);
        }
        let asked = clock.map(|clock| self.move_request(clock, &turn.go));
        let start = SearchStart { evaluation_ms: latency.expected_ms(1), stoppers, limits };
        let mut time = self.state.time.take().expect("no search has it: each begins by ending the one before");
        if asked.is_some()
            && let Err(error) = time.choose(&turn.manager)
        {
            self.state.time = Some(time);
            return Err(error.into());
        }
        let Begun { plan, hard_limit_ms, due_ms } = time.begin(&start, asked.as_ref());
        let mut tree = self.state.tree.take().unwrap_or_else(|| Tree::new(self.state.game.clone()));
        if tree.is_empty() && due_ms == Some(0.0) && start.evaluation_ms.is_some() {
            latency.relax();
        }
        if !turn.go.ponder {
            tree.forget_alternatives();
        }
        let on_clock = GoParams { ponder: false, ..turn.go };
        let clock_ms = on_clock.clock(self.state.game.current().turn()).map(|clock| clock.time_ms);
        let longest_batch_ms =
            (start.limits.infinite || start.limits.ponder).then(|| longest_batch_ms(clock_ms, on_clock.movetime));
        let Options { multi_pv, verbose_move_stats, log_live_stats, ref log_file, .. } = turn.options;
        // The log file has them in any case, as with Lc0.
        let with_move_stats = verbose_move_stats || !log_file.is_empty();
        let request = SearchRequest {
            game: self.state.game.clone(),
            limits: start.limits,
            time,
            search_moves,
            probes,
            params,
            latency,
            seed,
            multi_pv: multi_pv as usize,
            with_move_stats,
            with_live_stats: log_live_stats && with_move_stats,
            start_ms,
            hard_limit_ms,
            due_ms,
            longest_batch_ms,
            busy_until_ms: self.running.busy_until_ms,
            root_observer: self.root_observer.clone(),
        };
        Ok((request, tree, plan))
    }

    /// Makes the tree that the search of `turn` goes on in: the present one where its values are those that the search
    /// would find, the one of `TreeFile`, or a new one. `network_alone`: always a new one.
    fn prepare_tree(&mut self, turn: &Turn, rescale: &WdlRescale, network_alone: bool) {
        let is_limited = self.persona.take_up(turn.manner.as_ref(), &self.options, &self.announcer);
        let keeps = match turn.positions {
            Positions::OfGame => false,
            Positions::All => true,
            Positions::AsBefore => self.state.tree.as_ref().is_some_and(|tree| tree.keeps),
        };
        let decisive = Some(tree_file::decisive(&turn.options));
        let is_empty = self.state.tree.as_ref().is_none_or(|tree| tree.is_empty() && !tree.keeps);
        let Grown { rescaled, rated, decisive: before } = &self.state.grown;
        let is_decided_otherwise = keeps && before.is_some() && decisive != *before;
        let is_other_value = is_decided_otherwise || !rescale.grows_as(rescaled) || turn.search.ratings != *rated;
        let is_reset = network_alone || is_limited || is_other_value || turn.options.tree_memory == TreeMemory::Off;
        if is_reset {
            self.reset_tree();
        }
        if is_reset || is_empty || self.state.grown.decisive.is_none() {
            self.state.grown.decisive = decisive;
        }
        self.state.grown.rescaled = *rescale;
        if keeps {
            self.take_up_tree_file(rescale);
        } else if self.state.tree.as_ref().is_some_and(|tree| tree.keeps) {
            // What comes now is not the tree of a file.
            self.save_tree_file();
            self.shelf.tree_file = None;
        }
        self.state.tree.iter_mut().for_each(|tree| tree.keeps = keeps);
        self.state.grown.rated = turn.search.ratings;
    }

    /// The facts that a time manager gets of a move on `clock`.
    pub(super) fn move_request(&self, clock: SideClock, params: &GoParams) -> MoveRequest {
        MoveRequest {
            ply: self.state.ply(),
            reused_nodes: self.tree_visits(),
            moves_left_plies: self.tree_moves_left(),
            reply_prior: self.state.reply_prior.map(f64::from),
            ..move_request(&self.state.game, clock, params, self.options.move_overhead as f64)
        }
    }
}

/// The facts that a time manager gets of a move on `clock` in any engine, which tells nothing of its search yet.
pub fn move_request(game: &Game, clock: SideClock, params: &GoParams, overhead_ms: f64) -> MoveRequest {
    let position = game.current();
    let legal_moves = position.legal_moves();
    let recaptures = |square| legal_moves.iter().filter(|mv| mv.is_capture() && mv.to() == square).count() as u32;
    MoveRequest {
        clock_ms: clock.time_ms,
        increment_ms: clock.increment_ms,
        moves_to_go: params.movestogo,
        ply: position.ply(),
        overhead_ms: overhead_ms.min(MOST_OVERHEAD * clock.time_ms.max(0.0)),
        is_foreign_clock: !clock.is_own,
        pieces: Some(position.piece_count()),
        legal_moves: Some(legal_moves.len() as u32),
        captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
        in_check: position.is_check(),
        recaptures: game.captured_on().map(recaptures),
        opponent_clock_ms: params.opponent_clock_ms(position.turn()).filter(|_| clock.is_own),
        ..MoveRequest::default()
    }
}
