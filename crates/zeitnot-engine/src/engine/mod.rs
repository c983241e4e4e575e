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
//!
//! | file | contents | part |
//! |---|---|---|
//! | `options`, `option_kind`, `words`, `ignored_options` | the declaration of each option, kinds of values, options of words, and Lc0's options that do nothing | |
//! | `loading`, `preparing` | a loaded network with its evaluators; what the options name is loaded, or a substitute | device |
//! | `network_evaluator` | evaluations of a network without a search | device |
//! | `game_state`, `following`, `timed_move` | the game, its tree and its clock; from move to move; the test by which a clock goes on | state |
//! | `book`, `books_and_tables`, `tree_file` | opening books in Polyglot's format; the books and endgame tables of an engine; saved trees | shelf |
//! | `strength` | levels, and a Maia that plays as people do | persona |
//! | `contempt`, `ratings` | the side that contempt favours; the ratings that a Maia-3 plays by | persona |
//! | `go`, `turn`, `algorithm` | the parameters of `go`; everything that they mean for one move, decided once; moves by the network alone | |
//! | `searching`, `running`, `ending` | the start of a search with its plan; the search; stop, answer and end | running |
//! | `ponder`, `search_and_wait` | pondering and its hit; searches that are waited for | running |
//! | `score` | scores of every `ScoreType`, win, draw and loss in permille | |

pub mod ignored_options;
pub mod options;

mod algorithm;
mod book;
mod books_and_tables;
mod contempt;
mod ending;
mod following;
mod game_state;
mod go;
mod loading;
mod network_evaluator;
mod option_kind;
mod ponder;
mod preparing;
mod ratings;
mod running;
mod score;
mod search_and_wait;
mod searching;
mod strength;
mod timed_move;
mod tree_file;
mod turn;
mod words;

pub use algorithm::SearchAlgorithm;
pub use book::{Book, BookError, Choice};
pub use contempt::ContemptMode;
pub use following::TreeValue;
pub use go::{GoParams, SideClock};
pub use loading::{EngineError, LoadedNetwork, RuntimePolicy, is_same_network, load_network};
pub use network_evaluator::NetworkEvaluator;
pub use option_kind::{Kind, OptionError};
pub use options::{OptionSpec, Options};
pub use preparing::Prepared;
pub use score::{ScoreType, policy_index, score, wdl_permille};
pub use search_and_wait::Pondered;
pub use searching::move_request;
pub use tree_file::{TreeFacts, TreeFileError, merge_trees, tree_facts};
pub use words::{FpuStrategy, FpuStrategyAtRoot, Word};

pub use crate::search::{EndReason, Line, Listener, MOST_MOVES, MoveStats, Report, SearchEnd};

use crate::managers::{self, Patience};
use crate::search::SharedRootObserver;
use books_and_tables::BooksAndTables;
use game_state::GameState;
use loading::{Device, Loaded};
use parking_lot::Mutex;
use running::Running;
use std::sync::Arc;
use strength::Persona;
use zeitnot_backend::{Backend, DeviceOptions};
use zeitnot_base::announcer::Announcer;
use zeitnot_base::clock::Clock;
use zeitnot_time::{DEFAULT_MANAGER, Timekeeper, event_log};

/// A playing engine. Its parts do not know each other: the methods of the engine carry facts from one to another.
pub struct Engine {
    options: Options,
    clock: Arc<dyn Clock>,
    announcer: Announcer,
    /// The announcer as the makers of time managers share it: they see a replacement.
    shared_announcer: Arc<Mutex<Announcer>>,
    root_observer: Option<SharedRootObserver>,
    /// Whether a search with `movetime` is an analysis, and no move of a game.
    is_analysis: bool,
    device: Device,
    state: GameState,
    running: Running,
    persona: Persona,
    shelf: Shelf,
    notes: Notes,
}

/// The files that the engine uses besides the network: opening book, endgame tables, saved tree.
#[derive(Default)]
struct Shelf {
    books_and_tables: BooksAndTables,
    /// The file that the tree is saved in, if `TreeFile` names one.
    tree_file: Option<tree_file::TreeFile>,
}

/// The notes already given to the user, so that none is repeated.
#[derive(Default)]
struct Notes {
    /// The last lines on `Slowmover`, the time manager's parameters, the limit of memory, memory that was refused, idle
    /// devices, and a `TreeFile` that can be no file.
    said: [Option<String>; 6],
    /// Whether the user was told that the clock is within the overhead.
    overhead: bool,
}

