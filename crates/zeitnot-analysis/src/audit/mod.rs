//! Reads how engines and people spent their clocks from the games that they left: PGN with the clock comments of match
//! runners and servers, and the log of Lc0's time manager. Says what this program's managers would have granted.
//!
//! | file | what |
//! |---|---|
//! | `time_control_tag`, `time_control_units` | PGN's tag `TimeControl`, with several periods and in its many spellings |
//! | `clocked_move` | the times of one move |
//! | `convention`, `side_times` | the convention of a game's clock comments, and the clock of a side under it |
//! | `game_speed` | bullet, blitz, rapid, classical, daily |
//! | `game_times` | the clock and the time of every move of a game |
//! | `time_loss`, `lost_on_time` | which side ran out of time, and how it came to that |
//! | `remarks` | assumptions, and what was left out, over the games of a file |
//! | `advice`, `estimates` | the budgets that a time manager would have granted in a game, and their sums |
//! | `summary` | how a player used its clock, over all games |
//! | `move_name` | a move with its number |

mod advice;
mod clocked_move;
mod convention;
mod estimates;
mod game_speed;
mod game_times;
mod lost_on_time;
mod move_name;
mod remarks;
mod side_times;
mod summary;
mod time_control_tag;
mod time_control_units;
mod time_loss;

pub use advice::{Advice, advice, plan_of};
pub use clocked_move::{ClockedMove, Doubt};
pub use estimates::ManagerSums;
pub use game_speed::GameSpeed;
pub use game_times::{GameTimes, game_times};
pub use lost_on_time::{LongThought, LostOnTime, is_player, lost_on_time, player_name, unplayed_move};
pub use move_name::move_name;
pub use remarks::{Remark, Remarks};
pub use summary::{PlayerClock, PlayerClocks};
pub use time_control_tag::{TaggedControl, TimeControlTag, read_tag};
pub use time_loss::TimeLoss;
pub use zeitnot_games::pgn_reader::{MoveTimes, move_times};
