//! Ends searches at their limits and at random moments, with nothing else running in the process.

#[path = "../common/mod.rs"]
mod common;

mod stops;
