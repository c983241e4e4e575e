use super::*;
use crate::build;

/// A position on a move of White's.
fn request(clock_ms: f64, number: u32, legal_moves: u32, pieces: u32) -> MoveRequest {
    MoveRequest {
        clock_ms,
        ply: (number - 1) * 2,
        legal_moves: Some(legal_moves),
        pieces: Some(pieces),
        captures: Some(0),
        ..MoveRequest::default()
    }
}

fn plan(spec: &str, request: &MoveRequest) -> Plan {
    build(spec).unwrap().plan(request)
}

// docs/documents.md, 2.2: both ends of each range.
#[test]
fn mergen_estimated_moves_remaining() {
    for (number, pieces, moves) in [
        (1, 32, 40.0),
        (10, 30, 35.0),
        (11, 30, 30.0),
        (23, 30, 25.0),
        (35, 20, 20.0),
        (36, 20, 20.0),
        (60, 6, 15.0),
        (20, 9, 18.75),
        (60, 2, 10.0),
    ] {
        assert_eq!(moves_remaining((number - 1) * 2, Some(pieces)), moves, "{number} {pieces}");
    }
}

// docs/documents.md, 2.7: blitz 3+2, the first move: target 2.8 s, maximum 7.0 s.
#[test]
fn mergen_example_blitz_move_1() {
    let plan = plan("complexity", &MoveRequest { increment_ms: 2_000.0, ..request(180_000.0, 1, 20, 32) });
    for (name, value) in
        [("base", 4_500.0), ("control", 0.9), ("phase", 0.7), ("complexity_score", 0.46), ("complexity", 0.984)]
    {
        assert!((plan.term(name).unwrap().value - value).abs() < 1e-9, "{name}: {plan}");
    }
    assert_eq!((plan.budget_ms / 100.0).round(), 28.0);
    assert_eq!((plan.hard_limit_ms / 100.0).round(), 70.0);
}

// docs/documents.md, 2.7: move 15, target 4.5 s, maximum 11.2 s. No formula gives that target; its maximum follows.
#[test]
fn mergen_example_maximum_is_two_and_a_half_targets() {
    let plan = plan("complexity", &request(165_000.0, 15, 40, 30));
    assert!((plan.hard_limit_ms / plan.budget_ms - 2.5).abs() < 1e-12, "{plan}");
    assert_eq!((4.5_f64 * 2.5 * 10.0).trunc() / 10.0, 11.2);
}

// docs/documents.md, 2.7: 8 seconds left, target 0.8 s, maximum 1.2 s, depth 4.
#[test]
fn mergen_example_emergency() {
    let mut manager = build("complexity").unwrap();
    let plan = manager.plan(&request(8_000.0, 40, 30, 20));
    assert_eq!((plan.budget_ms, plan.hard_limit_ms), (800.0, 1_200.0));
    for (need_more_time, average_depth, limit) in
        [(false, 3, 800.0), (false, 4, 800.0), (true, 3, 1_200.0), (true, 4, 800.0)]
    {
        let seen = SearchSnapshot { need_more_time, average_depth, ..SearchSnapshot::default() };
        assert_eq!(manager.observe(&seen).remaining_ms, Some(limit), "{need_more_time} {average_depth}");
    }
    let calm = super::tests::plan("complexity", &request(10_000.0, 40, 30, 20));
    assert_eq!(calm.term("emergency").unwrap().value, 0.0, "\"When time < 10 seconds\"");
}

// docs/documents.md, 2.3 and 2.8.
#[test]
fn mergen_limits() {
    // 1 % at least, 15 % at most, the maximum 25 % of what remains at most.
    let easy = plan("complexity(base-time-factor=0.001)", &request(100_000.0, 20, 20, 20));
    assert!((easy.budget_ms - 1_000.0).abs() < 1e-9 && easy.term("min_target").unwrap().clamped, "{easy}");
    let hard = plan("complexity(base-time-factor=1)", &request(100_000.0, 20, 20, 20));
    assert!((hard.budget_ms - 15_000.0).abs() < 1e-9 && hard.term("target").unwrap().clamped, "{hard}");
    assert!((hard.hard_limit_ms - 25_000.0).abs() < 1e-9 && hard.term("maximum").unwrap().clamped, "{hard}");
    let usual = plan("complexity", &request(600_000.0, 20, 30, 30)).budget_ms;
    let faster = plan("complexity(base-time-factor=0.03)", &request(600_000.0, 20, 30, 30)).budget_ms;
    assert!((faster / usual - 0.75).abs() < 1e-12, "\"0.03 instead of 0.04\"");
    let early = plan("complexity(emergency-threshold=15)", &request(12_000.0, 20, 30, 30));
    assert_eq!(early.budget_ms, 1_200.0, "\"15s instead of 10s\"");
}

