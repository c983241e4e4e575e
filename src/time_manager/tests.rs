//! Specifications, and the promises that hold for every manager.

use super::*;
use proptest::prelude::*;

fn error(spec: &str) -> String {
    build(spec).unwrap_err().to_string()
}

// lc0.md A.1, the accept table; and what Lc0 rejects though its documentation promises it (H7).
#[test]
fn specifications_that_are_accepted() {
    for spec in [
        "smooth",
        "smooth()",
        " smooth ( ) ",
        "smooth,",
        "smooth(init-timeuse=.7)",
        "smooth(init-timeuse=7e-1)",
        "smooth(init-timeuse=+0.7)",
        "smooth(init-timeuse=0.7,)",
        "smooth( init-timeuse = 0.7 , min-timeuse = 0.3 )",
        "\"smooth\"(init-timeuse=0.7)",
        "smooth('init-timeuse'=0.7)",
        "smooth(init-timeuse=0.7,init-timeuse=0.8)",
        "smooth(mle-legacy)",
        "smooth(mle-legacy())",
        "smooth(mle-legacy(steepness=12.0,midpoint=50.0))",
        "smooth(midpoint=50.0,steepness=12.0)",
        "smooth(init-tree-reuse=0.2,init-nps=12345.0)",
        "smooth(init-nps=12345)",
        "smooth(init-timeuse=1)",
        "smooth(nps-update-rate=5)",
    ] {
        assert_eq!(build(spec).map(|manager| manager.name()), Ok("smooth"), "{spec}");
    }
}

// lc0.md A.1, the reject table; and what Lc0 lets through (H7: no range checks, hexadecimal read as 0).
#[test]
fn specifications_that_are_rejected_with_one_line() {
    let managers = "the managers are: smooth, legacy, simple, alphazero";
    let unknown = |name: &str| {
        format!(
            "smooth has no parameter {name:?}; its parameters are: init-tree-reuse, max-tree-reuse, \
             tree-reuse-update-rate, init-nps, nps-update-rate, init-timeuse, min-timeuse, timeuse-update-rate, \
             max-move-budget, mle-legacy(midpoint, steepness)"
        )
    };
    let fraction = "expected a number from 0.01 to 1 (no unit)";
    let speed = "expected a number from 0.1 to 1000000000 (nodes per second)";
    let length = "expected a number from 1 to 1000 (moves)";
    let syntax = |spec: &str, why: &str| format!("time manager {spec:?}: {why}");
    let cases = [
        ("", format!("exactly one time manager is expected, 0 given; {managers}")),
        ("smooth,smooth", format!("exactly one time manager is expected, 2 given; {managers}")),
        ("fast", format!("unknown time manager \"fast\"; {managers}")),
        ("Smooth(a=1)", format!("unknown time manager \"Smooth\"; {managers}")),
        ("'sm\nooth'", format!("unknown time manager \"sm\\nooth\"; {managers}")),
        (
            "smooth=1",
            "\"smooth\" has a value, but a time manager is written as a name, alone or with parameters: \
             name(param=value)"
                .to_owned(),
        ),
        ("smooth(unknown=true)", unknown("unknown")),
        ("smooth(foo(bar=1.0))", unknown("foo")),
        ("smooth(nps-update-period=20)", unknown("nps-update-period")),
        (
            "smooth(mle-legacy(mid=1))",
            "smooth.mle-legacy has no parameter \"mid\"; its parameters are: midpoint, steepness".to_owned(),
        ),
        (
            "smooth(mle-legacy=1)",
            "mle-legacy is a group of parameters: write mle-legacy(midpoint, steepness)".to_owned(),
        ),
        ("smooth(init-timeuse='0.7')", format!("smooth.init-timeuse = \"0.7\": {fraction}")),
        ("smooth(init-timeuse=true)", format!("smooth.init-timeuse = true: {fraction}")),
        ("smooth(init-timeuse=-.7e-1)", format!("smooth.init-timeuse = -0.07: out of range, {fraction}")),
        ("smooth(init-nps=nan)", format!("smooth.init-nps = \"nan\": {speed}")),
        ("smooth(init-nps)", format!("smooth.init-nps = nothing: {speed}")),
        ("smooth(init-nps=0)", format!("smooth.init-nps = 0: out of range, {speed}")),
        ("smooth(midpoint=0)", format!("smooth.midpoint = 0: out of range, {length}")),
        ("smooth(mle-legacy(midpoint=0))", format!("smooth.mle-legacy.midpoint = 0: out of range, {length}")),
        ("smooth(init-nps=0x10)", syntax("smooth(init-nps=0x10)", "at offset 16: \"0x10\" is not a number")),
        ("smooth(init-nps=1e999)", syntax("smooth(init-nps=1e999)", "at offset 16: \"1e999\" is not a number")),
        ("(init-nps=1)", syntax("(init-nps=1)", "at offset 0: found '(', expected a name")),
        ("sm\nooth", syntax("sm\nooth", "at offset 3: found 'o', expected ',' or the end")),
    ];
    for (spec, expected) in cases {
        assert_eq!(error(spec), expected);
    }
}

