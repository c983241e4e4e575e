//! Plays games between two configurations of this engine and writes them down: the beginning of the time laboratory.

mod pgn;
mod play;
mod score;
mod time_control;

pub use pgn::write_pgn;
pub use play::{GameRecord, MoveRecord, Player, Termination, play};
pub use score::Score;
pub use time_control::{PRESETS, TimeControl, TimeControlError};
