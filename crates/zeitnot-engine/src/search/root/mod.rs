//! Reads the root: the order of its moves, the report, and the move that is played.

pub(crate) mod last_look;
pub(crate) mod observer;
pub(crate) mod ranking;
pub(crate) mod report;
pub(crate) mod temperature;
pub(crate) mod wdl_rescale;
