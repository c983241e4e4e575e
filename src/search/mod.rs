//! The search: PUCT in the manner of Lc0's classic one (docs/lc0.md, 3), over an injected
//! [`Backend`](crate::backend::Backend) and an injected [`Clock`](crate::clock::Clock).
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
