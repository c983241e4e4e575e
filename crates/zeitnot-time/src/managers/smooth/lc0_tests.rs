use crate::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, StopReason, TimeManager, build};

/// The vectors of docs/lc0.md, 1.11 are met to this relative distance.
#[track_caller]
fn near(value: f64, expected: f64, printed_digits: f64) {
    let tolerance = (1e-5 * expected.abs()).max(printed_digits);
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[track_caller]
fn terms(plan: &Plan, expected: &[(&str, f64)]) {
    for &(name, value) in expected {
        near(plan.term(name).unwrap_or_else(|| panic!("no term {name}")).value, value, 0.06);
    }
}

fn request(clock_ms: f64, increment_ms: f64, ply: u32) -> MoveRequest {
    MoveRequest { clock_ms, increment_ms, ply, overhead_ms: 200.0, ..MoveRequest::default() }
}

fn look<'a>(elapsed_ms: f64, since_first_batch_ms: f64, new_nodes: u64, root_visits: &'a [u32]) -> SearchSnapshot<'a> {
    let since_first_batch_ms = Some(since_first_batch_ms);
    SearchSnapshot {
        elapsed_ms,
        since_first_batch_ms,
        new_nodes,
        root_visits: root_visits.into(),
        ..SearchSnapshot::default()
    }
}

// docs/lc0.md, 1.10: the limits are on what is learned; initial values are taken as they are.
#[test]
fn initial_values_are_not_limited_and_learned_ones_say_when_they_are() {
    let mut manager = build("smooth(preset=lc0,init-tree-reuse=0.9,init-timeuse=0.1)").unwrap();
    let learned =
        |plan: &Plan| ["tree_reuse", "timeuse"].map(|name| plan.term(name).unwrap()).map(|t| (t.value, t.clamped));
    assert_eq!(learned(&manager.plan(&request(60_000.0, 0.0, 0))), [(0.9, false), (0.1, false)]);
    manager.observe(&look(100.0, 90.0, 1_000, &[]));
    manager.finish(&MoveOutcome { elapsed_ms: 100.0, total_nodes: 1_000, ..MoveOutcome::default() });
    let plan = manager.plan(&MoveRequest { reused_nodes: 900, ..request(59_900.0, 0.0, 2) });
    assert_eq!(learned(&plan), [(0.73, true), (0.34, true)], "{plan}");
}

