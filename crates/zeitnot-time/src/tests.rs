//! Tests which specifications are accepted and which are refused, and the messages of the refusals.

use super::*;

fn error(spec: &str) -> String {
    build(spec).unwrap_err().to_string()
}

// docs/lc0.md, 1.2: what was accepted and rejected when run, row by row.
#[test]
fn specifications_are_accepted_and_rejected_as_by_lc0() {
    for spec in [
        "smooth",
        "smooth()",
        "smooth(init-timeuse=.7)",
        "smooth(init-timeuse=0.7,)",
        "smooth( init-timeuse = 0.7 , min-timeuse = 0.3 )",
        "\"smooth\"(init-timeuse=0.7)",
        "smooth(init-timeuse=0.7,init-timeuse=0.8)",
        "smooth(trend-nps-update-period-ms=3000)",
        "smooth(mle-legacy)",
    ] {
        assert!(build(spec).is_ok(), "{spec}");
    }
    for spec in [
        "smooth(init-timeuse='0.7')",
        "smooth(unknown=true)",
        "smooth(foo(bar=1.0))",
        "smooth(init-timeuse=0.7",
        "smooth init-timeuse=0.7",
        "smooth(_x=1)",
        "smooth,smooth",
        "smooth,legacy",
        "(init-timeuse=0.7)",
        "",
    ] {
        assert!(build(spec).is_err(), "{spec}");
    }
    // Kinder: a number is a number, and what Lc0's documentation promises is there (docs/lc0.md, 7.7).
    for spec in [
        "smooth(trend-nps-update-period-ms=3000.0)",
        "smooth(init-timeuse=+0.7)",
        "smooth(init-tree-reuse=0)",
        "smooth(init-nps=20000.0)",
        "smooth(nps-update-rate=5.0)",
    ] {
        assert!(build(spec).is_ok(), "{spec}");
    }
    // Lc0 takes these, but not for what they say: a fraction below 0, and 0 for 16 (docs/lc0.md, 7.7).
    for spec in ["smooth(init-timeuse=-.7e-1)", "smooth(force-piggybank-ms=0x10)"] {
        assert!(build(spec).is_err(), "{spec}");
    }
}

#[test]
fn parameters_of_one_form_alone_say_which_is_meant() {
    let bank = |spec: &str| {
        let mut manager = build(spec).unwrap();
        manager.plan(&MoveRequest { clock_ms: 60_000.0, overhead_ms: 200.0, ..MoveRequest::default() });
        manager.estimates().bank_ms
    };
    assert_eq!(bank("smooth(init-timeuse=0.7)"), None);
    assert_eq!(bank("smooth(init-timeuse=0.7,force-piggybank-ms=1000)"), bank("smooth(preset=lc0)"));
    assert_eq!(
        error("smooth(init-timeuse=0.7,force-piggybank-ms=-5)"),
        "smooth(preset=lc0).force-piggybank-ms = -5: out of range, expected a number from 0 to 1000000000 (milliseconds)"
    );
    // No form has both.
    assert!(error("smooth(force-piggybank-ms=0,extension=1)").starts_with("smooth has no parameter \"force-piggybank"));
    assert!(
        error("smooth(extension=11,force-piggybank-ms=0)").starts_with("smooth has no parameter \"force-piggybank")
    );
    // Names say which form is meant, wherever they stand, before values are looked at.
    assert!(
        error("smooth(init-timeuse=7,force-piggybank-ms=0)").starts_with("smooth(preset=lc0).init-timeuse = 7: out")
    );
    assert!(error("smooth(nps-update-period=-1,extension=0.5)").starts_with("smooth has no parameter \"nps-update"));
    assert!(error("smooth(mle-legacy=5,force-piggybank-ms=x)").starts_with("mle-legacy is a group of parameters"));
}

// Beyond that table.
#[test]
fn specifications_that_are_accepted() {
    for spec in [
        " smooth ( ) ",
        "smooth,",
        "smooth(init-timeuse=7e-1)",
        "smooth('init-timeuse'=0.7)",
        "smooth(mle-legacy())",
        "smooth(mle-legacy(steepness=12.0,midpoint=50.0))",
        "smooth(midpoint=50.0,steepness=12.0)",
        "smooth(init-tree-reuse=0.2,init-nps=12345.0)",
        "smooth(init-nps=12345)",
        "smooth(init-timeuse=1)",
        "smooth(nps-update-rate=5)",
        "smooth(preset=pr1195)",
        "smooth(init-nps=20000.0,preset='lc0',preset=pr1195)",
        "smooth(preset=lc0,nps-update-period=20,trend-nps-update-period-ms=3000.0)",
        "smooth(preset=zeitnot,extension=1)",
    ] {
        assert!(build(spec).is_ok_and(|manager| manager.name().starts_with("smooth")), "{spec}");
    }
}