impl Engine {
    /// An engine that reads the time from `clock` and may or may not fetch a missing ONNX Runtime.
    pub fn new(options: Options, clock: Arc<dyn Clock>, runtime_policy: RuntimePolicy) -> Engine {
        // A specification that names no manager is an error of the first move that has a clock.
        let announcer = Announcer::default();
        let shared_announcer = Arc::new(Mutex::new(announcer.clone()));
        let patience = if clock.is_virtual() { Patience::Long } else { Patience::UntilDue };
        let maker = managers::maker(patience, Arc::clone(&shared_announcer));
        let time = Timekeeper::with(&options.time_manager_spec(), Arc::clone(&maker))
            .or_else(|_| Timekeeper::with(DEFAULT_MANAGER, maker));
        Engine {
            options,
            clock,
            announcer,
            shared_announcer,
            root_observer: None,
            is_analysis: false,
            device: Device::new(runtime_policy),
            state: GameState::new(time.expect("the default manager exists")),
            running: Running::default(),
            persona: Persona::default(),
            shelf: Shelf::default(),
            notes: Notes::default(),
        }
    }

    /// An engine on a backend that it shares with others: one loaded network serves many engines. `backend` has no
    /// cache; each engine puts one of its own in front, of the size that its options name. Options that name a network
    /// or a backend have no effect.
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
        engine.device.loaded = Some(loaded);
        Ok(engine)
    }

    /// Lets `observer` see everything that happens to the time of this engine's games from now on; an event log
    /// that is to be replayed begins with [`Engine::new_game`].
    pub fn observe_time(&mut self, observer: Option<Box<dyn event_log::Observer>>) {
        self.finish();
        if let Some(time) = &mut self.state.time {
            time.observe_by(observer);
        }
    }

    /// Lets `observer` see the root of every search that begins from now on; `None`: nobody sees it.
    pub fn observe_root(&mut self, observer: Option<SharedRootObserver>) {
        self.root_observer = observer;
    }

    /// Sends lines on long work, such as the building of an engine for a card, to `announcer`. Before this call such
    /// lines are dropped.
    pub fn announce_to(&mut self, announcer: Announcer) {
        *self.shared_announcer.lock() = announcer.clone();
        self.announcer = announcer;
    }

    /// Tells whether all searches are for analysis, those with `movetime` among them: then their positions are kept
    /// (`TreeMemory`).
    pub fn set_analysis(&mut self, is_analysis: bool) {
        self.is_analysis = is_analysis;
    }

    /// The options as they stand.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The clock's "now", in milliseconds.
    pub fn now_ms(&self) -> f64 {
        self.clock.now_ms()
    }

    /// Sets an option by its UCI name; it holds from the next move on. A level out of its range becomes the nearest one
    /// in range, and a line says so: GUIs offer levels on other engines' scales, and refusing one would leave a person
    /// to play full strength. An option sent with its present value does not count as set, since GUIs send all of them;
    /// `MoveOverheadMs` does.
    ///
    /// # Errors
    /// [`OptionError`], also for a time manager that cannot be built; and nothing is changed.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let before = self.options.clone();
        self.set_flag(name, value)?;
        let same = Options { was_set: self.options.was_set.clone(), ..before.clone() };
        if self.options == same && self.options.stopper_params() == before.stopper_params() {
            self.options.was_set = before.was_set;
        }
        Ok(())
    }

    /// Sets an option that a person named, in a command line or a file of options: it counts as set even if it has that
    /// value already.
    ///
    /// # Errors
    /// As those of [`Engine::set_option`].
    pub fn set_flag(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let nearest = options::nearest_level(name, value).map(|nearest| nearest.to_string());
        if let Some(nearest) = &nearest {
            self.announcer.say(&format!("option {name}: {value} is out of its range, {nearest} is taken"));
        }
        let mut options = self.options.clone();
        options.set(name, nearest.as_deref().unwrap_or(value))?;
        self.set_options(options)?;
        self.shelf.books_and_tables.option_set(name);
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
            managers::check(spec).map_err(|error| {
                // Some errors quote the specification themselves.
                let (spec, error) = (format!("\"{spec}\""), error.to_string());
                OptionError::TimeManager(if error.contains(&spec) { error } else { format!("{spec}: {error}") })
            })?;
        }
        contempt::parse(&options.contempt, &options.opponent, 0.0)?;
        if options.random_seed != self.options.random_seed {
            self.state.random = None;
        }
        options.backend_options.parse::<DeviceOptions>().map_err(OptionError::BackendOptions)?;
        self.options = options;
        Ok(())
    }

    /// A line for the user when contempt is set but has no effect in this search.
    pub fn contempt_note(&self, go: &GoParams) -> Option<&'static str> {
        let Options { contempt_mode, .. } = self.options;
        let side = contempt::side(contempt_mode, self.state.game.current().turn(), go);
        (contempt_mode == ContemptMode::Play && side.is_none() && self.options.search_params().wdl_rescale.diff != 0.0)
            .then_some("contempt: nobody plays in a search without end; ContemptMode can favour White or Black")
    }
}
