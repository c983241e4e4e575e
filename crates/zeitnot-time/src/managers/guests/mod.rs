//! Keeps the managers made from the documents of other engines, with the parts they are made of. [`parts`] can also be
//! added to any other manager, by `adjust(...)`.

pub mod adaptive;
pub mod complexity;
#[cfg(test)]
mod emergency_tests;
pub mod parts;
pub mod soft_hard;

use crate::accounting::Classes;
use crate::params::ParamValues;
use parts::control::{ControlFactor, SHARP_RUSTIC};
use parts::phase::GamePhase;

/// The classes of the statistics of a game where its manager has none: those of Sharp Rustic (docs/documents.md, 3).
pub(crate) const CLASSES: Classes = Classes {
    phases: GamePhase::NAMES,
    phase: |ply, pieces| GamePhase::of(ply, pieces) as usize,
    control: |clock_ms| ControlFactor::new(&ParamValues::default(), &[], &SHARP_RUSTIC).classify(clock_ms).name(),
};
