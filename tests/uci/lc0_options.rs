//! Options of Lc0's that change what is told, or where.

use super::driver::{Uci, errors, words_after};
use std::fs;
use std::process::Command;
use zeitnot_time::DEFAULT_MANAGER;

fn starting(lines: &[String], start: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn counters_of_each_line() {
    let mut engine = Uci::ready_with(&["--backend=random", "--multipv=3", "--smart-pruning-factor=0", "--show-eps"]);
    let last_counters = |engine: &mut Uci| {
        let answer = engine.search("startpos", "go nodes 30000");
        let infos: Vec<&String> = answer.lines.iter().filter(|line| line.contains(" multipv ")).collect();
        let last = infos[infos.len() - 3..]
            .iter()
            .map(|line| words_after(line, "nodes").next().unwrap().parse::<u64>().unwrap());
        assert!(infos.last().unwrap().contains(" eps "), "{infos:?}");
        last.collect::<Vec<_>>()
    };
    assert_eq!(last_counters(&mut engine), [30_000; 3]);
    engine.send("setoption name PerPVCounters value true");
    engine.send("ucinewgame");
    let counters = last_counters(&mut engine);
    assert!(counters.iter().sum::<u64>() < 30_000 && counters.is_sorted_by(|a, b| a >= b), "{counters:?}");
    engine.quit();
}

#[test]
fn statistics_with_every_report() {
    let mut engine = Uci::ready_with(&["--backend=random", "--smart-pruning-factor=0", "--log-live-stats"]);
    let stats = |engine: &mut Uci| {
        let answer = engine.search("startpos", "go nodes 20000");
        starting(&answer.lines, "info string node  (")
    };
    assert_eq!(stats(&mut engine), 0, "nobody asked for them, and there is no log");
    engine.send("setoption name VerboseMoveStats value true");
    engine.send("ucinewgame");
    assert!(stats(&mut engine) > 1);
    engine.send("setoption name LogLiveStats value false");
    engine.send("ucinewgame");
    assert_eq!(stats(&mut engine), 1);
    engine.quit();
}

#[test]
fn a_log_of_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my log");
    let mut engine = Uci::uniform();
    engine.send(&format!("setoption name LogFile value {}", path.display()));
    engine.search("startpos", "go nodes 50");
    engine.send("setoption name LogFile value <empty>");
    engine.plays();
    engine.complains("setoption name LogFile value /no/such/folder/log", &["LogFile", "/no/such/folder/log"]);
    assert!(engine.tell("setoption name MultiPV value 2").is_empty(), "it was said once");
    engine.complains("setoption name logfile value /no/such/folder/log", &["LogFile", "/no/such/folder/log"]);
    engine.quit();
    let text = fs::read_to_string(&path).unwrap();
    let said = |mark: &str| -> Vec<&str> { text.lines().filter_map(|line| Some(line.split_once(mark)?.1)).collect() };
    assert_eq!(said(" >> "), ["position startpos", "go nodes 50", "setoption name LogFile value <empty>"]);
    assert_eq!(said(" << ").iter().filter(|line| line.starts_with("bestmove ")).count(), 1);
    assert_eq!(said(" -- ").iter().filter(|line| line.starts_with("node  (  20) N:")).count(), 1, "{text}");
}

#[test]
fn a_file_of_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lc0.config");
    fs::write(&path, "# mine\nbackend=uniform\n--threads=3\nmultipv=2\n").unwrap();
    let config = format!("--config={}", path.display());
    let mut engine = Uci::start(&[config.as_str(), "--threads=1"]);
    let options = engine.ask("uci", "uciok");
    for (name, default) in [("Backend", "uniform"), ("Threads", "1"), ("MultiPV", "2")] {
        let start = format!("option name {name} type ");
        let line = options.iter().find(|line| line.starts_with(&start)).unwrap();
        assert_eq!(words_after(line, "default").next(), Some(default), "the command line goes before the file");
    }
    engine.plays();
    engine.quit();
    fs::write(&path, "threads=many\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_zeitnot")).arg(&config).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("lc0.config, line 1: ") && error.contains("\"many\""),
        "{error}"
    );
}

