//! One playing engine as a library: Lc0's networks on processors and graphics cards, a PUCT search, and a clock that a
//! time manager of [`zeitnot_time`] divides.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`managers`] | the time managers that specifications name: those of [`zeitnot_time`], and programs behind a pipe |
//! | [`tablebase`] | Syzygy endgame tables: results inside the search, the moves worth searching at the root |
//! | [`search`] | the tree, PUCT selection, gathering of batches, backup, root statistics; workers and watchdog for real play, and the synchronous search on the caller's thread |
//! | [`engine`] | one playing engine: options, the current game, the search across moves, pondering, opening books |
//!
//! The crates below are here, too, so that one dependency is enough: [`backend`], [`chess`], [`network`], [`runtime`], and of
//! `zeitnot_base` what an engine's user meets.
//!
//! The features `onnxruntime`, `download` (of networks) and `nvml` (readings of NVIDIA's cards) are on by default. Without
//! them the backends are `native`, `uniform` and `random`.
//!
//! # Faces
//!
//! - [`backend::Backend`] is a network on a device, shared by all; [`backend::Evaluator`] is one worker's private end
//!   of it (a batch of queries in, policy, WDL and moves left out). Decorators wrap backends: the search sees one
//!   trait.
//! - [`clock::Clock`]: the search asks an injected clock for "now", so that a game can run on a virtual one.
//! - [`engine::Engine::run`] searches on the caller's thread over any clock; [`backend::CostedBackend`] models below
//!   the cache the cost of a batch. Together they make a timed game a computation.
//! - [`engine::Engine::with_backend`]: one loaded network serves many engines, each with its own cache.
//! - [`search::RootObserver`] sees the root of a running search at the visits that it asks for, with no time of its
//!   own.
//! - [`engine::options`]: each option is declared once; the UCI list, the flags and their help come from that
//!   declaration.

pub mod engine;
pub mod managers;
pub mod search;
pub mod tablebase;

pub use zeitnot_backend as backend;
pub use zeitnot_base::{announcer, child, clock, digest, memory, splitmix};
pub use zeitnot_chess as chess;
pub use zeitnot_network as network;
pub use zeitnot_runtime as runtime;

/// Chess library whose positions and moves [`chess`] takes and gives.
pub use shakmaty;
