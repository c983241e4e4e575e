//! Plays timed games as a laboratory: on the machine's clock or as computations on a virtual one, several at once, between
//! configurations of this engine and other engines, with their statistics.
//!
//! | file | what |
//! |---|---|
//! | `time_control`, `period_clock`, `openings` | clocks and start positions |
//! | `player`, `engine_player`, `external_player`, `external` | the players: this engine, and others as processes |
//! | `play`, `adjudication`, `lag`, `record` | one game: its clocks, its end, and all that is kept of it |
//! | `runner`, `journal`, `journal_error` | the games of a match, several at once, and going on after an interruption |
//! | `decisions` | all that time managers were asked, saw and decided in a match, and the check that it comes out again |
//! | `pgn`, `pgn_reader`, `lines` | games as PGN: written, and read one after another with their comments; lines in a buffer of one size |
//! | [`traces`] | searches recorded far beyond their budgets, time managers replayed over them, and short searches judged by them |
//! | [`simulation`] | the clocks of thousands of games, drawn from recorded ones |
//! | `comparison`, `time_use` | several players at several time controls, and how they used their clocks |
//! | `sample`, `rereadable` | bounded samples of numbers without end, and files that are read twice |
//! | [`words`] | numbers as people read them |
//! | [`bootstrap`] | intervals of means over moves, by drawing whole games |
//! | [`audit`] | how the players of games that were played elsewhere used their clocks |
//! | [`tune`] | parameters tuned by SPSA on matches or replays |
//! | [`report`] | a page with charts about all of these |
//! | [`strength`] | Elo, SPRT and ratings from results |

mod adjudication;
pub mod audit;
pub mod bootstrap;
mod comparison;
mod decisions;
mod engine_player;
mod external;
mod external_player;
mod journal;
mod journal_error;
mod lag;
mod lines;
mod openings;
mod period_clock;
mod pgn;
mod pgn_reader;
mod play;
mod player;
mod record;
pub mod report;
mod rereadable;
mod runner;
mod sample;
pub mod simulation;
pub mod strength;
mod time_control;
mod time_use;
pub mod traces;
pub mod tune;
pub mod words;

pub use adjudication::{Adjudication, DrawRule, ResignRule, RuleError};
pub use comparison::{Cell, Comparison, PlayerTimes, Rank};
pub use decisions::{DecisionError, DecisionLog, Verified, verify_decisions};
pub use engine_player::EnginePlayer;
pub use external::{ExternalAnswer, ExternalEngine, ExternalError, ExternalScore, GoClock, Patience, program_file};
pub use external_player::ExternalPlayer;
pub use journal::{Entry, Journal, read_journal};
pub use journal_error::JournalError;
pub use lag::{LagError, LagModel};
pub use openings::{OpeningOrder, Openings, OpeningsError};
pub use pgn::write_pgn;
pub use pgn_reader::{PgnGame, PgnGames, read_games};
pub use play::{Limits, Pairing, Rules, play};
pub use player::{Player, PlayerError, Thought, Turn};
pub use record::{Evaluation, GameRecord, MoveRecord, Termination};
pub use rereadable::Rereadable;
pub use runner::{Event, MatchEnd, MatchError, MatchPlan, Players, counted, run_match};
pub use time_control::{PRESETS, Preset, TimeControl, TimeControlError, TimeControls};
pub use time_use::{MoveTime, Quantiles, TimeUse};
