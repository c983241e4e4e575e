use super::*;
use crate::{MoveRequest, build};

fn params() -> StopperParams {
    StopperParams { overhead_ms: 0.0, ..StopperParams::default() }
}

/// Two root moves that smart pruning has no opinion on.
fn snapshot(elapsed_ms: f64, nodes: u64, root_visits: &[u32]) -> SearchSnapshot<'_> {
    SearchSnapshot {
        elapsed_ms,
        new_nodes: nodes,
        total_nodes: nodes,
        root_visits: root_visits.into(),
        ..SearchSnapshot::default()
    }
}

fn stop(limits: &SearchLimits, snapshot: &SearchSnapshot) -> Option<StopReason> {
    Stoppers::new(limits, &params()).check(snapshot, None).stop
}

const EVEN: &[u32] = &[50, 50];

// docs/lc0.md, 2.2.
#[test]
fn nodes_count_the_tree_and_playouts_the_search() {
    let reused =
        SearchSnapshot { new_nodes: 30, total_nodes: 100, root_visits: EVEN.into(), ..SearchSnapshot::default() };
    let nodes = |nodes| SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
    assert_eq!(stop(&nodes(100), &reused), Some(StopReason::Nodes));
    assert_eq!(stop(&nodes(101), &reused), None);
    let playouts = |playouts| SearchLimits { playouts: Some(playouts), ..SearchLimits::default() };
    assert_eq!(stop(&playouts(30), &reused), Some(StopReason::Playouts));
    assert_eq!(stop(&playouts(31), &reused), None);
    let full = SearchSnapshot { total_nodes: 4_000_000_000, ..reused.clone() };
    assert_eq!(stop(&SearchLimits { infinite: true, ..SearchLimits::default() }, &full), Some(StopReason::Nodes));
    assert_eq!(stop(&nodes(u64::MAX), &full), Some(StopReason::Nodes));
}

#[test]
fn remaining_playouts_are_told_where_smart_pruning_is_on() {
    let limits = SearchLimits { nodes: Some(1_000), playouts: Some(500), infinite: true, ..SearchLimits::default() };
    let seen =
        SearchSnapshot { new_nodes: 100, total_nodes: 700, root_visits: EVEN.into(), ..SearchSnapshot::default() };
    let remaining = |params: &StopperParams| Stoppers::new(&limits, params).check(&seen, None).remaining_playouts;
    assert_eq!(remaining(&params()), Some(300.0)); // min(500 - 100, 1000 - 700)
    assert_eq!(remaining(&StopperParams { smart_pruning_factor: 0.0, ..params() }), None);
}

// docs/lc0.md, 2.1: no check before the root has a visit.
#[test]
fn one_node_is_always_evaluated() {
    let limits = SearchLimits {
        nodes: Some(0),
        movetime_ms: Some(0.0),
        depth: Some(0),
        playouts: Some(0),
        ..SearchLimits::default()
    };
    assert_eq!(stop(&limits, &snapshot(1e6, 0, EVEN)), None);
    assert_eq!(stop(&limits, &snapshot(1e6, 1, EVEN)), Some(StopReason::Playouts));
}

// docs/lc0.md, 2.3.
#[test]
fn movetime_loses_an_overhead_that_was_set_and_keeps_a_millisecond() {
    let limits = SearchLimits { movetime_ms: Some(1_000.0), ..SearchLimits::default() };
    let check = |overhead_ms, elapsed_ms| {
        let params = StopperParams { overhead_ms, overhead_is_set: true, ..StopperParams::default() };
        Stoppers::new(&limits, &params).check(&snapshot(elapsed_ms, 100, EVEN), None)
    };
    assert_eq!(check(200.0, 799.0).stop, None);
    assert_eq!(check(200.0, 799.0).remaining_ms, Some(1.0));
    assert_eq!(check(200.0, 800.0).stop, Some(StopReason::MoveTime));
    assert_eq!(check(5_000.0, 0.5).stop, None);
    assert_eq!(check(5_000.0, 1.0).stop, Some(StopReason::MoveTime));
    assert_eq!(check(-500.0, 999.0).stop, None);
    assert_eq!(check(-500.0, 1_000.0).stop, Some(StopReason::MoveTime));
}

