//! Defines the parameters of `go`: the clocks and limits of one move.

use zeitnot_chess::{Color, Move};
use zeitnot_time::SearchLimits;

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
    /// Limit on the root's visits, those of the reused tree included.
    pub nodes: Option<u64>,
    /// Limit on the mean depth of the search.
    pub depth: Option<u32>,
    /// Moves in which a mate is looked for.
    pub mate: Option<u32>,
    /// Whether to search until stopped.
    pub infinite: bool,
    /// Whether to search on the opponent's time.
    pub ponder: bool,
    /// Root moves to search; empty: all.
    pub search_moves: Vec<Move>,
}

/// A side's clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideClock {
    /// Time left.
    pub time_ms: f64,
    /// Increment a move.
    pub increment_ms: f64,
    /// Whether the clock is the side's own; else it is the other side's, the only one that was given.
    pub is_own: bool,
}

impl GoParams {
    /// The clock of the side to move; `None` in analysis, while pondering, and without any clock. Where only the other
    /// side's clock is given (by an interface that does not know whose turn it is), that clock is the best guess. A
    /// side's own clock never takes the other side's increment.
    pub fn clock(&self, turn: Color) -> Option<SideClock> {
        if self.infinite || self.ponder {
            return None;
        }
        let (own, other) = ((self.wtime, self.winc), (self.btime, self.binc));
        let (own, other) = if turn.is_white() { (own, other) } else { (other, own) };
        let clock = |time_ms, increment: Option<f64>, is_own| SideClock {
            time_ms,
            increment_ms: increment.unwrap_or(0.0).max(0.0),
            is_own,
        };
        let borrowed = || other.0.map(|time_ms| clock(time_ms, own.1.or(other.1), false));
        own.0.map(|time_ms| clock(time_ms, own.1, true)).or_else(borrowed)
    }

    /// The clock of the side that does not move, in milliseconds, where it is given.
    pub(crate) fn opponent_clock_ms(&self, turn: Color) -> Option<f64> {
        if turn.is_white() { self.btime } else { self.wtime }
    }

    /// The parameters after `passed_ms` of the move's time: its clock and `movetime` are shorter by as much.
    pub fn after(&self, turn: Color, passed_ms: f64) -> GoParams {
        let left = |time_ms: f64| (time_ms - passed_ms).max(0.0);
        let mut params = self.clone();
        let is_own = self.clock(turn).is_none_or(|clock| clock.is_own);
        let clock = if turn.is_white() == is_own { &mut params.wtime } else { &mut params.btime };
        *clock = clock.map(left);
        params.movetime = params.movetime.map(left);
        params
    }

    /// The limits besides the clock. A bare `go` searches until it is stopped. `nodes_as_playouts`: `nodes` limits this
    /// search's playouts, without the visits of the reused tree.
    pub(crate) fn limits(&self, turn: Color, nodes_as_playouts: bool) -> SearchLimits {
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

    fn clock(time_ms: f64, increment_ms: f64, is_own: bool) -> Option<SideClock> {
        Some(SideClock { time_ms, increment_ms, is_own })
    }

    #[test]
    fn the_side_to_move_has_the_clock() {
        let go = GoParams { wtime: Some(1.0), btime: Some(2.0), binc: Some(-5.0), ..GoParams::default() };
        assert_eq!(go.clock(Color::White), clock(1.0, 0.0, true));
        assert_eq!(go.clock(Color::Black), clock(2.0, 0.0, true));
        assert_eq!(GoParams { infinite: true, ..go.clone() }.clock(Color::White), None);
        assert_eq!(GoParams { ponder: true, ..go }.clock(Color::White), None);
        assert_eq!(GoParams { winc: Some(9.0), movetime: Some(9.0), ..GoParams::default() }.clock(Color::White), None);
    }

    #[test]
    fn the_only_clock_given_is_used() {
        let go = GoParams { btime: Some(3.0), ..GoParams::default() };
        assert_eq!((go.clock(Color::White), go.clock(Color::Black)), (clock(3.0, 0.0, false), clock(3.0, 0.0, true)));
        let increments = GoParams { winc: Some(7.0), binc: Some(8.0), ..go.clone() };
        assert_eq!(increments.clock(Color::White), clock(3.0, 7.0, false));
        assert_eq!(GoParams { binc: Some(8.0), ..go.clone() }.clock(Color::White), clock(3.0, 8.0, false));
        // A clock of one's own goes with an increment of one's own.
        let one_sided = GoParams { wtime: Some(1.0), binc: Some(8.0), ..go.clone() };
        assert_eq!(one_sided.clock(Color::White), clock(1.0, 0.0, true));
        assert!(!go.limits(Color::White, false).infinite);
        assert_eq!(go.after(Color::White, 2.0).btime, Some(1.0));
        assert_eq!(go.after(Color::Black, 2.0).btime, Some(1.0));
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
        let nodes = GoParams { nodes: Some(9), ..GoParams::default() };
        assert!(!nodes.limits(Color::White, false).infinite);
        assert_eq!(nodes.limits(Color::White, true).playouts, Some(9));
    }
}
