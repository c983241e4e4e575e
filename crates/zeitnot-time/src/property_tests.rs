//! The promises that hold for every manager, whatever it is given: random specifications, clocks and histories.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p zeitnot-time property_tests` tries 100,000 of each (256 otherwise).

use super::accounting::Accounted;
use super::*;
use proptest::prelude::*;

/// Times as an interface may send them: sensible, at the edge, and absurd.
fn time() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        4 => (0.0..9.0_f64).prop_map(|digits| 10_f64.powf(digits)),
        2 => prop::sample::select(vec![0.0, 1.0, -1.0, 100.0, 200.0, 1e12, 1e300, -1e300, 9_007_199_254_740_993.0]),
        1 => prop::num::f64::ANY,
    ]
    .boxed()
}

fn nodes() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![4 => 0..10_000_000_u64, 1 => prop::sample::select(vec![0, 1, u64::MAX]), 1 => any::<u64>()].boxed()
}

fn request() -> impl Strategy<Value = MoveRequest> + Clone {
    let moves_to_go =
        prop::sample::select(vec![None, Some(0), Some(1), Some(2), Some(40), Some(1_000), Some(u32::MAX)]);
    let ply = prop_oneof![4 => 0..=1_000_u32, 1 => Just(u32::MAX), 1 => any::<u32>()];
    let facts = (prop::option::of(prop::num::f64::ANY), prop::option::of(any::<u32>()));
    (time(), time(), moves_to_go, ply, time(), nodes(), facts)
        .prop_map(
            |(clock_ms, increment_ms, moves_to_go, ply, overhead_ms, reused_nodes, (moves_left_plies, pieces))| {
                MoveRequest {
                    clock_ms,
                    increment_ms,
                    moves_to_go,
                    ply,
                    overhead_ms,
                    lag_ms: 0.0,
                    missing_increment_ms: moves_left_plies.unwrap_or_default(),
                    is_foreign_clock: false,
                    evaluation_ms: moves_left_plies,
                    reused_nodes,
                    moves_left_plies,
                    pieces,
                    legal_moves: pieces,
                    captures: pieces,
                    in_check: pieces.is_some_and(|pieces| pieces % 2 == 0),
                    recaptures: pieces.map(|pieces| pieces % 3),
                    reply_prior: moves_left_plies,
                    opponent_clock_ms: moves_left_plies,
                }
            },
        )
        .boxed()
}

#[derive(Clone, Debug)]
enum Event {
    Plan(MoveRequest),
    Observe(f64, Option<f64>, u64, u64, bool, Facts),
    Finish(f64, u64),
    SetNps(f64),
}

/// A manager's answer to an event.
#[derive(Debug)]
enum Answer {
    Plan(Plan),
    Verdict(Verdict),
    Nothing,
}

impl Event {
    fn happen(&self, manager: &mut dyn TimeManager) -> Answer {
        match self {
            Event::Plan(request) => return Answer::Plan(manager.plan(request)),
            Event::Observe(elapsed_ms, since_first_batch_ms, new_nodes, batches, need_more_time, facts) => {
                return Answer::Verdict(manager.observe(&SearchSnapshot {
                    elapsed_ms: *elapsed_ms,
                    since_first_batch_ms: *since_first_batch_ms,
                    new_nodes: *new_nodes,
                    total_nodes: *new_nodes,
                    batches: *batches,
                    need_more_time: *need_more_time,
                    root_visits: (&facts.visits).into(),
                    best_move: facts.best_move,
                    best_value: facts.values.0,
                    second_value: facts.values.1,
                    moves_left_plies: facts.plies_left,
                    average_depth: facts.depth,
                    ..SearchSnapshot::default()
                }));
            }
            Event::SetNps(nps) => manager.set_nps(*nps),
            Event::Finish(elapsed_ms, total_nodes) => {
                manager.finish(&MoveOutcome {
                    elapsed_ms: *elapsed_ms,
                    total_nodes: *total_nodes,
                    stop: None,
                    ..MoveOutcome::default()
                });
            }
        }
        Answer::Nothing
    }
}

/// The findings of a search: root visits, best move, values of it and of the second best, plies left, depth.
#[derive(Clone, Debug)]
struct Facts {
    visits: Vec<u32>,
    best_move: Option<usize>,
    values: (Option<f64>, Option<f64>),
    plies_left: Option<f64>,
    depth: u32,
}

