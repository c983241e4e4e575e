//! wip
pub mod runtime;
