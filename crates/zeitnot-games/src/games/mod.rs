//! Timed games: on the machine's clock or as computations on a virtual one, several at once, between configurations of
//! this engine and other engines; and games as files.
//!
//! | file | content |
//! |---|---|
//! | `time_control`, `period_clock`, `lag` | time controls, clocks with periods, and the lag of a GUI |
//! | `openings` | start positions |
//! | `player`, `engine_player`, `external_player`, `external` | the players: this engine, and others as processes |
//! | `driven` | an engine that a time manager of ours drives |
//! | `play`, `game_clocks`, `adjudication`, `record` | one game: its clocks, its end, and its record |
//! | `runner`, `journal`, `journal_error` | the games of a match, several at once, and going on after an interruption |
//! | `decisions` | the event logs of the time managers of a match, and the check that a replay decides the same |
//! | `eco` | the names of openings |
//! | `pgn`, `pgn_reader`, `lines` | games as PGN: written, and read one after another with their comments; lines in a buffer of one size |
//! | `rereadable` | files that are read twice |

mod adjudication;
pub mod decisions;
mod driven;
pub mod eco;
mod engine_player;
mod external;
mod external_player;
mod game_clocks;
mod journal;
mod journal_error;
pub mod lag;
mod lines;
pub mod openings;
pub mod period_clock;
mod pgn;
pub mod pgn_reader;
mod play;
mod player;
pub mod record;
mod rereadable;
pub mod runner;
pub mod time_control;

pub use adjudication::{Adjudication, DrawRule, ResignRule, RuleError};
pub use decisions::{DecisionError, DecisionLog, Verified, verify_decisions};
pub use driven::{DRIVEN_OVERHEAD_MS, DrivenClock, DrivenPlayer, Look, told_move};
pub use engine_player::EnginePlayer;
pub use external::{ExternalAnswer, ExternalEngine, ExternalError, Patience, Process, each_line, program_file};
pub use external_player::ExternalPlayer;
pub use game_clocks::{GameClocks, Limits};
pub use journal::{Entry, Journal, is_match_journal, read_journal};
pub use journal_error::JournalError;
pub use lag::{LagError, LagModel};
pub use openings::{OpeningOrder, Openings, OpeningsError, StartError, Starts};
pub use pgn::write_pgn;
pub use pgn_reader::{PgnGame, PgnGames, read_games};
pub use play::{Pairing, Referee, Rules, play};
pub use player::{Player, PlayerError, Thought, Turn};
pub use record::{Evaluation, GameRecord, MoveRecord, Termination};
pub use rereadable::Rereadable;
pub use runner::{Event, MatchEnd, MatchError, MatchPlan, Players, counted, run_match};
pub use time_control::{PRESETS, Preset, TimeControl, TimeControlError, TimeControls};