#[test]
fn an_overhead_that_nobody_set_takes_a_tenth_of_a_movetime_at_most() {
    let left = |movetime_ms, params: &StopperParams| {
        let limits = SearchLimits { movetime_ms: Some(movetime_ms), ..SearchLimits::default() };
        Stoppers::new(&limits, params).movetime_ms()
    };
    let nobody = StopperParams::default();
    let set = StopperParams { overhead_is_set: true, ..StopperParams::default() };
    for (movetime, by_default, by_choice) in [
        (0.0, 1.0, 1.0),
        (1.0, 1.0, 1.0),
        (10.0, 9.0, 1.0),
        (100.0, 90.0, 1.0),
        (200.0, 180.0, 1.0),
        (210.0, 189.0, 10.0),
        (1_000.0, 900.0, 800.0),
        (2_000.0, 1_800.0, 1_800.0),
        (60_000.0, 59_800.0, 59_800.0),
    ] {
        assert_eq!((left(movetime, &nobody), left(movetime, &set)), (Some(by_default), Some(by_choice)));
    }
}

// docs/lc0.md, 2.3.
#[test]
fn depth_and_mate_limits_stop_the_search() {
    let seen = SearchSnapshot { average_depth: 7, mate_depth: Some(3), ..snapshot(0.0, 100, EVEN) };
    let depth = |depth| stop(&SearchLimits { depth: Some(depth), ..SearchLimits::default() }, &seen);
    assert_eq!((depth(7), depth(8)), (Some(StopReason::Depth), None));
    let mate = |mate| stop(&SearchLimits { mate: Some(mate), ..SearchLimits::default() }, &seen);
    assert_eq!((mate(3), mate(2)), (Some(StopReason::Mate), None));
    let unproven = SearchSnapshot { mate_depth: None, ..seen.clone() };
    assert_eq!(stop(&SearchLimits { mate: Some(3), ..SearchLimits::default() }, &unproven), None);
}

// docs/lc0.md, 2.1: a search is infinite with infinite, ponder or mate; but `movetime` holds beside `mate`, which Lc0
// lets it not.
#[test]
fn an_infinite_search_ends_only_by_nodes_depth_or_mate() {
    let only_move = SearchSnapshot { average_depth: 3, mate_depth: Some(1), ..snapshot(1e9, 1_000, &[999]) };
    let finite = SearchLimits { movetime_ms: Some(1.0), ..SearchLimits::default() };
    let endless = [
        SearchLimits { infinite: true, ..finite.clone() },
        SearchLimits { ponder: true, ..finite.clone() },
        SearchLimits { mate: Some(0), ..SearchLimits::default() },
    ];
    assert_eq!(stop(&finite, &only_move), Some(StopReason::MoveTime));
    for limits in endless {
        assert_eq!(stop(&limits, &only_move), None, "{limits:?}");
        assert_eq!(stop(&SearchLimits { nodes: Some(9), ..limits.clone() }, &only_move), Some(StopReason::Nodes));
        assert_eq!(stop(&SearchLimits { depth: Some(3), ..limits }, &only_move), Some(StopReason::Depth));
    }
    // All moves are decided, and none mates.
    let decided = SearchSnapshot { average_depth: u32::MAX, ..snapshot(1e9, 1_000, &[9, 9]) };
    let mate = SearchLimits { mate: Some(2), ..SearchLimits::default() };
    assert_eq!(stop(&mate, &decided), Some(StopReason::Mate));
    assert_eq!(stop(&SearchLimits { infinite: true, ..SearchLimits::default() }, &decided), None);
}

