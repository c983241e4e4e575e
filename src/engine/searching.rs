//! A move's search: how it starts, and how it ends.

use super::allotment::due_ms;
use super::ponder::{Pondering, Relay};
use super::{Choice, Engine, EngineError, GoParams, algorithm};
use crate::search::{EndReason, Finished, Listener, Report, Search, SearchEnd, SearchRequest, Tree};
use crate::time_manager::{Plan, SearchLimits, Stoppers, TimeManager};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::sync::Arc;

impl Engine {
    /// The seed of the next search.
    fn next_seed(&mut self) -> u64 {
        match self.options.random_seed {
            0 => rand::random(),
            seed => self.random.get_or_insert_with(|| Xoshiro256PlusPlus::seed_from_u64(seed)).random(),
        }
    }

    /// Starts to search the position. `start_ms` is when the move's clock started. Returns the plan of a timed move.
    /// A move from the book is answered at once. Pondering has no answer before [`Engine::ponder_hit`] or
    /// [`Engine::stop`], not even that it failed.
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
        if !params.ponder {
            return self.start(params, start_ms, listener);
        }
        let relay = Relay::new(Arc::clone(&listener));
        let failure = self.start(params, start_ms, Arc::clone(&relay) as Arc<dyn Listener>).err();
        self.pondering = Some(Pondering { params: params.clone(), listener, relay, failure });
        Ok(None)
    }

    /// The move that was pondered on is played: the search goes on as that of an ordinary move whose clock started at
    /// `start_ms`. `None` when the engine is not pondering; otherwise what [`Engine::go`] would return.
    pub fn ponder_hit(&mut self, start_ms: f64) -> Option<Result<Option<Plan>, EngineError>> {
        let Pondering { params, listener, relay, .. } = self.pondering.take()?;
        relay.hang_up();
        self.finish();
        Some(self.start(&GoParams { ponder: false, ..params }, start_ms, listener))
    }

    /// Answers with a move from the book, if there is one and the search is not for analysis. It costs no time.
    fn play_from_book(&mut self, params: &GoParams, limits: &SearchLimits, listener: &dyn Listener) -> bool {
        if limits.infinite || limits.ponder || limits.mate.is_some() {
            return false;
        }
        let choice = self.knowledge.book_move(&self.game, &params.search_moves, &self.options, &self.announcer);
        let Some(Choice { mv, reply, weight, total }) = choice else { return false };
        self.tree_changed();
        if let Some(clock) = params.clock(self.game.current().turn()) {
            let ply = self.game.current().ply();
            self.lag.clock_seen(ply, clock.time_ms);
            self.lag.move_played(ply, clock.time_ms, clock.increment_ms, 0.0);
        }
        listener.finished(&SearchEnd {
            best: Some(mv),
            ponder: reply,
            report: Report::default(),
            move_stats: Vec::new(),
            reason: EndReason::Book { weight, total },
            error: None,
            time: None,
        });
        true
    }

    fn start(
        &mut self,
        params: &GoParams,
        start_ms: f64,
        listener: Arc<dyn Listener>,
    ) -> Result<Option<Plan>, EngineError> {
        let turn = self.game.current().turn();
        let mut limits = params.limits(turn, self.options.nodes_as_playouts);
        if self.play_from_book(params, &limits, listener.as_ref()) {
            return Ok(None);
        }
        let (mut search_params, mut stopper_params) = (self.search_params(params), self.options.stopper_params());
        let (search_moves, probes) =
            self.knowledge.root(&self.game, &params.search_moves, &self.options, &self.announcer);
        let moves = match search_moves.len() {
            0 => self.game.current().legal_moves().len(),
            moves => moves,
        };
        let head = algorithm::bend(self.options.algorithm, moves, &mut limits, &mut search_params, &mut stopper_params);
        if head || !search_params.wdl_rescale.grows_as(&self.rescaled) {
            self.reset_tree();
        }
        self.rescaled = search_params.wdl_rescale;
        let seed = self.next_seed();
        let loaded = self.loaded.as_mut().ok_or(EngineError::NothingLoaded)?;
        let evaluators = loaded.take_evaluators(&self.options)?;
        let (backend, latency) = (Arc::clone(&loaded.backend), loaded.latency.clone());
        let (manager, plan) = match params.clock(turn).filter(|_| !head) {
            Some(clock) => {
                let ply = self.game.current().ply();
                self.lag.clock_seen(ply, clock.time_ms);
                self.timed = Some((ply, clock));
                let mut manager = self.take_manager()?;
                let plan = manager.plan(&self.move_request(clock, params.movestogo));
                (Some(manager), Some(plan))
            }
            None => {
                self.tree_changed();
                (None, None)
            }
        };
        if let Some(plan) = &plan {
            listener.planned(plan);
        }
        let mut tree = self.tree.take().unwrap_or_else(|| Tree::new(self.game.clone()));
        if !params.ponder {
            tree.forget_alternatives();
        }
        let request = SearchRequest {
            game: self.game.clone(),
            stoppers: Stoppers::new(&limits, &stopper_params),
            manager,
            search_moves,
            probes,
            params: search_params,
            latency,
            seed,
            multi_pv: self.options.multi_pv as usize,
            // The log file has them in any case, as with Lc0.
            with_move_stats: self.options.verbose_move_stats || !self.options.log_file.is_empty(),
            with_live_stats: self.options.log_live_stats
                && (self.options.verbose_move_stats || !self.options.log_file.is_empty()),
            start_ms,
            due_ms: due_ms(&limits, plan.as_ref(), params.clock(turn), self.options.move_overhead as f64),
            limits,
        };
        let search = Search::start(tree, backend, evaluators, Arc::clone(&self.clock), request, listener);
        match search {
            Ok(search) => self.search = Some(search),
            Err(failed) => {
                self.take_back(*failed.remains);
                return Err(EngineError::Thread(failed.error));
            }
        }
        Ok(plan)
    }

    /// Whether a search is still to answer.
    pub fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.is_finished())
    }

    /// Whether there is a search that only [`Engine::stop`] is sure to end.
    pub fn is_endless(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.is_endless() && !search.is_finished())
    }

    /// Tells the search to answer now.
    pub fn stop(&mut self) {
        if let Some(search) = &self.search {
            search.stop();
        }
        if let Some(Pondering { relay, failure: Some(failure), .. }) = self.pondering.take() {
            relay.finished(&SearchEnd {
                best: self.game.current().legal_moves().first().copied(),
                ponder: None,
                report: Report::default(),
                move_stats: Vec::new(),
                reason: EndReason::Failed,
                error: Some(format!("{failure}: the first legal move is played")),
                time: None,
            });
        }
    }

    /// Stops the search, if there is one, and waits until its answer is given and its threads are idle.
    pub fn finish(&mut self) {
        self.stop();
        self.wait();
    }

    /// Waits until the search has given its answer of its own accord. Its threads may still be busy with a last batch.
    pub fn wait_for_answer(&self) {
        if let Some(search) = &self.search {
            search.wait_for_answer();
        }
    }

    /// Waits for the search's own end, its threads included.
    pub fn wait(&mut self) {
        if let Some(search) = self.search.take() {
            let finished = search.wait();
            self.take_back(finished);
        }
    }

    fn take_back(&mut self, finished: Finished) {
        let account = finished.manager.as_deref().and_then(TimeManager::last_move);
        if let Some(((ply, clock), account)) = self.timed.take().zip(account) {
            self.lag.move_played(ply, clock.time_ms, clock.increment_ms, account.used_ms);
            self.lag.search_ended(account.used_ms - account.hard_limit_ms, clock.time_ms - account.used_ms);
        }
        self.tree = Some(finished.tree);
        self.manager = finished.manager.or(self.manager.take());
        if let Some(loaded) = &mut self.loaded {
            loaded.latency = finished.latency;
            loaded.give_back(finished.evaluators);
        }
    }

    /// Takes back what a search that has answered still holds.
    pub(super) fn collect(&mut self) {
        if self.search.as_ref().is_some_and(Search::is_finished) {
            self.wait();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.finish();
    }
}
