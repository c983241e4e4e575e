//! Builds the time manager that the first line specifies, and plays a few moves with it; each further line is a clock: its
//! time, increment, ply, moves to go, overhead and nodes in the tree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_time::{MoveOutcome, MoveRequest, SearchSnapshot, build};

/// Moves of a game.
const MOST: usize = 8;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let text = String::from_utf8_lossy(data);
    let (spec, clocks) = text.split_once('\n').unwrap_or((&text, "60000 600 24 0 200 300"));
    let mut manager = match build(spec) {
        Ok(manager) => manager,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return;
        }
    };
    for line in clocks.lines().take(MOST) {
        let [clock_ms, increment_ms, ply, moves_to_go, overhead_ms, nodes] = zeitnot_fuzz::numbers(line);
        let request = MoveRequest {
            clock_ms,
            increment_ms,
            moves_to_go: (moves_to_go > 0.0).then_some(moves_to_go as u32),
            ply: ply as u32,
            overhead_ms,
            reused_nodes: nodes as u64,
            moves_left_plies: (ply < 50.0).then_some(nodes),
            ..MoveRequest::default()
        };
        let plan = manager.plan(&request);
        let numbers = [plan.budget_ms, plan.extra_ms, plan.hard_limit_ms];
        assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{request:?}: {plan}");
        // What is no clock is taken as an empty one.
        let most_ms = if clock_ms.is_nan() { 0.0 } else { clock_ms.max(0.0) };
        assert!(plan.budget_ms <= plan.hard_limit_ms && plan.hard_limit_ms <= most_ms, "{request:?}: {plan}");
        let _ = format!("{plan:#}");
        let elapsed_ms = plan.hard_limit_ms * 0.7;
        let (visits, priors) = ([nodes as u32, 7], [0.7, 0.3]);
        manager.observe(&SearchSnapshot {
            elapsed_ms,
            since_first_batch_ms: Some(elapsed_ms * 0.9),
            new_nodes: nodes as u64 / 2,
            total_nodes: nodes as u64,
            batches: 9,
            average_depth: 5,
            root_visits: visits[..].into(),
            root_priors: priors[..].into(),
            best_move: Some(0),
            ..SearchSnapshot::default()
        });
        manager.finish(&MoveOutcome { elapsed_ms, total_nodes: nodes as u64, ..MoveOutcome::default() });
    }
});
