//! Reads games that were played: evaluations, accuracy and judgements of moves, and how the players used their clocks.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`audit`] | how the players of games that were played elsewhere used their clocks |
//! | [`analysis`] | games analysed: evaluations, accuracy, judgements, annotated PGN, and how the players spent their clocks |

#![allow(missing_docs, reason = "items whose names say what they are have no words beside them")]

pub mod analysis;
pub mod audit;
