use super::*;
use crate::build;

fn smooth(params: &str) -> Box<dyn TimeManager> {
    build(&format!("smooth({params})")).unwrap()
}

fn request(clock_ms: f64, increment_ms: f64, ply: u32) -> MoveRequest {
    MoveRequest { clock_ms, increment_ms, ply, overhead_ms: 200.0, ..MoveRequest::default() }
}

fn look(elapsed_ms: f64, new_nodes: u64) -> SearchSnapshot<'static> {
    SearchSnapshot { elapsed_ms, since_first_batch_ms: Some(elapsed_ms), new_nodes, ..SearchSnapshot::default() }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{value} is not {expected}");
}

/// The worked example of the module's documentation.
#[test]
fn budget_of_a_first_move_step_by_step() {
    let plan = smooth("").plan(&request(60_000.0, 1_000.0, 0));
    for (name, value) in [
        ("moves_left", 50.0),
        ("game_time", 108_800.0),
        ("average_new_nodes", 43_520.0),
        ("average_total_nodes", 87_040.0),
        // The first 18 moves lack 8 * 0.6 and 10 - (8 + 9 + ... + 17) / 18.
        ("opening_share", 0.4),
        ("saved_moves", 4.8 + 55.0 / 18.0),
        ("target_nodes", 41_305.563_1),
        ("credited_nodes", 0.0),
        ("target_search_time", 2_065.278_154),
        ("search_time_budget", 2_950.397_363),
        ("reserve", 5_900.794_727),
    ] {
        near(plan.term(name).unwrap_or_else(|| panic!("no term {name}")).value, value);
    }
    near(plan.hard_limit_ms, 8_851.192_090);
}

#[test]
fn a_reserve_and_its_budget_are_at_most_their_share_of_the_clock() {
    let plan = smooth("opening=1").plan(&request(60_000.0, 1_000.0, 0));
    near(plan.term("reserve").unwrap().value, 11_782.857_143); // of 12,434
    near(plan.hard_limit_ms, 18_000.0);
}

/// Size of a first tree at this ply, in trees of equal size.
fn opening(params: &str, ply: u32, pieces: Option<u32>, moves_to_go: Option<u32>) -> f64 {
    let request = MoveRequest { pieces, moves_to_go, ..request(60_000.0, 0.0, ply) };
    let plan = smooth(params).plan(&request);
    plan.term("target_nodes").unwrap().value / plan.term("average_total_nodes").unwrap().value
}

#[test]
fn first_moves_save_time_for_all_that_come() {
    // The shares of the moves of a control add up to the control: of 40 moves, what 39 leave is that of the last one.
    let left = (0..39).fold(1.0, |left, number| {
        let to_go = 40 - number;
        left - left / f64::from(to_go) * opening("", 2 * number, None, Some(to_go))
    });
    near(left, 1.0 / (40.0 - 4.8 - 55.0 / 18.0));
    near(opening("", 0, None, Some(1)), 1.0);
    // Shares rise from the ninth move, with seven and a half played, to the nineteenth, of Black, too.
    let shares = [14, 15, 16, 24, 34, 35, 36].map(|ply| opening("", ply, Some(32), None));
    assert!(shares.is_sorted_by(|before, after| before < after) && shares[6] == 1.0, "{shares:?}");
    // A game that begins with few pieces has no opening.
    let by_pieces = [32, 28, 26, 24, 2].map(|pieces| opening("", 0, Some(pieces), None));
    assert!(by_pieces[..4].is_sorted_by(|before, after| before < after), "{by_pieces:?}");
    assert_eq!(by_pieces[3..], [1.0, 1.0]);
}

#[test]
fn few_moves_left_in_an_opening_are_shared_out_whole() {
    for midpoint in [2.5, 10.0, 10.01, 18.0] {
        for least in [0.01, 0.3, 0.4] {
            let share = opening(&format!("midpoint={midpoint},opening={least}"), 0, None, None);
            assert!(share >= least && share <= 1.0 + 1e-9, "{midpoint} {least}: {share}");
        }
    }
}

// Lc0 #1585 (TCEC season 21, game 44): 3,203 s on the clock, 4,606,954 reused nodes, and an estimate of speed that had
// collapsed from 60,701 to 12,990. Lc0 moved at once.
#[test]
fn budget_in_issue_1585_is_minutes() {
    for nps in [12_990.0, 60_701.0] {
        let mut manager = smooth("midpoint=45.3");
        manager.set_nps(nps);
        let plan = manager.plan(&MoveRequest { reused_nodes: 4_606_954, ..request(3_203_000.0, 0.0, 36) });
        assert!((60_000.0..300_000.0).contains(&plan.budget_ms), "{nps}: {plan}");
        assert_eq!(plan.term("credited_nodes").unwrap().clamped, nps < 20_000.0);
    }
}

// docs/lc0.md, 7.5: a move of 0.42 of the clock, and the rest lost.
#[test]
fn the_last_move_of_a_control_may_use_what_is_left() {
    let last = MoveRequest { moves_to_go: Some(1), ..request(60_000.0, 0.0, 78) };
    let plan = smooth("").plan(&last);
    assert_eq!((plan.budget_ms, plan.hard_limit_ms), (59_800.0, 59_800.0), "{plan}");
    let two = MoveRequest { moves_to_go: Some(2), ..last };
    let plan = smooth("").plan(&two);
    assert!(plan.hard_limit_ms <= 30_000.0, "{plan}");
}

