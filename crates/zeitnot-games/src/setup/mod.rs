//! Prepares matches: players, clocks, start positions and the settings that identify a match, for every command that
//! plays games and for tests.
//!
//! | file | content |
//! |---|---|
//! | `contestant`, `pool`, `engine_line` | the players of a match: configurations of this engine, and other engines |
//! | `networks` | the networks of all players, each loaded once |
//! | `match_clock` | the clock of a match: the machine's or a virtual one |
//! | `repetition` | the check that the games do not repeat each other |
//! | `settings` | the program and the files that decide a match, by digest |
//! | `error` | preparations that fail |

mod contestant;
mod engine_line;
mod error;
mod match_clock;
mod networks;
mod pool;
mod repetition;
mod settings;
#[cfg(test)]
mod tests;

pub use contestant::{Contestant, check};
pub use engine_line::EngineLine;
pub use error::SetupError;
pub use match_clock::MatchClock;
pub use networks::load;
pub use pool::pool;
pub use settings::{add_digests, program_sha256};