fn facts() -> impl Strategy<Value = Facts> {
    let value = || prop::option::of(prop_oneof![4 => -1.0..=1.0, 1 => prop::num::f64::ANY]);
    (
        prop::collection::vec(prop_oneof![4 => 0..10_000_u32, 1 => any::<u32>()], 0..4),
        prop::option::of(0..5_usize),
        (value(), value()),
        prop::option::of(prop_oneof![4 => 0.0..300.0, 1 => prop::num::f64::ANY]),
        0..20_u32,
    )
        .prop_map(|(visits, best_move, values, plies_left, depth)| Facts {
            visits,
            best_move,
            values,
            plies_left,
            depth,
        })
}

/// The moves of a game, of any length: share of the limit used, time past it, nodes reused and at the end.
fn game() -> impl Strategy<Value = Vec<(f64, f64, u64, u64)>> {
    let one = || (0.0..=1.0, 0.0..200.0, nodes(), nodes());
    prop_oneof![9 => prop::collection::vec(one(), 1..100), 1 => prop::collection::vec(one(), 100..1_000)]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => request().prop_map(Event::Plan),
        3 => (time(), prop::option::of(time()), nodes(), 0..9_u64, any::<bool>(), facts())
            .prop_map(|(t, first, new, batches, more, facts)| Event::Observe(t, first, new, batches, more, facts)),
        2 => (time(), nodes()).prop_map(|(t, total)| Event::Finish(t, total)),
        1 => prop_oneof![0.0..1e9, prop::num::f64::ANY].prop_map(Event::SetNps),
    ]
}

/// Any specification the tables allow: some parameters at their bounds, some groups named.
fn specification() -> impl Strategy<Value = String> {
    let all: Vec<_> = managers().iter().collect();
    let chosen = prop::collection::vec((any::<prop::sample::Index>(), 0.0..=1.0, any::<bool>()), 0..6);
    (prop::sample::select(all), chosen).prop_map(|(manager, chosen)| {
        let own = manager.params.iter().map(|param| (None, param));
        let inner = manager.groups.iter().flat_map(|group| group.params.iter().map(|param| (Some(group.name), param)));
        let params: Vec<_> = own.chain(inner).collect();
        let mut written: Vec<String> = Vec::new();
        for (index, at, at_bound) in chosen.iter().filter(|_| !params.is_empty()) {
            let (group, param) = index.get(&params);
            let at = if *at_bound { f64::from(u8::from(*at > 0.5)) } else { *at };
            let value = (param.min + at * (param.max - param.min)).clamp(param.min, param.max);
            let value = if param.words.is_empty() { format!("{value:e}") } else { param.written(value) };
            let value = format!("{}={value}", param.name);
            match group {
                None => written.push(value),
                // A group may be written once.
                Some(group) if written.iter().any(|other| other.starts_with(&format!("{group}("))) => {}
                Some(group) => written.push(format!("{group}({value})")),
            }
        }
        manager.specification(&written.join(","))
    })
}

/// The promises of every plan, whatever the request.
fn check_plan(request: &MoveRequest, plan: &Plan) -> Result<(), TestCaseError> {
    let clean = |ms: f64| {
        if ms.is_nan() { 0.0 } else { ms.clamp(0.0, 1e12) }
    };
    let safe = (clean(request.clock_ms) - clean(request.overhead_ms)).max(0.0);
    prop_assert!(plan.budget_ms >= 0.0 && plan.extra_ms >= 0.0, "{plan}");
    prop_assert!(plan.budget_ms <= plan.hard_limit_ms, "{plan}");
    prop_assert!(plan.hard_limit_ms <= safe, "{plan}");
    prop_assert!((plan.hard_limit_ms - (plan.budget_ms + plan.extra_ms).min(safe)).abs() <= 1e-9 * safe, "{plan}");
    prop_assert!(plan.moves_left >= 1.0 && plan.moves_left.is_finite(), "{plan}");
    prop_assert!(plan.terms.iter().all(|term| term.value.is_finite()), "{plan}");
    prop_assert!(!serde_json::to_string(plan).unwrap().replace("\"target_nodes\":null", "").contains("null"));
    Ok(())
}

