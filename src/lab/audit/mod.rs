//! Reads how engines and people spent their clocks from the games that they left: PGN with the clock comments of match runners
//! and servers, and the log of Lc0's time manager. Says what this program's managers would have granted.
//!
//! | file | what |
//! |---|---|
//! | `clock_comment` | the times in the comments of a move |
//! | `time_control_tag` | PGN's tag `TimeControl`, with several periods |
//! | `game_times` | the clock and the time of every move of a game |
//! | `advice` | the budgets that a time manager would have granted in a game |
//! | `tmgr_log` | the lines of Lc0's `smooth` in its log |
//! | `summary` | how a player used its clock, over all games |

mod advice;
mod clock_comment;
mod game_times;
mod summary;
mod time_control_tag;
mod tmgr_log;

pub use advice::advice;
pub use clock_comment::{MoveTimes, move_times};
pub use game_times::{GameTimes, TimedMove, game_times};
pub use summary::{PlayerClock, player_clocks};
pub use time_control_tag::periods;
pub use tmgr_log::{TmgrMove, is_tmgr_log, read_tmgr_log};