#[test]
fn a_search_without_a_sure_limit_is_endless() {
    let limits = [
        SearchLimits { movetime_ms: Some(1.0), ..SearchLimits::default() },
        SearchLimits { nodes: Some(1), ..SearchLimits::default() },
        SearchLimits { playouts: Some(1), ..SearchLimits::default() },
        SearchLimits { depth: Some(1), ..SearchLimits::default() },
    ];
    let is_endless = |limits: SearchLimits, has_manager| Stoppers::new(&limits, &params()).is_endless(has_manager);
    for limits in limits {
        let mate = SearchLimits { mate: Some(1), ..limits.clone() };
        assert!(!is_endless(limits.clone(), false) && !is_endless(mate, false), "{limits:?}");
        // An answer waits for `stop` or `ponderhit` then, whatever ends the search.
        assert!(is_endless(SearchLimits { infinite: true, ..limits.clone() }, false), "{limits:?}");
        assert!(is_endless(SearchLimits { ponder: true, ..limits.clone() }, false), "{limits:?}");
    }
    let mate = SearchLimits { mate: Some(1), ..SearchLimits::default() };
    assert!(is_endless(mate.clone(), false) && !is_endless(mate, true));
}

#[test]
fn mate_search_ends_by_mate_or_movetime_alone() {
    let limits = SearchLimits { movetime_ms: Some(1_000.0), mate: Some(2), ..SearchLimits::default() };
    // Without a mate to look for, the only move, and one that cannot be overtaken, would end it.
    let params = StopperParams { minimum_kld_gain: 1.0, ..params() };
    let mut stoppers = Stoppers::new(&limits, &params);
    for elapsed_ms in [0.0, 500.0, 999.0] {
        assert_eq!(stoppers.check(&snapshot(elapsed_ms, 1_000 + elapsed_ms as u64, &[900]), None).stop, None);
    }
    let longer_mate = SearchSnapshot { mate_depth: Some(3), ..snapshot(999.0, 2_000, EVEN) };
    assert_eq!(stoppers.check(&longer_mate, None).stop, None);
    let mate = SearchSnapshot { mate_depth: Some(2), ..longer_mate };
    assert_eq!(stoppers.check(&mate, None).stop, Some(StopReason::Mate));
    assert_eq!(stoppers.check(&snapshot(1_000.0, 2_000, EVEN), None).stop, Some(StopReason::MoveTime));
}

// docs/lc0.md, 1.1: with infinite or ponder the manager contributes nothing; with mate it does.
#[test]
fn manager_is_asked_first_and_not_while_pondering() {
    let mut manager = build("smooth").unwrap();
    manager.plan(&MoveRequest { clock_ms: 1_000.0, ..MoveRequest::default() });
    let late = snapshot(1e6, 1_000, EVEN);
    let mut check = |limits: SearchLimits| Stoppers::new(&limits, &params()).check(&late, Some(&mut *manager));
    let nodes = Some(10);
    assert_eq!(check(SearchLimits { nodes, ..SearchLimits::default() }).stop, Some(StopReason::Time));
    assert_eq!(check(SearchLimits { mate: Some(1), ..SearchLimits::default() }).stop, Some(StopReason::Time));
    for limits in [
        SearchLimits { infinite: true, ..SearchLimits::default() },
        SearchLimits { ponder: true, ..SearchLimits::default() },
    ] {
        let verdict = check(limits);
        assert_eq!((verdict.stop, verdict.remaining_ms), (None, None));
    }
}

// docs/lc0.md, 2.5, through the chain.
#[test]
fn kld_gain_is_part_of_the_chain() {
    let params = StopperParams { minimum_kld_gain: 0.000_542, smart_pruning_factor: 0.0, ..params() };
    let mut stoppers = Stoppers::new(&SearchLimits::default(), &params);
    assert_eq!(stoppers.check(&snapshot(0.0, 101, &[60, 40]), None).stop, None);
    assert_eq!(stoppers.check(&snapshot(0.0, 201, &[150, 50]), None).stop, Some(StopReason::KldGain));
}

