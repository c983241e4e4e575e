//! Runs the program: its commands, their files and what they print.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/kills.rs"]
mod kills;

mod analyse;
mod analyse_stdio;
mod audit;
mod audit_clocks;
mod bots;
mod cli;
mod commands;
mod devices;
mod drive;
mod encodings;
mod external_engine;
mod external_manager;
mod external_match;
mod fake_lichess;
mod file_names;
mod hostile_lichess;
mod lichess;
mod pgn_files;
mod play;
mod record_replay;
mod terminal;
mod time;
mod virtual_match;
#[cfg(target_os = "linux")]
mod wheel;
