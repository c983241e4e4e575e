//! Tests the timekeeper: overhead and lag, endless searches, the wait for an evaluation, a new game, observers.

use super::*;
use crate::{SearchLimits, StopReason, StopperParams};
use parking_lot::Mutex;
use std::sync::Arc;

fn timed(clock_ms: f64, ply: u32) -> MoveRequest {
    MoveRequest { clock_ms, ply, overhead_ms: 100.0, ..MoveRequest::default() }
}

fn start(limits: SearchLimits) -> SearchStart {
    let stoppers = StopperParams { overhead_ms: 100.0, overhead_is_set: true, ..StopperParams::default() };
    SearchStart { limits, stoppers, evaluation_ms: None }
}

fn movetime(ms: f64) -> SearchLimits {
    SearchLimits { movetime_ms: Some(ms), ..SearchLimits::default() }
}

#[test]
fn clocks_lose_overhead_and_lag_and_movetime_the_overhead_alone() {
    let mut time = Timekeeper::new("alphazero(alphazero-time-pct=100)").unwrap();
    assert_eq!(time.begin(&start(movetime(1_000.0)), None).hard_limit_ms, Some(900.0));
    let limit = |time: &mut Timekeeper, clock_ms, ply| time.begin(&SearchStart::default(), Some(&timed(clock_ms, ply)));
    assert_eq!(limit(&mut time, 1_000.0, 0).hard_limit_ms, Some(900.0));
    time.end(&MoveOutcome { elapsed_ms: 500.0, total_nodes: 9, ..MoveOutcome::default() });
    // 500 ms were left, and 460 are there: 40 ms of lag.
    let begun = limit(&mut time, 460.0, 2);
    assert_eq!((begun.hard_limit_ms, time.lag_ms(460.0)), (Some(320.0), 40.0));
    let plan = begun.plan.unwrap();
    let terms: Vec<_> = ["move_overhead", "lag", "overhead"].map(|name| plan.term(name).unwrap().value).into();
    assert_eq!(terms, [100.0, 40.0, 140.0]);
    assert_eq!(time.begin(&start(movetime(1_000.0)), None).hard_limit_ms, Some(900.0));
    let both = time.begin(&start(movetime(300.0)), Some(&timed(10_000.0, 8)));
    assert_eq!((both.hard_limit_ms, both.due_ms), (Some(200.0), Some(250.0)), "the smaller of both holds");
    let short = time.begin(&start(movetime(9_000.0)), Some(&timed(1_000.0, 10)));
    assert_eq!(short.hard_limit_ms, Some(860.0), "the clock's");
}

#[test]
fn no_lag_comes_off_a_movetime() {
    let mut time = Timekeeper::new("smooth").unwrap();
    let mut clock_ms = 20_000.0;
    for ply in [0, 2, 4, 6] {
        time.begin(&SearchStart::default(), Some(&timed(clock_ms, ply)));
        time.end(&MoveOutcome { elapsed_ms: 100.0, total_nodes: 9, ..MoveOutcome::default() });
        clock_ms -= 2_100.0;
    }
    assert_eq!(time.lag_ms(clock_ms), 2_000.0);
    time.other_game(false);
    let unset = SearchStart { limits: movetime(1_000.0), ..SearchStart::default() };
    let begun = time.begin(&unset, None);
    assert_eq!((begun.hard_limit_ms, begun.due_ms), (Some(900.0), Some(950.0)));
    // The stoppers have the same limit.
    let at = |elapsed_ms| SearchSnapshot { elapsed_ms, total_nodes: 9, ..SearchSnapshot::default() };
    assert_eq!(time.observe(&at(899.0)).stop, None);
    assert_eq!(time.observe(&at(900.0)).stop, Some(StopReason::MoveTime));
}

