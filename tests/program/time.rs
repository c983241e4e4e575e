//! `zeitnot time explain`: one decision, and a script of events.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use serde_json::Value;

fn explain(args: &[&str], input: &str) -> std::process::Output {
    let mut command = Command::cargo_bin("zeitnot").unwrap();
    command.args(["time", "explain"]).args(args).write_stdin(input).output().unwrap()
}

fn json(args: &[&str], input: &str) -> Vec<Value> {
    let output = explain(args, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_decision_with_every_term() {
    let args = ["move", "--manager", "smooth(preset=lc0)", "--clock", "60000", "--inc", "600", "--ply", "0", "--json"];
    let plan = &json(&args, "")[0];
    assert_eq!((&plan["budget_ms"], &plan["extra_ms"]), (&4_688.0.into(), &5_076.0.into()));
    assert_eq!((&plan["hard_limit_ms"], &plan["moves_left"]), (&9_764.0.into(), &45.2.into()));
    assert_eq!(plan["manager"], "smooth(preset=lc0)");
    assert!((plan["target_nodes"].as_f64().unwrap() - 74_594.4).abs() < 0.1);
    let terms = plan["terms"].as_array().unwrap();
    assert_eq!(terms[0], serde_json::json!({"name": "clock", "value": 60000.0, "unit": "ms", "clamped": false}));
    let table = String::from_utf8(explain(&["move", "--manager", "smooth", "--clock", "60000"], "").stdout).unwrap();
    assert!(table.starts_with("time manager smooth\n") && table.contains("hard_limit"), "{table}");
    assert!(table.contains("= max(0, clock + increment * (moves_left - 1) - overhead - moves_left"), "{table}");
    assert!(table.ends_with("a name that has no line is a parameter, or is 0 in this decision.\n"), "{table}");
}

#[test]
fn flags_without_the_word_move_are_told_where_they_belong() {
    for args in [&["--clock", "60000"] as &[&str], &["--inc", "1", "--clock", "60000"], &["--json"]] {
        let output = explain(args, "");
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(told.contains("zeitnot time explain move --clock MS [OPTIONS]"), "{told}");
    }
    let help = String::from_utf8(explain(&["--help"], "").stdout).unwrap();
    assert!(help.contains("explain move --clock MS") && !help.contains("left out"), "{help}");
}

#[test]
fn every_fact_reaches_the_manager() {
    let budget = |more: &[&str]| {
        let manager: &[&str] = if more.contains(&"--manager") { &[] } else { &["--manager", "smooth"] };
        let args = [&["move", "--clock", "60000", "--json"], manager, more].concat();
        json(&args, "")[0]["budget_ms"].as_f64().unwrap()
    };
    let usual = budget(&[]);
    for more in [
        &["--inc", "1000"] as &[&str],
        &["--movestogo", "5"],
        &["--ply", "60"],
        &["--reused", "9000"],
        &["--moves-left", "30"],
        &["--pieces", "9"],
        &["--manager", "complexity", "--pieces", "32", "--legal-moves", "40", "--captures", "9"],
        &["--manager", "adaptive", "--check"],
    ] {
        assert_ne!(budget(more), usual, "{more:?}");
    }
    assert_ne!(budget(&["--reused", "9000", "--nps", "1000"]), budget(&["--reused", "9000"]));
    let late = budget(&["--manager", "smooth(opening=1)", "--overhead", "59000"]);
    assert!((late - 1_000.0 / 50.0 / 0.5 / 0.7).abs() < 1e-9);
}

// docs/lc0.md, 1.11: four moves of one game.
#[test]
fn a_script_is_answered_line_by_line() {
    let script = r#"
        {"event":"plan","clock_ms":60000,"inc_ms":600,"movestogo":null,"ply":0,"reused":0,"moves_left":null}
        {"event":"observe","t_ms":5,"first_batch_ms":0,"new_nodes":0,"visits":[],"need_more_time":false}

        {"event":"observe","t_ms":100,"first_batch_ms":50,"new_nodes":100,"visits":[60,40]}
        {"event":"observe","t_ms":1000,"first_batch_ms":950,"new_nodes":1000,"visits":[600,400]}
        {"event":"observe","t_ms":1200,"first_batch_ms":1150,"new_nodes":1200,"visits":[800,400],"need_more_time":false}
        {"event":"observe","t_ms":9000,"first_batch_ms":8950,"new_nodes":9000,"visits":[800,400],"need_more_time":false}
        {"event":"finish","t_ms":4600,"total_nodes":4600}
    "#;
    let answers = json(&["script", "-", "--manager", "smooth(preset=lc0)"], script);
    assert_eq!(answers.len(), 7);
    assert_eq!(answers[0]["budget_ms"], 4_688.0);
    assert_eq!((&answers[1]["remaining_ms"], &answers[1]["nps"]), (&9_759.0.into(), &20_000.0.into()));
    assert_eq!((&answers[4]["remaining_ms"], &answers[4]["stop"]), (&3_488.0.into(), &false.into()));
    assert_eq!((&answers[5]["stop"], &answers[5]["reason"]), (&true.into(), &"time".into()));
    assert!((answers[6]["timeuse"].as_f64().unwrap() - 0.777_628).abs() < 1e-6);
    assert_eq!(answers[6]["bank_ms"].as_f64(), Some(5_847.0 - (4_600.0_f64 - 4_688.0).max(0.0)));
    assert_eq!(answers[6].get("statistics").or(answers[6].get("game")), None, "only adaptive has them");
    let answers = json(&["script", "-", "--manager", "adaptive"], script);
    assert!(answers[6]["statistics"].as_str().unwrap().starts_with("Time Stats: Total=1, Success=0"));
    assert_eq!(
        (&answers[6]["game"]["losses"], &answers[6]["game"]["phases"]["Opening"]["moves"]),
        (&0.into(), &1.into())
    );
    let answers = json(&["script", "-", "--manager", "smooth(preset=lc0)"], script);
    let account = &answers[6]["move"];
    assert_eq!((&account["stop"], &account["used_ms"]), (&"time".into(), &4_600.0.into()));
    assert_eq!((&account["limit_ms"], &account["due_ms"]), (&4_688.0.into(), &4_688.0.into()));
}

#[test]
fn a_script_says_what_stopped_the_search_and_when_it_would_have_stopped_otherwise() {
    let script = r#"
        {"event":"plan","clock_ms":100200}
        {"event":"observe","t_ms":100,"new_nodes":1,"visits":[1,0]}
        {"event":"observe","t_ms":5100,"new_nodes":60000,"visits":[59900,100]}
        {"event":"finish","t_ms":5110,"total_nodes":60001}
    "#;
    let args = ["script", "-", "--manager", "alphazero(alphazero-time-pct=10)"];
    let text = |more: &[&str]| {
        let output = explain(&[&args, more].concat(), script);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text(&[]).contains(r#""stop":null"#), "the manager alone has no reason yet");
    let overtaken = "smart pruning: the best move cannot be overtaken";
    let json = json(&[&args[..], &["--stoppers"]].concat(), script);
    let name = "cannot_be_overtaken";
    assert_eq!((&json[2]["reason"], &json[3]["move"]["stop"]), (&name.into(), &name.into()));
    assert_eq!(json[3]["move"]["limit_ms"], 10_000.0);
    let table = text(&["--stoppers", "--table"]);
    for line in [
        "time manager alphazero",
        "  budget                10000 ms     = whole(available * share / 100)",
        "100 ms: go on, the limit is 10000 ms",
        &format!("5100 ms: stop ({overtaken}), the limit is 10000 ms"),
        &format!(
            "alphazero: used=5110ms budget=10000ms hard_limit=10000ms limit=10000ms nodes=60001 stopped by {overtaken}"
        ),
    ] {
        assert!(table.lines().any(|other| other == line), "{line}\n{table}");
    }
}

#[test]
fn bad_input_is_named_in_one_line() {
    for (args, input, expected) in [
        (&["move", "--manager", "fast", "--clock", "1"] as &[&str], "", "unknown time manager \"fast\""),
        (
            &["move", "--manager", "smooth(init-nps=5000", "--clock", "1"],
            "",
            "time manager \"smooth(init-nps=5000\": at offset 20: ",
        ),
        (&["move", "--clock", "1", "--nps", "0"], "", "--nps 0: a speed is more than 0"),
        (&["move", "--clock", "nan"], "", "--clock NaN: a time is a number of milliseconds, 0 or more"),
        (&["move", "--clock", "1", "--inc", "-5"], "", "--inc -5: a time is a number of milliseconds, 0 or more"),
        (&["script", "-", "--overhead", "inf"], "", "--overhead inf: a time is a number of milliseconds, 0 or more"),
        (
            &["move", "--clock", "1", "--moves-left", "-1"],
            "",
            "--moves-left -1: the rest of a game is a number of plies",
        ),
        (&["script", "-"], "{\"event\":\"dance\"}", "- line 1 is no event: unknown variant `dance`"),
        (&["script", "-"], "\n{\"event\":\"plan\"}", "- line 2 is no event: missing field `clock_ms`"),
        (&["script", "nowhere.jsonl"], "", "cannot read nowhere.jsonl"),
    ] {
        let output = explain(args, input);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(expected) && error.lines().count() == 1, "{error}");
        assert!(error.matches("offset").count() <= 1, "it is said once: {error}");
    }
    // Flags for a script alone.
    for flag in ["--stoppers", "--table"] {
        let output = explain(&["move", "--clock", "1", flag], "");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(flag) && error.contains("--clock"), "{error}");
    }
}

#[test]
fn the_script_of_the_help_is_one() {
    let help = String::from_utf8(explain(&["script", "--help"], "").stdout).unwrap();
    let script: Vec<&str> = help.lines().filter(|line| line.trim_start().starts_with("{\"event\"")).collect();
    assert_eq!(script.len(), 9, "{help}");
    let answers = json(&["script", "--manager", "smooth", "-"], &script.join("\n"));
    assert_eq!(answers.len(), 3, "a plan, a look and an end are answered");
    assert_eq!((&answers[0]["manager"], &answers[2]["move"]["used_ms"]), (&"smooth".into(), &2_100.0.into()));
    assert!(answers[1]["remaining_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_report_is_not_written_over_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("games.pgn"), "1. e4 {[%emt 0:00:01]} e5 {[%emt 0:00:02]} *\n").unwrap();
    std::fs::write(path("mine.html"), "<p>mine</p>").unwrap();
    let report = |name: &str| {
        let mut command = Command::cargo_bin("zeitnot").unwrap();
        command.current_dir(folder.path()).args(["time", "report", "games.pgn", "--out", name]).output().unwrap()
    };
    let refused = report("mine.html");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && told.contains("mine.html has something else in it"), "{told}");
    assert_eq!(std::fs::read_to_string(path("mine.html")).unwrap(), "<p>mine</p>");
    // An earlier report, and an empty file, have nothing to lose.
    std::fs::write(path("empty.html"), "").unwrap();
    for name in ["new.html", "new.html", "empty.html"] {
        let output = report(name);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_decimal_comma_in_a_time_control_is_told() {
    for args in
        [&["match", "--tc", "10+0,1", "--nps", "400"][..], &["time", "compare", "smooth", "x", "--tc", "10+0,1"]]
    {
        let output = Command::cargo_bin("zeitnot").unwrap().args(args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("10+0,1 is two time controls, 10+0 and 1; "), "{told}");
    }
}
