use super::*;
use crate::stoppers::Stoppers;
use crate::{SearchLimits, StopperParams, build};

fn request(clock_ms: f64, increment_ms: f64, moves_to_go: Option<u32>) -> MoveRequest {
    MoveRequest { clock_ms, increment_ms, moves_to_go, ..MoveRequest::default() }
}

#[track_caller]
fn limits(spec: &str, clock: f64, increment: f64, moves_to_go: Option<u32>, soft: f64, hard: f64) {
    let plan = build(spec).unwrap().plan(&request(clock, increment, moves_to_go));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    assert!(near(plan.budget_ms, soft) && near(plan.hard_limit_ms, hard), "{plan}");
}

// docs/documents.md, 4.7: the limits.
#[test]
fn textbook_complete_limits() {
    limits("soft-hard", 300_000.0, 3_000.0, None, 10_450.0, 52_250.0); // 300000/40 + 3000 - 50; times 5
    limits("soft-hard", 300_000.0, 0.0, None, 7_450.0, 37_250.0); // sudden death: 40 moves
    limits("soft-hard", 300_000.0, 0.0, Some(10), 29_950.0, 75_000.0); // time_left / 4
    limits("soft-hard", 300_000.0, 0.0, Some(0), 7_450.0, 37_250.0); // movestogo 0 is sudden death
    limits("soft-hard", 300_000.0, 0.0, Some(60), 4_950.0, 24_750.0); // more than 40 are more
}

// docs/documents.md, 4.1: movetime goes before the clock, infinite is until `stop`.
#[test]
fn textbook_movetime_and_infinite() {
    let mut manager = build("soft-hard").unwrap();
    let params = StopperParams { overhead_ms: 0.0, ..StopperParams::default() };
    let mut stop = |limits: &SearchLimits, elapsed_ms| {
        let seen = SearchSnapshot {
            elapsed_ms,
            new_nodes: 9,
            total_nodes: 9,
            root_visits: (&[4, 4]).into(),
            ..Default::default()
        };
        manager.plan(&request(300_000.0, 3_000.0, None)); // 10,450 ms
        Stoppers::new(limits, &params).check(&seen, Some(&mut *manager)).stop
    };
    let fixed = SearchLimits { movetime_ms: Some(700.0), ..SearchLimits::default() };
    assert_eq!((stop(&fixed, 699.0), stop(&fixed, 700.0)), (None, Some(StopReason::MoveTime)));
    let infinite = SearchLimits { infinite: true, ..SearchLimits::default() };
    assert_eq!((stop(&infinite, 1e9), stop(&SearchLimits::default(), 1e9)), (None, Some(StopReason::Time)));
}

// docs/documents.md, 4.2.
#[test]
fn textbook_basic_limits() {
    let basic = "soft-hard(preset=basic)";
    limits(basic, 300_000.0, 3_000.0, None, 7_750.0, 25_950.0); // 13000: 60 % - 50, 200 % - 50
    limits(basic, 300_000.0, 0.0, None, 5_950.0, 19_950.0); // "Assume ~30 moves left"
    limits(basic, 300_000.0, 0.0, Some(3), 59_950.0, 74_950.0); // min(200 %, time_left / 4) - 50
}

// Textbook: "max(..., 10)".
#[test]
fn textbook_no_limit_below_ten_milliseconds() {
    for spec in ["soft-hard", "soft-hard(preset=basic)"] {
        limits(spec, 50.0, 0.0, None, 10.0, 10.0);
        // The guard of every manager goes further: not past the clock.
        limits(spec, 5.0, 0.0, None, 5.0, 5.0);
    }
}

// docs/documents.md, 4.5.
#[test]
fn textbook_time_trouble() {
    limits("soft-hard", 30_000.0, 2_000.0, None, 2_700.0, 7_500.0); // not under 30 s: 750 + 2000 - 50; a quarter
    limits("soft-hard", 29_999.0, 2_000.0, None, 29_999.0 / 15.0, 29_999.0 / 5.0);
    limits("soft-hard", 10_000.0, 2_000.0, None, 10_000.0 / 15.0, 2_000.0); // not under 10 s
    limits("soft-hard", 9_000.0, 500.0, None, 400.0, 1_800.0); // 80 % of the increment; a fifth is less than a third
    limits("soft-hard", 9_000.0, 0.0, None, 10.0, 875.0); // "use increment only": there is none; 5 · 175
}

