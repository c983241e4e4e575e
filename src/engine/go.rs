//! Defines the parameters of `go`: the clocks and limits of one move.

use crate::chess::{Color, Move};
use crate::time_manager::SearchLimits;

/// The limits of one move, as `go` gives them. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoParams {
    /// White's clock.
    pub wtime: Option<f64>,
    /// Black's clock.
    pub btime: Option<f64>,
    /// White's increment.
    pub winc: Option<f64>,
    /// Black's increment.
    pub binc: Option<f64>,
    /// Moves to the next time control.
    pub movestogo: Option<u32>,
    /// Time for this move.
    pub movetime: Option<f64>,
    /// Visits of the root, those of the reused tree included.
    pub nodes: Option<u64>,
    /// Mean depth of the search.
    pub depth: Option<u32>,
    /// Moves in which a mate is looked for.
    pub mate: Option<u32>,
    /// Search until told to stop.
    pub infinite: bool,
    /// Search on the opponent's time.
    pub ponder: bool,
    /// Only these moves; empty: all.
    pub search_moves: Vec<Move>,
}

/// A side's clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideClock {
    /// Time left.
    pub time_ms: f64,
    /// Increment a move.
    pub increment_ms: f64,
}

impl GoParams {
    /// The clock of the side to move, if the move is played on it.
    pub fn clock(&self, turn: Color) -> Option<SideClock> {
        if self.infinite || self.ponder {
            return None;
        }
        let (time, increment) = if turn.is_white() { (self.wtime, self.winc) } else { (self.btime, self.binc) };
        time.map(|time_ms| SideClock { time_ms, increment_ms: increment.unwrap_or(0.0).max(0.0) })
    }

    /// The same move after `passed_ms` of its time: the clock of the side to move and `movetime` have so much less.
    pub fn after(&self, turn: Color, passed_ms: f64) -> GoParams {
        let left = |time_ms: f64| (time_ms - passed_ms).max(0.0);
        let mut params = self.clone();
        let clock = if turn.is_white() { &mut params.wtime } else { &mut params.btime };
        *clock = clock.map(left);
        params.movetime = params.movetime.map(left);
        params
    }

    /// The limits beside the clock. A bare `go` searches until it is stopped.
    pub fn limits(&self, turn: Color, nodes_as_playouts: bool) -> SearchLimits {
        let limited = self.clock(turn).is_some()
            || self.movetime.is_some()
            || self.nodes.is_some()
            || self.depth.is_some()
            || self.mate.is_some();
        SearchLimits {
            infinite: self.infinite || !limited,
            ponder: self.ponder,
            nodes: self.nodes.filter(|_| !nodes_as_playouts),
            playouts: self.nodes.filter(|_| nodes_as_playouts),
            movetime_ms: self.movetime,
            depth: self.depth,
            mate: self.mate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_to_move_has_the_clock() {
        let go = GoParams { wtime: Some(1.0), btime: Some(2.0), binc: Some(-5.0), ..GoParams::default() };
        assert_eq!(go.clock(Color::White), Some(SideClock { time_ms: 1.0, increment_ms: 0.0 }));
        assert_eq!(go.clock(Color::Black), Some(SideClock { time_ms: 2.0, increment_ms: 0.0 }));
        assert_eq!(GoParams { infinite: true, ..go.clone() }.clock(Color::White), None);
        assert_eq!(GoParams { btime: None, ..go }.clock(Color::Black), None);
    }

    #[test]
    fn time_that_has_passed_is_off_the_clock_of_the_side_to_move() {
        let go = GoParams { wtime: Some(100.0), btime: Some(90.0), movetime: Some(50.0), ..GoParams::default() };
        let later = go.after(Color::White, 70.0);
        assert_eq!((later.wtime, later.btime, later.movetime), (Some(30.0), Some(90.0), Some(0.0)));
        assert_eq!(GoParams::default().after(Color::Black, 70.0), GoParams::default());
    }

    #[test]
    fn a_bare_go_is_infinite() {
        assert!(GoParams::default().limits(Color::White, false).infinite);
        let other_sides_clock = GoParams { btime: Some(100.0), ..GoParams::default() };
        assert!(other_sides_clock.limits(Color::White, false).infinite);
        let nodes = GoParams { nodes: Some(9), ..GoParams::default() };
        assert!(!nodes.limits(Color::White, false).infinite);
        assert_eq!(nodes.limits(Color::White, true).playouts, Some(9));
    }
}
