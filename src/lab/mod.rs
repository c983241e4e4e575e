//! The time laboratory. For now: games between two configurations of this engine on the real clock, and the bench.

mod bench;
mod pgn;
mod play;
mod time_control;

pub use bench::{BENCH_POSITIONS, BenchResult, bench};
pub use pgn::write_pgn;
pub use play::{GameRecord, MoveRecord, Player, Termination, play};
pub use time_control::{TimeControl, TimeControlError};