/// The time of each row of one of Mergen's tables of games, and whether it is an emergency: the move, the time before
/// it in seconds, the pieces, and the factor of its complexity. The times of the tables are no formula's; their order
/// is.
fn times(control: &str, increment_ms: f64, rows: &[(u32, f64, u32, f64)]) -> Vec<(f64, bool)> {
    let row = |&(number, clock_s, pieces, complexity): &(u32, f64, u32, f64)| {
        // So that the factor is that of the row's complexity.
        let factor = 0.8 + 0.4 * complexity;
        let spec = format!("complexity(class={control},complexity(simplest={factor},hardest={factor}))");
        let plan = plan(&spec, &MoveRequest { increment_ms, ..request(clock_s * 1e3, number, 30, pieces) });
        (plan.budget_ms, plan.term("emergency").unwrap().value > 0.0)
    };
    rows.iter().map(row).collect()
}

/// The rows of a table, shortest time first.
fn order(times: &[(f64, bool)]) -> Vec<usize> {
    let mut order: Vec<_> = (0..times.len()).collect();
    order.sort_by(|a, b| times[*a].0.total_cmp(&times[*b].0));
    order
}

// docs/documents.md, 2.7, the game of 10 minutes: 1.5 s, 2.0 s, 6.5 s, 4.0 s and 2.5 s.
#[test]
fn mergen_table_ten_minute_rapid_game() {
    let rows =
        [(1, 600.0, 32, 0.3), (10, 590.0, 30, 0.5), (20, 525.0, 26, 0.8), (30, 440.0, 20, 0.6), (40, 370.0, 14, 0.3)];
    let times = times("rapid", 5_000.0, &rows);
    assert_eq!(order(&times), [0, 1, 4, 3, 2]);
    assert!(times.iter().all(|(_, emergency)| !emergency));
    let phases = rows.map(|(number, _, pieces, _)| MovePhase::of((number - 1) * 2, Some(pieces)));
    use MovePhase::*;
    assert_eq!(phases, [Opening, Opening, Middlegame, Middlegame, Endgame]);
}

// docs/documents.md, 2.7, the game of 3 minutes: 0.8 s, 3.2 s, 2.0 s, 1.2 s, and 0.3 s in the emergency.
#[test]
fn mergen_table_three_minute_blitz_game() {
    let rows =
        [(1, 180.0, 32, 0.3), (15, 160.0, 26, 0.9), (25, 130.0, 20, 0.6), (35, 105.0, 9, 0.4), (45, 8.0, 8, 0.5)];
    let times = times("blitz", 2_000.0, &rows);
    // The document's first move is its second shortest, too.
    assert_eq!(order(&times), [4, 0, 3, 2, 1]);
    assert_eq!(times.iter().map(|(_, emergency)| *emergency).collect::<Vec<_>>(), [false, false, false, false, true]);
    let phases = rows.map(|(number, _, pieces, _)| MovePhase::of((number - 1) * 2, Some(pieces)));
    use MovePhase::*;
    assert_eq!(phases[..4], [Opening, Middlegame, Middlegame, Endgame]);
}

// docs/documents.md, 2.7: the example of 600 seconds, an increment of 5 and the class rapid.
#[test]
fn mergen_programmatic_usage() {
    let request = MoveRequest { increment_ms: 5_000.0, ..request(600_000.0, 1, 20, 32) };
    let plan = plan("complexity(class=rapid)", &request);
    // 600 / 40 · 1.0 · 0.7 · 0.984
    assert!((plan.budget_ms - 10_332.0).abs() < 1e-6 && (plan.hard_limit_ms - 25_830.0).abs() < 1e-6, "{plan}");
}

// docs/documents.md, 2.8: 0.05 for 0.04, and 0.20 for 0.15.
#[test]
fn mergen_troubleshooting() {
    let request = request(600_000.0, 20, 30, 30);
    let (usual, slower) = (plan("complexity", &request), plan("complexity(base-time-factor=0.05)", &request));
    assert!((slower.budget_ms / usual.budget_ms - 1.25).abs() < 1e-12);
    let most = |spec| plan(spec, &request).budget_ms / 600_000.0;
    assert!((most("complexity(base-time-factor=1)") - 0.15).abs() < 1e-12);
    assert!((most("complexity(base-time-factor=1,max-time-factor=0.20)") - 0.20).abs() < 1e-12);
}

// docs/documents.md, 2.1: classical is offered as 30+0, which the classes have as rapid.
#[test]
fn mergen_class_can_be_told() {
    let at = |spec| plan(spec, &request(1_800_000.0, 20, 30, 30)).term("control").unwrap().value;
    assert_eq!((at("complexity"), at("complexity(class=classical)"), at("complexity(class=bullet)")), (1.0, 1.2, 0.7));
    assert!(build("complexity(class=correspondence)").is_err());
}

#[test]
fn the_maximum_is_for_searches_that_cannot_decide() {
    let mut manager = build("complexity").unwrap();
    let plan = manager.plan(&request(600_000.0, 20, 30, 30));
    let remaining = |manager: &mut Box<dyn TimeManager>, need_more_time| {
        manager.observe(&SearchSnapshot { need_more_time, ..SearchSnapshot::default() }).remaining_ms
    };
    assert_eq!(remaining(&mut manager, false), Some(plan.budget_ms));
    assert_eq!(remaining(&mut manager, true), Some(plan.hard_limit_ms));
}
