//! Programs as time managers: what they answer is done, and what they do not answer is done without them.

use super::*;

/// A program that answers by the kind of an event, in the words of a shell's `case`.
fn program(cases: &str) -> String {
    format!("sh -c 'while read -r line; do case $line in {cases} esac; done'")
}

/// A plan and the lines that were said, with the manager after it.
fn planned(command: &str, patience: Patience) -> (External, Plan, Arc<Mutex<Vec<String>>>) {
    let (mut manager, said) = started(command, patience);
    let plan = manager.plan(&request());
    (manager, plan, said)
}

fn started(command: &str, patience: Patience) -> (External, Arc<Mutex<Vec<String>>>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&said);
    let announcer = Announcer::new(move |line| told.lock().push(line.to_owned()));
    (External::start(command, patience, Arc::new(Mutex::new(announcer))), said)
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
    let said = said.lock().iter().map(|line| line.replace(&command, "COMMAND")).collect::<Vec<_>>();
    let [late, owed] = &said[..] else { panic!("{said:?}") };
    for line in [late, owed] {
        assert!(line.starts_with("ERROR: time manager external: COMMAND: no answer to plan for "), "{line}");
        assert!(line.ends_with(" ms; smooth decides this move"), "{line}");
    }
}

#[test]
fn a_greeting_is_not_taken_for_an_answer_for_ever() {
    let command = r#"sh -c 'echo "{}"; while read -r line; do echo "{\"budget_ms\":300}"; done'"#;
    let (mut manager, plan, said) = planned(command, Patience::Long);
    assert_eq!(plan.budget_ms, 300.0, "a greeting is no plan");
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
    assert!(said.lock().concat().contains("no answer to finish for "), "{:?}", said.lock());
}

/// A good program, after or beside other words.
fn good(prelude: &str) -> String {
    let answers = r#"*plan*) echo "{\"budget_ms\":300}";; *observe*) echo "{\"stop\":false}";; *) echo "{}";;"#;
    format!("sh -c '{prelude} while read -r line; do case $line in {answers} esac; done'")
}

/// Plays moves of two looks each. Returns the plans and the longest time of a call.
fn play(manager: &mut External, moves: usize) -> (Vec<Plan>, Duration) {
    let mut longest = Duration::ZERO;
    let mut timed = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        call();
        longest = longest.max(start.elapsed());
    };
    let mut plans = Vec::new();
    for _ in 0..moves {
        timed(&mut || plans.push(manager.plan(&request())));
        for ms in [0.1, 0.2] {
            timed(&mut || {
                manager.observe(&at(ms));
            });
        }
        timed(&mut || manager.finish(&MoveOutcome { elapsed_ms: 300.0, ..MoveOutcome::default() }));
    }
    (plans, longest)
}

#[test]
fn a_good_program_may_talk() {
    for prelude in [
        r#"(while :; do echo "{\"log\":\"thinking\"}"; sleep 0.02; done) &"#,
        r#"(while :; do echo thinking; sleep 0.001; done) &"#,
        r#"(while :; do printf x; sleep 0.02; done) >&2 &"#,
        r#"for i in $(seq 5000); do echo "{\"log\":$i}"; done;"#,
        r#"head -c 10000000 /dev/zero | tr "\0" "{"; echo;"#,
        r#"head -c 10000000 /dev/zero | tr "\0" "x"; echo;"#,
        r#"echo "{\"budget_ms\":";"#,
    ] {
        // On a clock an answer may be late where the machine is busy, but not every time.
        for (patience, attempts) in [(Patience::Long, 1), (Patience::UntilDue, 10)] {
            let mut told = Vec::new();
            let is_good = (0..attempts).any(|_| {
                let (mut manager, _, said) = planned(&good(prelude), Patience::Long);
                manager.patience = patience;
                manager.finish(&MoveOutcome::default());
                said.lock().clear();
                let (plans, longest) = play(&mut manager, 10);
                assert!(longest < Duration::from_secs(5), "{prelude}: {longest:?}");
                told.append(&mut said.lock());
                plans.iter().all(|plan| plan.manager == EXTERNAL && plan.budget_ms == 300.0)
            });
            assert!(is_good, "{prelude}: {told:?}");
        }
    }
}

