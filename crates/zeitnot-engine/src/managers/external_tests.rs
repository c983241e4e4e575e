//! Programs as time managers: what they answer is done, and what they do not answer is done without them.

use super::*;

/// A program that answers by the kind of an event, in the words of a shell's `case`.
fn program(cases: &str) -> String {
    format!("sh -c 'while read -r line; do case $line in {cases} esac; done'")
}

/// A plan and the lines that were said, with the manager after it.
fn planned(command: &str, patience: Patience) -> (External, Plan, Arc<Mutex<Vec<String>>>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&said);
    let announcer = Announcer::new(move |line| told.lock().push(line.to_owned()));
    let mut manager = External::start(command, patience, Arc::new(Mutex::new(announcer)));
    let plan = manager.plan(&request());
    (manager, plan, said)
}

fn request() -> MoveRequest {
    MoveRequest { clock_ms: 60_000.0, increment_ms: 600.0, overhead_ms: 100.0, ..MoveRequest::default() }
}

fn at(elapsed_ms: f64) -> SearchSnapshot<'static> {
    SearchSnapshot { elapsed_ms, ..SearchSnapshot::default() }
}

fn own_plan() -> Plan {
    zeitnot_time::build(DEFAULT_MANAGER).expect("it exists").plan(&request())
}

#[test]
fn answers_are_followed() {
    let command = program(
        r#"*plan*) echo "thinking"; echo "{\"budget_ms\":1000,\"hard_limit_ms\":2500,\"target_nodes\":7}";;
           *t_ms\":900*) echo "{\"stop\":true}";;
           *observe*) echo "{\"stop\":false,\"remaining_ms\":40}";;
           *) echo "{}";;"#,
    );
    let (mut manager, plan, said) = planned(&command, Patience::Long);
    assert_eq!((plan.budget_ms, plan.hard_limit_ms, plan.target_nodes), (1_000.0, 2_500.0, Some(7.0)));
    assert_eq!(plan.manager, "external");
    let looks = [700.0, 900.0, 2_500.0].map(|ms| manager.observe(&at(ms)));
    assert_eq!(looks.map(|look| look.stop), [None, Some(StopReason::Time), Some(StopReason::Time)]);
    assert_eq!(looks[0].remaining_ms, Some(40.0));
    manager.finish(&MoveOutcome { elapsed_ms: 900.0, ..MoveOutcome::default() });
    assert_eq!(manager.plan(&request()).budget_ms, 1_000.0, "the answer to the end is passed over");
    assert_eq!(*said.lock(), [""; 0]);
}

