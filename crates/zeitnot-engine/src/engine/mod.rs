//! Plays: one engine with its options, the game, and the search that follows the game from move to move.
//!
//! The protocol and the laboratory drive the same [`Engine`]; it knows no text but error lines. The types of a search's
//! answer ([`Report`], [`SearchEnd`] and their parts) are part of its face: its users need not know the search.
//!
//! ```
//! use std::sync::Arc;
//! use zeitnot_engine::chess::Game;
//! use zeitnot_engine::clock::VirtualClock;
//! use zeitnot_engine::engine::{Engine, GoParams, Options, RuntimePolicy};
//!
//! // The backend `uniform` needs no network, and on a virtual clock nothing waits.
//! let mut options = Options::default();
//! options.set("Backend", "uniform")?;
//! let mut engine = Engine::new(options, Arc::new(VirtualClock::default()), RuntimePolicy::FindOnly);
//! engine.prepare()?;
//!
//! let mut game = Game::new();
//! game.push_uci("e2e4")?;
//! engine.set_game(game);
//! let go = GoParams { btime: Some(60_000.0), nodes: Some(200), ..GoParams::default() };
//! let start_ms = engine.now_ms();
//! let (end, plan) = engine.run(&go, start_ms, None)?;
//! assert!(end.best.is_some() && end.report.nodes >= 200);
//! assert!(plan.is_some_and(|plan| plan.hard_limit_ms < 60_000.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ignored_options;
pub mod options;

mod algorithm;
mod book;
mod books_and_tables;
mod contempt;
mod go;
mod loading;
mod network_evaluator;
mod option_kind;
mod ponder;
mod score;
mod search_and_wait;
mod searching;
mod timed_move;
mod words;

pub use algorithm::SearchAlgorithm;
pub(crate) use book::Choice;
pub use book::{Book, BookError};
pub use contempt::ContemptMode;
pub use go::{GoParams, SideClock};
pub use loading::{EngineError, LoadedNetwork, RuntimePolicy, is_same_network, load_network};
pub use network_evaluator::NetworkEvaluator;
pub use option_kind::{Kind, OptionError};
pub use options::{OptionSpec, Options};
pub use score::{ScoreType, policy_index, score, wdl_permille};
pub use search_and_wait::Pondered;
pub use words::{FpuStrategy, FpuStrategyAtRoot, Word};

pub use crate::search::{EndReason, Line, Listener, MOST_MOVES, MoveStats, Report, SearchEnd};

use crate::announcer::Announcer;
use crate::backend::{Attributes, Backend, DeviceOptions};
use crate::chess::Game;
use crate::clock::Clock;
use crate::network::{BUILT_IN, Location};
use crate::search::{Search, SearchParams, SearchThreads, SharedRootObserver, Tree, WdlRescale};
use books_and_tables::BooksAndTables;
use loading::{Failure, Loaded};
use ponder::{Pondering, Unstarted};
use rand::rngs::Xoshiro256PlusPlus;
use std::sync::Arc;
use timed_move::TimedMove;
use zeitnot_time::{DEFAULT_MANAGER, Timekeeper, trace};

/// Said where the system refused memory to the tree.
const SHORT_OF_MEMORY: &str =
    "the system has no memory for more of the tree: the positions visited least are forgotten (option RamLimitMb)";

/// The substitutes for options that cannot be loaded, in order: network (`None`: the one that was asked for) and
/// backend. Before the last of them, a network that is in use already stays so.
const SUBSTITUTES: &[(Option<&str>, &str)] = &[(None, "native"), (None, "onnxruntime"), (Some(BUILT_IN), "native")];

/// The outcome of [`Engine::prepare_for_play`].
#[derive(Debug)]
pub enum Prepared {
    /// The engine plays as the options say; a line says what was loaded, if something was.
    Ready(Option<String>),
    /// Something else plays.
    Substituted {
        /// Why.
        error: EngineError,
        /// A line that says what plays.
        news: String,
    },
    /// Failure to load: there is no network to search with.
    Failed(EngineError),
}

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
    /// The time of the game; absent while a search has it.
    time: Option<Timekeeper>,
    /// The options that could not be loaded last.
    failed: Option<Failure>,
    /// Said last of `Slowmover`, the time manager's parameters, the limit of memory, memory that was refused, and idle
    /// devices.
    notes: [Option<String>; 5],
    search: Option<Search>,
    threads: SearchThreads,
    /// When the last batch of the last search on the caller's thread is over, on the engine's clock.
    busy_until_ms: f64,
    /// Rescaling of the tree's values.
    rescaled: WdlRescale,
    /// Gives each search of the game its seed; absent before the first, and without `RandomSeed`.
    random: Option<Xoshiro256PlusPlus>,
    books_and_tables: BooksAndTables,
    pondering: Option<Pondering>,
    unstarted: Option<Unstarted>,
    /// The last move of the game on a clock.
    last_timed: Option<TimedMove>,
    /// Plies that the counters of a position's FEN lack, where it came without moves and can be the next one; its clock decides.
    next_by_board: Option<u32>,
    /// Plies of the game that the counters of its FENs lack.
    untold_plies: u32,
    root_observer: Option<SharedRootObserver>,
}

