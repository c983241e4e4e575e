//! The binary as a UCI engine, over its pipes.

#[path = "../common/uci.rs"]
mod driver;

mod networks;
mod options;
mod protocol;
mod robustness;
mod search;
mod stress;
