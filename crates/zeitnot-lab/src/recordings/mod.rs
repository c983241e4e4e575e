//! Records how searches of positions of games grow, far beyond their budgets, so that any time manager can be asked
//! afterwards when it would have stopped, and at what price.
//!
//! | file | what |
//! |---|---|
//! | `recorded_search` | one recorded search: the root at growing counts of visits |
//! | `recording_file`, `packing` | recordings: a line that says what was recorded, then compressed blocks |
//! | `positions` | the positions to record, from PGN and EPD |
//! | `recorder` | searches a position with the tree that a game would have left, and records it |
//! | `replayed_search`, `root_pruning` | a recorded search under a timekeeper |
//! | `replay` | the moves of a game under a time manager: when each search stops, and what is played |
//! | `judgement` | the choices of recorded searches as another engine values them |
//! | `in_order` | many tasks side by side, their results in order |
//! | `regret` | replays at equal mean nodes, the oracle, and errors by bootstrap over games |

mod in_order;
mod judgement;
mod packing;
mod positions;
mod recorded_search;
mod recorder;
mod recording_file;
mod regret;
mod replay;
mod replayed_search;
mod root_pruning;

pub use judgement::{Judge, Judged, JudgementError, apply, judge_all, judgement_of, to_be_judged};
#[cfg(test)]
pub(super) use packing::tests::example as example_search;
pub use positions::{PositionsError, SideOfGame, Sides, read_positions, read_sides};
pub use recorded_search::{RecordedMove, RecordedSearch, RecordedSnapshot};
pub use recorder::{RecordError, Recorder, Recording, record_all};
pub use recording_file::{RecordingFile, RecordingFileError, RecordingHeader, parse_recording, read_recording};
pub use regret::{Oracle, Regret, equal_nodes, meets_nodes, oracle};
pub use replay::{ReplayRules, Replayed, ReplayedMove, replay};
pub(super) use replayed_search::ReplayedSearch;
pub use replayed_search::Speed;
