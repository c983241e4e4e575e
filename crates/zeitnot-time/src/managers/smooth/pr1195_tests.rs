//! Hand-computed vectors for every formula of the design page (docs/documents.md, 1). The expected numbers come from
//! a calculator.

use super::SPEC;
use crate::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, StopReason, TimeManager, build};

fn smooth(params: &str) -> Box<dyn TimeManager> {
    build(&format!("smooth(preset=pr1195,{params})")).unwrap()
}

fn clock(clock_ms: f64, increment_ms: f64, ply: u32) -> MoveRequest {
    MoveRequest { clock_ms, increment_ms, ply, ..MoveRequest::default() }
}

fn searched(since_first_batch_ms: f64, new_nodes: u64) -> SearchSnapshot<'static> {
    SearchSnapshot {
        elapsed_ms: since_first_batch_ms,
        since_first_batch_ms: Some(since_first_batch_ms),
        new_nodes,
        total_nodes: new_nodes,
        ..SearchSnapshot::default()
    }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    let tolerance = 1e-6 * expected.abs().max(1.0);
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[track_caller]
fn terms(plan: &Plan, expected: &[(&str, f64, bool)]) {
    for &(name, value, clamped) in expected {
        let term = plan.term(name).unwrap_or_else(|| panic!("no term {name}"));
        near(term.value, value);
        assert_eq!(term.clamped, clamped, "{term}");
    }
}

// docs/documents.md, 1.2: every step; 1 minute and 1 second, first move.
#[test]
fn seed_computing_a_time_budget_step_by_step() {
    let plan = smooth("").plan(&clock(60_000.0, 1_000.0, 0));
    terms(
        &plan,
        &[
            ("moves_left", 51.5, false),                        // the midpoint, at ply 0
            ("game_time", 111_500.0, false),                    // 60000 + 51.5·1000
            ("average_move_time", 2_165.048_543_689, false),    // 111500 / 51.5
            ("nps", 20_000.0, false),                           // init-nps
            ("game_nodes", 2_230_000.0, false),                 // 111.5 s · 20000
            ("average_new_nodes", 43_300.970_873_786, false),   // 2230000 / 51.5
            ("tree_reuse", 0.5, false),                         // init-tree-reuse
            ("average_total_nodes", 86_601.941_747_573, false), // 43300.97 / (1 - 0.5)
            ("reused_nodes", 0.0, false),                       //
            ("target_new_nodes", 86_601.941_747_573, false),    // 86601.94 - 0
            ("target_search_time", 4_330.097_087_379, false),   // 86601.94 / 20000 s
            ("timeuse", 0.7, false),                            // init-timeuse
            ("search_time_budget", 6_185.852_981_969, false),   // 4330.097 / 0.7
            ("max_move_budget", 0.3, false),                    //
            ("limited_budget", 6_185.852_981_969, false),       // below 0.3·60000 = 18000
            ("budget", 6_185.852_981_969, false),
            ("hard_limit", 6_185.852_981_969, false),
        ],
    );
    near(plan.budget_ms, 6_185.852_981_969);
    near(plan.hard_limit_ms, 6_185.852_981_969);
    near(plan.target_nodes.unwrap(), 86_601.941_747_573);
    assert_eq!((plan.manager.as_ref(), plan.extra_ms, plan.moves_left), ("smooth(preset=pr1195)", 0.0, 51.5));
}

#[test]
fn seed_terms_are_in_the_order_of_the_seed() {
    let plan = smooth("").plan(&clock(60_000.0, 0.0, 0));
    let names: Vec<_> = plan.terms.iter().map(|term| term.name.as_ref()).collect();
    let expected = "clock increment overhead ply estimated_moves_left moves_left game_time average_move_time nps \
                    game_nodes average_new_nodes tree_reuse average_total_nodes reused_nodes target_new_nodes \
                    target_search_time timeuse search_time_budget max_move_budget limited_budget safe_clock budget \
                    hard_limit due";
    assert_eq!(names.join(" "), expected);
}

// docs/documents.md, 1.2: reused nodes are taken off the target.
#[test]
fn seed_reused_nodes_need_not_be_searched_again() {
    let request = MoveRequest { reused_nodes: 50_000, ..clock(180_000.0, 2_000.0, 40) };
    let plan = smooth("").plan(&request);
    terms(
        &plan,
        &[
            ("moves_left", 31.519_579_571, false), // m = 20: 51.5·(1 + 2·(20/51.5)^7)^(1/7) - 20
            ("game_time", 243_039.159_142_894, false), // 180000 + 31.51958·2000
            ("average_total_nodes", 308_429.442_838_203, false), // 243039.159·20 / 31.51958 / 0.5
            ("target_new_nodes", 258_429.442_838_203, false), // - 50000
            ("target_search_time", 12_921.472_141_910, false), // / 20
        ],
    );
    near(plan.budget_ms, 18_459.245_917_014); // 12921.472 / 0.7
}