/// The flags that Nibbler gives a file whose name has "lc0" in it, and those of scripts for Lc0.
#[cfg(unix)]
#[test]
fn a_link_in_lc0s_name_takes_lc0s_flags() {
    let folder = tempfile::tempdir().unwrap();
    let lc0 = folder.path().join("lc0");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zeitnot"), &lc0).unwrap();
    let config = folder.path().join("lc0.config");
    fs::write(&config, "minibatch-size=8\n").unwrap();
    let (config, log) = (config.display().to_string(), folder.path().join("log").display().to_string());
    let start = |flags: &[&str]| {
        let mut command = Command::new(&lc0);
        command.args(flags);
        Uci::spawn(command)
    };
    for flags in [
        &["--show-hidden"][..],
        &["--show-hidden", "--weights=net.pb.gz", "--threads=2", "--backend=random", "--verbose-move-stats"],
        &["-w", "net.pb.gz", "-t", "2", "-b", "trivial", "-c", &config, "-l", &log, "-s", "", "-v"],
        &["--backend=blas", "--no-ponder", "--no-show-hidden", "--no-preload", "--minibatch-size=16"],
        &["dag-preview", "--backend=eigen"],
    ] {
        let mut engine = start(flags);
        let options = engine.ask("uci", "uciok");
        assert!(options[0].starts_with("id name ") && options[0].contains("Lc0"), "{flags:?}: {options:?}");
        engine.send("setoption name WeightsFile value <empty>");
        engine.plays();
        engine.quit();
    }
}

/// `--no-FLAG` is Lc0's way to switch something off.
#[test]
fn switches_are_switched_off_by_no() {
    let default = |flags: &[&str], name: &str| {
        let mut engine = Uci::start(&[&["--backend=uniform", "--show-hidden"], flags].concat());
        let start = format!("option name {name} type check default ");
        let options = engine.ask("uci", "uciok");
        engine.quit();
        options.iter().find_map(|line| line.strip_prefix(&start)).unwrap().to_owned()
    };
    for (flags, name, value) in [
        (&[][..], "StickyEndgames", "true"),
        (&["--no-sticky-endgames"], "StickyEndgames", "false"),
        (&["--no-ponder"], "Ponder", "false"),
    ] {
        assert_eq!(default(flags, name), value, "{flags:?}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_zeitnot")).arg("--no-threads").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("'--no-threads'"), "{error}");
}

// docs/lc0.md, 1.1: `--preload` loads when the process starts.
#[test]
fn the_network_is_loaded_at_the_start_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lc0.config");
    let config = format!("--config={}", path.display());
    let is_loaded_at_the_start = |args: &[&str], file: &str| {
        fs::write(&path, file).unwrap();
        let mut engine = Uci::start(&[args, &["--backend=uniform", &config]].concat());
        let loads = |lines: Vec<String>| starting(&lines, "info string uniform (");
        let (early, late) = (loads(engine.ask("uci", "uciok")), loads(engine.ask("isready", "readyok")));
        assert_eq!(early + late, 1, "{args:?} {file}: it is loaded once");
        engine.plays();
        engine.quit();
        early == 1
    };
    for (args, file, expected) in [
        (&[][..], "", false),
        (&["--preload"], "", true),
        (&["uci", "--preload=true"], "", true),
        (&["--preload=false"], "preload", false),
        (&["--preload"], "preload=false", true),
        (&[], "preload", true),
        (&[], "preload=true", true),
        (&[], "--no-preload", false),
    ] {
        assert_eq!(is_loaded_at_the_start(args, file), expected, "{args:?} {file}");
    }
    let mut engine = Uci::start(&["--preload", "--weights=no/such/file"]);
    let told = engine.ask("uci", "uciok");
    assert!(errors(&told).len() == 1 && errors(&told)[0].contains("no/such/file"), "{told:?}");
    engine.quit();
}

