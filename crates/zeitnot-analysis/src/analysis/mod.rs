//! Analyses games that were played: evaluates every position, rates the accuracy of both sides, judges the moves, and
//! audits how the players spent their clocks.
//!
//! The formulas are those of lichess, in lila and scalachess, so that the numbers compare with what people know; beside
//! them stands the expected score that a move loses by win, draw and loss.
//!
//! | file | content |
//! |---|---|
//! | `evaluation` | evaluations from White's side, and the win percentage |
//! | `accuracy` | accuracy of moves and of a game, average loss of centipawns |
//! | `judgement` | inaccuracies, mistakes and blunders |
//! | `position_facts` | what a search, or a comment, says of a position |
//! | `search` | searches of the positions of a game, from the last one back |
//! | `phase` | opening, middlegame and endgame |
//! | `document` | the result as JSON |
//! | `clock_sums`, `clock_audit` | thoughts that bought nothing, moves that needed one, time trouble, and a score |
//! | `analysed` | a game analysed: facts of its positions put together |
//! | `moments` | the moments of a game to look at first |
//! | `page_data` | the analysis in the short form of its page |
//! | `players` | players over many games |
//! | `annotated_pgn` | the game as PGN with evaluations, glyphs and comments |

mod accuracy;
mod analysed;
mod annotated_pgn;
mod clock_audit;
mod clock_sums;
mod document;
mod evaluation;
mod judgement;
mod moments;
mod page_data;
mod phase;
mod players;
mod position_facts;
mod search;

pub use analysed::analysed;
pub use annotated_pgn::{annotated_with_rest, is_annotation_of};
pub use clock_audit::SHORT_OF_TIME;
pub use document::{AnalysedGame, AnalysedNetwork, Analysis};
pub use evaluation::{Eval, START, winning_chances};
pub use page_data::page_data;
pub use position_facts::{PositionFacts, facts_in_comments};
pub use search::{AnalysisError, Analyst, Effort};