// The page lets the number go below zero; a search cannot.
#[test]
fn a_tree_that_is_large_enough_leaves_nothing_to_search() {
    let plan = smooth("").plan(&MoveRequest { reused_nodes: u64::MAX, ..clock(60_000.0, 0.0, 0) });
    terms(&plan, &[("target_new_nodes", 0.0, true), ("budget", 0.0, false)]);
}

// docs/documents.md, 1.2: the last step, the limit by the clock.
#[test]
fn seed_max_move_budget_limits_one_move() {
    let last_of_control = MoveRequest { moves_to_go: Some(1), ..clock(60_000.0, 1_000.0, 0) };
    let plan = smooth("").plan(&last_of_control);
    // (60000 + 1·1000) / 1 / 0.5 / 0.7 = 174285.714; limited to 0.3·60000.
    terms(
        &plan,
        &[
            ("moves_left", 1.0, true),
            ("search_time_budget", 174_285.714_285_714, false),
            ("limited_budget", 18_000.0, true),
            ("budget", 18_000.0, false),
        ],
    );
    near(smooth("max-move-budget=0.5").plan(&last_of_control).budget_ms, 30_000.0);
}

// docs/lc0.md, 1.1: movestogo is honoured only when it is positive and smaller than the estimate.
#[test]
fn movestogo_only_shortens() {
    let budget = |moves_to_go| smooth("").plan(&MoveRequest { moves_to_go, ..clock(60_000.0, 0.0, 0) }).budget_ms;
    near(budget(Some(10)), 17_142.857_142_857); // 60000 / 10 / 0.5 / 0.7
    near(budget(None), 3_328.710_124_827); // 60000 / 51.5 / 0.5 / 0.7
    assert_eq!(budget(Some(0)), budget(None));
    assert_eq!(budget(Some(1_000)), budget(None));
}

// docs/documents.md, 1.3, with the page's example values.
#[test]
fn seed_configuring_moves_left_estimators() {
    // m = 30: 50·(1 + 2·(30/50)^12)^(1/12) - 30 = 20.018103757
    for spec in [
        "mle-legacy(steepness=12.0,midpoint=50.0)",
        "steepness=12.0,midpoint=50",
        "midpoint=50,mle-legacy(steepness=12)",
    ] {
        near(smooth(spec).plan(&clock(60_000.0, 0.0, 60)).moves_left, 20.018_103_757);
    }
}

// docs/documents.md, 1.2: nps cancels while nothing is reused, and values the reused nodes otherwise.
#[test]
fn seed_nps_converts_between_nodes_and_time() {
    let budget = |nps: f64, reused_nodes| {
        smooth(&format!("init-nps={nps}")).plan(&MoveRequest { reused_nodes, ..clock(60_000.0, 0.0, 0) }).budget_ms
    };
    near(budget(1_000.0, 0), budget(20_000.0, 0));
    // 2330.097 ms · 1000 nps = 2330.097 nodes; less 1000 reused; 1330.097 ms / 0.7
    near(budget(1_000.0, 1_000), 1_900.138_696_255);
}

// docs/documents.md, 1.4: learned as the search goes, used by the next budget, and handed to smart
// pruning.
#[test]
fn seed_estimating_nodes_per_second_during_the_search() {
    let mut manager = smooth("");
    manager.plan(&clock(600_000.0, 0.0, 0));
    let verdict = manager.observe(&searched(5_000.0, 50_000));
    assert_eq!(verdict.nps, Some(15_000.0)); // half-way from 20000 to 50000/5 s
    assert_eq!(manager.estimates().nps, Some(15_000.0));
    manager.finish(&MoveOutcome { elapsed_ms: 5_000.0, total_nodes: 50_000, ..MoveOutcome::default() });
    assert_eq!(manager.plan(&clock(595_000.0, 0.0, 2)).term("nps").unwrap().value, 15_000.0);

    let mut slow = smooth("nps-update-rate=10");
    slow.plan(&clock(600_000.0, 0.0, 0));
    // One half of a half-life: 10000 + 10000·2^-0.5
    near(slow.observe(&searched(5_000.0, 50_000)).nps.unwrap(), 17_071.067_811_865);
}