// docs/lc0.md, 1.11: four moves of one game.
#[test]
fn budgets_of_a_game_are_those_of_lc0() {
    let mut manager = build("smooth(preset=lc0)").unwrap();
    let check = |manager: &mut dyn TimeManager, seen: SearchSnapshot, remaining: f64, nps: Option<f64>| {
        let verdict = manager.observe(&seen);
        assert_eq!(verdict.remaining_ms.unwrap().round(), remaining, "{seen:?}");
        if let Some(nps) = nps {
            near(verdict.nps.unwrap(), nps, 0.0);
        }
    };
    let finish = |manager: &mut dyn TimeManager, elapsed_ms, total_nodes, timeuse| {
        manager.finish(&MoveOutcome { elapsed_ms, total_nodes, stop: None, ..MoveOutcome::default() });
        near(manager.estimates().timeuse.unwrap(), timeuse, 1e-6);
    };

    let plan = manager.plan(&request(60_000.0, 600.0, 0));
    terms(
        &plan,
        &[
            ("gross_time", 3_729.7),
            ("net_time", 3_282.2),
            ("limited_budget", 4_688.8),
            ("average_total_nodes", 74_594.4),
            ("average_new_nodes", 35_805.3),
            ("bank_after_tax", 5_847.0),
            ("bank_tax", 447.6),
            ("bank_use", 5_076.0),
            ("max_bank", 69_705.3),
            ("game_nodes", 1_618_400.0),
            ("moves_left", 45.2),
            ("game_time", 80_920.0),
            ("average_move_time", 1_790.265_5),
        ],
    );
    check(&mut *manager, look(5.0, 0.0, 0, &[]), 9_759.0, Some(20_000.0));
    check(&mut *manager, look(100.0, 50.0, 100, &[60, 40]), 9_664.0, Some(2_000.0));
    check(&mut *manager, look(1_000.0, 950.0, 1_000, &[600, 400]), 8_764.0, Some(1_052.631_6));
    check(&mut *manager, look(1_200.0, 1_150.0, 1_200, &[800, 400]), 3_488.0, Some(1_043.478_3));
    check(&mut *manager, look(3_000.0, 2_950.0, 3_000, &[2_600, 400]), 1_688.0, None);
    check(&mut *manager, look(4_600.0, 4_550.0, 4_600, &[4_200, 400]), 88.0, Some(1_010.989_0));
    finish(&mut *manager, 4_600.0, 4_600, 0.777_628);

    let plan = manager.plan(&MoveRequest { reused_nodes: 1_840, ..request(56_000.0, 600.0, 2) });
    terms(
        &plan,
        &[
            ("limited_budget", 1_615.1),
            ("gross_time", 1_427.2),
            ("net_time", 1_255.9),
            ("bank_after_tax", 6_018.0),
            ("bank_tax", 171.3),
            ("bank_use", 5_496.0),
            ("max_bank", 67_483.7),
            ("game_time", 75_873.0),
            ("moves_left", 44.2),
            ("nps", 1_011.0),
        ],
    );
    near(plan.term("tree_reuse").unwrap().value, 0.471_367, 1e-6);
    check(&mut *manager, look(10.0, 5.0, 20, &[1_000, 860]), 7_101.0, Some(4_000.0));
    check(&mut *manager, look(1_010.0, 1_005.0, 1_000, &[1_900, 940]), 605.0, Some(3_849.713_4));
    let wanting = SearchSnapshot { need_more_time: true, ..look(2_010.0, 2_005.0, 2_000, &[2_800, 1_040]) };
    check(&mut *manager, wanting, 5_101.0, Some(3_699.557_6));
    finish(&mut *manager, 2_010.0, 3_840, 0.808_085);
    assert_eq!(manager.estimates().bank_ms, Some(6_018.0 - 395.0));

    let plan = manager.plan(&MoveRequest { reused_nodes: 5_000, ..request(54_590.0, 600.0, 4) });
    terms(
        &plan,
        &[
            ("limited_budget", 3_831.6),
            ("gross_time", 3_518.5),
            ("net_time", 3_096.3),
            ("bank_after_tax", 6_045.0),
            ("bank_use", 5_285.0),
            ("max_bank", 67_347.6),
        ],
    );
    near(plan.term("tree_reuse").unwrap().value, 0.647_849, 1e-6);
    finish(&mut *manager, 30.0, 5_000, 0.806_326);

    // docs/lc0.md, 7.5: the bank is more than the clock.
    let last = MoveRequest { reused_nodes: 100, moves_to_go: Some(2), ..request(3_000.0, 600.0, 6) };
    let plan = manager.plan(&last);
    terms(&plan, &[("limited_budget", 0.0), ("bank_after_tax", 6_045.0), ("game_time", 0.0), ("game_nodes", 0.0)]);
    assert_eq!((plan.budget_ms, plan.extra_ms), (0.0, 2_800.0));
}

// docs/lc0.md, 1.8: t <= 0 changes nothing, in whole milliseconds.
#[test]
fn speed_is_not_measured_in_less_than_a_millisecond() {
    let mut manager = build("smooth(preset=lc0)").unwrap();
    manager.plan(&request(60_000.0, 600.0, 0));
    for (since_first_batch, nodes, nps) in [(0.05, 16, 20_000.0), (0.9, 32, 20_000.0), (2.9, 32, 16_000.0)] {
        assert_eq!(manager.observe(&look(10.0, since_first_batch, nodes, &[])).nps, Some(nps));
    }
}

// docs/lc0.md, 1.11: the trend.
#[test]
fn the_bank_opens_while_the_best_move_is_overtaken() {
    let mut manager = build("smooth(preset=lc0,force-piggybank-ms=0)").unwrap();
    let plan = manager.plan(&request(60_000.0, 0.0, 0));
    assert_eq!((plan.budget_ms, plan.extra_ms), (3_152.0, 5_076.0));
    for (visits, at, remaining) in [
        ([100, 90, 10], 100.0, 3_052.0),
        ([200, 190, 10], 200.0, 8_028.0),
        ([400, 190, 10], 300.0, 2_852.0),
        ([3_000, 2_900, 100], 3_000.0, 5_228.0),
    ] {
        assert_eq!(manager.observe(&look(at, at, at as u64, &visits)).remaining_ms, Some(remaining));
    }
    let end = manager.observe(&look(3_200.0, 3_200.0, 3_200, &[3_400, 2_900, 100]));
    assert_eq!(end.stop, Some(StopReason::Time));
}

