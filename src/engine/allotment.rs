//! The time manager's part: the manager of the game, what it is asked for a move, and when a move without it is due.

use super::{Engine, EngineError, SideClock};
use crate::search::Tree;
use crate::time_manager::{self, MoveRequest, Plan, SearchLimits, TimeManager};

impl Engine {
    /// The manager of this game; a new one for a new game, or when another one was asked for.
    pub(super) fn take_manager(&mut self) -> Result<Box<dyn TimeManager>, EngineError> {
        let spec = self.options.time_manager_spec().into_owned();
        match self.manager.take() {
            Some(manager) if self.manager_spec == spec => Ok(manager),
            _ => {
                let manager = time_manager::build(&spec)?;
                self.manager_spec = spec;
                Ok(manager)
            }
        }
    }

    /// What may pass between this engine and the judge of its clock: what the user says, and what was measured on top.
    fn overhead_ms(&self) -> f64 {
        self.options.move_overhead as f64 + self.lag.overhead_ms()
    }

    pub(super) fn move_request(&self, clock: SideClock, movestogo: Option<u32>) -> MoveRequest {
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        let position = self.game.current();
        let legal_moves = position.legal_moves();
        MoveRequest {
            clock_ms: clock.time_ms,
            increment_ms: clock.increment_ms,
            moves_to_go: movestogo,
            ply: position.ply(),
            overhead_ms: self.overhead_ms(),
            reused_nodes: self.tree.as_ref().map_or(0, |tree| u64::from(tree.visits())),
            moves_left_plies: self.tree.as_ref().and_then(Tree::moves_left).filter(|_| has_moves_left),
            pieces: Some(position.piece_count()),
            legal_moves: Some(legal_moves.len() as u32),
            captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
            in_check: position.is_check(),
        }
    }
}

/// What a slow first evaluation may take beyond the move's limit, in milliseconds, if the limit itself is shorter.
const FIRST_EVALUATION_GRACE_MS: f64 = 1000.0;

/// What a first evaluation gets in any case, in milliseconds: a clock shorter than this is lost, or its judge is lenient.
const FIRST_EVALUATION_LEAST_MS: f64 = 25.0;

/// When a move is due although nothing was evaluated for it yet. Better a late good move than a random one, but not a lost
/// game: as long again as the limit of the move (or a second), and half of what then is left at the most.
pub(super) fn due_ms(
    limits: &SearchLimits,
    plan: Option<&Plan>,
    clock: Option<SideClock>,
    overhead_ms: f64,
) -> Option<f64> {
    let (limit_ms, end_ms) = match (plan, clock, limits.movetime_ms) {
        _ if limits.infinite || limits.ponder => return None,
        (Some(plan), Some(clock), _) => (plan.hard_limit_ms, clock.time_ms),
        (_, _, Some(movetime_ms)) => (movetime_ms - overhead_ms, movetime_ms),
        _ => return None,
    };
    let limit_ms = limit_ms.max(0.0);
    let late_ms = ((end_ms - limit_ms).max(0.0) / 2.0).min(limit_ms.max(FIRST_EVALUATION_GRACE_MS));
    Some((limit_ms + late_ms).max(FIRST_EVALUATION_LEAST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_evaluation_may_be_late_but_not_lose_the_game() {
        let movetime = |ms| SearchLimits { movetime_ms: Some(ms), ..SearchLimits::default() };
        // 300 ms less the overhead of 200, and half of those 200.
        assert_eq!(due_ms(&movetime(300.0), None, None, 200.0), Some(200.0));
        assert_eq!(due_ms(&movetime(100.0), None, None, 200.0), Some(50.0));
        assert_eq!(due_ms(&SearchLimits { infinite: true, ..movetime(100.0) }, None, None, 200.0), None);
        let mut manager = time_manager::build("smooth").expect("the default manager exists");
        let mut due = |clock_ms: f64| {
            let request = MoveRequest { clock_ms, overhead_ms: 200.0, ..MoveRequest::default() };
            let plan = manager.plan(&request);
            let clock = SideClock { time_ms: clock_ms, increment_ms: 0.0 };
            (
                plan.hard_limit_ms,
                due_ms(&SearchLimits::default(), Some(&plan), Some(clock), 200.0).expect("it is timed"),
            )
        };
        let (limit, late) = due(60_000.0);
        assert_eq!(late, limit * 2.0, "as long again");
        assert_eq!(due(150.0), (0.0, 75.0), "half of what is left");
        assert_eq!(due(0.0), (0.0, 25.0), "but never nothing");
    }
}
