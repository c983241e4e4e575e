//! The search: PUCT in the manner of Lc0's classic one (lc0.md C), over an injected [`Backend`](crate::backend::Backend)
//! and an injected [`Clock`].
//!
//! | file | what |
//! |---|---|
//! | `clock` | the one source of time |
//! | `params` | parameters and their defaults |
//! | `node`, `tree` | a node and its arithmetic; the arena whose root follows the game |
//! | `puct` | cpuct, first-play urgency, moves-left utility |
//! | `expand` | ends of the game, priors of a new node |
//! | `backup` | values on their way up, and what they prove |
//! | `gather` | picking leaves, batches, collisions |
//! | `state` | what threads share under the lock, the question to the stoppers |
//! | `running` | a search under way as a value |
//! | `worker`, `watchdog` | what its threads do |
//! | `report` | root statistics, lines, best move |
//!
//! Where it differs from Lc0's classic search:
//!
//! - Leaves are picked one visit at a time, not several on one way down; each collision is one visit, and both of Lc0's
//!   limits are on it, `MaxCollisionEvents` (which does nothing in Lc0) among them. There is no prefetching.
//! - Priors are kept in 32 bits and logarithm and exponential are exact. With Lc0's 16 bits and its fast exponential in
//!   their place the visits of `tests/search_golden.rs` differ by 0.0004 on average instead of 0.004.
//! - Drawn ends are ranked by visits like open moves, the shorter first among equals: Lc0's rule is no order.
//! - `go depth` ends when every root move is decided, and node limits are met exactly.

mod backup;
mod body;
mod classify;
mod clock;
mod expand;
mod gather;
mod node;
mod packed;
mod params;
mod policy;
mod pool;
mod prefetch;
mod puct;
mod report;
mod running;
mod select;
mod state;
mod tree;
mod watchdog;
mod worker;

pub use clock::{Clock, MonotonicClock};
pub use params::{Cpuct, Fpu, MovesLeftParams, SearchParams};
pub use report::{Line, MoveStats, Report};
pub use running::{EndReason, Finished, Listener, NotStarted, Search, SearchEnd, SearchRequest};
pub use tree::Tree;
