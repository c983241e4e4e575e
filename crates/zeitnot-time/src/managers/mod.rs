//! The time managers, one page each, with formulas, a worked example and when to use it. A new one is a `ManagerSpec`
//! in `ALL` and an implementation of [`TimeManager`](super::TimeManager); the tests of safety run over this list.

pub mod alphazero;
pub mod guests;
pub mod human;
#[cfg(test)]
mod lc0_tests;
pub mod legacy;
pub mod simple;
pub mod smooth;

use super::params::ManagerSpec;

/// Every manager that can be chosen.
pub(super) const ALL: &[ManagerSpec] = &[
    smooth::SPEC,
    smooth::pr1195::SPEC,
    smooth::lc0::SPEC,
    human::SPEC,
    legacy::SPEC,
    simple::SPEC,
    alphazero::SPEC,
    guests::adaptive::SPEC,
    guests::complexity::SPEC,
    guests::soft_hard::SPEC,
    guests::soft_hard::BASIC,
];