// The whole state over four moves of 1 minute and 0.6 seconds: tree reuse, time use and average move time.
// docs/documents.md, 1.5 to 1.7.
#[test]
fn seed_tree_reuse_and_timeuse_over_a_game() {
    let mut manager = smooth("");
    let mut play = |request: MoveRequest, used: Option<f64>, total_nodes: u64| {
        let plan = manager.plan(&request);
        manager.finish(&MoveOutcome {
            elapsed_ms: used.unwrap_or(plan.budget_ms),
            total_nodes,
            ..MoveOutcome::default()
        });
        (plan, manager.estimates().timeuse.unwrap())
    };

    let (plan, timeuse) = play(clock(60_000.0, 600.0, 0), Some(2_000.0), 40_000);
    near(plan.budget_ms, 5_042.995_839_112);
    // weight 2000/1765.0485 = 1.133113; sample 2000/5042.9958 = 0.396590; 0.39659 + 0.30341·2^(-1.133113/10)
    near(timeuse, 0.677_081_523);

    let (plan, timeuse) = play(MoveRequest { reused_nodes: 10_000, ..clock(58_600.0, 600.0, 2) }, None, 90_000);
    // sample 10000/40000; 0.25 + 0.25·2^(-1.133113/4)
    terms(&plan, &[("tree_reuse", 0.455_430_411, false), ("average_move_time", 1_760.396_039_604, false)]);
    near(plan.budget_ms, 4_035.906_077_571);
    // the whole budget, weight 4035.906/1760.396 = 2.292613; 1 - 0.322918·2^-0.2292613
    near(timeuse, 0.724_527_418);

    let (plan, timeuse) = play(MoveRequest { reused_nodes: 80_000, ..clock(55_000.0, 600.0, 4) }, Some(10.0), 80_000);
    // sample 80000/90000; 0.888889 - 0.433458·2^(-2.292613/4)
    terms(&plan, &[("tree_reuse", 0.597_541_444, false), ("target_new_nodes", 5_032.910_058_713, false)]);
    near(plan.budget_ms, 347.323_644_039);
    near(timeuse, 0.724_245_642); // an insta-move: weight 0.005844

    let (plan, _) = play(clock(55_590.0, 600.0, 6), Some(0.0), 1);
    near(plan.term("tree_reuse").unwrap().value, 0.596_936_611); // sample 0, and hardly moved
    near(plan.budget_ms, 5_981.789_844_570);
}

// docs/documents.md, 1.9: names and defaults.
#[test]
fn seed_parameter_list() {
    let table: Vec<_> = SPEC.params.iter().map(|param| (param.name, param.default)).collect();
    let seed = [
        ("init-tree-reuse", 0.5),
        ("max-tree-reuse", 0.7),
        ("tree-reuse-update-rate", 4.0),
        ("init-nps", 20_000.0),
        ("nps-update-rate", 5.0),
        ("init-timeuse", 0.7),
        ("min-timeuse", 0.3),
        ("timeuse-update-rate", 10.0),
        ("max-move-budget", 0.3),
    ];
    assert_eq!(table, seed);
}

// docs/documents.md, 1.9: each parameter reaches its formula.
#[test]
fn seed_every_parameter_is_in_effect() {
    let after_one_move = |params: &str| {
        let mut manager = smooth(params);
        manager.plan(&clock(60_000.0, 0.0, 0));
        manager.observe(&searched(1_000.0, 5_000));
        manager.finish(&MoveOutcome { elapsed_ms: 1_000.0, total_nodes: 5_000, ..MoveOutcome::default() });
        manager.plan(&MoveRequest { reused_nodes: 5_000, ..clock(10.0, 60_000.0, 2) })
    };
    let usual = after_one_move("");
    for param in SPEC.params {
        let other = match param.name {
            "max-tree-reuse" => 0.4,
            "min-timeuse" => 0.9,
            _ => param.default / 2.0,
        };
        assert_ne!(after_one_move(&format!("{}={other}", param.name)).terms, usual.terms, "{}", param.name);
    }
}

