//! Drives the engine as a library: networks, backends, searches, each beside what Lc0 or another computation gave.

#[path = "../common/mod.rs"]
mod common;

mod backend;
mod backend_shared;
mod chess_shared;
mod contempt_shared;
mod maia3;
mod native;
mod network_shared;
mod positions;
mod proof;
mod proof_shared;
mod root_visits;
mod search;
mod search_golden;
mod tablebase_shared;
mod virtual_clock;