#[test]
fn slowmover_is_the_legacy_managers() {
    let mut engine = Uci::uniform();
    engine.send("setoption name Slowmover value 2.2");
    let note = |lines: &[String]| {
        let notes = lines.iter().filter_map(|line| line.strip_prefix("info string playing with "));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    let plays = |engine: &mut Uci, manager: &str| {
        let answer = engine.search("startpos", "go wtime 1000 btime 1000");
        assert_eq!(starting(&answer.lines, &format!("info string time {manager}: ")), 1, "{:?}", answer.lines);
        note(&answer.lines)
    };
    assert_eq!(plays(&mut engine, "legacy"), ["legacy(slowmover=2.2): as option Slowmover asks"]);
    assert!(plays(&mut engine, "legacy").is_empty(), "it is said once");
    engine.send("setoption name TimeManager value alphazero");
    assert_eq!(plays(&mut engine, "alphazero"), ["alphazero: option Slowmover has no effect beside this TimeManager"]);
    let simple = engine.tell("setoption name TimeManager value simple");
    assert_eq!(
        note(&simple),
        ["simple: option Slowmover has no effect beside this TimeManager"],
        "isready says it, too"
    );
    engine.send("setoption name TimeManager value alphazero");
    engine.send("setoption name Slowmover value 1.0");
    assert!(plays(&mut engine, "alphazero").is_empty());
    engine.send(&format!("setoption name TimeManager value {DEFAULT_MANAGER}"));
    engine.send("setoption name Slowmover value 2");
    assert_eq!(plays(&mut engine, "legacy"), ["legacy(slowmover=2.0): as option Slowmover asks"]);
    engine.quit();
}

#[test]
fn a_preset_that_parameters_mean_is_told_once() {
    let mut engine = Uci::uniform();
    let note = |lines: Vec<String>| {
        let notes = lines.iter().filter_map(|line| line.strip_prefix("info string playing with smooth("));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    let page = "nps-update-rate=5.0): preset=pr1195, as plain smooth learns without parameters of Lc0's page";
    let set = |spec: &str| format!("setoption name TimeManager value {spec}");
    assert_eq!(note(engine.tell(&set("smooth(nps-update-rate=5.0)"))), [page]);
    assert!(note(engine.search("startpos", "go wtime 1000 btime 1000").lines).is_empty(), "it is said once");
    assert!(note(engine.tell(&set("smooth(preset=pr1195,nps-update-rate=5.0)"))).is_empty());
    let other = note(engine.tell(&set("smooth(nps-update-rate=9)")));
    assert!(other.len() == 1 && other[0].starts_with("nps-update-rate=9): "), "once for each specification: {other:?}");
    engine.quit();
}

#[test]
fn contempt_that_does_nothing_is_told() {
    let mut engine = Uci::ready_with(&["--backend=random", "--contempt=100"]);
    let answer = engine.search("startpos", "go nodes 50");
    assert_eq!(starting(&answer.lines, "info string contempt: "), 0);
    engine.send("go infinite");
    engine.send("stop");
    let lines = engine.until("bestmove");
    assert!(errors(&lines).is_empty() && starting(&lines, "info string contempt: ") == 1, "{lines:?}");
    engine.quit();
}

#[test]
fn lc0s_searches_by_the_first_word() {
    for (word, nodes) in [("policyhead", " nodes 1 "), ("valuehead", " nodes 21 "), ("classic", " nodes 50 ")] {
        let mut engine = Uci::ready_with(&[word, "--backend=random", "--smart-pruning-factor=0"]);
        let answer = engine.search("startpos", "go nodes 50");
        assert!(answer.lines.iter().any(|line| line.contains(nodes)), "{word}: {:?}", answer.lines);
        engine.quit();
    }
}