// docs/lc0.md, 2.6: factor 1.33, a limit of 10 s, first evaluation at 100 ms.
#[test]
fn smart_pruning_gives_the_values_of_lc0() {
    let limits = SearchLimits { movetime_ms: Some(10_000.0), ..SearchLimits::default() };
    let mut stoppers = Stoppers::new(&limits, &params());
    let mut check = |elapsed, nodes, visits: &[u32]| {
        let verdict = stoppers.check(&snapshot(elapsed, nodes, visits), None);
        (verdict.stop, verdict.remaining_playouts.unwrap())
    };
    // Only the limit of the tree is known at first.
    assert_eq!(check(100.0, 1, &[1, 0]), (None, 3_999_999_999.0));
    assert_eq!(check(299.0, 300, &[300, 0]), (None, 3_999_999_700.0)); // within the tolerance of 200 ms
    let (stop, remaining) = check(300.0, 300, &[250, 50]);
    assert_eq!((stop, remaining.floor()), (None, 21_886.0)); // 9.7 s·(600/0.2 s + 1)/1.33
    let (stop, remaining) = check(1_100.0, 1_100, &[1_000, 100]);
    assert_eq!((stop, remaining.floor()), (None, 9_375.0)); // 8.9 s·(1400/1 s + 1)/1.33
    let (stop, remaining) = check(5_100.0, 6_000, &[5_900, 100]);
    assert_eq!(stop, Some(StopReason::CannotBeOvertaken)); // a lead of 5800
    assert!((remaining - 4_645.79).abs() < 0.01, "{remaining}"); // 4.9 s·(6300/5 s + 1)/1.33
}

#[test]
fn smart_pruning_waits_for_the_minimum_of_batches() {
    let limits = SearchLimits { nodes: Some(2_000), ..SearchLimits::default() };
    let params = StopperParams { smart_pruning_minimum_batches: 5, ..params() };
    let check = |batches| {
        let mut stoppers = Stoppers::new(&limits, &params);
        stoppers.check(&snapshot(0.0, 1, &[1, 0]), None);
        let seen = SearchSnapshot { batches, ..snapshot(1_000.0, 1_500, &[100, 1_300, 99]) };
        stoppers.check(&seen, None)
    };
    // 500 nodes remain, 375.9 over the factor; the lead is 1200.
    assert_eq!((check(4).stop, check(4).remaining_playouts.unwrap().round()), (None, 376.0));
    assert_eq!(check(5).stop, Some(StopReason::CannotBeOvertaken));
}

#[test]
fn smart_pruning_takes_the_speed_that_others_know() {
    let limits = SearchLimits { movetime_ms: Some(2_000.0), ..SearchLimits::default() };
    let remaining = |params: &StopperParams, manager: Option<&mut (dyn TimeManager + '_)>| {
        let mut stoppers = Stoppers::new(&limits, params);
        stoppers.check(&snapshot(0.0, 1, EVEN), None);
        let verdict = stoppers.check(&snapshot(1_000.0, 700, EVEN), manager);
        (verdict.remaining_playouts.unwrap(), verdict.nps)
    };
    let unit = StopperParams { smart_pruning_factor: 1.0, ..params() };
    assert_eq!(remaining(&unit, None), (1_001.0, None)); // 1 s·((700 + 300)/1 s + 1)
    let limited = StopperParams { nodes_per_second_limit: 123.0, ..unit };
    assert_eq!(remaining(&limited, None), (123.0, Some(123.0)));
    // The manager's estimate replaces it. Its budget, 60000/50/0.5/0.7 = 3428.57 ms, is longer than the movetime.
    let mut manager = build("smooth(visit-share=0,opening=1)").unwrap();
    manager.set_nps(456.0);
    manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
    assert_eq!(remaining(&limited, Some(&mut *manager)), (456.0, Some(456.0)));
    // A shorter budget is the time that remains: 21000/50/0.5/0.7 = 1200 ms, of which 1 s has passed.
    manager.plan(&MoveRequest { clock_ms: 21_000.0, ..MoveRequest::default() });
    let (playouts, _) = remaining(&limited, Some(&mut *manager));
    assert!((playouts - 0.2 * 456.0).abs() < 1e-3, "{playouts}");
}

