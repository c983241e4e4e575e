//! Tests emergencies at real speeds: a search under a manager's emergency uses the time that it was planned, and no
//! more.
//!
//! The searches are simulated: batches of 16 nodes at a constant speed, and the average depth of playouts of a PUCT
//! search, about 4 at 100 nodes and 8 at 5,000.

use crate::{MoveRequest, Plan, SearchSnapshot, StopReason, Verdict, build};

/// Nodes of a batch.
const BATCH: u64 = 16;
/// Two points of the average depth of playouts, in nodes and plies; between and beyond them it grows with the
/// logarithm.
const SHALLOW: (f64, f64) = (100.0, 4.0);
const DEEP: (f64, f64) = (5_000.0, 8.0);
/// The share of its target that a search in an emergency uses at the least.
const LEAST_SHARE: f64 = 0.6;

fn average_depth(nodes: u64) -> u32 {
    let plies_per_factor = (DEEP.1 - SHALLOW.1) / (DEEP.0 / SHALLOW.0).ln();
    let depth = SHALLOW.1 + plies_per_factor * (nodes as f64 / SHALLOW.0).ln();
    depth.floor().max(1.0) as u32
}

/// Plans a move and searches until the manager stops it; `seen` adds what the search has found out. The plan, the time
/// used and the reason.
fn search(spec: &str, request: &MoveRequest, nps: f64, seen: &SearchSnapshot<'_>) -> (Plan, f64, StopReason) {
    let mut manager = build(spec).unwrap();
    let plan = manager.plan(request);
    assert_eq!(plan.term("emergency").unwrap().value, 1.0, "{plan}");
    for batches in 1.. {
        let new_nodes = batches * BATCH;
        let total_nodes = request.reused_nodes + new_nodes;
        let elapsed_ms = new_nodes as f64 / nps * 1e3;
        let snapshot = SearchSnapshot {
            elapsed_ms,
            since_first_batch_ms: Some((batches - 1) as f64 * BATCH as f64 / nps * 1e3),
            new_nodes,
            total_nodes,
            batches,
            average_depth: average_depth(total_nodes),
            ..seen.clone()
        };
        if let Verdict { stop: Some(reason), .. } = manager.observe(&snapshot) {
            return (plan, elapsed_ms, reason);
        }
    }
    unreachable!("batches have no end")
}

/// The last batch may land after the limit.
fn batch_ms(nps: f64) -> f64 {
    BATCH as f64 / nps * 1e3
}

#[test]
fn the_simulated_search_is_as_deep_as_a_real_one() {
    assert_eq!([1, 100, 800, 5_000, 20_000].map(average_depth), [1, 4, 6, 8, 9]);
}

#[test]
fn an_emergency_uses_its_target_and_never_its_maximum() {
    let undecided = SearchSnapshot { need_more_time: true, ..SearchSnapshot::default() };
    let hard = SearchSnapshot { root_visits: (&[60, 50]).into(), ..undecided };
    for (spec, clocks) in [("complexity", [9_999.0, 8_000.0, 2_000.0]), ("adaptive", [59_999.0, 20_000.0, 9_000.0])] {
        for (clock_ms, nps, reused_nodes) in clocks
            .into_iter()
            .flat_map(|clock_ms| [(clock_ms, 1_000.0, 0), (clock_ms, 1_000.0, 3_000), (clock_ms, 20_000.0, 0)])
        {
            let request = MoveRequest { clock_ms, reused_nodes, pieces: Some(32), ..MoveRequest::default() };
            for seen in [&SearchSnapshot::default(), &hard] {
                let (plan, used_ms, reason) = search(spec, &request, nps, seen);
                let told = format!("{spec} at {nps} nps: {used_ms} ms, {reason:?}\n{plan}");
                assert!(used_ms >= LEAST_SHARE * plan.budget_ms, "{told}");
                assert!(used_ms < plan.hard_limit_ms, "{told}");
                assert_eq!(reason, StopReason::Time, "{told}");
            }
        }
    }
}

// docs/documents.md, 2.6: the quality is to be kept as far as possible.
#[test]
fn a_shallow_search_that_cannot_decide_may_have_the_reserve() {
    let nps = 40.0;
    let undecided = SearchSnapshot { need_more_time: true, ..SearchSnapshot::default() };
    let request = MoveRequest { clock_ms: 8_000.0, ..MoveRequest::default() };
    for (spec, seen, due_ms) in [
        ("complexity", &undecided, 1_200.0),
        ("complexity", &SearchSnapshot::default(), 800.0),
        ("complexity(emergency-depth=1)", &undecided, 800.0),
    ] {
        let (plan, used_ms, _) = search(spec, &request, nps, seen);
        assert!((due_ms..due_ms + batch_ms(nps)).contains(&used_ms), "{spec}: {used_ms}\n{plan}");
    }
}