// docs/lc0.md, 1.2: what was rejected; and docs/lc0.md, 7.7: no range checks, hexadecimal read as 0.
#[test]
fn specifications_that_are_rejected_with_one_line() {
    let managers = "the managers are: smooth, human, legacy, simple, alphazero, adaptive, complexity, soft-hard";
    let unknown = |name: &str| {
        format!(
            "smooth(preset=pr1195) has no parameter {name:?}; its parameters are: preset, init-tree-reuse, max-tree-reuse, \
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
        ("smooth(preset=pr1195,unknown=true)", unknown("unknown")),
        ("smooth(preset=pr1195,foo(bar=1.0))", unknown("foo")),
        ("smooth(preset=pr1195,nps-update-period=20)", unknown("nps-update-period")),
        (
            "smooth(mle-legacy(mid=1))",
            "smooth.mle-legacy has no parameter \"mid\"; its parameters are: midpoint, steepness, weight".to_owned(),
        ),
        (
            "smooth(mle-legacy=1)",
            "mle-legacy is a group of parameters: write mle-legacy(midpoint, steepness, weight)".to_owned(),
        ),
        ("smooth(init-timeuse='0.7')", format!("smooth(preset=pr1195).init-timeuse = \"0.7\": {fraction}")),
        ("smooth(init-timeuse=true)", format!("smooth(preset=pr1195).init-timeuse = true: {fraction}")),
        (
            "smooth(init-timeuse=-.7e-1)",
            format!("smooth(preset=pr1195).init-timeuse = -0.07: out of range, {fraction}"),
        ),
        ("smooth(init-nps=nan)", format!("smooth(preset=pr1195).init-nps = \"nan\": {speed}")),
        ("smooth(init-nps)", format!("smooth(preset=pr1195).init-nps = nothing: {speed}")),
        ("smooth(init-nps=0)", format!("smooth(preset=pr1195).init-nps = 0: out of range, {speed}")),
        ("smooth(midpoint=0)", format!("smooth.midpoint = 0: out of range, {length}")),
        ("smooth(mle-legacy(midpoint=0))", format!("smooth.mle-legacy.midpoint = 0: out of range, {length}")),
        ("smooth(preset=lc0,init-timeuse=0)", format!("smooth(preset=lc0).init-timeuse = 0: out of range, {fraction}")),
        ("smooth(preset=pr)", "smooth.preset = \"pr\": expected one of zeitnot, pr1195, lc0".to_owned()),
        ("smooth(preset=1)", "smooth.preset = 1: expected one of zeitnot, pr1195, lc0".to_owned()),
        (
            "legacy(preset=lc0)",
            "legacy has no parameter \"preset\"; its parameters are: slowmover, midpoint-move, steepness, \
             immediate-use, first-move-bonus, book-ply-bonus"
                .to_owned(),
        ),
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
fn every_form_of_a_manager_says_which_it_is() {
    for manager in managers() {
        let first = managers().iter().find(|other| other.name == manager.name).unwrap();
        assert_eq!(manager.is_first, manager.preset == first.preset, "{manager:?}");
        let title = manager.title();
        let preset = manager.preset.map(|preset| format!("{}(preset={preset})", manager.name));
        for spec in [title.clone()].into_iter().chain(preset) {
            let mut manager = accounting::Accounted::build(&spec).unwrap();
            let plan = manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
            manager.finish(&MoveOutcome::default());
            let account = manager.last_move().unwrap().manager.as_ref();
            assert_eq!([manager.name(), plan.manager.as_ref(), account], [title.as_str(); 3], "{spec}");
        }
    }
    assert_eq!(build("smooth(force-piggybank-ms=0)").unwrap().name(), "smooth(preset=lc0)");
}

#[test]
fn names_and_titles_stand_once() {
    let names: Vec<&str> = names().collect();
    let titles: Vec<String> = managers().iter().map(ManagerSpec::title).collect();
    assert_eq!(names.join(", "), "smooth, human, legacy, simple, alphazero, adaptive, complexity, soft-hard");
    assert_eq!(titles.iter().collect::<std::collections::BTreeSet<_>>().len(), managers().len());
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
                let inner = format!("{}={}", param.name, param.written(value));
                let nested = group.map_or(inner.clone(), |group| format!("{group}({inner})"));
                build(&manager.specification(&nested)).unwrap();
            }
            assert!(build(&manager.specification(&format!("{}={}", param.name, param.max * 2.0 + 1.0))).is_err());
        }
    }
}
