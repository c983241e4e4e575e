//! One playing engine: its options, the game, and the search that follows the game from move to move.
//!
//! The protocol and the laboratory drive the same [`Engine`]; it knows no text but error lines.

pub mod inert;
pub mod options;

mod algorithm;
mod book;
mod contempt;
mod go;
mod knowledge;
mod loading;
mod option_kind;
mod ponder;
mod prober;
mod score;

pub use algorithm::ALGORITHMS;
pub use book::{Book, BookError, BookMove, Choice};
pub use go::{GoParams, SideClock};
pub use loading::{EngineError, RuntimePolicy};
pub use option_kind::{Kind, OptionError};
pub use options::{OptionSpec, Options};
pub use prober::Prober;
pub use score::{score, wdl_permille};

use crate::backend::{Announcer, Attributes, Backend, DeviceOptions};
use crate::chess::Game;
use crate::search::{
    Clock, EndReason, Finished, Listener, Report, Search, SearchEnd, SearchParams, SearchRequest, Tree, WdlRescale,
};
use crate::time_manager::estimators::overhead::LagEstimator;
use crate::time_manager::{self, MoveOutcome, MoveRequest, Plan, SearchLimits, Stoppers, TimeManager};
use knowledge::Knowledge;
use loading::Loaded;
use ponder::{Pondering, Relay};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::sync::Arc;

/// A playing engine.
pub struct Engine {
    options: Options,
    clock: Arc<dyn Clock>,
    runtime_policy: RuntimePolicy,
    announcer: Announcer,
    loaded: Option<Loaded>,
    game: Game,
    /// Absent while a search has it.
    tree: Option<Tree>,
    /// Absent while a search has it, and before the first move of a game.
    manager: Option<Box<dyn TimeManager>>,
    /// The specification the manager was built from.
    manager_spec: String,
    /// What was said last of `Slowmover`.
    slowmover_note: Option<String>,
    lag: LagEstimator,
    /// Ply and clock of the timed move that is being searched.
    timed: Option<(u32, SideClock)>,
    search: Option<Search>,
    /// How the values of the tree were rescaled.
    rescaled: WdlRescale,
    /// Gives each search of the game its seed; absent before the first, and without `RandomSeed`.
    random: Option<Xoshiro256PlusPlus>,
    knowledge: Knowledge,
    pondering: Option<Pondering>,
}

impl Engine {
    /// An engine that reads the time from `clock` and may or may not fetch a missing ONNX Runtime.
    pub fn new(options: Options, clock: Arc<dyn Clock>, runtime_policy: RuntimePolicy) -> Engine {
        let game = Game::new();
        let tree = Some(Tree::new(game.clone()));
        let manager_spec = String::new();
        let announcer = Announcer::default();
        Engine {
            options,
            clock,
            runtime_policy,
            announcer,
            loaded: None,
            game,
            tree,
            manager: None,
            manager_spec,
            slowmover_note: None,
            lag: LagEstimator::default(),
            timed: None,
            search: None,
            rescaled: WdlRescale::NONE,
            random: None,
            knowledge: Knowledge::default(),
            pondering: None,
        }
    }

    /// Where lines about work that takes long go, such as the building of an engine for a card; nowhere unless told.
    pub fn announce_to(&mut self, announcer: Announcer) {
        self.announcer = announcer;
    }

    /// The options as they stand.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The clock's "now", in milliseconds.
    pub fn now_ms(&self) -> f64 {
        self.clock.now_ms()
    }

