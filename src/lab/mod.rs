//! The time laboratory. For now: games between two configurations of this engine on the real clock.

mod pgn;
mod play;
mod time_control;

pub use pgn::write_pgn;
pub use play::{GameRecord, MoveRecord, Player, Termination, play};
pub use time_control::{TimeControl, TimeControlError};
