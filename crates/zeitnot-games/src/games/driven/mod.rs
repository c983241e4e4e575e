//! Drives an engine of any kind by a time manager: its clock, the snapshots of its search, and a player on the virtual
//! clock.
//!
//! | file | content |
//! |---|---|
//! | `heard` | the `info` lines of a search as the snapshots of a time manager |
//! | `clock` | the time of one game: plans, looks and ends |
//! | `player` | a player whose time is its nodes |

mod clock;
mod heard;
mod player;

pub use clock::{DRIVEN_OVERHEAD_MS, DrivenClock, Look};
pub use heard::told_move;
pub use player::DrivenPlayer;