    /// Sets an option by its UCI name; it holds from the next move on.
    ///
    /// # Errors
    /// [`OptionError`], also for a time manager that cannot be built; and nothing is changed.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let mut options = self.options.clone();
        options.set(name, value)?;
        let spec = &options.time_manager;
        if *spec != self.options.time_manager {
            time_manager::build(spec).map_err(|error| {
                // Some errors quote the specification themselves.
                let (spec, error) = (format!("\"{spec}\""), error.to_string());
                OptionError::TimeManager(if error.contains(&spec) { error } else { format!("{spec}: {error}") })
            })?;
        }
        contempt::parse(&options.contempt, &options.opponent, 0.0)?;
        if options.random_seed != self.options.random_seed {
            self.random = None;
        }
        options.backend_options.parse::<DeviceOptions>().map_err(OptionError::BackendOptions)?;
        self.options = options;
        self.knowledge.option_set(name);
        Ok(())
    }

    /// Loads what the options name, if it is not loaded yet, and says in a line what runs where. Does nothing during a
    /// search. Endgame tables and books are opened, too; what is wrong with them is announced, and so is what becomes of
    /// `Slowmover`, once.
    ///
    /// # Errors
    /// [`EngineError`]; what was loaded before stays in use.
    pub fn prepare(&mut self) -> Result<Option<String>, EngineError> {
        self.collect();
        if self.search.is_some() {
            return Ok(None);
        }
        let note = self.options.slowmover_note();
        if note != self.slowmover_note {
            note.iter().for_each(|note| self.announcer.say(note));
            self.slowmover_note = note;
        }
        if self.knowledge.open(&self.options, &self.announcer) {
            self.reset_tree();
        }
        let news = loading::load(&mut self.loaded, &self.options, self.runtime_policy, &self.announcer)?;
        if news.is_some() {
            self.reset_tree();
        }
        Ok(news)
    }

    /// What the loaded network runs on; `None` before [`Engine::prepare`].
    pub fn attributes(&self) -> Option<&Attributes> {
        self.loaded.as_ref().map(|loaded| loaded.backend.attributes())
    }

    /// The loaded backend; `None` before [`Engine::prepare`].
    pub fn backend(&self) -> Option<Arc<dyn Backend>> {
        self.loaded.as_ref().map(|loaded| Arc::clone(&loaded.backend))
    }

    /// Puts a decorator around the loaded backend, through which searches see it until another one is loaded.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`] before [`Engine::prepare`], or the backend's when it makes its new evaluators.
    pub fn decorate(
        &mut self,
        decorator: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>,
    ) -> Result<(), EngineError> {
        self.finish();
        let loaded = self.loaded.as_mut().ok_or(EngineError::NothingLoaded)?;
        loaded.backend = decorator(Arc::clone(&loaded.backend));
        // The evaluators at hand are the bare backend's.
        loaded.give_back(Vec::new());
        let evaluators = loaded.take_evaluators(&self.options)?;
        loaded.give_back(evaluators);
        Ok(())
    }

    /// The network alone.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`] before [`Engine::prepare`], or the backend's.
    pub fn prober(&self) -> Result<Prober, EngineError> {
        let loaded = self.loaded.as_ref().ok_or(EngineError::NothingLoaded)?;
        Prober::new(Arc::clone(&loaded.backend))
    }

    /// Forgets the game: tree, cached evaluations, everything the time manager learned.
    pub fn new_game(&mut self) {
        self.finish();
        self.game = Game::new();
        self.reset_tree();
        self.manager = None;
        self.random = None;
        self.lag.forget_move();
        if let Some(loaded) = &self.loaded {
            loaded.backend.clear_cache();
        }
    }

    /// Forgets the tree.
    pub fn clear_tree(&mut self) {
        self.finish();
        self.reset_tree();
    }

    /// The parameters of a search by the options, for the side to move.
    fn search_params(&self, go: &GoParams) -> SearchParams {
        let mut params = self.options.search_params();
        params.wdl_rescale.side = contempt::side(&self.options, self.game.current().turn(), go);
        params
    }

    /// A line for the user when contempt is set and does nothing in this search.
    pub fn contempt_note(&self, go: &GoParams) -> Option<&'static str> {
        let idle = self.options.contempt_mode == "play" && self.search_params(go).wdl_rescale.side.is_none();
        (idle && self.options.search_params().wdl_rescale.diff != 0.0)
            .then_some("contempt: nobody plays in a search without end; ContemptMode can favour White or Black")
    }

    /// The seed of the next search.
    fn next_seed(&mut self) -> u64 {
        match self.options.random_seed {
            0 => rand::random(),
            seed => self.random.get_or_insert_with(|| Xoshiro256PlusPlus::seed_from_u64(seed)).random(),
        }
    }

    fn reset_tree(&mut self) {
        match &mut self.tree {
            Some(tree) => tree.reset(self.game.clone()),
            None => self.tree = Some(Tree::new(self.game.clone())),
        }
        self.tree_changed();
    }

    /// Tells the time manager that the next tree says nothing of the last one it knows.
    fn tree_changed(&mut self) {
        if let Some(manager) = &mut self.manager {
            manager.finish(&MoveOutcome::default());
        }
    }

    /// Memory that the tree takes, in bytes; 0 while a search has it.
    pub fn tree_bytes(&self) -> usize {
        self.tree.as_ref().map_or(0, Tree::bytes)
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Takes up a position. When it continues the game so far, tree and time manager go on with it.
    pub fn set_game(&mut self, game: Game) {
        self.finish();
        let tree = self.tree.get_or_insert_with(|| Tree::new(game.clone()));
        let continues = tree.follow(game.clone());
        self.game = game;
        if !continues {
            self.lag.forget_move();
            self.manager = self.manager.take().filter(|_| self.options.keep_time_stats);
            self.tree_changed();
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

    /// The manager of this game; a new one for a new game, or when another one was asked for.
    fn take_manager(&mut self) -> Result<Box<dyn TimeManager>, EngineError> {
        let spec = self.options.time_manager_spec().into_owned();
        match self.manager.take() {
            Some(manager) if self.manager_spec == spec => Ok(manager),
            _ => {
                let manager = time_manager::build(&spec)?;
                self.manager_spec = spec;
                Ok(manager)
            }
        }
    }

    /// What may pass between this engine and the judge of its clock: what the user says, and what was measured on top.
    fn overhead_ms(&self) -> f64 {
        self.options.move_overhead as f64 + self.lag.overhead_ms()
    }

    fn move_request(&self, clock: SideClock, movestogo: Option<u32>) -> MoveRequest {
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        let position = self.game.current();
        let legal_moves = position.legal_moves();
        MoveRequest {
            clock_ms: clock.time_ms,
            increment_ms: clock.increment_ms,
            moves_to_go: movestogo,
            ply: position.ply(),
            overhead_ms: self.overhead_ms(),
            reused_nodes: self.tree.as_ref().map_or(0, |tree| u64::from(tree.visits())),
            moves_left_plies: self.tree.as_ref().and_then(Tree::moves_left).filter(|_| has_moves_left),
            pieces: Some(position.piece_count()),
            legal_moves: Some(legal_moves.len() as u32),
            captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
            in_check: position.is_check(),
        }
    }

    /// Whether a search is still to answer.
    pub fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.is_finished())
    }

    /// Whether there is a search that only [`Engine::stop`] ends.
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
    fn collect(&mut self) {
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

/// What a slow first evaluation may take beyond the move's limit, in milliseconds, if the limit itself is shorter.
const FIRST_EVALUATION_GRACE_MS: f64 = 1000.0;

/// What a first evaluation gets in any case, in milliseconds: a clock shorter than this is lost, or its judge is lenient.
const FIRST_EVALUATION_LEAST_MS: f64 = 25.0;

/// When a move is due although nothing was evaluated for it yet. Better a late good move than a random one, but not a lost
/// game: as long again as the limit of the move (or a second), and half of what then is left at the most.
fn due_ms(limits: &SearchLimits, plan: Option<&Plan>, clock: Option<SideClock>, overhead_ms: f64) -> Option<f64> {
    let (limit_ms, end_ms) = match (plan, clock, limits.movetime_ms) {
        _ if limits.infinite || limits.ponder => return None,
        (Some(plan), Some(clock), _) => (plan.hard_limit_ms, clock.time_ms),
        (_, _, Some(movetime_ms)) => (movetime_ms - overhead_ms, movetime_ms),
        _ => return None,
    };
    let limit_ms = limit_ms.max(0.0);
    let late_ms = ((end_ms - limit_ms).max(0.0) / 2.0).min(limit_ms.max(FIRST_EVALUATION_GRACE_MS));
    Some((limit_ms + late_ms).max(FIRST_EVALUATION_LEAST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_evaluation_may_be_late_but_not_lose_the_game() {
        let movetime = |ms| SearchLimits { movetime_ms: Some(ms), ..SearchLimits::default() };
        // 300 ms less the overhead of 200, and half of those 200.
        assert_eq!(due_ms(&movetime(300.0), None, None, 200.0), Some(200.0));
        assert_eq!(due_ms(&movetime(100.0), None, None, 200.0), Some(50.0));
        assert_eq!(due_ms(&SearchLimits { infinite: true, ..movetime(100.0) }, None, None, 200.0), None);
        let mut manager = time_manager::build("smooth").expect("the default manager exists");
        let mut due = |clock_ms: f64| {
            let request = MoveRequest { clock_ms, overhead_ms: 200.0, ..MoveRequest::default() };
            let plan = manager.plan(&request);
            let clock = SideClock { time_ms: clock_ms, increment_ms: 0.0 };
            (
                plan.hard_limit_ms,
                due_ms(&SearchLimits::default(), Some(&plan), Some(clock), 200.0).expect("it is timed"),
            )
        };
        let (limit, late) = due(60_000.0);
        assert_eq!(late, limit * 2.0, "as long again");
        assert_eq!(due(150.0), (0.0, 75.0), "half of what is left");
        assert_eq!(due(0.0), (0.0, 25.0), "but never nothing");
    }
}