#[test]
fn an_increment_that_does_not_come_is_not_planned_with() {
    let mut time = Timekeeper::new("legacy(first-move-bonus=0,book-ply-bonus=0)").unwrap();
    let asked = |clock_ms, ply| MoveRequest { increment_ms: 3_000.0, ..timed(clock_ms, ply) };
    time.begin(&SearchStart::default(), Some(&asked(60_000.0, 10)));
    time.end(&MoveOutcome { elapsed_ms: 2_000.0, total_nodes: 9, ..MoveOutcome::default() });
    let plan = time.begin(&SearchStart::default(), Some(&asked(57_990.0, 12))).plan.unwrap();
    let terms = ["announced_increment", "missing_increment", "increment"].map(|name| plan.term(name).unwrap().value);
    assert_eq!(terms, [3_000.0, 3_000.0, 0.0]);
    assert!(plan.budget_ms < 4_000.0, "the share of the clock alone, and what the first move spared: {plan}");
}

#[test]
fn the_opponents_clock_says_nothing_of_a_lag() {
    let mut time = Timekeeper::new("smooth").unwrap();
    for (ply, clock_ms) in [(0, 9_000.0), (2, 8_000.0), (4, 6_500.0), (6, 6_000.0)] {
        let request = MoveRequest { is_foreign_clock: true, ..timed(clock_ms, ply) };
        time.begin(&SearchStart::default(), Some(&request));
        time.end(&MoveOutcome { elapsed_ms: 50.0, total_nodes: 9, ..MoveOutcome::default() });
    }
    assert_eq!(time.lag_ms(6_000.0), 0.0);
}

#[test]
fn endless_searches_have_no_limit() {
    let mut time = Timekeeper::new("smooth").unwrap();
    for limits in [
        SearchLimits { infinite: true, ..movetime(100.0) },
        SearchLimits { ponder: true, ..movetime(100.0) },
        SearchLimits { nodes: Some(5), ..SearchLimits::default() },
    ] {
        assert_eq!(time.begin(&start(limits), None), Begun::default());
    }
}

#[test]
fn a_search_on_the_opponents_time_goes_on_with_the_tree_and_any_other_without_a_clock_does_not() {
    let reuse_after = |spec: &str, between: SearchLimits| {
        let mut time = Timekeeper::new(spec).unwrap();
        time.begin(&SearchStart::default(), Some(&timed(60_000.0, 0)));
        time.end(&MoveOutcome { elapsed_ms: 1_000.0, total_nodes: 1_000, ..MoveOutcome::default() });
        time.begin(&start(between), None);
        time.end(&MoveOutcome { elapsed_ms: 1_000.0, total_nodes: 3_000, ..MoveOutcome::default() });
        let next = MoveRequest { reused_nodes: 3_000, ..timed(59_000.0, 2) };
        time.begin(&SearchStart::default(), Some(&next)).plan.unwrap().term("tree_reuse").unwrap().value
    };
    // A tree that grew counts as 0.7 and as 1: 0.7 - 0.2·2^(-m/4) and 1 - 0.5·2^(-m/4) after m = 1000 ms / average move.
    for (spec, expected) in [("smooth", 0.526_934), ("smooth(preset=pr1195)", 0.569_102)] {
        let reuse = reuse_after(spec, SearchLimits { ponder: true, ..SearchLimits::default() });
        assert!((reuse - expected).abs() < 1e-6, "{spec}: {reuse}");
    }
    for other in [SearchLimits { infinite: true, ..SearchLimits::default() }, movetime(1_000.0)] {
        assert_eq!(reuse_after("smooth", other), 0.5);
    }
}

#[test]
fn the_wait_for_a_first_evaluation_is_no_lag() {
    let lag = |outcome: MoveOutcome| {
        let mut time = Timekeeper::new("smooth").unwrap();
        time.begin(&SearchStart::default(), Some(&timed(2_000.0, 0)));
        time.end(&outcome);
        time.lag_ms(2_000.0)
    };
    let ended = |elapsed_ms, total_nodes| MoveOutcome { elapsed_ms, total_nodes, ..MoveOutcome::default() };
    assert!(lag(ended(700.0, 400)) > 0.0, "a tree was there: the answer was late");
    assert_eq!(lag(MoveOutcome { first_evaluation_ms: Some(700.0), ..ended(700.0, 1) }), 0.0);
    assert_eq!(lag(ended(700.0, 0)), 0.0, "it was waited for in vain");
    assert!(lag(MoveOutcome { first_evaluation_ms: Some(300.0), ..ended(700.0, 9) }) > 0.0);
}