// On a clock the only move, and the only one that does not lose, are played at once; other limits do not end the search
// of one move, nor does a lead that cannot be caught up with.
#[test]
fn an_only_move_is_played_at_once_on_a_clock_alone() {
    let mut manager = build("smooth").unwrap();
    manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
    let mut on_clock = |limits: &SearchLimits, seen: &SearchSnapshot| {
        Stoppers::new(limits, &params()).check(seen, Some(&mut *manager)).stop
    };
    let only = snapshot(1.0, 1, &[0]);
    let nodes = SearchLimits { nodes: Some(1_000), ..SearchLimits::default() };
    assert_eq!(on_clock(&SearchLimits::default(), &only), Some(StopReason::OnlyMove));
    assert_eq!(on_clock(&nodes, &only), Some(StopReason::OnlyMove));
    let left =
        SearchSnapshot { losing_edges: 1, best_move: Some(1), root_visits: (&[4, 0]).into(), ..snapshot(1.0, 5, &[]) };
    assert_eq!(on_clock(&SearchLimits::default(), &left), Some(StopReason::OnlyNonLosingMove));
    for limits in [
        nodes,
        SearchLimits { playouts: Some(1_000), ..SearchLimits::default() },
        SearchLimits { movetime_ms: Some(60_000.0), ..SearchLimits::default() },
        SearchLimits { depth: Some(9), ..SearchLimits::default() },
    ] {
        let mut stoppers = Stoppers::new(&limits, &params());
        for visits in [0, 1, 500, 998] {
            let visits = [visits];
            let seen = snapshot(f64::from(visits[0]) * 50.0 + 1.0, 1 + u64::from(visits[0]), &visits);
            assert_eq!(stoppers.check(&seen, None).stop, None, "{limits:?} {visits:?}");
        }
    }
}

#[test]
fn several_lines_are_searched_before_an_early_end() {
    let mut manager = build("smooth").unwrap();
    manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
    let limits = SearchLimits { nodes: Some(1_000), ..SearchLimits::default() };
    for (lines, ends, ends_on_clock) in [
        (None, true, true),
        (Some(ShownLines::Unvisited), false, false),
        (Some(ShownLines::Visited), false, true),
        (Some(ShownLines::Proven), true, true),
    ] {
        let seen = SearchSnapshot { win_found: true, lines, ..snapshot(1.0, 3, EVEN) };
        let verdict = Stoppers::new(&limits, &params()).check(&seen, None);
        // Without a number of nodes no root move is left alone.
        assert_eq!((verdict.stop.is_some(), verdict.remaining_playouts.is_some()), (ends, ends), "{lines:?}");
        let verdict = Stoppers::new(&limits, &params()).check(&seen, Some(&mut *manager));
        assert_eq!(verdict.stop, ends_on_clock.then_some(StopReason::WinFound), "{lines:?}");
        let at_limit = SearchSnapshot { total_nodes: 1_000, ..seen };
        assert_eq!(stop(&limits, &at_limit), Some(StopReason::Nodes), "{lines:?}");
    }
}

// docs/lc0.md, 2.6: the rules before the count of visits.
#[test]
fn smart_pruning_of_moves_that_leave_no_choice() {
    let limits = SearchLimits { movetime_ms: Some(10_000.0), ..SearchLimits::default() };
    let reason = |change: fn(&mut SearchSnapshot)| {
        let mut seen = snapshot(1.0, 10, &[4, 3, 2]);
        change(&mut seen);
        stop(&limits, &seen)
    };
    assert_eq!(reason(|_| ()), None);
    assert_eq!(reason(|s| s.root_visits = (&[10]).into()), None, "searched to the limit that was asked for");
    let proven = |change: fn(&mut SearchSnapshot)| {
        let mut seen = snapshot(1.0, 10, &[9]);
        change(&mut seen);
        stop(&limits, &seen)
    };
    assert_eq!(proven(|s| s.losing_edges = 1), Some(StopReason::OnlyMove));
    assert_eq!(proven(|s| s.win_found = true), Some(StopReason::OnlyMove));
    assert_eq!(reason(|s| s.root_visits = (&[]).into()), None, "the moves are not known yet");
    assert_eq!(reason(|s| s.losing_edges = 1), None);
    assert_eq!(reason(|s| s.losing_edges = 2), None, "the one that is left is searched to the limit, too");
    assert_eq!(reason(|s| s.losing_edges = 3), Some(StopReason::OnlyNonLosingMove));
    assert_eq!(
        reason(|s| {
            s.losing_edges = 2;
            s.may_resign = true;
        }),
        None,
        "a lost engine looks for the longest resistance"
    );
    assert_eq!(
        reason(|s| {
            s.losing_edges = 3;
            s.may_resign = true;
        }),
        Some(StopReason::OnlyNonLosingMove)
    );
    assert_eq!(reason(|s| s.win_found = true), Some(StopReason::WinFound));
    let off = StopperParams { smart_pruning_factor: 0.0, ..params() };
    assert_eq!(Stoppers::new(&limits, &off).check(&snapshot(1.0, 10, &[10]), None).stop, None);
}