// docs/lc0.md, 1.11: looks that lie too near and too far apart.
#[test]
fn the_trend_bears_looks_in_one_millisecond_and_a_late_second_look() {
    let remaining = |looks: &[(f64, f64, u64, [u32; 2])]| {
        let mut manager = build("smooth(preset=lc0)").unwrap();
        manager.plan(&request(60_000.0, 0.0, 10));
        let see = |(at, since, nodes, visits): &(f64, f64, u64, [u32; 2])| {
            manager.observe(&look(*at, *since, *nodes, visits)).remaining_ms.unwrap().round()
        };
        looks.iter().map(see).collect::<Vec<_>>()
    };
    let near = [
        (2_000.0, 1_990.0, 20_000, [10_000, 9_000]),
        (2_001.0, 1_991.0, 20_064, [10_000, 9_064]),
        (2_001.0, 1_991.0, 20_096, [10_000, 9_096]),
    ];
    assert_eq!(remaining(&near), [1_544.0, 6_619.0, 6_619.0]);
    let far = [(10.0, 0.0, 20, [10, 9]), (3_100.0, 3_090.0, 2_000, [1_000, 900])];
    assert_eq!(remaining(&far), [8_610.0, 5_520.0]);
}

// docs/lc0.md, 1.11: the log of issue #1583 (TCEC); its overhead and its exact moves left follow from its totals.
#[test]
fn the_log_of_issue_1583_satisfies_the_formulas() {
    let bank = 857_744.0 - 17_821.0;
    let spec = format!(
        "smooth(preset=lc0,init-piggybank={},init-timeuse=0.40085,init-tree-reuse=0.73,midpoint=11.50331)",
        (bank + 0.5) / 2_022_712.0
    );
    let mut manager = build(&spec).unwrap();
    manager.set_nps(276_298.7);
    let plan = manager.plan(&MoveRequest {
        overhead_ms: 1_000.0,
        reused_nodes: 70_637_847,
        ..request(2_022_712.0, 7_000.0, 0)
    });
    terms(
        &plan,
        &[
            ("game_nodes", 346_841_120.0),
            ("average_total_nodes", 111_671_960.0),
            ("target_new_nodes", 41_034_112.0),
            ("gross_time", 148_513.6),
            ("bank_tax", 17_821.6),
            ("net_time", 130_692.0),
            ("limited_budget", 326_035.2),
            ("bank_after_tax", 857_744.0),
            ("bank_use", 789_527.0),
            ("max_bank", 6_648_182.0),
        ],
    );
}

// docs/lc0.md, 1.11: the ratchet: true speed 1000 nps, 20 nodes in 20 ms, 60 s + 0.6 s, 40 % reuse.
// Alone of all golden vectors this one is not reproduced to 1e-5, only to 0.9 %: it does not record when Lc0 looked
// (its watchdog looks every 100 ms beside the workers). One look at the end of each batch is assumed here; looks every
// 1 to 100 ms, other overheads and a search that asks for more time come no nearer.
#[test]
fn defect_h3_speed_ratchets_up() {
    let mut manager = build("smooth(preset=lc0)").unwrap();
    let (mut clock, mut reused, mut seen) = (60_000.0, 0_u64, Vec::new());
    for index in 0..12 {
        let plan = manager.plan(&MoveRequest { reused_nodes: reused, ..request(clock, 600.0, 2 * index) });
        let mut batches = 1_u64;
        let seen_at = |batches: u64| look(batches as f64 * 20.0, (batches - 1) as f64 * 20.0, batches * 20, &[]);
        while manager.observe(&seen_at(batches)).stop.is_none() {
            batches += 1;
        }
        let elapsed_ms = batches as f64 * 20.0;
        assert!(elapsed_ms <= plan.hard_limit_ms + 20.0);
        let total_nodes = reused + batches * 20;
        manager.finish(&MoveOutcome { elapsed_ms, total_nodes, stop: None, ..MoveOutcome::default() });
        clock += 600.0 - elapsed_ms;
        reused = total_nodes * 2 / 5;
        seen.push(manager.estimates().nps.unwrap());
    }
    // As near as Lc0's unknown looks let it be.
    for (index, nps) in [(0, 1_002.0), (1, 1_946.0), (2, 1_887.0), (3, 1_884.0), (4, 1_889.0), (11, 1_903.0)] {
        near(seen[index], nps, 0.009 * nps);
    }
}
