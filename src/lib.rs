//! Zeitnot (chess German for *time trouble*) is a UCI chess engine: a PUCT search in the manner of Lc0 over neural
//! networks with policy, win/draw/loss and moves-left heads, and an engine that treats the clock as a first-class subject.
//!
//! # The rooms, lowest first
//!
//! A module uses only modules above its own row. The last column names the rooms of those that it must not use either; the
//! test `tests/rooms` reads this table and every import.
//!
//! | module | what lives there | must not know |
//! |---|---|---|
//! | [`memory`] | how much memory tree and cache may take by default, whether the system has more, and the allocator's arenas | everything else |
//! | [`splitmix`] | the random numbers that a seed decides on every machine | everything else |
//! | [`clock`] | "now" in milliseconds: the machine's monotonic clock, and the virtual one that evaluations and playouts move | everything else |
//! | [`announcer`] | a sink of progress lines about work that takes long | everything else |
//! | [`printable`] | text that commands no terminal and turns no line | everything else |
//! | [`crash_report`] | the report of a panic, with what the engine was told before it | text protocols |
//! | [`files`] | the files that a user names: their paths as text, what they are, and their content as text | everything else |
//! | [`digest`] | the SHA-256 that tells a file from others | everything else |
//! | [`time_manager`] | clock arithmetic, the grammar `name(param=value,...)`, the managers and their estimators, the stoppers, the explanation of a decision, the timekeeper of one game, and the trace: what was asked, seen and decided, readable and writable; pure: time comes in as numbers | everything else; threads, the wall clock |
//! | [`chess`] | the game over shakmaty: positions, history, repetitions, the fifty-move rule, Chess960, FEN, moves as UCI and PGN write them | everything else |
//! | [`network`] | what a network *is*: Lc0 weights, the ONNX graph made from them, input planes, the policy index, where networks are found and how they are fetched | [`time_manager`] |
//! | [`runtime`] | ONNX Runtime on this machine: found, probed, loaded, installed by package name and hash; its execution providers and the libraries that they need | [`time_manager`], [`chess`], [`network`] |
//! | [`backend`] | how a network *runs*: [`backend::Backend`] and [`backend::Evaluator`], the kernels of `native` for the processor, ONNX Runtime's providers, several devices and the cache as decorators, the calibration of 8 bits, `uniform` and `random` | [`time_manager`] |
//! | [`tablebase`] | Syzygy endgame tables: results inside the search, the moves worth searching at the root | [`time_manager`], [`network`], [`runtime`], [`backend`] |
//! | [`search`] | the tree, PUCT selection, gathering of batches, backup, certainty propagation, root statistics; workers and watchdog for real play, and the synchronous search on the caller's thread | [`runtime`]; text protocols, command lines |
//! | [`engine`] | one playing engine: options, the current game, the search across moves, pondering, opening books; its face has the types of a search's answer | text protocols, command lines |
//! | [`uci`] | the protocol as text, and the loop around an engine | [`network`], [`runtime`], [`backend`], [`tablebase`], [`search`] |
//! | [`measure`] | measurements of the engine on this machine: the bench, the evaluator alone, the whole engine | [`uci`] |
//! | [`lab`] | the time laboratory: games on the real or the virtual clock, openings, pairs, adjudication, other engines as players, matches that go on after an interruption, comparisons, Elo, SPRT, ratings, PGN; recorded searches, time managers replayed over them, short searches judged by them, and games simulated from them; parameters tuned on any of these; audits of the clocks of other games | [`uci`] |
//! | [`labels`] | labelled games for the training of our own networks: sampled from a player's policy, labelled by a teacher | [`search`], [`uci`] |
//! | `commands` | the binary: one file per subcommand | |
//!
//! The binary's `main.rs` parses the command line, and maps errors to exit codes.
//!
//! # The faces between the rooms
//!
//! - [`time_manager::TimeManager`]: `plan(&MoveRequest) -> Plan`, `observe(&SearchSnapshot) -> Verdict`,
//!   `finish(&MoveOutcome)`. A plan carries the ordered terms that led to it; every explanation is printed from them.
//! - [`backend::Backend`] is a network on a device, shared by all; [`backend::Evaluator`] is one worker's private end of it
//!   (a batch of queries in, policy, WDL and moves left out). Decorators wrap backends: the search sees one trait.
//! - [`clock::Clock`]: the search asks an injected clock for "now", so that a game can run on a virtual one.
//! - [`time_manager::Timekeeper`]: everything about time that lasts from move to move of one game. The engine, a replay and a
//!   simulation all drive this one thing; its [`trace`](time_manager::trace) serialises without loss.
//! - [`search::Search::run`] searches on the caller's thread over any clock; [`backend::CostedBackend`] tells below the cache
//!   what a batch costs. Together they make a timed game a computation.
//! - [`engine::Engine::with_backend`]: one loaded network serves many engines, each with its own cache.
//! - [`lab::Player`]: one side of a match, this engine or another one as a process; [`lab::run_match`] plays many games at once and
//!   hands them over in order, so that a match on virtual clocks is the same at any concurrency.
//! - [`search::RootObserver`] sees the root of a running search at the visits that it asks for, with no time of its own: the
//!   laboratory records searches with it.
//! - [`engine::options`]: each option is declared once; the UCI list, the flags and their help come from that declaration.
//!
//! # What the comments cite
//!
//! Formulas and numbers name where they are from. Comments cite two files of the repository by section, as
//! `docs/lc0.md, 3.1`; a test checks that the section exists.
//!
//! - `docs/lc0.md` has the facts about [Lc0](https://github.com/LeelaChessZero/lc0) that the code relies on: what its
//!   source and its program do, each with the source file, option or issue that it comes from.
//! - `docs/documents.md` has the rules of the four documents that time managers were made from: the design page of
//!   Lc0's [PR 1195](https://github.com/LeelaChessZero/lc0/pull/1195) (`smooth`), those of the engines Mergen
//!   (`complexity`) and Sharp Rustic (`adaptive`), and a chapter of a textbook (`soft-hard`).
//!
//! Papers, issues (`#n` is one of Lc0's) and our own measurements are named where they are used.

pub mod announcer;
pub mod backend;
pub mod chess;
pub mod clock;
pub mod crash_report;
pub mod digest;
pub mod engine;
pub mod files;
pub mod lab;
pub mod labels;
pub mod measure;
pub mod memory;
pub mod network;
pub mod printable;
pub mod runtime;
pub mod search;
pub mod splitmix;
pub mod tablebase;
pub mod time_manager;
pub mod uci;