#[test]
fn a_hard_move_gets_its_reserve() {
    let mut manager = smooth("");
    let plan = manager.plan(&request(60_000.0, 0.0, 0));
    let budget = plan.budget_ms;
    let remaining =
        |manager: &mut Box<dyn TimeManager>, seen: SearchSnapshot| manager.observe(&seen).remaining_ms.unwrap();
    near(remaining(&mut manager, look(10.0, 10)), budget - 10.0);
    let wanting = SearchSnapshot { need_more_time: true, ..look(20.0, 20) };
    near(remaining(&mut manager, wanting), budget * 3.0 - 20.0);
    let valued = |value, at| SearchSnapshot { best_value: Some(value), ..look(at, 30) };
    near(remaining(&mut manager, valued(0.3, 30.0)), budget - 30.0);
    manager.finish(&MoveOutcome { elapsed_ms: 1_000.0, total_nodes: 1_000, stop: None, ..MoveOutcome::default() });
    // Lc0 #1582, #1534: the reply was not expected.
    let budget = manager.plan(&request(59_000.0, 0.0, 2)).budget_ms;
    near(remaining(&mut manager, valued(0.25, 10.0)), budget - 10.0);
    near(remaining(&mut manager, valued(0.15, 20.0)), budget * 3.0 - 20.0);
}

// The time use is measured in what the search was given, after the factor.
#[test]
fn a_search_that_uses_all_it_was_given_teaches_a_full_use() {
    for visits in [[50, 50], [30, 70], [10, 90]] {
        let mut manager = smooth("");
        for _ in 0..400 {
            manager.plan(&request(60_000.0, 0.0, 0));
            let look = SearchSnapshot { root_visits: (&visits).into(), ..look(10.0, 100) };
            let given_ms = manager.observe(&look).remaining_ms.unwrap() + 10.0;
            manager.finish(&MoveOutcome { elapsed_ms: given_ms / 2.0, total_nodes: 100, ..MoveOutcome::default() });
        }
        near(manager.estimates().timeuse.unwrap(), 0.5);
    }
}

#[test]
fn an_only_move_does_not_teach_what_share_is_usual() {
    let mut manager = smooth("");
    for _ in 0..40 {
        manager.plan(&request(60_000.0, 0.0, 0));
        manager.observe(&SearchSnapshot { root_visits: (&[100]).into(), ..look(10.0, 100) });
        manager.finish(&MoveOutcome { elapsed_ms: 0.0, ..MoveOutcome::default() });
    }
    let budget_ms = manager.plan(&request(60_000.0, 0.0, 0)).budget_ms;
    let seen = SearchSnapshot { root_visits: (&[50, 50]).into(), ..look(10.0, 100) };
    near((manager.observe(&seen).remaining_ms.unwrap() + 10.0) / budget_ms, 1.4);
}

/// Milliseconds that a search with these visits may take.
fn limit_with(params: &str, visits: &[u32]) -> f64 {
    let mut manager = smooth(params);
    manager.plan(&request(60_000.0, 0.0, 0));
    let seen = SearchSnapshot { root_visits: visits.into(), ..look(10.0, 100) };
    manager.observe(&seen).remaining_ms.unwrap() + 10.0
}

// Monty #21.
#[test]
fn a_search_whose_best_move_is_unsure_takes_longer() {
    let usual = limit_with("", &[30, 70]);
    near(limit_with("", &[50, 50]), usual * 1.4);
    near(limit_with("", &[10, 90]), usual * 0.6);
    near(limit_with("", &[0, 100]), usual * 0.5); // 0.4, but no less than half
    near(limit_with("visit-share=5", &[50, 50]), usual * 2.0); // the same with 2
    // What is usual is learned: after many moves of half the visits each they get their budgets.
    let mut manager = smooth("");
    for _ in 0..40 {
        manager.plan(&request(60_000.0, 0.0, 0));
        manager.observe(&SearchSnapshot { root_visits: (&[50, 50]).into(), ..look(10.0, 100) });
        manager.finish(&MoveOutcome { elapsed_ms: 10.0, total_nodes: 100, ..MoveOutcome::default() });
    }
    let plan = manager.plan(&request(60_000.0, 0.0, 0));
    let seen = SearchSnapshot { root_visits: (&[50, 50]).into(), ..look(10.0, 100) };
    let limit = manager.observe(&seen).remaining_ms.unwrap() + 10.0;
    assert!((limit / plan.budget_ms - 1.0).abs() < 0.001, "{limit} {plan}");
}

