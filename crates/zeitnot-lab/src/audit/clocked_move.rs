//! Holds the times of one move, and what may be wrong with them.

use zeitnot_engine::chess::Color;

/// A move on a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockedMove {
    /// Plies from the game's start position.
    pub ply: usize,
    /// The side that played it.
    pub color: Color,
    /// The clock before it, in milliseconds; `None` where times are given, but neither a clock nor a time control.
    pub clock_ms: Option<f64>,
    /// Time used, in milliseconds.
    pub used_ms: f64,
    /// The increment that it adds, in milliseconds.
    pub increment_ms: f64,
    /// Moves until the next period of the time control, this one among them.
    pub moves_to_go: Option<u32>,
    /// Moves of this side that followed, this one among them.
    pub moves_left: u32,
    /// Nodes of its search, where they are given.
    pub nodes: Option<u64>,
    /// The budget that its time manager granted, in milliseconds, where it is given.
    pub budget_ms: Option<f64>,
    /// Time that went by outside of the engine, in milliseconds, where a runner reports it.
    pub latency_ms: Option<f64>,
    /// Time by which it came too late, in milliseconds, where a runner reports a clock below 0.
    pub over_ms: Option<f64>,
    /// Whether it used more than the clock had, by more than rounding explains.
    pub is_overrun: bool,
}

/// A move whose times cannot be as the comments, the time control and the convention say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt {
    /// Plies before it.
    pub ply: usize,
    /// The clock before it, in milliseconds.
    pub clock_ms: f64,
    /// The time that it would have used, in milliseconds; below 0 where the clock went up by more than the time control
    /// gives.
    pub used_ms: f64,
    /// Whether it is not among the moves: its time was worked out, not given.
    pub is_left_out: bool,
}
