//! Asks a time manager what it would have granted each move of a game that others played.

use super::game_times::{GameTimes, TimedMove};
use crate::chess::{Color, Game};
use crate::time_manager::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, SpecError, TimeManager, build};

/// Playouts a second where a game does not tell its nodes.
const USUAL_NPS: f64 = 1_000.0;
/// Share of a tree that the next move finds, where nobody tells: about what searches of this engine find.
const USUAL_REUSE: f64 = 0.3;

/// The plans of a manager for every move of a game, one manager for each side. It sees the clocks as they were, learns the
/// speed from the nodes that the game tells, and goes on with the clock that the player left it.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn advice(game: &Game, times: &GameTimes, spec: &str, overhead_ms: f64) -> Result<Vec<Plan>, SpecError> {
    let mut managers = [build(spec)?, build(spec)?];
    let mut reused = [0_u64; 2];
    let mut plans = Vec::with_capacity(times.moves.len());
    for mv in &times.moves {
        let side = usize::from(mv.color == Color::Black);
        let plan = managers[side].plan(&request(game, mv, overhead_ms, reused[side]));
        reused[side] = learn(managers[side].as_mut(), mv, reused[side]);
        plans.push(plan);
    }
    Ok(plans)
}

fn request(game: &Game, mv: &TimedMove, overhead_ms: f64, reused: u64) -> MoveRequest {
    let position = &game.positions()[mv.ply];
    let legal_moves = position.legal_moves();
    MoveRequest {
        clock_ms: mv.clock_ms,
        increment_ms: mv.increment_ms,
        moves_to_go: mv.moves_to_go,
        ply: position.ply(),
        overhead_ms,
        reused_nodes: reused,
        pieces: Some(position.piece_count()),
        legal_moves: Some(legal_moves.len() as u32),
        captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
        in_check: position.is_check(),
        ..MoveRequest::default()
    }
}

/// Lets the manager see the search as it was. Returns the nodes that the next one finds.
fn learn(manager: &mut dyn TimeManager, mv: &TimedMove, reused: u64) -> u64 {
    let nodes = mv.nodes.unwrap_or((mv.used_ms / 1e3 * USUAL_NPS) as u64);
    let total_nodes = nodes.saturating_add(reused);
    manager.observe(&SearchSnapshot {
        elapsed_ms: mv.used_ms,
        since_first_batch_ms: Some(mv.used_ms),
        new_nodes: nodes,
        total_nodes,
        ..SearchSnapshot::default()
    });
    manager.finish(&MoveOutcome { elapsed_ms: mv.used_ms, total_nodes, ..MoveOutcome::default() });
    (total_nodes as f64 * USUAL_REUSE) as u64
}

#[cfg(test)]
mod tests {
    use super::super::game_times::game_times;
    use super::*;
    use crate::lab::pgn_reader::read_games;

    #[test]
    fn every_manager_has_a_plan_for_every_move_within_its_clock() {
        let text = "[TimeControl \"10+0.1\"]\n\n1. e4 {+0.1/5 1s, n=900} e5 {0.0/5 9.5s} 2. Nf3 {0.0/4 1s} Nc6 {0.0/4 0.2s} *\n";
        let game = read_games(text.as_bytes()).unwrap().remove(0);
        let times = game_times(&game);
        for manager in crate::time_manager::managers() {
            let plans = advice(&game.game, &times, &manager.title(), 100.0).unwrap();
            assert_eq!(plans.len(), 4);
            for (plan, mv) in plans.iter().zip(&times.moves) {
                assert!((0.0..=mv.clock_ms).contains(&plan.hard_limit_ms), "{}: {plan}", manager.title());
            }
        }
        assert!(advice(&game.game, &times, "none", 0.0).is_err());
    }
}
