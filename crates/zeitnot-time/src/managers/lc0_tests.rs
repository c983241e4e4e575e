//! Moves that were observed by running Lc0, played by the managers that compute time as Lc0 does.

use crate::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, TimeManager, build};

/// Plans a move with Lc0's default of `MoveOverheadMs`.
fn plan(
    manager: &mut dyn TimeManager,
    (ply, clock_ms, increment_ms, moves_to_go): (u32, f64, f64, Option<u32>),
) -> Plan {
    let request =
        MoveRequest { ply, clock_ms, increment_ms, moves_to_go, overhead_ms: 200.0, ..MoveRequest::default() };
    manager.plan(&request)
}

// docs/lc0.md, 1.4, 1.5 and 1.11: ply, clock, increment and moves to go; Lc0's limits in whole milliseconds with `legacy`,
// `simple` and `smooth`, and that of `smooth` with its bank. At (200, 150.0) Lc0's are negative.
#[test]
fn moves_of_fresh_managers_are_those_of_lc0() {
    for (asked, legacy, simple, smooth, with_bank) in [
        ((0, 60_000.0, 0.0, None), 3_251.0, 837.0, 3_152.0, 8_228.0),
        ((0, 60_000.0, 1_000.0, None), 5_996.0, 2_332.0, 5_713.0, 10_789.0),
        ((1, 60_000.0, 1_000.0, None), 6_566.0, 2_361.0, 5_747.0, 10_823.0),
        ((20, 300_000.0, 0.0, None), 41_899.0, 7_135.0, 20_296.0, 45_676.0),
        ((40, 180_000.0, 2_000.0, None), 44_317.0, 9_037.0, 21_953.0, 37_181.0),
        ((80, 30_000.0, 500.0, None), 15_300.0, 2_330.0, 7_838.0, 10_376.0),
        ((120, 5_000.0, 100.0, None), 4_092.0, 493.0, 1_577.0, 2_000.0),
        ((200, 1_000.0, 0.0, None), 442.0, 89.0, 148.0, 232.0),
        ((200, 150.0, 0.0, None), 0.0, 0.0, 0.0, 0.0),
        ((0, 2_400_000.0, 0.0, Some(40)), 167_986.0, 33_597.0, 142_986.0, 346_026.0),
        ((78, 60_000.0, 0.0, Some(1)), 59_800.0, 3_122.0, 25_200.0, 30_276.0),
        ((60, 7_200_000.0, 15_000.0, None), 1_996_051.0, 334_970.0, 1_079_873.0, 1_688_993.0),
    ] {
        for (spec, budget, hard_limit) in
            [("legacy", legacy, legacy), ("simple", simple, simple), ("smooth(preset=lc0)", smooth, with_bank)]
        {
            let mut manager = build(spec).unwrap();
            let plan = plan(&mut *manager, asked);
            assert_eq!((plan.budget_ms, plan.hard_limit_ms), (budget, hard_limit), "{spec}: {plan}");
            // The bank is closed in a long search whose best move is clear.
            let late = SearchSnapshot {
                elapsed_ms: 1_010.0,
                since_first_batch_ms: Some(1_001.0),
                new_nodes: 20_020,
                ..Default::default()
            };
            assert_eq!(manager.observe(&late).remaining_ms.unwrap(), budget - 1_010.0, "{spec}: {plan}");
        }
    }
}

// docs/lc0.md, 1.6; the last is negative there.
#[test]
fn budgets_of_alphazero_are_those_of_lc0() {
    for (clock, budget) in [
        (60_000.0, 7_176.0),
        (300_000.0, 35_976.0),
        (180_000.0, 21_576.0),
        (30_000.0, 3_576.0),
        (5_000.0, 576.0),
        (1_000.0, 96.0),
        (150.0, 0.0),
    ] {
        let plan = plan(&mut *build("alphazero").unwrap(), (40, clock, 2_000.0, Some(7)));
        assert_eq!(plan.budget_ms, budget, "{plan}");
    }
}

// docs/lc0.md, 1.4 and 1.5: the sequences, with an increment of 600 ms; clock, ply, budget and used time of each move.
#[test]
fn time_left_over_goes_to_the_next_move() {
    let halved = "legacy(slowmover=2.2,first-move-bonus=0.0,book-ply-bonus=0.0,immediate-use=0.5)";
    for (spec, moves) in [
        (
            "legacy",
            &[(60_000.0, 0, 4_898.0, 2_000.0), (58_600.0, 2, 4_585.0, 7_000.0), (52_200.0, 4, 1_638.0, 0.0)][..],
        ),
        (halved, &[(60_000.0, 10, 4_120.0, 1_000.0), (59_600.0, 12, 4_556.0, 0.0)]),
        ("simple", &[(60_000.0, 0, 1_734.0, 0.0), (60_000.0, 2, 2_927.0, 0.0), (57_000.0, 4, 1_803.0, 0.0)]),
    ] {
        let mut manager = build(spec).unwrap();
        for &(clock_ms, ply, budget, elapsed_ms) in moves {
            let plan = plan(&mut *manager, (ply, clock_ms, 600.0, None));
            assert_eq!(plan.budget_ms, budget, "{spec}: {plan}");
            manager.finish(&MoveOutcome { elapsed_ms, ..MoveOutcome::default() });
        }
    }
}
