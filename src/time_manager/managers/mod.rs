//! The time managers, one page each: formulas, a worked example, when to use it. A new one is a `ManagerSpec` in `ALL` and
//! an implementation of [`TimeManager`](super::TimeManager); the tests of safety run over this list.

pub mod adaptive;
pub mod alphazero;
pub mod complexity;
#[cfg(test)]
#[path = "emergency_tests.rs"]
mod emergency_tests;
#[cfg(test)]
mod golden;
pub mod legacy;
pub mod simple;
pub mod smooth;
pub mod soft_hard;

use super::params::ManagerSpec;

/// Every manager that can be chosen.
pub(super) const ALL: &[ManagerSpec] = &[
    smooth::SPEC,
    smooth::pr1195::SPEC,
    smooth::lc0::SPEC,
    legacy::SPEC,
    simple::SPEC,
    alphazero::SPEC,
    adaptive::SPEC,
    complexity::SPEC,
    soft_hard::SPEC,
    soft_hard::BASIC,
];
