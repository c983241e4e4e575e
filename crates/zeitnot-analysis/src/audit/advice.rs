//! Asks a time manager what it would have granted each move of a game that others played.

use super::clocked_move::ClockedMove;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_engine::managers;
use zeitnot_games::USUAL_NPS;
use zeitnot_time::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, SpecError, TimeManager};

/// Assumed share of a search tree that the next move reuses: about the share in searches of this engine.
const USUAL_REUSE: f64 = 0.3;

/// A time manager's advice about one move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    pub budget_ms: f64,
    /// Moves left in the game by the manager's estimate; `None` for a manager that estimates none.
    pub moves_left: Option<f64>,
}

/// Builds the request about each of these moves, with the clocks as they were; `None` where a clock is unknown. The
/// requests are the same for every manager.
fn requests(game: &Game, moves: &[ClockedMove], overhead_ms: f64) -> Vec<Option<MoveRequest>> {
    let of = |mv: &ClockedMove| {
        let position = &game.positions()[mv.ply];
        let legal_moves = position.legal_moves();
        Some(MoveRequest {
            clock_ms: mv.clock_ms?,
            increment_ms: mv.increment_ms,
            moves_to_go: mv.moves_to_go,
            ply: position.ply(),
            overhead_ms,
            pieces: Some(position.piece_count()),
            legal_moves: Some(legal_moves.len() as u32),
            captures: Some(legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32),
            in_check: position.is_check(),
            // The manager did not use the time between two of these clocks.
            is_foreign_clock: true,
            ..MoveRequest::default()
        })
    };
    moves.iter().map(of).collect()
}

/// The advice of each manager about every move of a game, with one manager for each side; `None` where a clock is
/// unknown. A manager sees the clocks as they were and the player's speed. Each search counts as if it had taken
/// exactly the budget, whatever the player used.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn advice(
    game: &Game,
    moves: &[ClockedMove],
    specs: &[impl AsRef<str>],
    overhead_ms: f64,
) -> Result<Vec<Vec<Option<Advice>>>, SpecError> {
    let requests = requests(game, moves, overhead_ms);
    let word = |plan: Plan| Advice { budget_ms: plan.budget_ms, moves_left: plan.estimated_moves_left() };
    let of = |spec: &_| {
        let mut advised = Vec::with_capacity(moves.len());
        ask(moves, &requests, AsRef::as_ref(spec), |plan| advised.push(plan.map(word)))?;
        Ok(advised)
    };
    specs.iter().map(of).collect()
}

/// A manager's plan, with all its terms, for the move at index `place` of `moves`; `None` where there is no such move
/// or its clock is unknown.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn plan_of(
    place: usize,
    game: &Game,
    moves: &[ClockedMove],
    spec: &str,
    overhead_ms: f64,
) -> Result<Option<Plan>, SpecError> {
    // Later moves do not matter.
    let moves = &moves[..moves.len().min(place.saturating_add(1))];
    let (mut at, mut found) = (0, None);
    ask(moves, &requests(game, moves, overhead_ms), spec, |plan| {
        found = plan.filter(|_| at == place);
        at += 1;
    })?;
    Ok(found)
}

/// Asks a manager about the moves one after another, and passes each plan to `tell`.
fn ask(
    moves: &[ClockedMove],
    requests: &[Option<MoveRequest>],
    spec: &str,
    mut tell: impl FnMut(Option<Plan>),
) -> Result<(), SpecError> {
    let mut managers = [managers::build(spec)?, managers::build(spec)?];
    let mut reused = [0_u64; 2];
    for (mv, request) in moves.iter().zip(requests) {
        let Some(request) = request else {
            tell(None);
            continue;
        };
        let side = usize::from(mv.color == Color::Black);
        let plan = managers[side].plan(&MoveRequest { reused_nodes: reused[side], ..request.clone() });
        reused[side] = search(managers[side].as_mut(), mv, plan.budget_ms, reused[side]);
        tell(Some(plan));
    }
    Ok(())
}

/// Shows the manager a search at the player's speed, and tells it that the search took its whole budget, whatever the
/// player used. `reused` are the nodes that the search began with; returns those that the next one reuses.
fn search(manager: &mut dyn TimeManager, mv: &ClockedMove, budget_ms: f64, reused: u64) -> u64 {
    let nps = mv.nodes.filter(|_| mv.used_ms > 0.0).map_or(USUAL_NPS, |nodes| nodes as f64 * 1e3 / mv.used_ms);
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
    manager.finish(&MoveOutcome { elapsed_ms: budget_ms, total_nodes, ..MoveOutcome::default() });
    (total_nodes as f64 * USUAL_REUSE) as u64
}

#[cfg(test)]
mod tests {
    use super::super::game_times::game_times;
    use super::*;
    use zeitnot_games::pgn_reader::read_games;

    fn plans(text: &str, spec: &str) -> Result<Vec<Plan>, SpecError> {
        let game = read_games(text.as_bytes()).unwrap().remove(0);
        let moves = game_times(&game).moves;
        (0..moves.len()).filter_map(|place| plan_of(place, &game.game, &moves, spec, 100.0).transpose()).collect()
    }

    #[test]
    fn every_manager_has_a_plan_for_every_move_within_its_clock() {
        let text = "[TimeControl \"10+0.1\"]\n\n1. e4 {+0.1/5 1s, n=900} e5 {0.0/5 9.5s} 2. Nf3 {0.0/4 1s} Nc6 {0.0/4 0.2s} *\n";
        let game = read_games(text.as_bytes()).unwrap().remove(0);
        let moves = game_times(&game).moves;
        for manager in zeitnot_time::managers() {
            let plans = plans(text, &manager.title()).unwrap();
            assert_eq!(plans.len(), 4);
            for (plan, mv) in plans.iter().zip(&moves) {
                assert!((0.0..=mv.clock_ms.unwrap()).contains(&plan.hard_limit_ms), "{}: {plan}", manager.title());
            }
            let advice = advice(&game.game, &moves, &[manager.title()], 100.0).unwrap().remove(0);
            let told: Vec<f64> = advice.iter().map(|advice| advice.unwrap().budget_ms).collect();
            assert_eq!(told, plans.iter().map(|plan| plan.budget_ms).collect::<Vec<_>>(), "{}", manager.title());
        }
        assert!(plans(text, "none").is_err());
        // Black took 9.5 s, far beyond any budget, which is no overrun of the manager's.
        let plan = plans(text, "smooth").unwrap().remove(3);
        assert!(plan.term("overrun").is_none(), "{plan:#}");
        // White took less than the budget, which left nothing over.
        let text = "[TimeControl \"10+0.1\"]\n\n1. e4 {0.1/5 0.01s} e5 {0.0/5 1s} 2. Nf3 {0.0/4 1s} *\n";
        for manager in ["simple", "legacy"] {
            let plans = plans(text, manager).unwrap();
            assert!(plans[2].budget_ms < 1.2 * plans[0].budget_ms, "{manager}: {:#}", plans[2]);
        }
    }

    #[test]
    fn moves_without_a_clock_are_not_asked_about() {
        let text = "1. e4 {31/12 230ms} e5 {[%clk 0:00:05] [%emt 0:00:01]} *\n";
        let game = read_games(text.as_bytes()).unwrap().remove(0);
        let moves = game_times(&game).moves;
        let advice = advice(&game.game, &moves, &["smooth"], 0.0).unwrap().remove(0);
        assert_eq!(advice.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    }
}
