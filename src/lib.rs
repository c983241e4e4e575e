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
//! | [`zeitnot_base`] | text for people, the files that a user names, clocks, memory, other programs as child processes, random numbers, digests | everything else |
//! | [`zeitnot_time`] | time management: managers, estimators, stoppers, the grammar `name(param=value,...)`, the timekeeper of a game, the event log; pure, time comes in as numbers | chess, threads, the wall clock |
//! | [`zeitnot_charts`] | charts as SVG, and the page of games | everything but text |
//! | `zeitnot_kernels` | arithmetic of networks on a processor, for each instruction set; all that is unsafe about it | everything else |
//! | [`zeitnot_chess`](zeitnot_engine::chess) | the game over shakmaty: positions, history, repetitions, the fifty-move rule, Chess960, FEN, moves as UCI and PGN write them | networks, searches |
//! | [`zeitnot_network`](zeitnot_engine::network) | networks as data: Lc0 weights, the ONNX graph made from them, input planes, the policy index; where they are found and how they are fetched | what runs them |
//! | [`zeitnot_runtime`](zeitnot_engine::runtime) | ONNX Runtime on this machine: found, probed, loaded, installed; its execution providers and the libraries that they need | networks |
//! | [`zeitnot_backend`](zeitnot_engine::backend) | networks at work: `native`, ONNX Runtime's providers, several devices and the cache as decorators, `uniform` and `random` | searches |
//! | [`zeitnot_engine`] | one playing engine: the search, time managers by name, tablebases, books, options, levels | UCI, command lines, the laboratory |
//! | [`zeitnot_games`] | timed games: matches on a real or virtual clock, players, openings, PGN, Elo and SPRT | UCI, command lines |
//! | [`zeitnot_analysis`] | games that were played, read: judged moves, annotated PGN, audits of clocks | UCI, command lines |
//! | [`zeitnot_lab`] | the time laboratory and the measurements of a machine: recordings, replay, simulation, benchmarks, reports | UCI, command lines |
//! | `zeitnot` | this package, the program: [`uci`], the protocol as text; [`crash_report`]; and `commands`, one file a subcommand, which parses the command line and maps errors to exit codes | how a network runs, how a search works |
//!
//! Beside them lie `models/` (the networks of our own, how they were trained, and the labeller of training games, a
//! crate), `tests/` (the program from outside), `benches/`, `fuzz/` and `docs/` (a book).
//!
//! # From `go wtime` to `bestmove`
//!
//! No file uses one of an earlier step; a test reads this table and every import.
//!
//! | step | what it does |
//! |---|---|
//! | `src/uci/session.rs` | loads what is not loaded yet, takes that time off the clock, and begins |
//! | `src/uci/parse.rs` | reads the clocks and limits of `go` |
//! | `crates/zeitnot-engine/src/engine/searching.rs` | starts the search of a turn, or answers from a book |
//! | `crates/zeitnot-engine/src/engine/turn.rs` | decides everything that this `go` means |
//! | `crates/zeitnot-engine/src/engine/strength.rs` | has the manner of a level or of a Maia |
//! | `crates/zeitnot-engine/src/engine/game_state.rs` | has the game, its tree and its clock |
//! | `crates/zeitnot-time/src/timekeeper.rs` | keeps the time of a game, and begins and ends its moves |
//! | `crates/zeitnot-time/src/managers/smooth/mod.rs` | plans the budget |
//! | `crates/zeitnot-engine/src/search/run/search.rs` | runs one search with its threads |
//! | `crates/zeitnot-engine/src/search/run/worker.rs` | gathers a batch, has it evaluated, backs it up |
//! | `crates/zeitnot-engine/src/search/gather/mod.rs` | chooses leaves by PUCT |
//! | `crates/zeitnot-engine/src/search/tree/backup.rs` | takes values up the tree |
//! | `crates/zeitnot-time/src/stoppers/mod.rs` | says after each batch whether the search ends |
//! | `crates/zeitnot-engine/src/search/run/answer.rs` | makes the answer |
//! | `src/uci/reporter.rs` | hears of the plan, of progress and of the end |
//! | `src/uci/print.rs` | prints `info` and `bestmove` |
//!
//! # The faces between the crates
//!
//! - [`zeitnot_time::TimeManager`]: `plan(&MoveRequest) -> Plan`, `observe(&SearchSnapshot) -> Verdict`,
//!   `finish(&MoveOutcome)`. A plan carries the ordered terms that led to it; every explanation is printed from them.
//! - [`zeitnot_time::Timekeeper`]: everything about time that lasts from move to move of one game. The engine, a replay
//!   and a simulation all drive this one thing; its event log serialises without loss.
//! - [`zeitnot_engine::engine::Engine`]: options in, answers out. Its crate lists the faces below it.
//! - [`zeitnot_games::Player`]: one side of a match, this engine or another one as a process; [`zeitnot_games::run_match`]
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
