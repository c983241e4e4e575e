//! The time laboratory and the measurements of a machine: games on a real or virtual clock with their statistics,
//! recorded searches and what time managers make of them, simulated clocks, audits of the clocks of any games,
//! reports, benchmarks.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`strength`] | Elo, SPRT and ratings from results |
//! | [`bootstrap`] | intervals of means over moves, by drawing whole games |
//! | `sample` | means, bounded samples and quantiles of numbers |
//! | [`measure`] | measurements of the engine on this machine: the bench, the evaluator alone, the whole engine |
//! | [`games`] | timed games and matches, their players, openings and clocks; PGN read and written |
//! | [`setup`] | matches prepared: players, networks, clocks and start positions |
//! | `clock_use`, `comparison` | how players used their clocks; several players at several time controls |
//! | [`proof`] | games at three scales that show what the default manager is worth, and bounds declared before them |
//! | [`recordings`] | searches recorded far beyond their budgets, time managers replayed over them, and short searches judged by them |
//! | [`simulation`] | the clocks of thousands of games, drawn from recorded ones |
//! | [`audit`] | how the players of games that were played elsewhere used their clocks |
//! | [`analysis`] | games analysed: evaluations, accuracy, judgements, annotated PGN, and how the players spent their clocks |
//! | [`results`] | the results of all these, as they are printed and read |
//! | [`report`] | a page with charts about all of these |

pub mod analysis;
pub mod audit;
pub mod bootstrap;
mod clock_use;
mod comparison;
pub mod games;
pub mod measure;
pub mod proof;
pub mod recordings;
pub mod report;
pub mod results;
mod sample;
pub mod setup;
pub mod simulation;
pub mod strength;

pub use clock_use::{ClockUse, MoveTime};
pub use comparison::{Cell, Comparison, PlayerTimes, Rank};
pub use games::*;
pub use sample::Quantiles;
