//! Zeitnot (chess German for *time trouble*) is a UCI chess engine: a PUCT search in the manner of Lc0 over neural
//! networks with policy, win/draw/loss and moves-left heads, and an engine that treats the clock as a first-class
//! subject.
//!
//! # The house, lowest crate first
//!
//! A crate uses only crates above its own row; Cargo holds that. Each crate's `lib.rs` has the table of its modules.
//!
//! | crate | what lives there | must not know |
//! |---|---|---|
//! | [`zeitnot_text`] | numbers for people, characters that are safe to print, the files that a user names | everything else |
//! | [`zeitnot_time`] | time management: managers, estimators, stoppers, the grammar `name(param=value,...)`, the timekeeper of a game, the event log; pure, time comes in as numbers | chess, threads, the wall clock |
//! | [`zeitnot_charts`] | charts as SVG | everything but text |
//! | `zeitnot_kernels` | arithmetic of networks on a processor, for each instruction set; all that is unsafe about it | everything else |
//! | [`zeitnot_engine`] | one playing engine: clock, chess, networks, runtimes, backends, tablebases, the search, the engine with its options | UCI, command lines, the laboratory |
//! | [`zeitnot_lab`] | the time laboratory and the measurements of a machine: games on a real or virtual clock, recordings, replay, simulation, audits, reports, benchmarks | UCI, command lines |
//! | `zeitnot` | this package, the program: [`uci`], the protocol as text; [`crash_report`]; and `commands`, one file a subcommand, which parses the command line and maps errors to exit codes | how a network runs, how a search works |
//!
//! Beside them lie `models/` (the networks of our own, how they were trained, and the labeller of training games, a
//! crate), `tests/` (the program from outside), `benches/`, `fuzz/` and `docs/` (a book).
//!
//! # The faces between the crates
//!
//! - [`zeitnot_time::TimeManager`]: `plan(&MoveRequest) -> Plan`, `observe(&SearchSnapshot) -> Verdict`,
//!   `finish(&MoveOutcome)`. A plan carries the ordered terms that led to it; every explanation is printed from them.
//! - [`zeitnot_time::Timekeeper`]: everything about time that lasts from move to move of one game. The engine, a replay
//!   and a simulation all drive this one thing; its event log serialises without loss.
//! - [`zeitnot_engine::engine::Engine`]: options in, answers out. Its crate lists the faces below it.
//! - [`zeitnot_lab::Player`]: one side of a match, this engine or another one as a process; [`zeitnot_lab::run_match`]
//!   plays many games at once and hands them over in order, so that a match on virtual clocks is the same at any
//!   concurrency.
//!
//! # Citations in comments
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

pub mod crash_report;
pub mod uci;