/// A search whose best move and score are seen at the end of each iteration; answers the soft limit after each.
fn soft_limits(spec: &str, seen: &[(usize, f64, f64)]) -> Vec<f64> {
    let mut manager = build(spec).unwrap();
    let soft = manager.plan(&request(300_000.0, 3_000.0, None)).budget_ms;
    let value = |cp: f64| (cp / 90.0).atan() / 1.563_754_189_7;
    let limit = |(index, (best, score, second)): (usize, &(usize, f64, f64))| {
        let snapshot = SearchSnapshot {
            new_nodes: 2 << index,
            best_move: Some(*best),
            best_value: Some(value(*score)),
            second_value: Some(value(*second)),
            ..SearchSnapshot::default()
        };
        manager.observe(&snapshot).remaining_ms.unwrap() / soft
    };
    seen.iter().enumerate().map(limit).map(|factor| (factor * 1e6).round() / 1e6).collect()
}

// docs/documents.md, 4.7: the adjustments, and the worked example of the module's documentation.
#[test]
fn textbook_adjust_time() {
    let seen = [(0, 10.0, 0.0), (0, -19.0, 0.0), (0, -59.0, -70.0), (1, -60.0, -80.0)];
    assert_eq!(soft_limits("soft-hard", &seen), [1.0, 1.0, 1.4, 1.68]);
    // "Clamp to maximum": 52250 / 10450.
    let falling: Vec<_> = (0..8).map(|index| (0, -100.0 * f64::from(index), -1_000.0)).collect();
    assert_eq!(*soft_limits("soft-hard(gap=20000)", &falling).last().unwrap(), 5.0);
}

// docs/documents.md, 4.4: all four rules of the basic version.
#[test]
fn textbook_dynamic_time_adjustment() {
    let basic = "soft-hard(preset=basic)";
    // Score dropping: more than 50.
    assert_eq!(soft_limits(basic, &[(0, 0.0, 0.0), (0, -49.0, -60.0), (0, -100.0, -110.0)]), [1.0, 1.0, 1.5]);
    // Best move changing: the third time.
    let changing = [(0, 0.0, 0.0), (1, 0.0, 0.0), (0, 0.0, 0.0), (1, 0.0, 0.0)];
    assert_eq!(soft_limits(basic, &changing), [1.0, 1.0, 1.0, 1.3]);
    // Best move stable: five times, and depth 10.
    let stable: Vec<_> = vec![(0, 0.0, 0.0); 11];
    assert_eq!(soft_limits(basic, &stable)[8..], [1.0, 0.7, 0.7]);
    // Easy move: more than 150 above the second.
    assert_eq!(soft_limits(basic, &[(0, 200.0, 51.0), (0, 202.0, 51.0)]), [1.0, 0.5]);
}

// docs/documents.md, 4.3: the search stops at the hard limit.
#[test]
fn textbook_hard_limit_is_never_exceeded() {
    let mut manager = build("soft-hard").unwrap();
    let plan = manager.plan(&request(300_000.0, 3_000.0, None));
    let at = |elapsed_ms| SearchSnapshot { elapsed_ms, ..SearchSnapshot::default() };
    assert_eq!(manager.observe(&at(plan.budget_ms - 1.0)).stop, None);
    assert_eq!(manager.observe(&at(plan.budget_ms)).stop, Some(StopReason::Time));
    assert_eq!(manager.observe(&at(plan.hard_limit_ms)).stop, Some(StopReason::Time));
}

// The score of the last move of the game is the first to compare with; not after a search without a clock between.
#[test]
fn scores_are_compared_across_moves() {
    let mut manager = build("soft-hard").unwrap();
    let seen = |best_value| SearchSnapshot {
        new_nodes: 2,
        best_move: Some(0),
        best_value: Some(best_value),
        ..SearchSnapshot::default()
    };
    let request = request(300_000.0, 3_000.0, None);
    manager.plan(&request);
    manager.observe(&seen(0.3));
    manager.finish(&MoveOutcome::default());
    let soft = manager.plan(&request).budget_ms;
    assert_eq!(manager.observe(&seen(-0.3)).remaining_ms, Some(soft * 1.4));
    manager.finish(&MoveOutcome::default());
    manager.finish(&MoveOutcome::default()); // something else changed the tree
    manager.plan(&request);
    assert_eq!(manager.observe(&seen(-0.9)).remaining_ms, Some(soft));
}
