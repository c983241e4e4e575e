//! The time managers, one file each. A new one is a [`ManagerSpec`] in [`ALL`] and an implementation of
//! [`TimeManager`](super::TimeManager); the tests of safety run over this list.

mod adaptive;
mod alphazero;
mod complexity;
#[cfg(test)]
mod golden;
mod legacy;
mod simple;
mod smooth;
mod soft_hard;

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
