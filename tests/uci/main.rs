//! The binary as a UCI engine, over its pipes.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../common/uci.rs"]
mod driver;

mod analysis;
mod books_and_tables;
mod by_hand;
mod chess960;
mod clients;
#[cfg(unix)]
mod external_managers;
mod fuzz;
mod lc0_options;
mod levels;
mod memory;
mod networks;
mod options;
mod ponder;
mod protocol;
mod robustness;
mod search;
mod stress;
mod transcripts;
mod tree;