// Lc0 #1585 (TCEC season 21, game 44): 2952551 ms to divide, 27.3 moves left, tree reuse 0.53701, 4606954 reused nodes.
// The estimate of speed had collapsed from 60701 to 12990, and the engine moved at once with 3203 s on its clock.
#[test]
fn the_instamove_of_issue_1585_is_a_matter_of_nps() {
    let plan_at = |nps: f64| {
        let params = format!("midpoint=27.3,init-tree-reuse=0.53701,init-timeuse=0.748,init-nps={nps}");
        smooth(&params).plan(&MoveRequest { reused_nodes: 4_606_954, ..clock(2_952_551.0, 0.0, 0) })
    };
    // 2952.551·12990.3 / 27.3 / 0.46299 = 3034466 < 4606954
    let collapsed = plan_at(12_990.3);
    terms(&collapsed, &[("average_total_nodes", 3_034_466.385, false), ("target_new_nodes", 0.0, true)]);
    assert_eq!(collapsed.budget_ms, 0.0);
    // 2952.551·60701 / 27.3 / 0.46299 = 14179437; less 4606954 is 9572483; / 60701 = 157.7 s; / 0.748 = 210.8 s
    let healthy = plan_at(60_701.0);
    terms(&healthy, &[("target_search_time", 157_698.938_683, false), ("budget", 210_827.458_131, false)]);
}

#[test]
fn overhead_bounds_the_result_and_not_the_formulas() {
    let at = |clock_ms, overhead_ms| smooth("").plan(&MoveRequest { overhead_ms, ..clock(clock_ms, 10_000.0, 0) });
    assert_eq!(at(60_000.0, 200.0).budget_ms, at(60_000.0, 0.0).budget_ms);
    assert_eq!(at(250.0, 200.0).budget_ms, 50.0); // 0.3·250 would be 75
    assert_eq!(at(100.0, 200.0).budget_ms, 0.0); // fastchess --compliance: go wtime 100
}

#[test]
fn the_search_stops_at_the_hard_limit() {
    let mut manager = smooth("");
    assert_eq!(manager.observe(&searched(1e9, 1)).stop, None, "no plan, no limit");
    let limit = manager.plan(&clock(60_000.0, 0.0, 0)).hard_limit_ms;
    let before = manager.observe(&searched(limit - 1.0, 1));
    assert_eq!((before.stop, before.remaining_playouts), (None, None));
    near(before.remaining_ms.unwrap(), 1.0);
    assert_eq!(manager.observe(&searched(limit, 1)).stop, Some(StopReason::Time));
    assert_eq!(manager.observe(&searched(f64::NAN, 1)).stop, Some(StopReason::Time));
    manager.finish(&MoveOutcome { elapsed_ms: limit, total_nodes: 1, ..MoveOutcome::default() });
    assert_eq!(manager.observe(&searched(1e9, 1)).stop, None, "the plan is over");
}

#[test]
fn a_move_without_a_plan_teaches_nothing_but_speed() {
    let mut manager = smooth("");
    manager.plan(&clock(60_000.0, 0.0, 0));
    manager.finish(&MoveOutcome { elapsed_ms: 1_000.0, total_nodes: 1_000, ..MoveOutcome::default() });
    let timeuse = manager.estimates().timeuse;
    manager.finish(&MoveOutcome { elapsed_ms: 9_000.0, total_nodes: 1_000, ..MoveOutcome::default() }); // go movetime
    assert_eq!(manager.estimates().timeuse, timeuse);
    manager.plan(&MoveRequest { reused_nodes: 900, ..clock(60_000.0, 0.0, 4) });
    assert_eq!(manager.estimates().tree_reuse, Some(0.5));
}

// A search that ended without a move (ponder miss, `stop` before `position`) has no `finish`.
#[test]
fn an_abandoned_search_leaves_no_trace_in_the_next() {
    let mut manager = smooth("");
    manager.plan(&clock(600_000.0, 0.0, 0));
    manager.observe(&SearchSnapshot { batches: 1, ..searched(0.0, 50_000) });
    manager.observe(&SearchSnapshot { batches: 2, ..searched(5_000.0, 100_000) });
    assert_eq!(manager.estimates().nps, Some(15_000.0)); // 50000 nodes in 5 s after the first batch
    manager.plan(&MoveRequest { reused_nodes: 77, ..clock(600_000.0, 0.0, 2) });
    assert_eq!(manager.estimates().tree_reuse, Some(0.5));
    // The time of the new search starts again at 0: 10000 + 5000·2^-1.
    manager.observe(&SearchSnapshot { batches: 1, ..searched(0.0, 10) });
    manager.observe(&SearchSnapshot { batches: 2, ..searched(5_000.0, 50_010) });
    assert_eq!(manager.estimates().nps, Some(12_500.0));
}

#[test]
fn speed_can_be_set_as_if_learned() {
    let mut manager = smooth("");
    manager.set_nps(60_701.0);
    assert_eq!(manager.plan(&clock(60_000.0, 0.0, 0)).term("nps").unwrap().value, 60_701.0);
}