#[test]
fn a_program_that_answers_nothing_costs_little() {
    let cases = [
        (r#"yes "{\"budget_ms\":1}""#, "the program writes without end"),
        (r#"yes "{\"budget_ms\":900,\"stop\":false}""#, "no answer to plan: it is not read; smooth decides"),
        (r#"yes "{\"log\":1}""#, "the program writes without end"),
        ("yes hello", "the program writes without end"),
        (r#"yes | tr -d "\n""#, "the program writes without end"),
        (r#"yes "{" | tr -d "\n""#, "the program writes without end"),
        ("exec >&-; sleep 100", "the program has closed its output; smooth plays on"),
        ("exec <&-; : >CLOSED; sleep 100", "the program has closed its input; smooth plays on"),
        (r#"trap "" TERM HUP PIPE; cat >/dev/null"#, "no answer to plan for "),
        ("sleep 100", "no answer to plan for "),
        ("exit 0", "the program has ended (exit status: 0); smooth plays on"),
        (r#"read -r line; echo "{\"budget_ms\":300}"; kill -9 $$"#, "the program has ended (signal: 9 (SIGKILL))"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    for (script, problem) in cases {
        let start = Instant::now();
        let command = format!("sh -c '{}'", script.replace("CLOSED", &format!("\"{}\"", closed.display())));
        let (mut manager, said) = started(&command, Patience::UntilDue);
        // A line that was written before stays in the pipe, and nothing tells that nobody reads it.
        while script.contains("CLOSED") && !closed.exists() {
            assert!(start.elapsed() < Duration::from_secs(30), "{script}");
            std::thread::sleep(Duration::from_millis(1));
        }
        manager.plan(&request());
        manager.finish(&MoveOutcome::default());
        // More events than a pipe holds.
        let (_, mut longest) = play(&mut manager, 500);
        // How soon who writes without end has written enough is a matter of the machine.
        while !said.lock().concat().contains(problem) && start.elapsed() < Duration::from_secs(50) {
            longest = longest.max(play(&mut manager, 10).1);
        }
        assert!(longest < Duration::from_secs(5), "{script}: {longest:?}");
        drop(manager);
        assert!(start.elapsed() < Duration::from_secs(60), "{script}: {:?}", start.elapsed());
        let said = said.lock().concat();
        assert!(said.contains(problem), "{script}: {said:.1000}");
    }
}

/// A good program but for one event, the first of its kind, which it answers with `wrong`.
fn wrong_once(event: &str, wrong: &str) -> String {
    let answers = r#"*plan*) echo "{\"budget_ms\":300}";; *observe*) echo "{\"stop\":false}";; *) echo "{}";;"#;
    let wrong = wrong.replace('"', "\\\"");
    format!(
        "sh -c 'while read -r line; do case $line in *{event}*) if [ -z \"$seen\" ]; then seen=1; printf \"{wrong}\\n\"; continue; fi;; \
         esac; case $line in {answers} esac; done'"
    )
}

/// Wrong answers to a plan and to a look, of which it is known at once that they are none.
const KNOWN: [(&str, &str); 8] = [
    (r#"{"error":"division by zero"}"#, r#"{"error":1}"#),
    (r#"{"budget_ms":1e400}"#, r#"{"stop":1}"#),
    (r#"{"budget_ms":NaN}"#, r#"{"stop":True}"#),
    (r#"{"budget_ms":null}"#, r#"{"stop":null}"#),
    (r#"{\n  "budget_ms": 300\n}"#, r#"{\n  "stop": false,\n  "next_ms": 1\n}"#),
    (r#"{\n  "error": "no"\n}"#, r#"{\n  "error": "no"\n}"#),
    (r#"{"budget_ms":30"#, r#"{"stop":"#),
    (r#"{"hard_limit_ms":5,"budget_ms":"300"}"#, r#"{"stop":[],"error":2}"#),
];

#[test]
fn a_wrong_answer_costs_one_move() {
    // The others are known by what follows: nothing.
    let unknown = [r#"{"budget":300}"#, "{}", "null", "", "division by zero", "300", "[]", r#"{"error":null}"#];
    let unknown = unknown.map(|wrong| (wrong, wrong, false));
    for (plan, look, is_known) in KNOWN.map(|(plan, look)| (plan, look, true)).into_iter().chain(unknown) {
        for (event, wrong) in [("plan", plan), ("observe", look)] {
            let mut told = Vec::new();
            // A busy machine may lose another move.
            let is_good = (0..5).any(|_| {
                let (mut manager, said) = started(&wrong_once(event, wrong), Patience::UntilDue);
                let (plans, _) = play(&mut manager, 6);
                told.append(&mut said.lock());
                plans.iter().filter(|plan| plan.manager != EXTERNAL).count() <= 1
            });
            assert!(is_good, "{wrong:?} to {event}: {told:?}");
            let unread = told.iter().any(|line| line.contains(&format!(" is no answer to {event}: ")));
            assert!(unread || !is_known, "{wrong:?} to {event}: {told:?}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_known_at_once() {
    for (plan, look) in KNOWN {
        let (mut manager, _, said) = planned(&wrong_once("plan", plan), Patience::Long);
        let start = Instant::now();
        assert_eq!(manager.plan(&request()).budget_ms, 300.0, "{plan}: {:?}", said.lock());
        assert!(start.elapsed() < Duration::from_secs(5), "{plan}: {:?}", start.elapsed());
        assert!(said.lock().concat().contains(" is no answer to plan: "), "{plan}: {:?}", said.lock());
        assert_eq!(said.lock().len(), 1, "{plan}: {:?}", said.lock());
        let (mut manager, _, said) = planned(&wrong_once("observe", look), Patience::Long);
        let (plans, longest) = play(&mut manager, 2);
        assert!(plans.iter().all(|plan| plan.budget_ms == 300.0), "{look}: {:?}", said.lock());
        assert!(longest < Duration::from_secs(5), "{look}: {longest:?}");
        // Before a clock runs.
        let (mut manager, _) =
            started(&program(&format!(r#"*) printf "{}\n";;"#, plan.replace('"', "\\\""))), Patience::UntilDue);
        let start = Instant::now();
        manager.get_ready();
        assert!(start.elapsed() < Duration::from_secs(4), "{plan}: {:?}", start.elapsed());
    }
}

#[test]
fn a_slip_where_no_clock_runs_costs_one_move() {
    let slip = r#"*\"clock_ms\":1.0*) echo "{\"budget\":5}";; *plan*) echo "{\"budget_ms\":500}";; *) echo "{}";;"#;
    let (mut manager, plan, said) = planned(&program(slip), Patience::Long);
    assert_eq!(plan.budget_ms, 500.0);
    manager.finish(&MoveOutcome::default());
    assert_eq!(manager.plan(&MoveRequest { clock_ms: 1.0, ..MoveRequest::default() }).manager, DEFAULT_MANAGER);
    assert_eq!(manager.plan(&request()).budget_ms, 500.0, "{:?}", said.lock());
    assert!(said.lock().concat().ends_with("but {\"budget\":5}; smooth decides this move"), "{:?}", said.lock());
}

#[test]
fn the_end_of_a_program_costs_no_clock() {
    let announcer = Arc::new(Mutex::new(Announcer::new(|_| {})));
    let make = crate::managers::maker(Patience::UntilDue, announcer);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    // It leaves word, but does not end where its input does.
    let answers = r#"while read -r line; do echo '{"budget_ms":300}'; done; echo end >>"$0.ended"; sleep 100"#;
    std::fs::write(&script, answers).unwrap();
    let managers = [(); 8].map(|()| {
        let mut manager = make(&format!("external(command=\"sh '{}'\")", script.display())).unwrap().unwrap();
        manager.plan(&request());
        manager
    });
    let start = Instant::now();
    managers.into_iter().for_each(drop);
    assert!(start.elapsed() < Duration::from_secs(2), "not 300 ms each: {:?}", start.elapsed());
    drop(make);
    let ended = std::fs::read_to_string(script.with_extension("ended")).unwrap();
    assert_eq!(ended, "end\n".repeat(8), "whoever is last waits");
}

#[test]
fn a_program_without_an_answer_is_ended_where_no_clock_runs() {
    let talks: [&str; 4] = [r#"yes "{\"log\":1}""#, "yes hello", r#"yes | tr -d "\n""#, r#"yes "{" | tr -d "\n""#];
    for (script, problem) in talks.map(|talk| (talk, "the program writes without end")).into_iter().chain([
        (r#"while read -r line; do echo "{\"budget\":5}"; done"#, "but {\"budget\":5}"),
        ("exec >&-; sleep 100", "the program has closed its output"),
    ]) {
        let (mut manager, plan, said) = planned(&format!("sh -c '{script}'"), Patience::Long);
        let start = Instant::now();
        assert_eq!(plan, own_plan(), "{script}");
        play(&mut manager, 100);
        drop(manager);
        assert!(start.elapsed() < Duration::from_secs(9), "it is not asked again: {:?}", start.elapsed());
        let said = said.lock().concat();
        assert!(said.contains(problem) && said.ends_with("smooth plays on"), "{script}: {said:.1000}");
    }
}

#[test]
fn a_program_may_load_before_the_clock_runs() {
    let (mut manager, said) = started(&good("sleep 1;"), Patience::UntilDue);
    let start = Instant::now();
    manager.get_ready();
    assert!(start.elapsed() > Duration::from_millis(900));
    // A hundredth of a second would not do for loading.
    let plan = manager.plan(&MoveRequest { clock_ms: 5_000.0, ..MoveRequest::default() });
    assert!(plan.manager == "external" || start.elapsed() > Duration::from_secs(4), "{:?}", said.lock());
    // Once a game: whoever does not answer is not waited for again.
    let (mut manager, said) = started("sleep 100", Patience::UntilDue);
    manager.get_ready();
    assert_eq!(said.lock().len(), 1, "{:?}", said.lock());
    let start = Instant::now();
    (0..10).for_each(|_| manager.get_ready());
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_late_look_counts_when_it_comes() {
    let slow = r#"*plan*) echo "{\"budget_ms\":50000}";; *) sleep 0.2; echo "{\"stop\":true}";;"#;
    let (mut manager, plan, said) = planned(&program(slow), Patience::Long);
    manager.patience = Patience::UntilDue;
    assert_eq!(plan.budget_ms, 50_000.0);
    let start = Instant::now();
    let mut looks = 0;
    while manager.observe(&at(100.0 + start.elapsed().as_secs_f64() * 1e3)).stop.is_none() {
        looks += 1;
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", said.lock());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(looks > 1, "the search went on");
}

#[test]
fn looks_come_when_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let command = format!(
        r#"sh -c 'while read -r line; do echo "$line" >>"{}"; case $line in
           *plan*) echo "{{\"budget_ms\":1000,\"next_ms\":500}}";;
           *observe*) echo "{{\"stop\":false,\"remaining_ms\":300,\"next_ms\":700}}";;
           *) echo "{{}}";; esac; done; sleep 0.1; echo end >>"{}"'"#,
        seen.display(),
        seen.display()
    );
    let (mut manager, _, said) = planned(&command, Patience::Long);
    let looks = [100.0, 400.0, 600.0, 650.0, 950.0].map(|ms| manager.observe(&at(ms)));
    let left = looks.map(|look| (look.stop, look.remaining_ms.unwrap()));
    assert_eq!(left[..4], [(None, 900.0), (None, 600.0), (None, 300.0), (None, 250.0)], "{:?}", said.lock());
    assert_eq!(looks[4].remaining_ms, Some(50.0), "asked again, at most until the hard limit");
    manager.finish(&MoveOutcome { elapsed_ms: 950.0, ..MoveOutcome::default() });
    drop(manager);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert_eq!(seen.matches("observe").count(), 2, "{seen}");
    assert!(seen.contains("finish") && seen.ends_with("end\n"), "it hears the end of the game: {seen}");
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
