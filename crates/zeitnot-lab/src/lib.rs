//! The time laboratory and the measurements of a machine: recorded searches and what time managers make of them, simulated
//! clocks, benchmarks, results and reports.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`measure`] | measurements of the engine on this machine: the bench, the evaluator alone, the whole engine |
//! | [`recordings`] | searches recorded far beyond their budgets, time managers replayed over them, and short searches judged by them |
//! | [`simulation`] | the clocks of thousands of games, drawn from recorded ones |
//! | [`results`] | the results of all these, as they are printed and read |
//! | [`report`] | a page with charts about all of these |

#![allow(missing_docs, reason = "items whose names say what they are have no words beside them")]

pub mod measure;
pub mod recordings;
pub mod report;
pub mod results;
pub mod simulation;
