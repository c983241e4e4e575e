//! The search: PUCT in the manner of Lc0's classic one (docs/lc0.md, 3), over an injected
//! [`Backend`](crate::backend::Backend) and an injected [`Clock`](crate::clock::Clock).
//!
//! [`Search::start`] searches on threads of its own, [`Search::run`] on the caller's. An
//! [`Engine`](crate::engine::Engine) fills in the request; by hand it is this, with a backend that needs no network:
//!
//! ```
//! use std::sync::Arc;
//! use zeitnot::backend::{Backend, UniformBackend};
//! use zeitnot::chess::{Game, to_uci};
//! use zeitnot::clock::VirtualClock;
//! use zeitnot::search::{Search, SearchParams, SearchRequest, Tree};
//! use zeitnot::tablebase::Probes;
//! use zeitnot::time_manager::estimators::batch::BatchLatency;
//! use zeitnot::time_manager::trace::SearchStart;
//! use zeitnot::time_manager::{SearchLimits, Timekeeper};
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
//! };
//! let backend = Arc::new(UniformBackend::new());
//! let evaluator = backend.evaluator()?;
//! let clock = Arc::new(VirtualClock::default());
//! let (end, _) = Search::run(Tree::new(game), backend, evaluator, clock, request, None);
//! assert_eq!(end.best.map(|mv| to_uci(mv, false)).as_deref(), Some("b1b8"));
//! assert_eq!(end.report.lines[0].mate, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `params` | parameters and their defaults |
//! | `node`, `policy`, `packed` | a node and its arithmetic; a prior in a byte; a move in two |
//! | `pool`, `body`, `tree` | memory; how moves and children lie in it; the tree |
//! | `growth`, `follow`, `recycle` | new moves and children; the root, which follows the game; the limit of the memory |
//! | `puct`, `select` | cpuct, first-play urgency, moves-left utility; which children of a node get visits |
//! | `candidates`, `rival` | dealing visits out to them; the highest score and the next |
//! | `positions`, `graph`, `meet` | positions that several moves lead to: their table, what they share, and visits that come to them |
//! | `expand` | ends of the game |
//! | `backup` | values on their way up, and what they prove |
//! | `rules`, `batch` | what gathering goes by; what a batch is |
//! | `gather`, `classify`, `settle` | batches: going down the tree, what the leaves are, what becomes of the visits |
//! | `prefetch` | memory asked for before it is needed |
//! | `setting` | what stays the same while a search runs |
//! | `state` | what threads share under the lock, the question to the stoppers |
//! | `wdl_rescale`, `noise`, `temperature` | contempt and sharpness; noise at the root; a move at random |
//! | `desk`, `portion` | batches between one hand and the next; how much is worth handing over |
//! | `request` | what a search is given, and what comes back |
//! | `shared` | what its threads have in common |
//! | `worker`, `watchdog` | what its threads do |
//! | `running` | a search on threads of its own, as a value |
//! | `synchronous` | a search on the caller's thread, over any clock |
//! | `answer` | the answer from the tree, or without it |
//! | `ranking` | the order of the root's moves, best move |
//! | `report` | root statistics, lines |
//!
//! One lock guards the tree, and it is held for what needs the tree alone: going down, a round of visits together, and
//! backing up. Positions, legal moves, planes, the network and the softmax need none of it. So half of the time goes by
//! without the lock even where the network costs nothing, and nearly all of it with one. Whoever has the tree does what
//! is to be done there for all batches, so that it stays in the caches of one processor (see `desk`).
//!
//! Memory: a visited node takes 32 bytes, and its priors a byte each. The moves are generated again, sorted and kept only
//! when it is visited a second time (3 bytes each). From the start position that is 80 to 103 bytes a visit all told, where
//! Lc0 takes 210.
//!
//! Where it differs from Lc0's classic search:
//!
//! - Priors are kept in 8 bits (see `policy`), where Lc0's have 16 and a fast exponential; the visits of
//!   `tests/search_golden.rs` differ from Lc0's by 0.005 on average.
//! - `MaxCollisionEvents`, which does nothing in Lc0, limits the nodes at which visits of a batch collide. The
//!   network is asked for nothing but visits (Lc0's prefetch).
//! - Drawn ends are ranked by visits like open moves, the shorter first among equals: Lc0's rule is no order.
//! - `go depth` ends when every root move is decided, and node limits are met exactly.
//! - Noise is drawn anew for every search, also at a root that was found in the reused tree.
//! - At `RamLimitMb` it goes on, and forgets what was visited least; Lc0 stops. It ends at 4,294,967,295 visits of the root.

mod answer;
mod backup;
mod batch;
mod body;
mod candidates;
mod classify;
mod desk;
mod expand;
mod follow;
mod gather;
mod graph;
mod growth;
mod meet;
mod node;
mod noise;
mod packed;
mod params;
mod policy;
mod pool;
mod portion;
mod positions;
mod prefetch;
mod puct;
mod ranking;
mod recycle;
mod report;
mod request;
mod rival;
mod rules;
mod running;
mod select;
mod setting;
mod settle;
mod shared;
mod state;
mod synchronous;
mod temperature;
mod tree;
mod watchdog;
mod wdl_rescale;
mod worker;

pub use noise::Noise;
pub use params::{Cpuct, Fpu, MovesLeftParams, SearchParams};
pub use report::{Line, MoveStats, Report};
pub use request::{EndReason, Finished, Guess, Listener, NotStarted, SearchEnd, SearchRequest};
pub use running::Search;
pub use temperature::Temperature;
pub use tree::Tree;
pub use wdl_rescale::WdlRescale;
