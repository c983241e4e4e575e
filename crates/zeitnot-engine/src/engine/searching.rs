//! Starts the search of a move: its plan, its request, and the answer of a book in its place.

use super::algorithm::Configured;
use super::loading::Loaded;
use super::ponder::{Pondering, Unstarted, longest_batch_ms};
use super::words::TreeMemory;
use super::{Choice, Engine, EngineError, GoParams, Options, SideClock, algorithm, tree_file};
use crate::search::{EndReason, Listener, Report, Search, SearchEnd, SearchRequest, Tree};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::sync::Arc;
use zeitnot_time::event_log::{BookMove, SearchStart};
use zeitnot_time::{Begun, MoveRequest, Plan, SearchLimits};

/// Largest share of the clock that `MoveOverheadMs` keeps clear: with less than that on the clock a search still has time,
/// since a clock that has run so low has shown that less is lost.
const MOST_OVERHEAD: f64 = 0.75;

/// Line for the user where the clock is within `MoveOverheadMs`.
const TWICE: &str = "the clock has less than Move Overhead: a quarter of it is searched. Where lichess-bot or a GUI takes an overhead of its \
                     own off the clock, a smaller Move Overhead leaves more";

impl Engine {
    /// The seed of the next search.
    fn next_seed(&mut self) -> u64 {
        match self.options.random_seed {
            0 => rand::random(),
            seed => self.random.get_or_insert_with(|| Xoshiro256PlusPlus::seed_from_u64(seed)).random(),
        }
    }

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
        let started = self.start(params, start_ms, Arc::clone(&listener));
        let limits = self.limits(params);
        if params.ponder {
            let (params, options) = (params.clone(), self.options.clone());
            self.pondering = Some(Pondering { params, options, listener: Arc::clone(&listener) });
        }
        match started {
            Err(error) if limits.infinite || limits.ponder => {
                listener.failed(&error.to_string());
                self.unstarted = Some(Unstarted { listener, error });
                Ok(None)
            }
            started => started,
        }
    }

    /// The limits of a search besides its clock.
    pub(super) fn limits(&self, params: &GoParams) -> SearchLimits {
        let turn = self.game.current().turn();
        let most = Some(self.options.nodes_per_move).filter(|most| *most > 0 && self.is_on_clock(params));
        let of_level = self.manner(params).map(|manner| manner.nodes);
        let nodes = params.nodes.into_iter().chain(most).chain(of_level).min();
        GoParams { nodes, ..params.clone() }.limits(turn, self.options.nodes_as_playouts)
    }

    /// The answer from the book, if it has one and the search is not for analysis. It costs no time.
    fn book_answer(&mut self, params: &GoParams) -> Option<SearchEnd> {
        let turn = self.game.current().turn();
        let limits = self.limits(params);
        if limits.infinite || limits.ponder || limits.mate.is_some() {
            return None;
        }
        let seed = if self.options.own_book && self.options.random_seed != 0 { Some(self.next_seed()) } else { None };
        let choice =
            self.books_and_tables.book_move(&self.game, &params.search_moves, &self.options, seed, &self.announcer);
        let Choice { mv, reply, weight, total } = choice?;
        self.tree_changed();
        let ply = self.ply();
        if let (Some(clock), Some(time)) = (params.clock(turn).filter(|clock| clock.is_own), &mut self.time) {
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

    pub(super) fn start(
        &mut self,
        params: &GoParams,
        start_ms: f64,
        listener: Arc<dyn Listener>,
    ) -> Result<Option<Plan>, EngineError> {
        self.note_clock(params, start_ms);
        if let Some(end) = self.book_answer(params) {
            listener.finished(&end);
            return Ok(None);
        }
        let options = self.played_options(params).into_owned();
        let evaluators = self.loaded()?.evaluators(&options)?;
        let (request, tree, plan) = self.request(&options, params, start_ms)?;
        if let Some(plan) = &plan {
            listener.planned(plan);
        }
        let backend = Arc::clone(&self.loaded()?.backend);
        let clock = Arc::clone(&self.clock);
        let search = Search::start(&mut self.threads, evaluators, tree, backend, clock, request, listener);
        match search {
            Ok(search) => {
                if params.clock(self.game.current().turn()).is_none() {
                    self.save_during(&search);
                }
                self.search = Some(search);
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
        let turn = self.game.current().turn();
        let limits = self.limits(params);
        let times = params.clock(turn).is_some() || limits.movetime_ms.is_some() || limits.depth.is_some();
        let by_time = times && !limits.infinite && !limits.ponder;
        if !by_time && limits.nodes.is_none() && limits.playouts.is_none() && stop_ms.is_none() {
            return Err(EngineError::Endless);
        }
        self.note_clock(params, start_ms);
        if let Some(end) = self.book_answer(params) {
            return Ok((end, None));
        }
        let options = self.played_options(params).into_owned();
        let evaluators = self.loaded()?.evaluators(&options)?;
        let mut evaluator = evaluators.lend(|| true).ok_or(EngineError::NothingLoaded)?;
        let (request, tree, plan) = self.request(&options, params, start_ms)?;
        let backend = Arc::clone(&self.loaded()?.backend);
        let stop_ms = stop_ms.map(|stop_ms| stop_ms - start_ms);
        let (end, finished) = Search::run(tree, backend, &mut *evaluator, Arc::clone(&self.clock), request, stop_ms);
        self.take_back(finished);
        Ok((end, plan))
    }

    fn loaded(&mut self) -> Result<&mut Loaded, EngineError> {
        self.loaded.as_mut().ok_or(EngineError::NothingLoaded)
    }

    /// Takes tree and time out of the engine for a search that is played with `options`, and plans its move.
    fn request(
        &mut self,
        options: &Options,
        params: &GoParams,
        start_ms: f64,
    ) -> Result<(SearchRequest, Tree, Option<Plan>), EngineError> {
        let turn = self.game.current().turn();
        let limits = self.limits(params);
        let (search_moves, probes) =
            self.books_and_tables.root(&self.game, &params.search_moves, options, &self.announcer);
        let moves = match search_moves.len() {
            0 => self.game.current().legal_moves().len(),
            moves => moves,
        };
        let (search_params, stoppers) = (self.search_params(params), options.stopper_params());
        let clock_ms = params.clock(turn).map(|clock| (clock.time_ms - options.move_overhead as f64).max(0.0));
        let Configured { limits, params: search_params, stoppers, network_alone } =
            algorithm::configure(options.algorithm, moves, clock_ms, limits, search_params, stoppers);
        let (is_limited, ratings) = (self.take_manner(params), self.ratings());
        let keeps = self.keeps_positions(params);
        let decisive = Some(tree_file::decisive(options));
        let is_empty = self.tree.as_ref().is_none_or(|tree| tree.is_empty() && !tree.keeps);
        let is_decided_otherwise = keeps && self.decisive.is_some() && decisive != self.decisive;
        let is_other_value =
            is_decided_otherwise || !search_params.wdl_rescale.grows_as(&self.rescaled) || ratings != self.rated;
        let is_reset = network_alone || is_limited || is_other_value || options.tree_memory == TreeMemory::Off;
        if is_reset {
            self.reset_tree();
        }
        if is_reset || is_empty || self.decisive.is_none() {
            self.decisive = decisive;
        }
        self.rescaled = search_params.wdl_rescale;
        if keeps {
            self.take_up_tree_file(&search_params.wdl_rescale);
        } else if self.tree.as_ref().is_some_and(|tree| tree.keeps) {
            // What comes now is not the tree of a file.
            self.save_tree_file();
            self.tree_file = None;
        }
        self.tree.iter_mut().for_each(|tree| tree.keeps = keeps);
        self.rated = ratings;
        self.game.set_ratings(ratings);
        let seed = self.next_seed();
        let mut latency = self.loaded()?.latency();
        if let Some(tree) = &mut self.tree {
            // Before the plan, which counts on the visits that stay.
            tree.restrict_root(&search_moves);
        }
        let clock = params.clock(turn).filter(|_| !network_alone);
        let is_within = |clock: SideClock| clock.time_ms <= options.move_overhead as f64;
        if clock.is_some_and(is_within) && !self.clock.is_virtual() && !std::mem::replace(&mut self.overhead_told, true)
        {
            self.announcer.say(TWICE);
        }
        let asked = clock.map(|clock| self.move_request(clock, params));
        let start = SearchStart { evaluation_ms: latency.expected_ms(1), stoppers, limits };
        let mut time = self.time.take().expect("no search has it: each begins by ending the one before");
        let spec = self.spec_of_game(options);
        if asked.is_some()
            && let Err(error) = time.choose(&spec)
        {
            self.time = Some(time);
            return Err(error.into());
        }
        let Begun { plan, hard_limit_ms, due_ms } = time.begin(&start, asked.as_ref());
        let mut tree = self.tree.take().unwrap_or_else(|| Tree::new(self.game.clone()));
        if tree.is_empty() && due_ms == Some(0.0) && start.evaluation_ms.is_some() {
            latency.relax();
        }
        if !params.ponder {
            tree.forget_alternatives();
        }
        let on_clock = GoParams { ponder: false, ..params.clone() };
        let clock_ms = on_clock.clock(turn).map(|clock| clock.time_ms);
        let longest_batch_ms =
            (start.limits.infinite || start.limits.ponder).then(|| longest_batch_ms(clock_ms, params.movetime));
        let request = SearchRequest {
            game: self.game.clone(),
            limits: start.limits,
            time,
            search_moves,
            probes,
            params: search_params,
            latency,
            seed,
            multi_pv: options.multi_pv as usize,
            // The log file has them in any case, as with Lc0.
            with_move_stats: options.verbose_move_stats || !options.log_file.is_empty(),
            with_live_stats: options.log_live_stats && (options.verbose_move_stats || !options.log_file.is_empty()),
            start_ms,
            hard_limit_ms,
            due_ms,
            longest_batch_ms,
            busy_until_ms: self.busy_until_ms,
            root_observer: self.root_observer.clone(),
        };
        Ok((request, tree, plan))
    }

    /// The facts that a time manager gets of a move on `clock`.
    pub(super) fn move_request(&self, clock: SideClock, params: &GoParams) -> MoveRequest {
        let position = self.game.current();
        let legal_moves = position.legal_moves();
        let captured_on = self.game.captured_on();
        MoveRequest {
            clock_ms: clock.time_ms,
            increment_ms: clock.increment_ms,
            moves_to_go: params.movestogo,
            ply: self.ply(),
            overhead_ms: (self.options.move_overhead as f64).min(MOST_OVERHEAD * clock.time_ms.max(0.0)),
            lag_ms: 0.0,
            missing_increment_ms: 0.0,
            is_foreign_clock: !clock.is_own,
            evaluation_ms: None,
            reused_nodes: self.tree_visits(),
            moves_left_plies: self.tree_moves_left(),
            pieces: Some(position.piece_count()),
            legal_moves: Some(legal_moves.len() as u32),
            captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
            in_check: position.is_check(),
            recaptures: captured_on
                .map(|square| legal_moves.iter().filter(|mv| mv.is_capture() && mv.to() == square).count() as u32),
            reply_prior: self.reply_prior.map(f64::from),
            opponent_clock_ms: params.opponent_clock_ms(position.turn()).filter(|_| clock.is_own),
        }
    }
}