#[test]
fn a_budget_stays_on_the_clock() {
    for (budget, expected) in [("1e9", 59_900.0), ("-5", 0.0)] {
        let command = program(&format!(r#"*) echo "{{\"budget_ms\":{budget}}}";;"#));
        let (_, plan, _) = planned(&command, Patience::Long);
        assert_eq!((plan.budget_ms, plan.hard_limit_ms), (expected, expected));
    }
}

#[test]
fn without_an_answer_the_default_manager_decides() {
    for (cases, problem) in [
        (r#"*) echo "{\"budget\":5}";;"#, "{\"budget\":5} is no answer to plan: missing field `budget_ms`"),
        (r#"*) echo "{\"budget_ms\":\"x\"}";;"#, "is no answer to plan: invalid type: string"),
        ("*) exit 3;;", "the program has ended (exit status: 3); smooth plays on"),
    ] {
        let (mut manager, plan, said) = planned(&program(cases), Patience::Long);
        assert_eq!(plan, own_plan(), "{cases}");
        let late = manager.observe(&at(plan.hard_limit_ms));
        assert_eq!(late.stop, Some(StopReason::Time));
        manager.finish(&MoveOutcome { elapsed_ms: 100.0, ..MoveOutcome::default() });
        manager.plan(&request());
        let said = said.lock().join("\n");
        assert!(said.contains(problem) && said.starts_with("ERROR: time manager external: sh -c "), "{said}");
        assert_eq!(
            said.matches("ended").count(),
            usize::from(problem.contains("ended")),
            "an end is said once: {said}"
        );
    }
}

#[test]
fn a_program_that_ends_during_a_move_leaves_its_latest_end() {
    let command = program(r#"*plan*) echo "{\"budget_ms\":900,\"hard_limit_ms\":1000}";; *) kill -9 $$;;"#);
    let (mut manager, _, said) = planned(&command, Patience::Long);
    let look = manager.observe(&at(300.0));
    assert_eq!((look.stop, look.remaining_ms), (None, Some(700.0)));
    assert_eq!(manager.observe(&at(1_000.0)).stop, Some(StopReason::Time));
    assert!(said.lock().concat().contains("(signal: 9 (SIGKILL)); smooth plays on"), "{:?}", said.lock());
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let command = program(
        r#"*\"clock_ms\":1.0*) sleep 0.3; echo "{\"budget_ms\":1}";;
           *plan*) echo "{\"budget_ms\":500}";;
           *) echo "{}";;"#,
    );
    let (mut manager, _, said) = planned(&command, Patience::Long);
    // A clock of a millisecond: nobody waits for 300, nor at the next move for what is owed.
    manager.patience = Patience::UntilDue;
    manager.finish(&MoveOutcome::default());
    for clock_ms in [1.0, 60_000.0] {
        let plan = manager.plan(&MoveRequest { clock_ms, ..MoveRequest::default() });
        assert_eq!(plan.manager, DEFAULT_MANAGER);
        manager.finish(&MoveOutcome::default());
    }
    manager.patience = Patience::Long;
    assert_eq!(manager.plan(&request()).budget_ms, 500.0);
    let late = "ERROR: time manager external: no answer to plan within 5 ms; smooth decides this move";
    let said = said.lock().iter().map(|line| line.replace(&format!("{command}: "), "")).collect::<Vec<_>>();
    assert_eq!(said, [late; 2]);
}

#[test]
fn a_greeting_is_not_taken_for_an_answer_for_ever() {
    let command = r#"sh -c 'echo "{}"; while read -r line; do echo "{\"budget_ms\":300}"; done'"#;
    let (mut manager, _, said) = planned(command, Patience::Long);
    // The first plan may meet the greeting.
    said.lock().clear();
    for _ in 0..20 {
        manager.finish(&MoveOutcome::default());
        assert_eq!(manager.plan(&request()).budget_ms, 300.0, "{:?}", said.lock());
    }
}

#[test]
fn an_answer_to_the_end_is_awaited_by_name() {
    let command = program(r#"*plan*) echo "{\"budget_ms\":500}";; *) ;;"#);
    let (mut manager, plan, said) = planned(&command, Patience::Long);
    assert_eq!(plan.budget_ms, 500.0);
    manager.finish(&MoveOutcome::default());
    manager.patience = Patience::UntilDue;
    manager.plan(&MoveRequest { clock_ms: 1.0, ..MoveRequest::default() });
    assert!(said.lock().concat().ends_with("no answer to finish within 5 ms; smooth decides this move"));
}

#[test]
fn programs_that_do_not_start_are_told() {
    let wrong = |spec: &str| crate::managers::check(spec).unwrap_err().to_string();
    let none = "external(command=\"no-such-program-of-ours\")";
    assert_eq!(wrong(none), "time manager external: there is no program no-such-program-of-ours");
    let usage = "time manager external: write external(command=\"PROGRAM ARGUMENT ...\")";
    for spec in ["external", "external(command=5)", "external(command=\"\")", "external(command=\"cat\",nps=5)"] {
        assert_eq!(wrong(spec), usage, "{spec}");
    }
    assert!(wrong("external(command=\"'\")").contains("a quotation mark is not closed"));
    let (_, plan, said) = planned("no-such-program-of-ours", Patience::Long);
    assert_eq!(plan, own_plan());
    assert!(said.lock().concat().contains("cannot start no-such-program-of-ours"), "{:?}", said.lock());
}