// Seed: "Soon we'll use Moves Left Head".
#[test]
fn moves_left_are_renewed_while_the_search_goes_on() {
    let mut manager = smooth("mle-mlh(scale=1)");
    let plan = manager.plan(&request(60_000.0, 0.0, 40));
    near(plan.moves_left, 30.023377847); // 50·(1 + 2·(20/50)^7)^(1/7) − 20
    let says = |plies, at| SearchSnapshot { moves_left_plies: Some(plies), ..look(at, 100) };
    let long = manager.observe(&says(4.0 * plan.moves_left, 10.0)).remaining_ms.unwrap() + 10.0;
    near(long, plan.budget_ms / 2.0);
    let short = manager.observe(&says(20.0, 20.0)).remaining_ms.unwrap() + 20.0;
    near(short, plan.hard_limit_ms);
    manager.finish(&MoveOutcome { elapsed_ms: 100.0, total_nodes: 100, stop: None, ..MoveOutcome::default() });
    near(manager.plan(&request(59_900.0, 0.0, 42)).moves_left, 9.0); // one move later, before its first evaluation
}

#[test]
fn a_tree_that_grew_while_pondering_counts_as_what_a_target_credits() {
    // docs/lc0.md, 7.6: a tree that grew to 1.3 times its size gave Lc0 an estimate at its cap and targets 3.7 times
    // too high.
    let mut manager = smooth("");
    for ply in (0..40).step_by(2) {
        let plan = manager.plan(&MoveRequest { reused_nodes: 150_000, ..request(60_000.0, 0.0, ply) });
        manager.finish(&MoveOutcome {
            elapsed_ms: plan.budget_ms,
            total_nodes: 115_000,
            stop: None,
            ..MoveOutcome::default()
        });
    }
    let plan = manager.plan(&MoveRequest { reused_nodes: 150_000, ..request(60_000.0, 0.0, 40) });
    near(plan.term("tree_reuse").unwrap().value, 0.677_505_280);
    assert!(plan.budget_ms < 60_000.0 / plan.moves_left * 1.5, "{plan}");
}

#[test]
fn overrun_is_taken_off_later_budgets() {
    let mut manager = smooth("");
    let first = manager.plan(&request(2_000.0, 0.0, 0));
    manager.observe(&look(first.budget_ms - 1.0, 100));
    manager.finish(&MoveOutcome {
        elapsed_ms: first.budget_ms + 50.0,
        total_nodes: 100,
        stop: None,
        ..MoveOutcome::default()
    });
    let plan = manager.plan(&request(2_000.0, 0.0, 2));
    near(plan.term("overrun").unwrap().value, 10.0);
    near(plan.term("game_time").unwrap().value, 1_800.0 - plan.moves_left * 10.0);
    let mut hard = smooth("");
    let first = hard.plan(&request(2_000.0, 0.0, 0));
    hard.observe(&SearchSnapshot { need_more_time: true, ..look(10.0, 100) });
    hard.finish(&MoveOutcome {
        elapsed_ms: first.hard_limit_ms,
        total_nodes: 100,
        stop: None,
        ..MoveOutcome::default()
    });
    assert!(hard.plan(&request(2_000.0, 0.0, 2)).term("overrun").is_none(), "the reserve is no overrun");
}

#[test]
fn a_limit_that_is_taken_back_is_no_overrun() {
    // The search is inside its reserve when the most visited move becomes the best valued one: it ends at once.
    let mut manager = smooth("");
    let first = manager.plan(&request(60_000.0, 600.0, 0));
    let at = first.budget_ms + 1_000.0;
    manager.observe(&SearchSnapshot { need_more_time: true, ..look(at - 5.0, 100) });
    assert_eq!(manager.observe(&look(at, 110)).stop, Some(StopReason::Time));
    manager.finish(&MoveOutcome { elapsed_ms: at + 40.0, ..MoveOutcome::default() });
    near(manager.plan(&request(60_000.0, 600.0, 2)).term("overrun").unwrap().value, 8.0); // 0.2 · 40, and not 0.2 · 1000
    // The same where the network finds the game shorter than it looked, and then longer.
    let mut manager = smooth("mle-mlh(scale=1)");
    let plan = manager.plan(&request(60_000.0, 0.0, 40));
    let says = |plies, at| SearchSnapshot { moves_left_plies: Some(plies), ..look(at, 100) };
    let at = plan.budget_ms * 0.9;
    assert_eq!(manager.observe(&says(4.0 * plan.moves_left, at)).stop, Some(StopReason::Time));
    manager.finish(&MoveOutcome { elapsed_ms: at, ..MoveOutcome::default() });
    assert!(manager.plan(&request(55_000.0, 0.0, 42)).term("overrun").is_none());
}

#[test]
fn parameters_of_the_page_without_a_preset_are_noted() {
    let spec = "smooth(init-tree-reuse=0.2,init-nps=12345.0)";
    let note = format!("playing with {spec}: preset=pr1195, as plain smooth learns without parameters of Lc0's page");
    assert_eq!(preset_note(spec), Some(note));
    for silent in [
        "smooth",
        "smooth(extension=1,mle-legacy(steepness=12.0,midpoint=50.0))",
        "smooth(preset=pr1195,nps-update-rate=5.0)",
        "smooth(force-piggybank-ms=0)",
        "legacy",
        "smooth(init-nps=0)",
        "",
    ] {
        assert_eq!(preset_note(silent), None, "{silent}");
    }
}
