//! Tests `zeitnot time record`, `time replay` and `time simulate` from end to end, on a backend that needs no network.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::{Command, Output};

const GAMES: &str = "[White \"A\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 1-0\n\n\
    [White \"B\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 0-1\n\n\
    [White \"C\"]\n\n1. c4 e5 2. Ke5 *\n\n";

fn zeitnot(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_zeitnot");
    Command::new(program).current_dir(folder).args(args).output().unwrap()
}

fn record(folder: &Path, out: &str, more: &[&str]) -> Output {
    let args = ["time", "record", "--games", "games.pgn", "--nodes", "60", "--backend", "random", "--out", out];
    zeitnot(folder, &[&args[..], more].concat())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    folder
}

#[test]
fn a_recording_is_the_same_with_any_concurrency_and_after_an_interruption() {
    let folder = folder();
    let output = record(folder.path(), "one.zt", &["--concurrency", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("games.pgn game 3: illegal move Ke5 after 2 plies"), "{said}");
    let whole = std::fs::read(folder.path().join("one.zt")).unwrap();
    // Nothing is left to record.
    let output = record(folder.path(), "one.zt", &["--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let size = serde_json::json!({
        "kind": "recording", "positions": 12, "games": 3, "snapshots": 0, "bytes": whole.len(),
    });
    assert_eq!(told, size);
    assert!(record(folder.path(), "three.zt", &["--concurrency", "3"]).status.success());
    assert_eq!(std::fs::read(folder.path().join("three.zt")).unwrap(), whole);
    for part in [1, 2] {
        let path = folder.path().join("cut.zt");
        std::fs::write(&path, &whole[..whole.len() * part / 3]).unwrap();
        assert!(record(folder.path(), "cut.zt", &[]).status.success());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    // Other searches are not added to them.
    let output = record(folder.path(), "one.zt", &["--factor", "8"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("one.zt was recorded otherwise"), "{said}");
}

#[test]
fn another_engine_judges_the_choices() {
    let folder = folder();
    assert!(record(folder.path(), "traces.zt", &[]).status.success());
    let engine = format!("'{}' --backend random --random-seed 3 --threads 1", env!("CARGO_BIN_EXE_zeitnot"));
    let judge = |nodes: &str, threads: &str| {
        let args = ["time", "judge", "traces.zt", "--engine", &engine, "--nodes", nodes, "--concurrency", threads];
        zeitnot(folder.path(), &args)
    };
    let replay = |more: &[&str]| {
        let args = ["time", "replay", "traces.zt", "--manager", "smooth", "--json"];
        zeitnot(folder.path(), &[&args[..], more].concat())
    };
    let missing = replay(&["--judged"]);
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(!missing.status.success() && said.contains("traces.zt.judged"), "{said}");
    let output = judge("50", "1");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = folder.path().join("traces.zt.judged");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["nodes"], 50);
    for line in &lines[1..] {
        let values = line["values"].as_object().unwrap();
        assert!(values.len() > 1 && values.values().all(|value| value.as_f64().unwrap().abs() <= 1.0), "{line}");
    }
    // An unfinished judgement goes on, with any concurrency.
    std::fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
    let said = String::from_utf8_lossy(&replay(&["--judged"]).stderr).into_owned();
    assert!(said.contains("`time judge` goes on with it"), "{said}");
    assert!(judge("50", "3").status.success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    let said = String::from_utf8_lossy(&judge("60", "1").stderr).into_owned();
    assert!(said.contains("another nodes: 50 there, 60 here; delete it for a new judgement"), "{said}");
    // A damaged line is named by both commands.
    for (from, to, complaint) in [
        ("{\"search\"", "{search", "traces.zt.judged line 2: "),
        ("\"values\":{\"", "\"values\":{\"a1a1\":0,\"x", "has no value from -1 to 1 for each of its choices"),
        ("{\"search\":", "{\"search\":9", "never changed its choice"),
        ("\"recording\":\"", "\"recording\":\"x", "another recording"),
    ] {
        std::fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let said = String::from_utf8_lossy(&replay(&["--judged"]).stderr).into_owned();
        assert!(said.contains(complaint), "{said}");
        if complaint != "another recording" {
            let said = String::from_utf8_lossy(&judge("50", "1").stderr).into_owned();
            assert!(said.contains(complaint), "{said}");
        }
    }
    std::fs::write(&path, &whole).unwrap();
    // The regret is the judge's, and so is the name of the searches.
    let told = |output: Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
    let (own, judged) = (told(replay(&[])), told(replay(&["--judged"])));
    assert_ne!(own[0]["regret"], judged[0]["regret"]);
    assert_ne!(own[0]["traces"], judged[0]["traces"]);
    assert_eq!(own[0]["mean_nodes"], judged[0]["mean_nodes"]);
}

#[test]
fn a_replay_meets_the_nodes_and_no_manager_beats_the_oracle() {
    let folder = folder();
    assert!(record(folder.path(), "traces.zt", &[]).status.success());
    let managers = ["smooth", "simple", "TimeManager=legacy;SmartPruningFactor=0", "alphazero"];
    let mut args = vec!["time", "replay", "traces.zt", "--json"];
    args.extend(managers.iter().flat_map(|manager| ["--manager", manager]));
    let output = zeitnot(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows.len(), managers.len());
    for (row, manager) in rows.iter().zip(managers) {
        assert_eq!(row["manager"], manager);
        // Six moves of White, five of White in the second game, and the move of Black in the third.
        assert_eq!(row["moves"], 12);
        assert_eq!((&row["tc"], &row["batch"]), (&"10+0.1".into(), &8.into()));
        let nodes = row["mean_nodes"].as_f64().unwrap();
        assert!((55.0..65.0).contains(&nodes), "{row}");
        assert!(row["regret"].as_f64().unwrap() >= row["oracle_regret"].as_f64().unwrap(), "{row}");
        let stops = row["stops"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>();
        assert_eq!(stops, 12);
    }
    // The parts have no pair in common: six and five moves, and one.
    let moves = |part: &str| {
        let output = zeitnot(
            folder.path(),
            &["time", "replay", "traces.zt", "--json", "--batch", "1", "--part", part, "--manager", "simple"],
        );
        let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        rows[0]["moves"].as_u64().unwrap()
    };
    assert_eq!([moves("1/2"), moves("2/2")], [11, 1]);
    // The records are of 16 times 60 playouts.
    let bad = zeitnot(folder.path(), &["time", "replay", "traces.zt", "--mean-nodes", "5000"]);
    let said = String::from_utf8_lossy(&bad.stderr);
    assert!(
        !bad.status.success() && said.contains("no speed leads to 5000 playouts") && said.lines().count() == 1,
        "{said}"
    );
    let bad = zeitnot(folder.path(), &["time", "replay", "traces.zt", "--part", "3/2"]);
    let said = String::from_utf8_lossy(&bad.stderr);
    assert!(!bad.status.success() && said.contains("3/2"), "{said}");
    let bad = zeitnot(folder.path(), &["time", "replay", "traces.zt", "--manager", "none"]);
    let said = String::from_utf8_lossy(&bad.stderr);
    assert!(!bad.status.success() && said.contains("none") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_simulation_plays_games_from_recordings() {
    let folder = folder();
    assert!(record(folder.path(), "traces.zt", &[]).status.success());
    let play = ["match", "--clock", "virtual", "--nps", "300", "--tc", "1+0.05", "--games", "2", "--backend", "random"];
    assert!(zeitnot(folder.path(), &[&play[..], &["--max-moves", "20", "--pgn", "fit.pgn"]].concat()).status.success());
    let simulate = |args: &[&str]| {
        let simulate = ["time", "simulate", "--tc", "10+0.1", "--games", "100", "--traces", "traces.zt"];
        zeitnot(folder.path(), &[&simulate[..], args].concat())
    };
    let output = simulate(&["--manager", "simple", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let one: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&one["manager"], &one["tc"], &one["games"]), (&"simple".into(), &"10+0.1".into(), &100.into()));
    assert_eq!(one["flag_rate"], 0.0);
    // The recorded games have five or six own moves.
    let clocks = one["clock_ms"].as_array().unwrap();
    assert!((5..=6).contains(&clocks.len()), "{one}");
    for (index, at) in clocks.iter().enumerate() {
        let ms = |name: &str| at[name].as_f64().unwrap();
        assert_eq!(at["move"], index + 1);
        assert!(0.0 < ms("p5") && ms("p5") <= ms("p50") && ms("p50") <= ms("p95") && ms("p95") < 10_100.0, "{at}");
    }
    assert!(one["left_ms"]["p50"].as_f64().unwrap() > 5_000.0 && one["games_per_s"].as_f64().unwrap() > 0.0);
    // Games to fit to are longer; several managers are an array.
    let output = simulate(&["--fit", "fit.pgn.jsonl", "--manager", "simple", "--manager", "alphazero", "--json"]);
    let both: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(both[0]["clock_ms"].as_array().unwrap().len(), 20, "{both}");
    assert_eq!(both[1]["manager"], "alphazero");
    // Without a recording the games in the program are drawn from.
    let output = zeitnot(
        folder.path(),
        &["time", "simulate", "--tc", "60+0.6", "--games", "50", "--json", "--manager", "simple"],
    );
    let built_in: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(built_in["clock_ms"].as_array().unwrap().len() > 40, "{built_in}");
    // A lag that the overhead does not cover loses on time.
    let output = simulate(&["--manager", "alphazero", "--lag", "4000", "--json"]);
    let lagging: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(lagging["flag_rate"], 1.0);
    assert!(lagging["regret"].is_null() && lagging["gain"].is_null(), "no game was finished: {lagging}");
    std::fs::write(folder.path().join("positions.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n").unwrap();
    let epd =
        ["time", "record", "--positions", "positions.epd", "--nodes", "60", "--backend", "random", "--out", "epd.zt"];
    assert!(zeitnot(folder.path(), &epd).status.success());
    for (args, problem) in [
        (&["--traces", "epd.zt"][..], "single positions"),
        (&["--traces", "traces.zt", "--fit", "games.pgn"], "games.pgn line 1"),
        (&["--traces", "traces.zt", "--manager", "none"], "none"),
        (&["--traces", "missing.zt"], "missing.zt"),
    ] {
        let output = zeitnot(folder.path(), &[&["time", "simulate"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(problem) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_simulation_tells_its_conditions_and_the_gain_over_recorded_games() {
    let folder = folder();
    let simulate = |args: &[&str]| {
        let output = zeitnot(folder.path(), &[&["time", "simulate", "--games", "50"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let two =
        ["--manager", "simple", "--manager", "alphazero", "--json", "--nps", "800", "--lag", "1,4", "--seed", "7"];
    let rows: serde_json::Value = serde_json::from_slice(&simulate(&two).stdout).unwrap();
    let first = &rows[0];
    assert_eq!((&first["nps"], &first["batch"], &first["seed"]), (&800.0.into(), &8.into(), &7.into()), "{first}");
    assert_eq!((&first["lag"], &first["fit"]), (&"1,4".into(), &serde_json::Value::Null));
    assert_eq!(first["traces"].as_str().map(str::len), Some(64));
    assert_eq!((&first["gain"], &first["gain_interval"]), (&0.0.into(), &serde_json::json!([0.0, 0.0])));
    let (gain, ends) = (rows[1]["gain"].as_f64().unwrap(), rows[1]["gain_interval"].as_array().unwrap());
    let regret = |row: usize| rows[row]["regret"].as_f64().unwrap();
    assert!((regret(0) - regret(1) - gain).abs() < 1e-9, "{rows}");
    assert!(ends[0].as_f64().unwrap() < gain && gain < ends[1].as_f64().unwrap(), "{rows}");
    // Searches that outgrow their records lose nothing by construction: no regret is told, and why.
    let long = ["--tc", "3600+60", "--manager", "simple"];
    let json: serde_json::Value = serde_json::from_slice(&simulate(&[&long[..], &["--json"]].concat()).stdout).unwrap();
    assert!(json["beyond_record"].as_f64().unwrap() > 0.5 && json["regret"].is_null(), "{json}");
    let table = String::from_utf8(simulate(&long).stdout).unwrap();
    assert!(table.contains("| moves beyond their records |") && table.contains("| - | - |"), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("No regret is told where more than 5 %")).count(), 1);
}

#[test]
fn a_journal_without_playouts_leaves_speed_and_tree_reuse_as_they_were() {
    let folder = folder();
    let play = ["match", "--clock", "virtual", "--nps", "300", "--tc", "1+0.05", "--games", "2", "--backend", "random"];
    assert!(zeitnot(folder.path(), &[&play[..], &["--max-moves", "20", "--pgn", "fit.pgn"]].concat()).status.success());
    // Other engines are not asked for them.
    let lines = std::fs::read_to_string(folder.path().join("fit.pgn.jsonl")).unwrap();
    let without = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        for mv in value.get_mut("moves").and_then(|moves| moves.as_array_mut()).into_iter().flatten() {
            (mv["playouts"], mv["nodes"]) = (0.into(), 0.into());
        }
        format!("{value}\n")
    };
    std::fs::write(folder.path().join("other.jsonl"), lines.lines().map(without).collect::<String>()).unwrap();
    let simulate = ["time", "simulate", "--games", "20", "--manager", "simple", "--json", "--fit"];
    let said = |args: &[&str]| {
        let output = zeitnot(folder.path(), &[&simulate[..], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    assert_eq!(said(&["fit.pgn.jsonl"]), "");
    let reuse = "--fit tells no tree reuse: that of the recorded games is kept\n";
    assert_eq!(said(&["other.jsonl", "--nps", "500"]), reuse);
    let speed = "--fit tells no speed of a search: 1000 playouts a second (--nps sets others)\n";
    assert_eq!(said(&["other.jsonl"]), format!("{speed}{reuse}"));
}

#[test]
fn decisions_of_games_come_out_again_for_every_manager() {
    let folder = tempfile::tempdir().unwrap();
    let titles: Vec<String> = zeitnot_time::managers().iter().map(|manager| manager.title()).collect();
    let mut folders = Vec::new();
    for (index, title) in titles.iter().enumerate() {
        let (option, decisions) = (format!("TimeManager={title}"), format!("decisions{index}"));
        let output = zeitnot(
            folder.path(),
            &[
                &[
                    "match",
                    "--clock",
                    "virtual",
                    "--nps",
                    "300",
                    "--tc",
                    "1+0.05",
                    "--games",
                    "2",
                    "--backend",
                    "random",
                ][..],
                &["--option1", &option, "--option2", "TimeManager=legacy(slowmover=1.2)", "--lag", "5,20"],
                &["--max-moves", "25", "--pgn", &format!("{index}.pgn"), "--decisions", &decisions],
            ]
            .concat(),
        );
        assert!(output.status.success(), "{title}: {}", String::from_utf8_lossy(&output.stderr));
        folders.push(decisions);
    }
    let mut args = vec!["time", "verify", "--json"];
    args.extend(folders.iter().map(String::as_str));
    let output = zeitnot(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verified: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verified["kind"], "verification");
    let count = |name: &str| verified[name].as_u64().unwrap();
    eprintln!("{verified}");
    assert_eq!(count("games"), 4 * titles.len() as u64);
    assert!(count("moves") > 20 * titles.len() as u64 && count("answers") > 3 * count("moves"), "{verified}");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let output = zeitnot(folder.path(), &["time", "verify", "empty"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said == "zeitnot: empty has no event log (FILE.jsonl)\n", "{said}");
    // Logs of a match are not written over, and its games stay.
    let journal = || std::fs::read(folder.path().join("0.pgn.jsonl")).unwrap();
    let finished = journal();
    let again = ["match", "--clock", "virtual", "--games", "2", "--backend", "random", "--decisions", "decisions0"];
    let output = zeitnot(folder.path(), &[&again[..], &["--pgn", "0.pgn", "--nps", "300", "--jitter", "0.1"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("cannot write decisions0"), "{said}");
    assert!(journal() == finished);
}
