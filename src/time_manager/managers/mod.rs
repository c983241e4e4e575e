//! The time managers, one file each. A new one is a [`ManagerSpec`] in [`ALL`] and an implementation of
//! [`TimeManager`](super::TimeManager); the tests of safety run over this list.

mod alphazero;
#[cfg(test)]
mod golden;
mod legacy;
mod simple;
mod smooth;

use super::params::ManagerSpec;

/// Every manager that can be chosen.
pub(super) const ALL: &[ManagerSpec] = &[smooth::SPEC, legacy::SPEC, simple::SPEC, alphazero::SPEC];
