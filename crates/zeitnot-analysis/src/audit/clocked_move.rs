//! Holds the times of one move, and what may be wrong with them.

use zeitnot_engine::chess::Color;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockedMove {
    /// Plies from the game's start position.
    pub ply: usize,
    /// The side that moved.
    pub color: Color,
    /// The clock before the move, in milliseconds; `None` where times are given, but no clock or time control.
    pub clock_ms: Option<f64>,
    pub used_ms: f64,
    pub increment_ms: f64,
    /// Moves until the next period of the time control, this one among them.
    pub moves_to_go: Option<u32>,
    /// Moves of this side from this one to the end of the game.
    pub moves_left: u32,
    /// Nodes of the search, where the comments give them.
    pub nodes: Option<u64>,
    /// Budget of the player's time manager, in milliseconds, where the comments give it.
    pub budget_ms: Option<f64>,
    /// Time that went by outside of the engine, in milliseconds, where a runner reports it.
    pub latency_ms: Option<f64>,
    /// Lateness of the move, in milliseconds, where a runner reports a clock below 0.
    pub over_ms: Option<f64>,
    /// Whether the move used more than its clock, by more than rounding explains.
    pub is_overrun: bool,
}

/// A move whose times are impossible under the time control and the convention by which the comments are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt {
    /// Plies before the move.
    pub ply: usize,
    /// The clock before the move, in milliseconds.
    pub clock_ms: f64,
    /// The time that the move would have used, in milliseconds; below 0 where the clock rose by more than the time
    /// control gives.
    pub used_ms: f64,
    /// Whether the game's moves lack this one, as its time is below 0, or was worked out and not given.
    pub is_left_out: bool,
}