#[test]
fn the_last_of_equal_parameters_counts_and_the_nearest_of_nested_ones() {
    let moves_left = |spec: &str| build(spec).unwrap().plan(&MoveRequest::default()).moves_left;
    assert_eq!(moves_left("smooth(midpoint=30,midpoint=40)"), 40.0);
    assert_eq!(moves_left("smooth(mle-legacy(midpoint=30,midpoint=40))"), 40.0);
    assert_eq!(moves_left("smooth(mle-legacy(midpoint=30),midpoint=40)"), 30.0);
}

#[test]
fn every_declared_parameter_is_sound_and_settable() {
    for manager in managers() {
        let groups = manager.groups.iter().flat_map(|group| group.params.iter().map(|param| (Some(group.name), param)));
        for (group, param) in manager.params.iter().map(|param| (None, param)).chain(groups) {
            assert!(param.min <= param.default && param.default <= param.max, "{}", param.name);
            assert!(!param.help.is_empty());
            for value in [param.min, param.default, param.max] {
                let inner = format!("{}={value}", param.name);
                let nested = group.map_or(inner.clone(), |group| format!("{group}({inner})"));
                build(&format!("{}({nested})", manager.name)).unwrap();
            }
            assert!(build(&format!("{}({}={})", manager.name, param.name, param.max * 2.0 + 1.0)).is_err());
        }
    }
}

/// Times as an interface may send them: sensible, at the edge, and absurd.
fn time() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        4 => 0.0..10_000_000.0,
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
    let ply = prop_oneof![4 => 0..400_u32, 1 => Just(u32::MAX), 1 => any::<u32>()];
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
                    reused_nodes,
                    moves_left_plies,
                    pieces,
                }
            },
        )
        .boxed()
}

#[derive(Clone, Debug)]
enum Event {
    Plan(MoveRequest),
    Observe(f64, Option<f64>, u64, u64, bool),
    Finish(f64, u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        request().prop_map(Event::Plan),
        (time(), prop::option::of(time()), nodes(), 0..9_u64, any::<bool>())
            .prop_map(|(t, first, new, batches, more)| Event::Observe(t, first, new, batches, more)),
        (time(), nodes()).prop_map(|(t, total)| Event::Finish(t, total)),
    ]
}

/// Any specification the tables allow: some parameters at their bounds.
fn specification() -> impl Strategy<Value = String> {
    let all: Vec<_> = managers()
        .iter()
        .map(|manager| {
            let groups = manager.groups.iter().flat_map(|group| group.params);
            let params: Vec<_> = manager.params.iter().chain(groups).copied().collect();
            (manager.name, params)
        })
        .collect();
    (prop::sample::select(all), prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..6)).prop_map(
        |((name, params), chosen)| {
            let values = chosen.iter().filter(|_| !params.is_empty()).map(|(index, high)| {
                let param = index.get(&params);
                format!("{}={}", param.name, if *high { param.max } else { param.min })
            });
            format!("{name}({})", values.collect::<Vec<_>>().join(","))
        },
    )
}

