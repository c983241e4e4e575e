//! The command line: help, exit codes, and what the commands print for people and for machines.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use tempfile::TempDir;

/// A short match of a backend that costs nothing.
const SHORT_MATCH: [&str; 4] = ["match", "--tc=0.5+0.05", "--backend=uniform", "--move-overhead=10"];

/// The binary, in a folder of its own.
fn zeitnot(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder.path()).env_remove("RUST_LOG").timeout(std::time::Duration::from_secs(120));
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The output of the command, line by line; it must succeed.
fn lines(command: &mut Command) -> Vec<String> {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Fails with the exit code 1, prints nothing, and says why in one line that names each of `parts`.
fn fails(command: &mut Command, parts: &[&str]) {
    let assert = command.assert().code(1).stdout("");
    let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("zeitnot: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "without {part:?}: {text}");
    }
}

#[test]
fn every_command_takes_a_level_of_the_log() {
    let folder = folder();
    let said = |arguments: &[&str]| {
        let output = zeitnot(&folder).args(arguments).write_stdin("quit\n").assert().success().get_output().clone();
        String::from_utf8(output.stderr).unwrap()
    };
    let eval = ["eval", "--weights", "zeitnot-small", "--backend=onnxruntime"];
    let quiet = said(&eval);
    let loud = said(&[&eval[..], &["--log-level", "trace"]].concat());
    assert!(!quiet.contains("TRACE") && !quiet.contains("DEBUG"), "{quiet}");
    assert!(loud.contains("TRACE") || loud.contains("DEBUG"), "{loud}");
    let version = concat!("Zeitnot ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(said(&["--log-level=off"]), version, "its name, as an engine, and no log");
    let by_variable = |filter: &str| zeitnot(&folder).args(eval).env("RUST_LOG", filter).assert().success();
    by_variable("zeitnot=trace,ort=off")
        .stderr(predicate::str::contains("TRACE").or(predicate::str::contains("DEBUG")));
    by_variable("debug,").stderr(predicate::str::contains("DEBUG"));
    let aside = predicate::str::contains("RUST_LOG").and(predicate::str::contains("zeitnot=loud"));
    by_variable("zeitnot=loud,zeitnot=debug").stderr(aside.and(predicate::str::contains("DEBUG")));
    zeitnot(&folder).args(["options", "--log-level", "loud"]).assert().code(2).stderr(predicate::str::contains("loud"));
}

/// Standard error may have lost its reader, too (`zeitnot match 2>&1 | head`): that is no defect to report.
#[cfg(unix)]
#[test]
fn nobody_need_read_standard_error() {
    let folder = folder();
    for arguments in ["match --tc=0.5+0.05 --games=2 --backend=uniform --move-overhead=10", "bench --log-level=trace"] {
        let script = format!("{{ \"$0\" {arguments}; echo $? > code; }} 2>&1 | head -n 1");
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).env("XDG_CACHE_HOME", folder.path().join("cache"));
        command.args(["-c", &script, env!("CARGO_BIN_EXE_zeitnot")]).assert().success();
        let code = fs::read_to_string(folder.path().join("code")).unwrap();
        assert!(["0", "1"].contains(&code.trim()), "{arguments}: {code}");
        assert!(!folder.path().join("cache/zeitnot/crashes").exists(), "{arguments}");
    }
}

/// Lines of a short help.
const SCREEN: usize = 45;
/// Columns of a short help.
const WIDTH: usize = 120;
/// Commands in the help, without those that only have others.
const MOST_COMMANDS: usize = 31;

/// The commands that a help lists.
fn subcommands(help: &[String]) -> Vec<String> {
    let lines = help.iter().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_short_help_of_every_command_is_one_screen() {
    let folder = folder();
    let help = |command: &[String], flag: &str| lines(zeitnot(&folder).args(command).arg(flag));
    let hidden = ["genfens", "completions", "man"].map(|name| vec![name.to_owned()]);
    let (mut commands, mut leaves) = (vec![Vec::new()], Vec::new());
    commands.extend(hidden.clone());
    while let Some(command) = commands.pop() {
        let (short, long) = (help(&command, "-h"), help(&command, "--help"));
        assert!(short.iter().any(|line| line.starts_with("Usage: zeitnot")), "{command:?}: {short:?}");
        assert!(short.len() <= SCREEN, "{command:?}: {} lines", short.len());
        if let Some(line) = short.iter().find(|line| line.len() > WIDTH) {
            panic!("{command:?}: {} columns: {line}", line.len());
        }
        assert!(!short.iter().any(|line| line.starts_with("Engine options")), "{command:?}");
        assert!(long.len() >= short.len(), "{command:?}");
        let below = subcommands(&short);
        // `explain` is one command.
        if below.is_empty() && !hidden.contains(&command) {
            leaves.push(command.iter().take(2).cloned().collect::<Vec<_>>());
        }
        commands.extend(below.into_iter().map(|name| [&command[..], &[name]].concat()));
    }
    leaves.dedup();
    assert!((20..=MOST_COMMANDS).contains(&leaves.len()), "{}: {leaves:?}", leaves.len());
    let help = lines(zeitnot(&folder).arg("--help")).join("\n");
    for word in ["uci", "match", "eval", "runtime", "--weights", "--time-manager", "--threads", "RUST_LOG"] {
        assert!(help.contains(word), "{word}");
    }
    let flags = lines(zeitnot(&folder).args(["match", "--help"])).join("\n");
    for flag in ["--openings", "--tc", "--pool", "--jitter", "--cpuct"] {
        assert!(flags.contains(flag), "{flag}");
    }
    let version = lines(zeitnot(&folder).arg("--version"));
    assert_eq!(version, [format!("zeitnot {}", env!("CARGO_PKG_VERSION"))]);
}

/// Settings of GUIs and scripts may have the spellings of Lc0.
#[test]
fn spellings_of_lc0_work() {
    let folder = folder();
    let say = |arguments: &[&str], input: &str| {
        let assert = zeitnot(&folder).args(arguments).write_stdin(input.to_owned()).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    for algorithm in ["classic", "policyhead", "valuehead"] {
        let uci = say(&[algorithm, "--backend=random"], "uci\nquit\n");
        let option = format!("option name SearchAlgorithm type combo default {algorithm} ");
        assert!(uci.contains(&option) && uci.contains("uciok"), "{uci}");
    }
    let theirs = zeitnot(&folder).arg("selfplay").assert().code(2).stdout("");
    assert!(String::from_utf8_lossy(&theirs.get_output().stderr).contains("zeitnot match plays games"));
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let folder = folder();
    for arguments in [
        &["--no-such-flag"][..],
        &["nonsense"],
        &["uci", "--no-such-flag"],
        &["match", "--games=0"],
        &["match", "--games=x"],
        &["match", "--tc=fast"],
        &["match", "--tc=0"],
        &["perft", "4"],
        &["time", "explain"],
        &["time", "explain", "--nps=5"],
        &["net", "fetch"],
        &["net", "fetch", "T1-256", "--backend=random"],
        &["net", "fetch", "T1-256", "--prepare", "--weights=x"],
        &["net", "fetch", "--prepare", "--backend=random", "--force"],
        &["net", "fetch", "--prepare", "--backend=random", "--folder=x"],
        &["net", "fetch", "--prepare", "--backend=random", "--patience=9"],
        &["net", "fetch", "--prepare", "--backend=random", "--weights=x", "--force"],
        &["runtime"],
        &["runtime", "nonsense"],
        &["eval", "--positions=x", "--fen=y"],
    ] {
        let assert = zeitnot(&folder).args(arguments).assert().code(2).stdout("");
        assert!(!assert.get_output().stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_wrong_value_is_one_line() {
    let folder = folder();
    fails(zeitnot(&folder).arg("--threads=many"), &["--threads", "\"many\"", "0 to 128"]);
    fails(zeitnot(&folder).arg("--threads=129"), &["--threads", "\"129\""]);
    fails(zeitnot(&folder).arg("--cpuct=nan"), &["--cpuct", "\"nan\""]);
    fails(zeitnot(&folder).arg("--score-type=x"), &["--score-type", "centipawn"]);
    fails(zeitnot(&folder).arg("--show-wdl=maybe"), &["--show-wdl", "\"maybe\""]);
    fails(zeitnot(&folder).arg("--preload=maybe"), &["--preload: \"maybe\" is not true or false"]);
    fails(zeitnot(&folder).arg("--time-manager=nonsense"), &["--time-manager", "nonsense", "smooth"]);
    fails(zeitnot(&folder).args(["eval", "--backend=gpu9000", "--weights=x"]), &["x"]);
    fails(zeitnot(&folder).args(["eval", "--weights=no/such/file.pb.gz"]), &["no/such/file.pb.gz"]);
    fails(zeitnot(&folder).args(SHORT_MATCH).arg("--option1=Threads"), &["Threads", "NAME=VALUE"]);
    fails(zeitnot(&folder).args(SHORT_MATCH).arg("--option2=Threads=x"), &["Threads", "\"x\""]);
    fails(zeitnot(&folder).args(SHORT_MATCH).arg("--fen=nonsense"), &["nonsense"]);
    let king_in_reach = "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1";
    let mut command = zeitnot(&folder);
    command.args(SHORT_MATCH).arg(format!("--fen={king_in_reach}"));
    fails(&mut command, &[king_in_reach, "could take the king"]);
    let nowhere = Path::new("no").join("folder").join("games.pgn");
    let unwritable = predicate::str::contains(format!("zeitnot: cannot write {}", nowhere.display()));
    let mut command = zeitnot(&folder);
    command.args(SHORT_MATCH).args(["--fen=startpos", "--pgn"]).arg(&nowhere);
    command.assert().code(1).stdout("").stderr(unwritable);
}

/// A file of options has its limit, and may be a pipe.
#[test]
fn a_config_that_is_no_file_of_options_is_one_line() {
    let folder = folder();
    let config = |path: &str| format!("--config={path}");
    fails(zeitnot(&folder).arg(config("none")), &["--config none: "]);
    fails(zeitnot(&folder).arg(config(".")), &["--config ."]);
    let large = folder.path().join("large");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    fails(zeitnot(&folder).arg(config("large")), &["--config large: it is larger than 1024 KiB"]);
    fs::File::options().write(true).open(&large).unwrap().set_len(1 << 20).unwrap();
    fails(zeitnot(&folder).arg(config("large")), &["large, line 1: it is longer than 8192 bytes"]);
    if cfg!(unix) {
        for device in ["/dev/zero", "/dev/full"] {
            fails(zeitnot(&folder).arg(config(device)), &[device, "it is a device, not a file"]);
        }
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script, env!("CARGO_BIN_EXE_zeitnot")]).current_dir(folder.path());
            command.timeout(std::time::Duration::from_secs(120));
            command
        };
        fails(&mut shell("yes threads=1 | \"$0\" --config=/dev/stdin"), &["--config /dev/stdin: it is larger"]);
        let mut piped = shell("echo threads=many | \"$0\" --config=/dev/stdin");
        fails(&mut piped, &["/dev/stdin, line 1", "\"many\""]);
    }
}

/// The working folder may be one of downloads: neither a program nor a module of Python there is run.
#[cfg(unix)]
#[test]
fn no_code_of_the_working_folder_is_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let proof = folder.path().join("proof");
    fs::write(folder.path().join("pip.py"), format!("open({proof:?}, 'w').close()")).unwrap();
    let program = folder.path().join("python3");
    fs::write(&program, format!("#!/bin/sh\ntouch {proof:?}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // An empty entry means the working folder, too.
    let path = format!(":.:{}", std::env::var("PATH").unwrap());
    let mut command = zeitnot(&folder);
    command.args(["runtime", "install"]).env("PATH", path).env("HOME", folder.path());
    command.env("XDG_CACHE_HOME", folder.path().join("cache")).env("PYTHONPATH", folder.path());
    // pip itself is asked, and finds nothing anywhere.
    command.env("PIP_NO_INDEX", "1").env("PIP_CONFIG_FILE", "/dev/null").env_remove("PIP_FIND_LINKS");
    fails(&mut command, &["pip cannot reach the package index"]);
    assert!(!proof.exists());
}

/// `--gpu` alone takes the CUDA that suits the driver, `--cuda` chooses by hand.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn the_cuda_of_a_runtime_can_be_chosen() {
    let install = |arguments: &[&str]| {
        let folder = folder();
        let mut command = zeitnot(&folder);
        command.args(["runtime", "install"]).args(arguments).env("HOME", folder.path());
        command.env("XDG_CACHE_HOME", folder.path().join("cache"));
        command.env("PIP_NO_INDEX", "1").env("PIP_CONFIG_FILE", "/dev/null").env_remove("PIP_FIND_LINKS");
        let output = command.assert().failure();
        let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(said.contains("pip cannot reach the package index"), "{said}");
        let root = folder.path().join("cache/zeitnot/runtime");
        let names = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    assert_eq!(install(&["--gpu", "--cuda=12"]), ["onnxruntime-gpu-1.26.0-linux-x86_64"]);
    assert_eq!(install(&["--cuda=13"]), ["onnxruntime-gpu-1.31.1-linux-x86_64"], "which --cuda implies");
    let suits = zeitnot_engine::runtime::CudaVersion::for_this_machine().variant().pin().unwrap();
    assert_eq!(install(&["--gpu"]), [suits.folder()]);
    let folder = folder();
    for arguments in [&["--gpu", "--cuda=11"][..], &["--openvino", "--cuda=12"]] {
        zeitnot(&folder).args(["runtime", "install"]).args(arguments).assert().failure();
    }
}

/// Shape and arithmetic of one line of `eval`.
fn check_evaluation(line: &Value, moves: usize) {
    let number = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key}: {line}"));
    assert!(number("q").abs() <= 1.0 && (0.0..=1.0).contains(&number("d")), "{line}");
    assert!(line["m"].is_null() || number("m") >= 0.0, "{line}");
    let policy = line["policy"].as_array().unwrap();
    assert_eq!(policy.len(), moves, "{line}");
    let mut sum = 0.0;
    for entry in policy {
        assert!(entry["move"].as_str().is_some_and(|mv| mv.len() >= 4), "{entry}");
        assert!(entry["index"].as_u64().is_some_and(|index| index < 1858), "{entry}");
        assert!(entry["logit"].is_f64(), "{entry}");
        sum += entry["p"].as_f64().unwrap();
    }
    assert!(moves == 0 || (sum - 1.0).abs() < 1e-5, "{sum}");
    let indices: std::collections::BTreeSet<_> = policy.iter().map(|entry| entry["index"].as_u64()).collect();
    assert_eq!(indices.len(), moves, "each move has its own index");
}

#[test]
fn options_list_the_parameters_that_take_a_word() {
    let folder = folder();
    let all = json(&lines(zeitnot(&folder).args(["options", "--json"])).join(""));
    let words = |manager: &str, name: &str| {
        let parameters = all["time_managers"].as_array().unwrap();
        let found = parameters.iter().find(|one| one["manager"] == manager && one["name"] == name);
        found.unwrap_or_else(|| panic!("{manager} {name}"))["values"].clone()
    };
    assert_eq!(words("smooth", "preset"), serde_json::json!(["zeitnot", "pr1195", "lc0", "alpha-beta"]));
    assert_eq!(words("soft-hard", "preset"), serde_json::json!(["complete", "basic"]));
    assert_eq!(words("complexity", "class")[0], "auto");
    let text = lines(zeitnot(&folder).arg("options")).join("\n");
    assert!(text.contains("  smooth: preset = zeitnot  (one of zeitnot, pr1195, lc0, alpha-beta)"), "{text}");
}

#[test]
fn eval_prints_one_object_a_position() {
    let folder = folder();
    for backend in ["--backend=random", "--backend=uniform"] {
        let start = json(&lines(zeitnot(&folder).args(["eval", backend]))[0]);
        check_evaluation(&start, 20);
        assert_eq!(json(&lines(zeitnot(&folder).args(["eval", backend, "--fen=startpos"]))[0]), start);
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let castling = json(&lines(zeitnot(&folder).args(["eval", backend, "--fen", fen]))[0]);
        check_evaluation(&castling, 26);
        let moves: Vec<&str> =
            castling["policy"].as_array().unwrap().iter().map(|e| e["move"].as_str().unwrap()).collect();
        assert!(moves.contains(&"e1h1") && moves.contains(&"e1a1"), "castling as king takes rook: {moves:?}");
        let played = json(&lines(zeitnot(&folder).args(["eval", backend, "--fen", fen, "--moves", "e1g1", "e8c8"]))[0]);
        check_evaluation(&played, 24);
        let mated =
            json(&lines(zeitnot(&folder).args(["eval", backend, "--fen", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"]))[0]);
        check_evaluation(&mated, 0);
    }
}

#[test]
fn eval_reads_positions() {
    let folder = folder();
    let good = r#"{"id": "start", "fen": null, "moves": ["e2e4"], "chess960": false}

{"id": 7, "fen": "k7/8/8/8/8/8/8/K6R w - - 0 1"}
{"fen": "startpos", "whose": "keys of others do not matter"}
"#;
    fs::write(folder.path().join("good.jsonl"), good).unwrap();
    let answers: Vec<Value> = lines(zeitnot(&folder).args(["eval", "--backend=random", "--positions=good.jsonl"]))
        .iter()
        .map(|line| json(line))
        .collect();
    assert_eq!(answers.iter().map(|line| &line["id"]).collect::<Vec<_>>(), [&"start".into(), &7.into(), &Value::Null]);
    check_evaluation(&answers[0], 20);
    // Positions that are none are named; the others are answered all the same.
    let bad = r#"{"id": "bad move", "fen": null, "moves": ["e2e5"]}
{"id": "bad fen", "fen": "nonsense"}
{"id": "good", "fen": null}
"#;
    fs::write(folder.path().join("bad.jsonl"), bad).unwrap();
    zeitnot(&folder)
        .args(["eval", "--backend=random", "--positions=bad.jsonl"])
        .assert()
        .code(1)
        .stdout(predicate::function(|text: &str| text.lines().count() == 1 && text.contains("\"good\"")))
        .stderr(predicate::str::contains("bad move").and(predicate::str::contains("e2e5")))
        .stderr(predicate::str::contains("bad fen").and(predicate::str::contains("nonsense")));
    // A program that asks through a pipe gets an answer to each.
    zeitnot(&folder)
        .args(["eval", "--backend=random", "--positions=-"])
        .write_stdin(bad)
        .assert()
        .code(1)
        .stdout(predicate::function(|text: &str| {
            let answers: Vec<Value> = text.lines().map(json).collect();
            let mut errors = ["e2e5", "nonsense"].into_iter().zip(&answers);
            answers.len() == 3
                && errors.all(|(word, answer)| answer["error"].as_str().is_some_and(|it| it.contains(word)))
                && answers[0]["id"] == "bad move"
                && !answers[2]["policy"].is_null()
        }))
        .stderr(predicate::function(|text: &str| !text.contains("bad")));
    // A line that is no request is named by file and line.
    for broken in ["{\"fen\": null, \"moves\": 3}", "{\"FEN\": \"startpos\"}"] {
        fs::write(folder.path().join("broken.jsonl"), format!("{{\"fen\": null}}\n\n{broken}\n")).unwrap();
        zeitnot(&folder).args(["eval", "--backend=random", "--positions=broken.jsonl"]).assert().code(1).stderr(
            predicate::function(|text: &str| text.lines().count() == 1 && text.contains("broken.jsonl line 3")),
        );
    }
    fails(zeitnot(&folder).args(["eval", "--backend=random", "--positions=absent.jsonl"]), &["absent.jsonl"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = folder();
    fs::write(folder.path().join("many.jsonl"), "{\"fen\": null}\n".repeat(2000)).unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_zeitnot"))
        .current_dir(folder.path())
        .args(["eval", "--backend=random", "--positions=many.jsonl"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_runtime_reports_itself() {
    let folder = folder();
    let output = zeitnot(&folder).args(["runtime", "status", "--json"]).output().unwrap();
    let status = json(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(status["runtime"].is_object(), output.status.success(), "{status}");
    let output = zeitnot(&folder).args(["runtime", "status", "--json", "--library=no/such/library"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let status = json(std::str::from_utf8(&output.stdout).unwrap());
    assert!(status["runtime"].is_null() && status.to_string().contains("no/such/library"), "{status}");
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}

#[test]
fn a_match_says_which_options_mean_nothing_in_it() {
    let folder = folder();
    let mut command = zeitnot(&folder);
    command.args(SHORT_MATCH).args(["--logfile=log.txt", "--fen=7k/5ppp/8/8/8/8/8/R3K3 w - - 99 90"]);
    command.assert().success().stderr(predicates::str::contains("option LogFile has no effect"));
    assert!(!folder.path().join("log.txt").exists());
}

#[test]
fn a_match_without_a_clock_ends_where_nothing_is_five_plies_deep() {
    let folder = folder();
    let mut command = zeitnot(&folder);
    // Three plies from the fifty-move rule: an average depth of 5 is never reached.
    // One thread: the same game each time. Of two threads some games have searches of 15 million nodes.
    command.args(["match", "--preset=fixed-depth", "--backend=random", "--threads=1"]);
    command.arg("--fen=8/3K2kP/8/5B2/8/8/8/8 w - - 97 183");
    let output = command.assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    assert!(!text.contains("budget") && !text.contains("clocks  "), "{text}");
    let pgn = fs::read_to_string(folder.path().join("match.pgn")).unwrap();
    assert!(pgn.contains("[%emt ") && !pgn.contains("[%clk "), "{pgn}");
}

#[test]
fn a_match_leaves_games_with_clocks() {
    let folder = folder();
    let mut command = zeitnot(&folder);
    command.args(SHORT_MATCH).args(["--games=2", "--json", "--pgn=games.pgn", "--option2=CPuct=3"]);
    // A few moves from the end, or it would take all the time there is.
    command.arg("--fen=7k/5ppp/8/8/8/8/8/R3K3 w - - 96 90");
    let answers: Vec<Value> = lines(&mut command).iter().map(|line| json(line)).collect();
    assert_eq!(answers.len(), 3, "{answers:?}");
    let sides = ["Zeitnot 1", "Zeitnot 2 (CPuct=3)"];
    for (game, names) in answers[..2].iter().zip([sides, [sides[1], sides[0]]]) {
        assert_eq!((&game["white"], &game["black"]), (&names[0].into(), &names[1].into()), "{game}");
        assert!(["1-0", "0-1", "1/2-1/2"].contains(&game["result"].as_str().unwrap()), "{game}");
        assert!(game["clocks_ms"][1].is_f64() && game["termination"].is_string(), "{game}");
    }
    let score = &answers[2]["summary"];
    assert_eq!((&score["games"], &score["forfeits"]), (&2.into(), &serde_json::json!([0, 0])));
    let sum = ["wins", "draws", "losses"].iter().map(|key| score[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, 2, "{score}");
    let pgn = fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    let plies: usize = answers[..2].iter().map(|game| game["plies"].as_u64().unwrap() as usize).sum();
    for mark in ["[%clk ", "[%emt "] {
        assert_eq!(pgn.matches(mark).count(), plies, "{pgn}");
    }
    for tag in ["Event", "Date", "White", "Black", "Result", "TimeControl", "Termination", "FEN", "SetUp"] {
        assert_eq!(pgn.matches(&format!("[{tag} \"")).count(), 2, "{tag}: {pgn}");
    }
    assert_eq!(pgn.matches("[TimeControl \"0.5+0.05\"]").count(), 2, "{pgn}");
}

#[test]
fn a_match_adds_to_the_games_there_are() {
    let folder = folder();
    let path = folder.path().join("match.pgn");
    fs::write(&path, "{dear old games}").unwrap();
    let mate_in_one = "--fen=k7/8/1K6/8/8/8/8/7R w - - 0 1";
    for played in 1..=2 {
        let text = lines(zeitnot(&folder).args(SHORT_MATCH).arg(mate_in_one)).join("\n");
        assert!(text.contains("1-0 (checkmate)") && text.contains("match.pgn"), "{text}");
        let pgn = fs::read_to_string(&path).unwrap();
        assert!(pgn.starts_with("{dear old games}\n\n[Event"), "{pgn}");
        assert!(!pgn.contains("\n\n\n"), "{pgn}");
        assert_eq!(pgn.matches("[Result \"1-0\"]").count(), played, "{pgn}");
    }
}

#[test]
fn a_match_without_a_reader_ends_and_writes_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_zeitnot"))
        .current_dir(folder.path())
        .args(["match", "--backend=uniform", "--threads=1", "--tc=30+1", "--games=2", "--pgn=games.pgn"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("game 1: "), "{first}");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the match ended when nobody read its output any more"), "{said}");
    let pgn = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert_eq!((pgn.matches("[Event ").count(), pgn.contains("1. ")), (1, true), "{pgn}");
}