#[test]
fn new_game_forgets_all_estimates() {
    let play = |time: &mut Timekeeper| {
        let mut clock_ms = 60_000.0;
        let mut plans = Vec::new();
        for ply in [0, 2, 4, 6] {
            plans.extend(time.begin(&SearchStart::default(), Some(&timed(clock_ms, ply))).plan);
            time.end(&MoveOutcome { elapsed_ms: 900.0, total_nodes: 4_000, ..MoveOutcome::default() });
            clock_ms -= 930.0;
        }
        plans
    };
    let mut time = Timekeeper::new("smooth").unwrap();
    let first = play(&mut time);
    let second = play(&mut time);
    assert_ne!(first, second, "it has learned");
    time.new_game();
    assert_eq!(play(&mut time), first);
    time.other_game(true);
    assert_ne!(play(&mut time), first, "what is kept is kept");
    time.choose("smooth(init-nps=9)").unwrap();
    assert!(time.choose("fast").is_err());
    assert_eq!(time.spec, "smooth(init-nps=9)");
}

#[test]
fn an_engine_without_a_tree_does_not_count_on_one() {
    let budget = |time: Result<Timekeeper, SpecError>| {
        let plan = time.unwrap().begin(&Default::default(), Some(&timed(60_000.0, 40))).plan.unwrap();
        (plan.budget_ms, plan.term("tree_reuse").map(|term| term.value))
    };
    for spec in ["smooth", "smooth()", "smooth(extension=0.2)", "smooth(preset=lc0)", " smooth(preset=pr1195) "] {
        let (with, without) = (budget(Timekeeper::new(spec)), budget(Timekeeper::without_tree_reuse(spec)));
        assert!(with.0 > 1.5 * without.0 && without.1 == Some(0.0), "{spec}: {with:?} {without:?}");
    }
    assert_eq!(budget(Timekeeper::without_tree_reuse("smooth(max-tree-reuse=0.3)")).1, Some(0.3));
    let first = |time: Result<Timekeeper, SpecError>| {
        let plan = time.unwrap().begin(&Default::default(), Some(&timed(60_000.0, 0))).plan.unwrap();
        plan.term("opening_share").is_some()
    };
    assert!(first(Timekeeper::new("smooth")) && !first(Timekeeper::without_tree_reuse("smooth")));
    assert_eq!(budget(Timekeeper::without_tree_reuse("legacy")), budget(Timekeeper::new("legacy")));
    assert!(Timekeeper::without_tree_reuse("fast").is_err());
}

struct Kept(Arc<Mutex<Vec<String>>>);

impl Observer for Kept {
    fn happened(&mut self, event: &Event, answer: Option<&Answer>) {
        self.0.lock().push(crate::event_log::write(event, answer));
    }
}

#[test]
fn an_observer_sees_every_event_and_its_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut time = Timekeeper::new("simple").unwrap();
    time.observe_by(Some(Box::new(Kept(Arc::clone(&seen)))));
    time.book_move(BookMove { ply: 0, clock_ms: 60_000.0, increment_ms: 0.0 });
    time.begin(&start(movetime(9_000.0)), Some(&timed(60_000.0, 2)));
    let snapshot = SearchSnapshot { elapsed_ms: 59_000.0, total_nodes: 9, ..SearchSnapshot::default() };
    assert_eq!(time.observe(&snapshot).stop, Some(StopReason::Time));
    time.end(&MoveOutcome { elapsed_ms: 59_000.0, stop: Some(StopReason::Time), ..MoveOutcome::default() });
    time.new_game();
    let kinds: Vec<_> = seen.lock().iter().map(|line| line.split('"').nth(3).unwrap_or("").to_owned()).collect();
    assert_eq!(kinds, ["manager", "book_move", "search", "plan", "observe", "finish", "new_game"]);
    let answered: Vec<_> = seen.lock().iter().map(|lines| lines.lines().count() == 2).collect();
    assert_eq!(answered, [false, false, false, true, true, true, false]);
    assert!(seen.lock()[4].contains(r#""reason":"time""#), "{:?}", seen.lock()[4]);
}
