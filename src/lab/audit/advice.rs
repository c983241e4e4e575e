//! Asks a time manager what it would have granted each move of a game that others played.

use super::game_times::{GameTimes, TimedMove};
use crate::chess::{Color, Game};
use crate::lab::traces::Speed;
use crate::time_manager::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, SpecError, TimeManager, build};

/// Share of a tree that the next move finds, where nobody tells: about what searches of this engine find.
const USUAL_REUSE: f64 = 0.3;

/// The plans of a manager for every move of a game, one manager for each side. It sees the clocks as they were, and the player's
/// speed. That the player took more or less than the budget was not the manager's doing: nothing was left over, nothing overrun.
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
        reused[side] = search(managers[side].as_mut(), mv, plan.budget_ms, reused[side]);
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

/// Shows the manager a search at the player's speed that ended within its budget, by a factor on the budget if the player took
/// less. Returns the nodes that the next one finds.
fn search(manager: &mut dyn TimeManager, mv: &TimedMove, budget_ms: f64, reused: u64) -> u64 {
    let nps = mv.nodes.filter(|_| mv.used_ms > 0.0).map_or(Speed::USUAL_NPS, |nodes| nodes as f64 * 1e3 / mv.used_ms);
    let elapsed_ms = mv.used_ms.min(budget_ms);
    let new_nodes = (elapsed_ms / 1e3 * nps) as u64;
    let total_nodes = new_nodes.saturating_add(reused);
    manager.observe(&SearchSnapshot {
        elapsed_ms,
        since_first_batch_ms: Some(elapsed_ms),
        new_nodes,
        total_nodes,
        ..SearchSnapshot::default()
    });
    let factor = (budget_ms > 0.0).then(|| elapsed_ms / budget_ms);
    manager.finish(&MoveOutcome { elapsed_ms, total_nodes, factor, ..MoveOutcome::default() });
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
        // Black took 9.5 s, far beyond any budget, which is no overrun of the manager's.
        let plans = advice(&game.game, &times, "smooth", 100.0).unwrap();
        assert!(plans[3].term("overrun").is_none(), "{:#}", plans[3]);
        // White took less than the budget, which left nothing over.
        let text = "[TimeControl \"10+0.1\"]\n\n1. e4 {0.1/5 0.01s} e5 {0.0/5 1s} 2. Nf3 {0.0/4 1s} *\n";
        let game = read_games(text.as_bytes()).unwrap().remove(0);
        for manager in ["simple", "legacy"] {
            let plans = advice(&game.game, &game_times(&game), manager, 100.0).unwrap();
            assert!(plans[2].budget_ms < 1.2 * plans[0].budget_ms, "{manager}: {:#}", plans[2]);
        }
    }
}
