//! One playing engine as a library: Lc0's networks on processors and graphics cards, a PUCT search, and a clock that a
//! time manager of [`zeitnot_time`] divides.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`memory`] | how much memory tree and cache may take by default, whether the system has more, and the allocator's arenas |
//! | [`splitmix`] | random numbers that a seed decides on every machine |
//! | [`clock`] | "now" in milliseconds: the machine's monotonic clock, and the virtual one that evaluations and playouts move |
//! | [`announcer`] | a sink of progress lines about work that takes long |
//! | [`child`] | other programs as child processes that end with their owner |
//! | [`managers`] | the time managers that specifications name: those of [`zeitnot_time`], and programs behind a pipe |
//! | [`digest`] | the SHA-256 that identifies a file |
//! | [`chess`] | the game over shakmaty: positions, history, repetitions, the fifty-move rule, Chess960, FEN, moves as UCI and PGN write them |
//! | [`network`] | Lc0 weights, the ONNX graph made from them, input planes, the policy index, where networks are found and how they are fetched |
//! | [`runtime`] | ONNX Runtime on this machine: found, probed, loaded, installed by package name and hash; its execution providers and the libraries that they need |
//! | [`backend`] | how a network runs: [`backend::Backend`] and [`backend::Evaluator`], the kernels of `native`, ONNX Runtime's providers, several devices and the cache as decorators, `uniform` and `random` |
//! | [`tablebase`] | Syzygy endgame tables: results inside the search, the moves worth searching at the root |
//! | [`search`] | the tree, PUCT selection, gathering of batches, backup, root statistics; workers and watchdog for real play, and the synchronous search on the caller's thread |
//! | [`engine`] | one playing engine: options, the current game, the search across moves, pondering, opening books |
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

#![cfg_attr(
    not(feature = "onnxruntime"),
    allow(dead_code, unused_imports, reason = "what only ONNX Runtime needs has no other use")
)]

pub mod announcer;
pub mod backend;
pub mod chess;
pub mod child;
pub mod clock;
pub mod digest;
pub mod engine;
pub mod managers;
pub mod memory;
pub mod network;
pub mod runtime;
pub mod search;
pub mod splitmix;
pub mod tablebase;

/// Chess library whose positions and moves [`chess`] takes and gives.
pub use shakmaty;
