//! Searches with PUCT in the manner of Lc0's classic search (docs/lc0.md, 3), over an injected
//! [`Backend`](zeitnot_backend::Backend) and an injected [`Clock`](zeitnot_base::clock::Clock).
//!
//! An [`Engine`](crate::engine::Engine) begins the searches: it fills in the request, and keeps tree and time from move
//! to move.
//!
//! | module | contents |
//! |---|---|
//! | `tree` | nodes, edges and their memory; expansion, tree reuse, the memory limit, saved trees, terminal detection, backup |
//! | `gather` | selection by PUCT, batches, and the leaves that a batch evaluates |
//! | `root` | the order of the root's moves, the last look at the one that is played, the report, the observer of its growth, temperature, contempt |
//! | `run` | the threads of a search in play, workers and watchdog, and the synchronous search on any clock |
//! | `context`, `params`, `request` | the facts of one search; the parameters; the question and the answer |
//!
//! One lock guards the tree. It is held while a round of visits goes down the tree, and while a batch is backed up.
//! Positions, legal moves, planes, the network and the softmax need no lock. So half of the time passes without the
//! lock even where the network costs nothing, and nearly all of it with a network. One worker at a time gathers and
//! backs up for all batches, so that the tree stays in the caches of one processor (see `run/work_queue.rs`).
//!
//! Memory: a visited node takes 32 bytes, and its priors a byte each. The moves are generated again, sorted and kept
//! only when it is visited a second time (3 bytes each). From the start position that is 80 to 103 bytes a visit
//! altogether, where Lc0 takes 210.
//!
//! Where it differs from Lc0's classic search:
//!
//! - Priors are kept in 8 bits (see `tree/prior_codes.rs`), where Lc0's have 16 and a fast exponential; the visits of
//!   `tests/engine/search_golden.rs` differ from Lc0's by 0.005 on average.
//! - `MaxCollisionEvents`, which does nothing in Lc0, limits the nodes at which visits of a batch collide. The
//!   network evaluates visited positions alone: nothing is prefetched, unlike in Lc0.
//! - Drawn ends are ranked by visits like open moves, the shorter first among equals: Lc0's rule is no order.
//! - `go depth` ends when every root move is decided, or the lines end before that depth (`run/depth_growth.rs`), and
//!   node limits are met exactly, also where there is only one legal move.
//! - The depth that is shown does not fall while the tree is kept.
//! - Noise is drawn anew for every search, also at a root that was found in the reused tree.
//! - At `RamLimitMb` the search goes on and prunes the subtrees with the fewest visits; Lc0 stops. It ends at
//!   4,294,967,295 visits of the root.

mod context;
mod gather;
mod params;
mod request;
mod root;
mod run;
mod tree;

pub(crate) use context::tree_share;
pub(crate) use params::{Cpuct, Fpu, MovesLeftParams, SearchParams};
pub use request::{EndReason, Guess, Listener, SearchEnd};
pub(crate) use request::{Finished, SearchRequest};
pub(crate) use root::last_look::look_by_material;
pub(crate) use root::observer::SharedRootObserver;
pub use root::observer::{RootMove, RootObserver};
pub use root::report::{Line, MoveStats, Report};
pub(crate) use root::temperature::Temperature;
pub(crate) use root::wdl_rescale::WdlRescale;
pub(crate) use run::{Hit, Search, SearchThreads};
pub use tree::MOST_MOVES;
pub(crate) use tree::Tree;
pub(crate) use tree::root_noise::Noise;
pub(crate) use tree::saved::{NoTree, Saved, SavedTop};
