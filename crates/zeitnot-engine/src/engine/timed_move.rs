//! Recognises a game by its positions and clocks where each position comes as a FEN of its own: adapters and older
//! programs send no moves.
//!
//! Without the moves each position would be the first of another game: the manager would forget what it has learned,
//! and grant each move the bonus of a first one. `legacy` once had 3.4 s left after 13 moves of a game of 10 s instead
//! of 7.2.

use super::GoParams;
use zeitnot_chess::Position;

/// Plies from one search to the next: our move and its reply, our move alone where the engine plays both sides, none
/// where it searches again.
const PLIES: [usize; 3] = [2, 1, 0];
/// Milliseconds that a clock may lose beyond the time that has passed on the engine's clock: by lag, or a referee that
/// counts differently.
const LOST_MS: f64 = 5_000.0;
/// Milliseconds that a clock may gain by rounding.
const ROUNDING_MS: f64 = 1_000.0;

/// The last move of a game that was searched on a clock.
pub(super) struct TimedMove {
    /// The position before the move.
    pub position: Position,
    /// Ply of that position in the game.
    pub ply: u32,
    pub go: GoParams,
    /// When the move's clock started, on the engine's clock.
    pub start_ms: f64,
}

impl TimedMove {
    /// The ply of `next` in the game, which may be more than the counters of its FEN say; `None` if it cannot be the
    /// position of the next search.
    pub(crate) fn ply_of(&self, next: &Position) -> Option<u32> {
        let plies = PLIES.into_iter().find(|plies| self.position.leads_to(next, *plies))?;
        Some(self.ply.saturating_add(plies as u32))
    }

    /// Whether the clock in `go` for the position `next` can be this move's clock later on, at `now_ms` of the engine's
    /// clock: but for lag and rounding, it lost at most the time that has passed, and gained at most an increment.
    pub(crate) fn fits(&self, next: &Position, go: &GoParams, now_ms: f64) -> bool {
        let turn = next.turn();
        let (Some(before), Some(now)) = (self.go.clock(turn), go.clock(turn)) else { return false };
        let passed_ms = (now_ms - self.start_ms).max(0.0);
        let lowest_ms = before.time_ms - passed_ms - LOST_MS;
        let most_ms = match self.go.movestogo {
            // The next period's time comes on top.
            Some(1) => f64::INFINITY,
            _ => before.time_ms + before.increment_ms + ROUNDING_MS,
        };
        (lowest_ms..=most_ms).contains(&now.time_ms)
    }
}

#[cfg(test)]
#[path = "timed_move_tests.rs"]
mod tests;