proptest! {
    #[test]
    fn any_sequence_of_calls_is_safe_and_gives_the_same_answers_again(
        spec in specification(),
        events in prop::collection::vec(event(), 1..20),
    ) {
        let (mut manager, mut again) = (Accounted::build(&spec).unwrap(), Accounted::build(&spec).unwrap());
        let mut hard_limit = None;
        for event in &events {
            let answer = event.happen(&mut manager);
            prop_assert_eq!(format!("{:?}", event.happen(&mut again)), format!("{answer:?}"));
            match (event, answer) {
                (Event::Plan(request), Answer::Plan(plan)) => {
                    check_plan(request, &plan)?;
                    hard_limit = Some(plan.hard_limit_ms);
                }
                (Event::Observe(elapsed_ms, ..), Answer::Verdict(verdict)) => {
                    prop_assert!(hard_limit.is_none_or(|limit| *elapsed_ms < limit) || verdict.stop.is_some());
                    prop_assert!(verdict.nps.is_none_or(|nps| nps.is_finite() && nps > 0.0));
                }
                (Event::Finish(..), _) => hard_limit = None,
                _ => {}
            }
            let estimates = manager.estimates();
            for value in [estimates.nps, estimates.tree_reuse, estimates.timeuse, estimates.bank_ms] {
                prop_assert!(value.is_none_or(|value| value.is_finite() && value >= 0.0), "{estimates:?}");
            }
            prop_assert_eq!(again.estimates(), estimates);
            prop_assert_eq!(format!("{:?}", again.report()), format!("{:?}", manager.report()));
            prop_assert_eq!(format!("{:?}", again.last_move()), format!("{:?}", manager.last_move()));
        }
    }

    // A whole game on the clock: searches that overrun by less than the overhead never lose on time.
    #[test]
    fn a_game_never_loses_on_time(
        spec in specification(),
        digits in 0.0..9.0,
        increment_ms in prop_oneof![0.0..5_000.0, 0.0..2e9],
        control in prop::sample::select(vec![None, Some(1), Some(5), Some(40)]),
        used in game(),
    ) {
        let mut manager = build(&spec).unwrap();
        let start = 10_f64.powf(digits);
        let mut clock = start;
        for (index, (fraction, late, reused_nodes, total_nodes)) in (0_u32..).zip(used) {
            let (ply, overhead_ms) = (2 * index, 200.0);
            let moves_to_go = control.map(|moves| moves - index % moves);
            let clock_ms = clock;
            let request =
                MoveRequest {
                    clock_ms,
                    increment_ms,
                    overhead_ms,
                    moves_to_go,
                    ply,
                    reused_nodes,
                    ..MoveRequest::default()
                };
            let plan = manager.plan(&request);
            if clock <= 200.0 {
                break; // Where the overhead is more than the clock, only luck helps.
            }
            let elapsed = plan.hard_limit_ms * fraction + late;
            manager.finish(&MoveOutcome { elapsed_ms: elapsed, total_nodes, stop: None, ..MoveOutcome::default() });
            clock -= elapsed;
            prop_assert!(clock >= 0.0, "{plan}");
            clock += increment_ms + if moves_to_go == Some(1) { start } else { 0.0 };
        }
    }

    // More time on the clock never means less time for the same move, whatever came before it in the game.
    #[test]
    fn more_on_the_clock_is_never_less_for_the_move(
        spec in specification(),
        history in prop::collection::vec(event(), 0..8),
        request in request(),
        digits in 0.0..9.0,
        more in 20.0..1e7,
    ) {
        let plan = |clock_ms| {
            let mut manager = build(&spec).unwrap();
            history.iter().for_each(|event| { event.happen(&mut *manager); });
            manager.plan(&MoveRequest { clock_ms, ..request.clone() })
        };
        let clock = 10_f64.powf(digits);
        let (less, more) = (plan(clock), plan(clock + more));
        // A faster class of games may be given the larger factor. Lc0's own bank collects the
        // more the more room it has.
        let taxed = |plan: &Plan| plan.term("bank_tax").is_some_and(|term| term.clamped);
        // People think for as long as others do in games with this clock, which is longer early in shorter games.
        let is_curve = spec.starts_with("human");
        if !is_curve && !spec.contains("control(") && !taxed(&less) && !taxed(&more) {
            prop_assert!(less.budget_ms <= more.budget_ms * (1.0 + 1e-12), "{less}\n{more}");
            prop_assert!(less.hard_limit_ms <= more.hard_limit_ms * (1.0 + 1e-12), "{less}\n{more}");
        }
    }
}