#[test]
fn smart_pruning_without_new_nodes_waits() {
    let limits = SearchLimits { nodes: Some(1_000), ..SearchLimits::default() };
    let mut stoppers = Stoppers::new(&limits, &params());
    let reused = SearchSnapshot { total_nodes: 999, root_visits: (&[990, 8]).into(), ..SearchSnapshot::default() };
    assert_eq!(stoppers.check(&SearchSnapshot { elapsed_ms: 500.0, ..reused.clone() }, None).stop, None);
    assert_eq!(stoppers.check(&SearchSnapshot { elapsed_ms: 900.0, ..reused }, None).stop, None);
}

#[test]
fn stop_reasons_are_displayed_in_words() {
    assert_eq!(StopReason::Time.to_string(), "time");
    assert_eq!(StopReason::CannotBeOvertaken.to_string(), "smart pruning: the best move cannot be overtaken");
    assert_eq!(serde_json::to_string(&StopReason::MoveTime).unwrap(), "\"movetime\"");
}

proptest::proptest! {
    #[test]
    fn no_snapshot_makes_the_chain_panic(
        elapsed_ms in proptest::num::f64::ANY,
        new_nodes: u64,
        total_nodes: u64,
        visits in proptest::collection::vec(proptest::num::u32::ANY, 0..5),
        losing_edges: u32,
        movetime in proptest::option::of(proptest::num::f64::ANY),
        overhead_ms in proptest::num::f64::ANY,
        factor in proptest::num::f64::ANY,
    ) {
        let limits = SearchLimits { movetime_ms: movetime, ..SearchLimits::default() };
        let params = StopperParams { overhead_ms, smart_pruning_factor: factor, minimum_kld_gain: 1e-6, ..params() };
        let mut stoppers = Stoppers::new(&limits, &params);
        let seen = SearchSnapshot { losing_edges, total_nodes, ..snapshot(elapsed_ms, new_nodes, &visits) };
        for _ in 0..3 {
            stoppers.check(&seen, None);
        }
        // A time limit that has passed always stops.
        if let Some(movetime) = movetime.filter(|_| overhead_ms >= 0.0 && total_nodes > 0) {
            let late = SearchSnapshot { elapsed_ms: movetime.max(1.0), ..seen };
            proptest::prop_assert!(stoppers.check(&late, None).stop.is_some());
        }
    }
}

// In bullet the 200 ms of Lc0 are most of a move.
#[test]
fn smart_pruning_counts_visits_at_once_where_the_manager_knows_the_speed() {
    let stop_at = |spec: &str, elapsed_ms: f64| {
        let mut manager = build(spec).unwrap();
        manager.set_nps(1_000.0);
        let plan = manager.plan(&MoveRequest { clock_ms: 10_000.0, ply: 60, ..MoveRequest::default() });
        assert!((150.0..3_000.0).contains(&plan.budget_ms), "{plan}");
        let mut stoppers = Stoppers::new(&SearchLimits::default(), &params());
        stoppers.check(&snapshot(1.0, 1, &[1, 0]), Some(&mut *manager));
        stoppers.check(&snapshot(elapsed_ms, 5_000, &[4_990, 0]), Some(&mut *manager)).stop
    };
    for (spec, waits) in [("smooth", false), ("smooth(preset=lc0)", true), ("legacy", true)] {
        assert_eq!(stop_at(spec, 100.0).is_none(), waits, "{spec}");
        assert_eq!(stop_at(spec, 5.0), None, "{spec} before a tenth of its time");
    }
}
