//! Replays moves that were observed by running Lc0, on our managers.

use crate::{MoveOutcome, MoveRequest, build};

/// `MoveOverheadMs` of the observations, milliseconds.
const OVERHEAD_MS: f64 = 200.0;

/// One move of Lc0: the request, the budget, and the time that the move took. Times in milliseconds.
pub(super) struct Played {
    pub ply: u32,
    pub clock: f64,
    pub increment: f64,
    pub moves_to_go: Option<u32>,
    /// Lc0's limit, whole milliseconds.
    pub budget: f64,
    pub used: f64,
}

/// Plays the moves on a fresh manager and compares each budget, cut to whole milliseconds as Lc0's are.
#[track_caller]
pub(super) fn check(spec: &str, moves: &[Played]) {
    let mut manager = build(spec).unwrap();
    for (index, played) in moves.iter().enumerate() {
        let plan = manager.plan(&MoveRequest {
            clock_ms: played.clock,
            increment_ms: played.increment,
            moves_to_go: played.moves_to_go,
            ply: played.ply,
            overhead_ms: OVERHEAD_MS,
            ..MoveRequest::default()
        });
        assert_eq!(plan.budget_ms.trunc(), played.budget, "{spec}, move {index}: {plan}");
        manager.finish(&MoveOutcome { elapsed_ms: played.used, ..MoveOutcome::default() });
    }
}