impl Engine {
    /// An engine that reads the time from `clock` and may or may not fetch a missing ONNX Runtime.
    pub fn new(options: Options, clock: Arc<dyn Clock>, runtime_policy: RuntimePolicy) -> Engine {
        let game = Game::new();
        let tree = Some(Tree::new(game.clone()));
        // A specification that names no manager is an error of the first move that has a clock.
        let time = Timekeeper::new(&options.time_manager_spec()).or_else(|_| Timekeeper::new(DEFAULT_MANAGER));
        let announcer = Announcer::default();
        Engine {
            options,
            clock,
            runtime_policy,
            announcer,
            loaded: None,
            game,
            tree,
            time: Some(time.expect("the default manager exists")),
            failed: None,
            notes: [const { None }; 5],
            search: None,
            threads: SearchThreads::default(),
            busy_until_ms: f64::NEG_INFINITY,
            rescaled: WdlRescale::NONE,
            random: None,
            books_and_tables: BooksAndTables::default(),
            pondering: None,
            unstarted: None,
            last_timed: None,
            next_by_board: None,
            untold_plies: 0,
            root_observer: None,
        }
    }

    /// An engine on a backend that others use, too: one loaded network serves many engines. `backend` has no cache; each
    /// engine puts one of its own in front, of the size that the options name. The options that name a network and a
    /// backend mean nothing to it.
    ///
    /// # Errors
    /// [`EngineError`], when the backend has no room for the evaluators of another engine.
    pub fn with_backend(
        options: Options,
        clock: Arc<dyn Clock>,
        backend: Arc<dyn Backend>,
    ) -> Result<Engine, EngineError> {
        let mut engine = Engine::new(options, clock, RuntimePolicy::FindOnly);
        let mut loaded = Loaded::handed_in(backend, &engine.options);
        loaded.ensure_evaluators(&engine.options)?;
        engine.loaded = Some(loaded);
        Ok(engine)
    }

    /// Lets `observer` see everything that happens to the time of this engine's games from now on; a trace that is to be
    /// replayed begins with [`Engine::new_game`].
    pub fn observe_time(&mut self, observer: Option<Box<dyn trace::Observer>>) {
        self.finish();
        if let Some(time) = &mut self.time {
            time.observe_by(observer);
        }
    }

    /// Lets `observer` see the root of every search that begins from now on.
    pub fn observe_root(&mut self, observer: Option<SharedRootObserver>) {
        self.root_observer = observer;
    }