/// What every plan promises, whatever was asked.
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
        let (mut manager, mut again) = (build(&spec).unwrap(), build(&spec).unwrap());
        let mut hard_limit = None;
        for event in &events {
            match event {
                Event::Plan(request) => {
                    let plan = manager.plan(request);
                    check_plan(request, &plan)?;
                    prop_assert_eq!(&again.plan(request), &plan);
                    hard_limit = Some(plan.hard_limit_ms);
                }
                &Event::Observe(elapsed_ms, since_first_batch_ms, new_nodes, batches, need_more_time) => {
                    let snapshot = SearchSnapshot {
                        elapsed_ms, since_first_batch_ms, new_nodes, total_nodes: new_nodes, batches, need_more_time,
                        root_visits: &[5, 4], ..SearchSnapshot::default()
                    };
                    let verdict = manager.observe(&snapshot);
                    prop_assert!(hard_limit.is_none_or(|limit| elapsed_ms < limit) || verdict.stop.is_some());
                    prop_assert!(verdict.nps.is_none_or(|nps| nps.is_finite() && nps > 0.0));
                    prop_assert_eq!(format!("{:?}", again.observe(&snapshot)), format!("{verdict:?}"));
                }
                &Event::Finish(elapsed_ms, total_nodes) => {
                    let outcome = MoveOutcome { elapsed_ms, total_nodes };
                    manager.finish(&outcome);
                    again.finish(&outcome);
                    hard_limit = None;
                }
            }
            let estimates = manager.estimates();
            for value in [estimates.nps, estimates.tree_reuse, estimates.timeuse, estimates.bank_ms] {
                prop_assert!(value.is_none_or(|value| value.is_finite() && value >= 0.0), "{estimates:?}");
            }
            prop_assert_eq!(again.estimates(), estimates);
        }
    }

    // A whole game on the clock: searches that overrun by less than the overhead never lose on time.
    #[test]
    fn a_game_never_loses_on_time(
        spec in specification(),
        start in 1.0..600_000.0,
        increment in 0.0..5_000.0,
        used in prop::collection::vec((0.0..=1.0, 0.0..200.0, nodes(), nodes()), 1..200),
    ) {
        let mut manager = build(&spec).unwrap();
        let mut clock = start;
        for (ply, (fraction, late, reused_nodes, total_nodes)) in (0..).step_by(2).zip(used) {
            let (clock_ms, increment_ms, overhead_ms) = (clock, increment, 200.0);
            let request =
                MoveRequest { clock_ms, increment_ms, overhead_ms, ply, reused_nodes, ..MoveRequest::default() };
            let plan = manager.plan(&request);
            if clock <= 200.0 {
                break; // Where the overhead is more than the clock, only luck helps.
            }
            let elapsed = plan.hard_limit_ms * fraction + late;
            manager.finish(&MoveOutcome { elapsed_ms: elapsed, total_nodes });
            clock -= elapsed;
            prop_assert!(clock >= 0.0, "{plan}");
            clock += increment;
        }
    }

    // More time on the clock never means less time for the same move, in a game that begins.
    #[test]
    fn the_first_budget_grows_with_the_clock(spec in specification(), low in 0.0..1e7, more in 0.0..1e7) {
        let budget = |clock_ms| {
            let request = MoveRequest { clock_ms, increment_ms: 1_000.0, overhead_ms: 200.0, ..MoveRequest::default() };
            build(&spec).unwrap().plan(&request).budget_ms
        };
        prop_assert!(budget(low) <= budget(low + more) * (1.0 + 1e-12));
    }
}
