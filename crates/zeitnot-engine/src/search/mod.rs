//! Searches with PUCT in the manner of Lc0's classic search (docs/lc0.md, 3), over an injected
//! [`Backend`](crate::backend::Backend) and an injected [`Clock`](crate::clock::Clock).
//!
//! [`Search::start`] searches on threads of its own, [`Search::run`] on the caller's. An
//! [`Engine`](crate::engine::Engine) fills in the request; by hand it is this, with a backend that needs no network:
//!
//! ```
//! use std::sync::Arc;
//! use zeitnot_engine::backend::{Backend, UniformBackend};
//! use zeitnot_engine::chess::{Game, to_uci};
//! use zeitnot_engine::clock::VirtualClock;
//! use zeitnot_engine::search::{Search, SearchParams, SearchRequest, Tree};
//! use zeitnot_engine::tablebase::Probes;
//! use zeitnot_time::estimators::batch_latency::BatchLatency;
//! use zeitnot_time::event_log::SearchStart;
//! use zeitnot_time::{SearchLimits, Timekeeper};
//!
//! let game = Game::from_fen("6k1/5ppp/8/8/8/8/8/1R4K1 w - - 0 1", false)?; // the rook mates
//! let limits = SearchLimits { nodes: Some(500), ..SearchLimits::default() };
//! let mut time = Timekeeper::new("smooth")?;
//! time.begin(&SearchStart { limits: limits.clone(), ..SearchStart::default() }, None);
//! let request = SearchRequest {
//!     game: game.clone(),
//!     limits,
//!     time,
//!     search_moves: Vec::new(), // all
//!     params: SearchParams::LC0,
//!     multi_pv: 1,
//!     with_move_stats: true,
//!     with_live_stats: false,
//!     latency: BatchLatency::default(),
//!     seed: 1,
//!     probes: Probes::default(), // no endgame tables
//!     start_ms: 0.0,
//!     limit_ms: None,
//!     due_ms: None,
//!     longest_batch_ms: None,
//!     busy_until_ms: 0.0,
//!     root_observer: None,
//! };
//! let backend = Arc::new(UniformBackend::new());
//! let mut evaluator = backend.evaluator()?;
//! let clock = Arc::new(VirtualClock::default());
//! let (end, _) = Search::run(Tree::new(game), backend, &mut *evaluator, clock, request, None);
//! assert_eq!(end.best.map(|mv| to_uci(mv, false)).as_deref(), Some("b1b8"));
//! assert_eq!(end.report.lines[0].mate, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | folder | contents |
//! |---|---|
//! | `tree/` | nodes, edges and their memory; expansion, tree reuse, the memory limit, transpositions, terminal detection, backup |
//! | `gather/` | selection by PUCT, batches, and the leaves that a batch evaluates |
//! | `root/` | the order of the root's moves, the report, the observer of its growth, temperature, contempt |
//! | `run/` | the threads of a search in play, workers and watchdog, and the synchronous search on any clock |
//! | `context`, `params`, `request` | the facts of one search; the parameters; the question and the answer |
//!
//! One lock guards the tree. It is held while a round of visits goes down the tree, and while a batch is backed up.
//! Positions, legal moves, planes, the network and the softmax need no lock. So half of the time passes without the lock
//! even where the network costs nothing, and nearly all of it with a network. One worker at a time gathers and backs up for
//! all batches, so that the tree stays in the caches of one processor (see `run/work_queue.rs`).
//!
//! Memory: a visited node takes 32 bytes, and its priors a byte each. The moves are generated again, sorted and kept only
//! when it is visited a second time (3 bytes each). From the start position that is 80 to 103 bytes a visit all told, where
//! Lc0 takes 210.
//!
//! Where it differs from Lc0's classic search:
//!
//! - Priors are kept in 8 bits (see `tree/prior_codes.rs`), where Lc0's have 16 and a fast exponential; the visits of
//!   `tests/search_golden.rs` differ from Lc0's by 0.005 on average.
//! - `MaxCollisionEvents`, which does nothing in Lc0, limits the nodes at which visits of a batch collide. The
//!   network is asked for nothing but visits (Lc0's prefetch).
//! - Drawn ends are ranked by visits like open moves, the shorter first among equals: Lc0's rule is no order.
//! - `go depth` ends when every root move is decided, or the lines end before that depth (`run/depth_growth.rs`), and node
//!   limits are met exactly. One move alone is searched to such a limit.
//! - The depth that is shown does not fall while the tree is kept.
//! - Noise is drawn anew for every search, also at a root that was found in the reused tree.
//! - At `RamLimitMb` the search goes on and prunes the subtrees with the fewest visits; Lc0 stops. It ends at 4,294,967,295 visits of the root.

mod context;
mod gather;
mod params;
mod request;
mod root;
mod run;
mod tree;

pub use params::{Cpuct, Fpu, MovesLeftParams, SearchParams};
pub use request::{EndReason, Finished, Guess, Listener, NotStarted, SearchEnd, SearchRequest};
pub use root::observer::{RootMove, RootObserver, SharedRootObserver};
pub use root::report::{Line, MoveStats, Report};
pub use root::temperature::Temperature;
pub use root::wdl_rescale::WdlRescale;
pub use run::{Hit, Search, SearchThreads};
pub use tree::root_noise::Noise;
pub use tree::{MOST_MOVES, Tree};
