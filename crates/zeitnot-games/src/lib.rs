//! Timed games on real and virtual clocks: matches with their players, openings and statistics, and PGN read and written.
//!
//! A module uses only modules above its own row; a test reads this table and every import.
//!
//! | module | what lives there |
//! |---|---|
//! | [`strength`] | Elo, SPRT and ratings from results |
//! | [`bootstrap`] | intervals of means over moves, by drawing whole games |
//! | [`sample`] | means, bounded samples and quantiles of numbers |
//! | `games` | timed games and matches, their players, openings and clocks; PGN read and written |
//! | [`setup`] | matches prepared: players, networks, clocks and start positions |
//! | `clock_use`, `comparison` | how players used their clocks; several players at several time controls |
//! | [`proof`] | games at three scales that show what the default manager is worth, and bounds declared before them |

#![allow(missing_docs, reason = "items whose names say what they are have no words beside them")]

pub mod bootstrap;
pub mod clock_use;
mod comparison;
mod games;
pub mod proof;
pub mod sample;
pub mod setup;
pub mod strength;

pub use clock_use::{ClockUse, MoveTime};
pub use comparison::{Cell, Comparison, PlayerTimes, Rank, Score};
pub use games::*;
pub use sample::Quantiles;

/// Playouts a second where the speed of an engine is not known.
pub const USUAL_NPS: f64 = 1_000.0;
