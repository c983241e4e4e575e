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

mod backup;
mod clock;
mod expand;
mod gather;
mod node;
mod params;
mod puct;
mod report;
mod running;
mod state;
mod tree;
mod watchdog;
mod worker;

pub use clock::{Clock, MonotonicClock};
pub use params::{Cpuct, Fpu, MovesLeftParams, SearchParams};
pub use report::{Line, MoveStats, Report};
pub use running::{EndReason, Finished, Listener, Search, SearchEnd, SearchRequest};
pub use tree::Tree;