    /// Sends lines about work that takes long, such as the building of an engine for a card, to `announcer`; at first they go nowhere.
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
        self.set_options(options)?;
        self.books_and_tables.option_set(name);
        Ok(())
    }

    /// Sets all options; they hold from the next move on.
    ///
    /// # Errors
    /// [`OptionError`], also for a time manager that cannot be built; and nothing is changed.
    pub fn set_options(&mut self, options: Options) -> Result<(), OptionError> {
        options.check()?;
        let spec = &options.time_manager;
        if *spec != self.options.time_manager {
            zeitnot_time::build(spec).map_err(|error| {
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
        Ok(())
    }

    /// Loads what the options name, if it is not loaded yet, and says in a line what runs where. Does nothing during a
    /// search. Endgame tables and books are opened, too; what is wrong with them is announced. So is, once each, what
    /// becomes of `Slowmover`, and which parameters given to `smooth` mean something else than on Lc0's page.
    ///
    /// # Errors
    /// [`EngineError`]; what was loaded before stays in use.
    pub fn prepare(&mut self) -> Result<Option<String>, EngineError> {
        self.collect();
        if self.search.is_some() {
            return Ok(None);
        }
        self.open_books_and_tables();
        self.load(&self.options.clone())
    }

    /// Prepares as [`Engine::prepare`] for a game that must go on. A failure to load is reported once: it is not tried again until an
    /// option or a file changes. In its place plays the network that was asked for, on the CPU, where it can run there; else
    /// the one that is in use already, if there is one, so that a slip costs nothing; else the one inside the program.
    pub fn prepare_for_play(&mut self) -> Prepared {
        self.collect();
        if self.search.is_some() {
            return Prepared::Ready(None);
        }
        self.open_books_and_tables();
        if self.failed.is_some() && self.failed == Some(Failure::of(&self.options)) {
            let again = self.loaded.as_mut().map_or(Ok(()), |loaded| loaded.ensure_evaluators(&self.options));
            return again.map_or_else(Prepared::Failed, |()| Prepared::Ready(None));
        }
        let options = self.options.clone();
        let error = match self.load(&options) {
            Ok(news) => {
                self.failed = None;
                return Prepared::Ready(news);
            }
            Err(error) => error,
        };
        self.failed = Some(Failure::of(&options));
        // A network in its place is read as it was to be: with another input format it would play nonsense.
        let interface = options.backend_options.parse().map(|device: DeviceOptions| device.interface_text());
        let interface = interface.unwrap_or_default();
        for (weights, backend) in SUBSTITUTES {
            let backend_options = if weights.is_none() { interface.clone() } else { String::new() };
            let weights = weights.unwrap_or(&options.weights).to_owned();
            let substitute = Options { weights, backend: (*backend).to_owned(), backend_options, ..options.clone() };
            if substitute.weights == BUILT_IN
                && let Some(attributes) = self.attributes()
            {
                return Prepared::Substituted { error, news: attributes.to_string() };
            }
            // Nothing is downloaded for it.
            let policy = std::mem::replace(&mut self.runtime_policy, RuntimePolicy::FindOnly);
            let news = self.load(&substitute);
            self.runtime_policy = policy;
            if let Ok(news) = news {
                // What plays already says nothing new.
                let news = news.or_else(|| self.attributes().map(ToString::to_string)).unwrap_or_default();
                return Prepared::Substituted { error, news };
            }
        }
        self.loaded = None;
        Prepared::Failed(error)
    }

    fn load(&mut self, options: &Options) -> Result<Option<String>, EngineError> {
        let news = loading::load(&mut self.loaded, options, &self.options, self.runtime_policy, &self.announcer)?;
        if news.is_some() {
            self.reset_tree();
        }
        Ok(news)
    }

    /// Opens endgame tables and books, and says what is wrong with them and with the options.
    fn open_books_and_tables(&mut self) {
        let spec = self.options.time_manager_spec();
        let notes = [
            self.options.slowmover_note(),
            zeitnot_time::managers::smooth::parameter_note(&spec),
            self.options.memory_note(),
            self.tree.as_ref().filter(|tree| tree.is_short_of_memory()).map(|_| SHORT_OF_MEMORY.to_owned()),
            self.options.devices_note(),
        ];
        for (note, said) in notes.into_iter().zip(&mut self.notes) {
            if note != *said {
                note.iter().for_each(|note| self.announcer.say(note));
                *said = note;
            }
        }
        if self.books_and_tables.open(&self.options, &self.announcer) {
            self.reset_tree();
        }
    }

    /// The attributes of the loaded backend; `None` before [`Engine::prepare`].
    pub fn attributes(&self) -> Option<&Attributes> {
        self.loaded.as_ref().map(|loaded| loaded.backend.attributes())
    }

    /// The loaded backend; `None` before [`Engine::prepare`].
    pub fn backend(&self) -> Option<Arc<dyn Backend>> {
        self.loaded.as_ref().map(|loaded| Arc::clone(&loaded.backend))
    }

    /// Location of the loaded network; `None` before [`Engine::prepare`] and where the backend needs no network.
    pub fn network_location(&self) -> Option<&Location> {
        self.loaded.as_ref()?.location.as_ref()
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
        loaded.forget_evaluators();
        loaded.ensure_evaluators(&self.options)
    }

    /// An evaluator of the network alone, without a search.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`] before [`Engine::prepare`], or the backend's.
    pub fn network_evaluator(&self) -> Result<NetworkEvaluator, EngineError> {
        let loaded = self.loaded.as_ref().ok_or(EngineError::NothingLoaded)?;
        NetworkEvaluator::new(Arc::clone(&loaded.backend))
    }

    /// Forgets the game: tree, cached evaluations and how long they took, everything the time manager learned, the measured
    /// lag. With a `RandomSeed` other than 0 nothing in the next game depends on the games before.
    pub fn new_game(&mut self) {
        self.finish();
        self.game = Game::new();
        self.reset_tree();
        self.rescaled = WdlRescale::NONE;
        self.busy_until_ms = f64::NEG_INFINITY;
        self.random = None;
        (self.last_timed, self.next_by_board, self.untold_plies) = (None, None, 0);
        if let Some(time) = &mut self.time {
            time.new_game();
        }
        let is_to_repeat = self.options.random_seed != 0;
        if let Some(loaded) = &mut self.loaded {
            loaded.new_game(is_to_repeat);
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
        params.wdl_rescale.side = contempt::side(self.options.contempt_mode, self.game.current().turn(), go);
        params
    }

    /// A line for the user when contempt is set and does nothing in this search.
    pub fn contempt_note(&self, go: &GoParams) -> Option<&'static str> {
        let idle =
            self.options.contempt_mode == ContemptMode::Play && self.search_params(go).wdl_rescale.side.is_none();
        (idle && self.options.search_params().wdl_rescale.diff != 0.0)
            .then_some("contempt: nobody plays in a search without end; ContemptMode can favour White or Black")
    }

    fn reset_tree(&mut self) {
        match &mut self.tree {
            Some(tree) => tree.reset(self.game.clone()),
            None => self.tree = Some(Tree::new(self.game.clone())),
        }
        self.tree_changed();
    }

    /// Reports to the time manager that the next tree does not follow from the last one it knows.
    fn tree_changed(&mut self) {
        if let Some(time) = &mut self.time {
            time.tree_changed();
        }
    }

    /// Memory that the tree takes, in bytes; 0 while a search has it.
    #[cfg(any(test, feature = "testing"))]
    pub fn tree_bytes(&self) -> usize {
        self.tree.as_ref().map_or(0, Tree::bytes)
    }

    /// Visits of the tree that the next search of this position and these moves begins with; 0 while a search has it.
    pub fn tree_visits(&self) -> u64 {
        self.tree.as_ref().map_or(0, |tree| u64::from(tree.visits() - tree.excluded_visits()))
    }

    /// Plies that the network expects to follow, in that tree; `None` where it has no moves-left head or no visit.
    pub fn tree_moves_left(&self) -> Option<f64> {
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        self.tree.as_ref().and_then(Tree::moves_left).filter(|_| has_moves_left)
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Takes up a position. When it continues the game so far, tree and time manager go on with it. Where its moves are not given but
    /// it can be the next position of the game, the time manager goes on if the clock of its search fits, too.
    pub fn set_game(&mut self, game: Game) {
        self.finish();
        let tree = self.tree.get_or_insert_with(|| Tree::new(game.clone()));
        let continues = tree.follow(game.clone());
        self.game = game;
        if continues {
            return;
        }
        let position = self.game.current();
        let ply = self.last_timed.as_ref().and_then(|last| last.ply_of(position));
        self.next_by_board = ply.map(|ply| ply.saturating_sub(position.ply()));
        if self.next_by_board.is_none() {
            self.other_game();
        }
    }

    /// Takes in that a search of the position begins, and whether its clock is that of the game so far.
    fn note_clock(&mut self, params: &GoParams, start_ms: f64) {
        let position = self.game.current();
        if params.clock(position.turn()).is_none() {
            return;
        }
        let fits = |last: &TimedMove| last.fits(position, params, start_ms);
        match self.next_by_board.take() {
            Some(untold_plies) if self.last_timed.as_ref().is_some_and(fits) => self.untold_plies = untold_plies,
            Some(_) => self.other_game(),
            None => {}
        }
        let position = self.game.current().clone();
        self.last_timed = Some(TimedMove { ply: self.ply(), position, go: params.clone(), start_ms });
    }

    /// The ply of the position in the game.
    fn ply(&self) -> u32 {
        self.game.current().ply().saturating_add(self.untold_plies)
    }

    fn other_game(&mut self) {
        (self.last_timed, self.untold_plies) = (None, 0);
        let keep_time_stats = self.options.keep_time_stats;
        if let Some(time) = &mut self.time {
            time.other_game(keep_time_stats);
        }
    }
}
